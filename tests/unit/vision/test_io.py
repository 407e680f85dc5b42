"""tl.vision.io: pictures from bytes and files, and back."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tallow as tl
from tallow.errors import DataError, MissingError, OptionError, ShapeError
from tallow.vision.io import (
    ImageReadMode,
    decode_image,
    decode_image_async,
    decoding,
    encode_jpeg,
    encode_png,
    pixels,
    read_file,
    read_image,
    read_image_async,
    write_jpeg,
    write_png,
)

COLOURS = np.random.default_rng(0).integers(0, 256, (3, 5, 7), np.uint8)


def png(image: Image.Image, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, "PNG", **options)
    return target.getvalue()


def test_png_there_and_back(tmp_path: Path, run_async: Callable[..., Any]) -> None:
    path = tmp_path / "a.png"
    for picture in (COLOURS, COLOURS[:1]):
        write_png(tl.asarray(picture), path)
        for found in (
            read_image(path),
            decode_image(read_file(path)),
            decode_image(path.read_bytes()),
        ):
            assert found.dtype == tl.uint8
            assert (found.numpy() == picture).all()
    assert (run_async(read_image_async(path)).numpy() == COLOURS[:1]).all()
    assert run_async(decode_image_async(path.read_bytes())).shape == (1, 5, 7)
    assert encode_png(tl.asarray(COLOURS), 0).size > encode_png(tl.asarray(COLOURS * 0), 9).size


def test_jpeg(tmp_path: Path) -> None:
    smooth = np.full((3, 16, 16), 90, np.uint8)
    write_jpeg(tl.asarray(smooth), tmp_path / "a.jpg", quality=95)
    assert abs(read_image(tmp_path / "a.jpg").numpy().astype(int) - 90).max() <= 2
    assert encode_jpeg(tl.asarray(COLOURS), 5).size < encode_jpeg(tl.asarray(COLOURS), 95).size


@pytest.mark.parametrize(
    ("kind", "channels"), [("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4), ("1", 1), ("P", 3)]
)
def test_modes(kind: str, channels: int) -> None:
    content = png(Image.fromarray(COLOURS.transpose(1, 2, 0)).convert(kind))
    assert decode_image(content).shape == (channels, 5, 7)
    for mode, count in zip(
        ("GRAY", "GRAY_ALPHA", "rgb", ImageReadMode.RGB_ALPHA), range(1, 5), strict=True
    ):
        assert decode_image(content, mode).shape == (count, 5, 7)
    assert decode_image(content, "RGBA").shape == (4, 5, 7)


def test_sixteen_bits_and_transparency() -> None:
    deep = np.arange(12, dtype=np.uint16).reshape(3, 4) * 5000
    found = decode_image(png(Image.fromarray(deep)))
    assert found.dtype == tl.uint16
    assert (found.numpy()[0] == deep).all()
    clear = Image.new("P", (2, 2))
    assert decode_image(png(clear, transparency=0)).shape == (4, 2, 2)


def test_the_camera_was_held_otherwise() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    content = png(Image.fromarray(COLOURS.transpose(1, 2, 0)), exif=exif)
    turned = decode_image(content, apply_exif_orientation=True)
    assert (turned.numpy() == np.rot90(COLOURS, -1, (1, 2))).all()
    assert decode_image(content).shape == (3, 5, 7)


def test_damaged_pictures(tmp_path: Path) -> None:
    content = png(Image.fromarray(COLOURS.transpose(1, 2, 0)))
    path = tmp_path / "bad.png"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"picture in .*bad\.png is damaged"):
        read_image(path)
    with pytest.raises(DataError, match="no picture in these bytes: b'GIF'"):
        decode_image(b"GIF")
    with pytest.raises(DataError, match="there are no bytes"):
        decode_image(b"")


def test_what_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="no mode 'cmyk'; give one of UNCHANGED, GRAY"):
        decode_image(b"x", "cmyk")
    with pytest.raises(OptionError, match="quality=0 is not within 1 to 100"):
        encode_jpeg(tl.asarray(COLOURS), 0)
    with pytest.raises(OptionError, match="compression_level=10"):
        encode_png(tl.asarray(COLOURS), 10)
    for wrong in (COLOURS[0], COLOURS[:2], COLOURS.astype(np.float32)):
        with pytest.raises(ShapeError, match="a picture is a uint8 tensor"):
            encode_png(tl.asarray(wrong))
    monkeypatch.setattr(pixels, "has_pillow", lambda: False)
    monkeypatch.setattr(decoding, "has_pillow", lambda: False)
    for call in (lambda: decode_image(b"x"), lambda: encode_png(tl.asarray(COLOURS))):
        with pytest.raises(MissingError, match=r"needs Pillow: pip install 'tallow\[vision\]'"):
            call()


def test_the_pixels_of_a_browser() -> None:
    """As Pillow converts them."""
    image = Image.fromarray(COLOURS.transpose(1, 2, 0))
    rgba = image.convert("RGBA").tobytes()
    for mode in ("UNCHANGED", "RGB", "GRAY", "GRAY_ALPHA", "RGB_ALPHA"):
        found = decoding._chosen(rgba, 7, 5, ImageReadMode[mode])
        assert (found.numpy() == decode_image(png(image), mode).numpy()).all()
    half = image.convert("RGBA")
    half.putalpha(7)
    found = decoding._chosen(half.tobytes(), 7, 5, ImageReadMode.UNCHANGED)
    assert found.shape == (4, 5, 7) and (found.numpy()[3] == 7).all()
