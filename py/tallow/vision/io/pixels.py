"""Bytes of pixels as tensors, and where Pillow is."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Any

from ...core import dtype as dt
from ...core.dtype import DType
from ...core.hostarray import HostArray
from ...errors import MissingError, ShapeError
from ...graph import constant
from ...tensor import Tensor

Path = str | os.PathLike[str]


def has_pillow() -> bool:
    """Whether Pillow is installed."""
    return "PIL" in sys.modules or find_spec("PIL") is not None


def pillow(what: str) -> Any:
    """Pillow's module Image. Raises MissingError without Pillow. what: that needs it."""
    if not has_pillow():
        raise MissingError(f"{what} needs Pillow: pip install 'tallow[vision]'")
    from PIL import Image

    return Image


def on_host(content: bytes, shape: tuple[int, ...], dtype: DType = dt.uint8) -> Tensor:
    """Elements as a tensor that is on no device yet."""
    return Tensor(constant(HostArray(memoryview(content), shape, dtype)))


def planes(content: bytes, width: int, height: int, channels: int) -> Tensor:
    """Pixels, whose channels lie beside each other, as a uint8 tensor (channels, height, width)."""
    if channels > 1:
        content = b"".join(content[each::channels] for each in range(channels))
    return on_host(content, (channels, height, width))


def interleaved(image: Tensor, what: str) -> tuple[bytes, int, int, int]:
    """The reverse of `planes`: the bytes, width, height, channels. Raises ShapeError for what is
    no uint8 tensor of 1 or 3 channels."""
    if image.dtype is not dt.uint8 or image.ndim != 3 or image.shape[0] not in (1, 3):
        raise ShapeError(
            f"{what}: a picture is a uint8 tensor (1 or 3 channels, height, width); this one is "
            f"{image.dtype.name} {image.shape}"
        )
    channels, height, width = image.shape
    content = bytearray(channels * height * width)
    pixels = image.numpy().tobytes()
    for each in range(channels):
        content[each::channels] = pixels[each * height * width : (each + 1) * height * width]
    return bytes(content), width, height, channels
