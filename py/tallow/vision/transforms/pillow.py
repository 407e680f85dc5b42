"""What Pillow does to its own images, so that results are as torchvision's, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import MissingError, OptionError
from .borders import sources
from .images import Fill, InterpolationMode, fills

_CODES = {"nearest": 0, "nearest-exact": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4,
          "hamming": 5}  # fmt: skip


def module() -> Any:
    """PIL.Image. Raises MissingError if Pillow is not there."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingError("images need Pillow: pip install pillow") from error
    return Image


def resize(img: Any, size: tuple[int, int], mode: InterpolationMode, box: Any = None) -> Any:
    """size: (h, w). box: (left, top, right, bottom), the part that is resized."""
    return img.resize(size[::-1], _CODES[mode.value], box)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part, black where the image is not."""
    return img.crop((left, top, left + width, top + height))


def flip(img: Any, axis: int) -> Any:
    """Mirrored along the axis -1 or -2."""
    return img.transpose(0 if axis == -1 else 1)


def pad(img: Any, sides: tuple[int, int, int, int], fill: Fill, mode: str) -> Any:
    """sides: left, top, right, bottom."""
    left, top, right, bottom = sides
    width, height = img.size
    if mode == "constant":
        whole = (width + left + right, height + top + bottom)
        made = module().new(img.mode, whole, _colour(img, fill))
        if img.mode == "P":
            made.putpalette(img.getpalette())
        made.paste(img, (left, top))
        return made
    columns, rows = sources(width, left, right, mode), sources(height, top, bottom, mode)
    made = module().new(img.mode, (len(columns), height))
    for at, column in enumerate(columns):
        made.paste(img.crop((column, 0, column + 1, height)), (at, 0))
    tall = module().new(img.mode, (len(columns), len(rows)))
    for at, row in enumerate(rows):
        tall.paste(made.crop((0, row, len(columns), row + 1)), (0, at))
    return tall


def _colour(img: Any, fill: Fill) -> Any:
    bands = len(img.getbands())
    numbers = fills(fill, bands, "fill")
    kept = numbers if img.mode == "F" else [int(each) for each in numbers]
    return kept[0] if bands == 1 else tuple(kept)


def transform(
    img: Any, kind: str, data: Sequence[float], mode: InterpolationMode, fill: Fill
) -> Any:
    """kind: AFFINE or PERSPECTIVE, with the coefficients that map results to pixels of img."""
    method = module().Transform[kind]
    return img.transform(img.size, method, data, _CODES[mode.value], fillcolor=_colour(img, fill))


def rotate(
    img: Any,
    angle: float,
    mode: InterpolationMode,
    expand: bool,
    center: Sequence[float] | None,
    fill: Fill,
) -> Any:
    """angle: in degrees, counter-clockwise."""
    middle = None if center is None else tuple(center)
    return img.rotate(angle, _CODES[mode.value], expand, middle, fillcolor=_colour(img, fill))


def enhanced(img: Any, kind: str, factor: float) -> Any:
    """kind: Brightness, Contrast, Color or Sharpness."""
    from PIL import ImageEnhance

    return getattr(ImageEnhance, kind)(img).enhance(factor)


def adjust_hue(img: Any, factor: float) -> Any:
    """Turns hues by a part of the circle."""
    if img.mode in ("L", "1", "I", "F"):
        return img
    h, s, v = img.convert("HSV").split()
    turned = h.point([(value + int(factor * 255)) % 256 for value in range(256)])
    return module().merge("HSV", (turned, s, v)).convert(img.mode)


def adjust_gamma(img: Any, gamma: float, gain: float) -> Any:
    """255 * gain * (x / 255) ** gamma."""
    mode, rgb = img.mode, img.convert("RGB")
    table = [(255 + 1 - 1e-3) * gain * (value / 255.0) ** gamma for value in range(256)]
    return rgb.point([int(min(max(each, 0), 255)) for each in table] * 3).convert(mode)


def grayscale(img: Any, channels: int) -> Any:
    """Luma (ITU-R 601) in one channel or three."""
    gray = img.convert("L")
    return gray if channels == 1 else module().merge("RGB", (gray, gray, gray))


def operated(img: Any, kind: str, *options: Any) -> Any:
    """kind: a function of PIL.ImageOps."""
    if img.mode not in ("L", "RGB", "1", "P"):
        raise OptionError(f"{kind}: Pillow has it for L and RGB, not {img.mode}; convert the image")
    from PIL import ImageOps

    return getattr(ImageOps, kind)(img, *options)
