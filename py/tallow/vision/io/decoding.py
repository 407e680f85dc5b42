"""Pictures of files as tensors: Pillow decodes them, or the browser does."""

from __future__ import annotations

import io
import sys
from enum import Enum
from pathlib import Path as FilePath
from typing import Any

from ...core import dtype as dt
from ...core.drivers import Steps, run_async, run_sync
from ...errors import DataError, OptionError
from ...tensor import Tensor, reading
from .pixels import Path, has_pillow, on_host, pillow, planes


class ImageReadMode(Enum):
    """Which channels a picture gets: as it has them, gray, gray and alpha, colours, and alpha."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


Mode = ImageReadMode | str
_MODES = {
    ImageReadMode.GRAY: "L", ImageReadMode.GRAY_ALPHA: "LA", ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}  # fmt: skip


def read_file(path: Path) -> Tensor:
    """The bytes of a file, a uint8 tensor of one axis."""
    content = FilePath(path).read_bytes()
    return on_host(content, (len(content),))


def decode_image(
    input: Tensor | bytes, mode: Mode = "UNCHANGED", apply_exif_orientation: bool = False
) -> Tensor:
    """The picture of a file's bytes, as a tensor (channels, height, width) of uint8; of uint16 for
    a gray one of 16 bits that stays unchanged.

    input: what `read_file` gives, or bytes; PNG, JPEG, GIF, WebP, BMP, and what else Pillow, or
    the browser where there is no Pillow, knows. apply_exif_orientation: turns it as its camera was
    held. Raises DataError for a damaged picture, MissingError without Pillow on a desktop. In a
    browser without Pillow and JavaScript Promise Integration, await `decode_image_async`.
    """
    return run_sync(_decoding(input, mode, apply_exif_orientation, "these bytes"))


async def decode_image_async(
    input: Tensor | bytes, mode: Mode = "UNCHANGED", apply_exif_orientation: bool = False
) -> Tensor:
    """As `decode_image`, without blocking."""
    return await run_async(_decoding(input, mode, apply_exif_orientation, "these bytes"))


def read_image(
    path: Path, mode: Mode = "UNCHANGED", apply_exif_orientation: bool = False
) -> Tensor:
    """The picture in a file; see `decode_image`. An error names the file."""
    return run_sync(_reading(path, mode, apply_exif_orientation))


async def read_image_async(
    path: Path, mode: Mode = "UNCHANGED", apply_exif_orientation: bool = False
) -> Tensor:
    """As `read_image`, without blocking."""
    return await run_async(_reading(path, mode, apply_exif_orientation))


def decode_picture(content: bytes, where: str, most: int | None = None) -> Any:
    """The coloured picture of a file's bytes: Pillow's image, or without Pillow a uint8 tensor (3,
    height, width).

    where: what an error calls it. most: pixels that it may have, which Pillow knows beforehand.
    Raises DataError for a damaged picture, and for one that is too large.
    """
    if has_pillow():
        return _opened(content, where, most).convert("RGB")
    return run_sync(_decoding(content, ImageReadMode.RGB, False, where))


def _reading(path: Path, mode: Mode, apply_exif_orientation: bool) -> Steps[Tensor]:
    content = FilePath(path).read_bytes()
    return (yield from _decoding(content, mode, apply_exif_orientation, str(path)))


def _decoding(
    input: Tensor | bytes, mode: Mode, apply_exif_orientation: bool, where: str
) -> Steps[Tensor]:
    wanted = _mode(mode)
    if isinstance(input, Tensor):
        (read,) = yield from reading([input])
        content = bytes(read.data)
    else:
        content = bytes(input)
    if not content:
        raise DataError(f"no picture in {where}: there are no bytes")
    if has_pillow() or sys.platform != "emscripten":
        return _with_pillow(content, wanted, apply_exif_orientation, where)
    from . import browser

    pixels, width, height = yield browser.decoded(content, apply_exif_orientation, where)
    return _chosen(pixels, width, height, wanted)


def _mode(mode: Mode) -> ImageReadMode:
    if isinstance(mode, ImageReadMode):
        return mode
    name = {"RGBA": "RGB_ALPHA"}.get(mode.upper(), mode.upper())
    if name not in ImageReadMode.__members__:
        known = ", ".join(ImageReadMode.__members__)
        raise OptionError(f"decode_image: there is no mode {mode!r}; give one of {known}")
    return ImageReadMode[name]


def _opened(content: bytes, where: str, most: int | None = None) -> Any:
    """Pillow's image, with all of its pixels."""
    image = pillow("decoding a picture")
    try:
        found = image.open(io.BytesIO(content))
        if most is not None and found.width * found.height > most:
            raise DataError(
                f"the picture in {where} has {found.width} by {found.height} pixels; {most:,} in "
                "all are allowed"
            )
        found.load()
    except image.UnidentifiedImageError as error:
        raise DataError(f"no picture in {where}: {content[:8]!r} begins none that is known") from (
            error
        )
    except (OSError, SyntaxError, ValueError, IndexError, image.DecompressionBombError) as error:
        raise DataError(f"the picture in {where} is damaged: {error}") from error
    return found


def _with_pillow(content: bytes, wanted: ImageReadMode, turned: bool, where: str) -> Tensor:
    image = _opened(content, where)
    if turned:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    if wanted is ImageReadMode.UNCHANGED:
        if image.mode.startswith("I;16"):
            return on_host(image.tobytes(), (1, image.height, image.width), dt.uint16)
        clear = "transparency" in image.info
        plain = {"1": "L", "L": "LA" if clear else "L", "LA": "LA", "RGBA": "RGBA"}
        kind = plain.get(image.mode, "RGBA" if clear else "RGB")
    else:
        kind = _MODES[wanted]
    if image.mode != kind:
        image = image.convert(kind)
    return planes(image.tobytes(), image.width, image.height, len(kind))


def _chosen(pixels: bytes, width: int, height: int, wanted: ImageReadMode) -> Tensor:
    """The channels of a browser's pixels, which always are RGBA."""
    red, green, blue, alpha = (pixels[each::4] for each in range(4))
    if wanted is ImageReadMode.UNCHANGED:
        opaque = alpha.count(255) == len(alpha)
        wanted = ImageReadMode.RGB if opaque else ImageReadMode.RGB_ALPHA
    if wanted in (ImageReadMode.RGB, ImageReadMode.RGB_ALPHA):
        planes_ = [red, green, blue]
    else:  # the luma of ITU-R BT.601, as Pillow has it
        gray = (
            (19595 * r + 38470 * g + 7471 * b + 0x8000) >> 16
            for r, g, b in zip(red, green, blue, strict=True)
        )
        planes_ = [bytes(gray)]
    if wanted in (ImageReadMode.GRAY_ALPHA, ImageReadMode.RGB_ALPHA):
        planes_.append(alpha)
    return on_host(b"".join(planes_), (len(planes_), height, width))
