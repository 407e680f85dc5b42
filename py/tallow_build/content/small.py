"""Makes a thumbnail of each photograph, in the size of the page's gallery of samples.

It runs with .venv's Python, which has Pillow:

    python -m tallow_build.content.small '[["PHOTOGRAPH", "PICTURE.webp"], ...]'
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

from PIL import Image, ImageCms

BOX = (225, 176)
"""The minimum width and height: the box of the gallery (web/views/classify/classify.css), which is
112.5 by 88 CSS pixels in windows up to 2133 pixels wide, on a screen with two pixels for each."""

# WebP quality, up to 100. JPEGs with the same fidelity (35 dB) are 1.6 times as large.
_QUALITY = 80


def make(photograph: Path, picture: Path) -> None:
    """Writes a small WebP of a photograph, with the same proportions, in sRGB, always with the same
    bytes."""
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
    small.info.clear()  # the original profile, which would be written too
    small.save(picture, quality=_QUALITY, method=6)


if __name__ == "__main__":
    for one, other in json.loads(sys.argv[1]):
        make(Path(one), Path(other))
