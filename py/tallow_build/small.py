"""Makes a small picture of each photograph, as large as the page's gallery of samples shows it.

It runs as .venv's Python, which has Pillow:

    python -m tallow_build.small '[["PHOTOGRAPH", "PICTURE.webp"], ...]'
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

from PIL import Image, ImageCms

BOX = (225, 176)
"""The least width and height: the box that the gallery fills
(web/views/classify/classify.css), 112.5 by 88 of CSS's pixels in
windows of up to 2133 of them, on a screen with two to each."""

# Of WebP's 100. JPEGs that are as near to the photographs (35 dB) have 1.6 times the bytes.
_QUALITY = 80


def make(photograph: Path, picture: Path) -> None:
    """Writes a small WebP of a photograph, of the same proportions, in sRGB: the same bytes each
    time."""
    with Image.open(photograph) as found:
        whole = found.convert("RGB")
        profile = found.info.get("icc_profile")
    if profile:
        srgb = ImageCms.createProfile("sRGB")
        ImageCms.profileToProfile(whole, io.BytesIO(profile), srgb, inPlace=True)
    width, height = whole.size
    share = max(BOX[0] / width, BOX[1] / height)
    size = (round(share * width), round(share * height))
    small = whole.resize(size, Image.Resampling.LANCZOS)
    small.info.clear()  # the profile of before, which would be written too
    small.save(picture, quality=_QUALITY, method=6)


if __name__ == "__main__":
    for one, other in json.loads(sys.argv[1]):
        make(Path(one), Path(other))
