"""Tensors as files of pictures, which Pillow encodes."""

from __future__ import annotations

import io
from pathlib import Path as FilePath
from typing import Any

from ...errors import OptionError
from ...tensor import Tensor
from .pixels import Path, interleaved, on_host, pillow


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """A PNG file's bytes, a uint8 tensor of one axis.

    input: uint8, (1 or 3 channels, height, width). compression_level: 0 to 9. Raises ShapeError,
    OptionError, MissingError without Pillow.
    """
    _check("encode_png", "compression_level", compression_level, 0, 9)
    return _encoded(input, "encode_png", "PNG", compress_level=compression_level)


def encode_jpeg(input: Tensor, quality: int = 75) -> Tensor:
    """A JPEG file's bytes, a uint8 tensor of one axis. quality: 1 to 100; else as `encode_png`."""
    _check("encode_jpeg", "quality", quality, 1, 100)
    return _encoded(input, "encode_jpeg", "JPEG", quality=quality)


def write_file(filename: Path, data: Tensor) -> None:
    """Writes the bytes of a uint8 tensor of one axis into a file."""
    FilePath(filename).write_bytes(data.numpy().tobytes())


def write_png(input: Tensor, filename: Path, compression_level: int = 6) -> None:
    """Writes a PNG file; see `encode_png`."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: Path, quality: int = 75) -> None:
    """Writes a JPEG file; see `encode_jpeg`."""
    write_file(filename, encode_jpeg(input, quality))


def _check(what: str, name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise OptionError(f"{what}: {name}={value} is not within {least} to {most}")


def _encoded(input: Tensor, what: str, kind: str, **options: Any) -> Tensor:
    content, width, height, channels = interleaved(input, what)
    image = pillow(what).frombytes("L" if channels == 1 else "RGB", (width, height), content)
    target = io.BytesIO()
    image.save(target, kind, **options)
    found = target.getvalue()
    return on_host(found, (len(found),))
