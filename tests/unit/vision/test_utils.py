"""Grids of images and drawn boxes, beside what torchvision gave; files; bad options."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tallow as tl
from tallow.errors import DTypeError, OptionError, ShapeError
from tallow.vision import utils

from .record_transforms import recorded
from .record_utils import BOXES, DRAWN, GRIDS, RECORDED, images, photo

VALUES = recorded(RECORDED)


@pytest.mark.parametrize("name", GRIDS)
def test_grids_as_torchvision(name: str) -> None:
    shape, options = GRIDS[name]
    found = utils.make_grid(tl.asarray(images(shape)), **options)
    np.testing.assert_allclose(found.numpy(), VALUES[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", DRAWN)
def test_boxes_as_torchvision(name: str) -> None:
    found = utils.draw_bounding_boxes(tl.asarray(photo()), tl.asarray(BOXES), **DRAWN[name])
    np.testing.assert_array_equal(found.numpy(), VALUES[name])


def test_every_recorded_value_is_compared() -> None:
    assert {*VALUES} == {*GRIDS, *DRAWN}


def test_labels_and_floats() -> None:
    black = tl.zeros((1, 30, 60))
    found = utils.draw_bounding_boxes(
        black, tl.asarray([[2.0, 2.0, 50.0, 25.0]]), ["cat"], colors=(255, 0, 0)
    )
    assert found.shape == (3, 30, 60) and found.dtype == tl.float32
    value = found.numpy()
    assert value[0].max() == 1 and not value[1:].any()
    assert value[0, 4:24, 4:49].any()  # the text
    again = asyncio.run(
        utils.draw_bounding_boxes_async(
            black, tl.asarray([[2.0, 2.0, 50.0, 25.0]]), ["cat"], colors=[(255, 0, 0)]
        )
    )
    np.testing.assert_array_equal(again.numpy(), value)


def test_lists_and_bytes() -> None:
    grid = utils.make_grid([tl.ones((3, 2, 2), "uint8")] * 2, padding=1, pad_value=9)
    assert grid.shape == (3, 4, 7) and grid.dtype == tl.uint8
    assert grid[0].tolist() == [[9] * 7, [9, 1, 1, 9, 1, 1, 9], [9, 1, 1, 9, 1, 1, 9], [9] * 7]


def test_files(tmp_path: Path) -> None:
    x = tl.asarray(images((4, 3, 5, 6)))
    utils.save_image(x, tmp_path / "grid.png", nrow=2)
    grid = utils.make_grid(x, nrow=2).numpy()
    expected = np.clip(grid * 255 + 0.5, 0, 255).astype(np.uint8)
    with Image.open(tmp_path / "grid.png") as read:
        np.testing.assert_array_equal(np.moveaxis(np.array(read), -1, 0), expected)
    file = io.BytesIO()
    asyncio.run(utils.save_image_async(x, file, "PNG", nrow=2))
    assert file.getvalue() == (tmp_path / "grid.png").read_bytes()


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no images": (lambda: utils.make_grid([]), ShapeError, "no images"),
    "number": (lambda: utils.make_grid(5), DTypeError, "neither"),  # type: ignore[arg-type]
    "axes": (lambda: utils.make_grid(tl.zeros((1, 1, 1, 2, 2))), ShapeError, "no images"),
    "row": (lambda: utils.make_grid(tl.zeros((2, 3, 2, 2)), nrow=0), OptionError, "nrow=0"),
    "padding": (lambda: utils.make_grid(tl.zeros((2, 3, 2, 2)), padding=-1), OptionError, "-1"),
    "range": (
        lambda: utils.make_grid(tl.zeros((2, 3, 2, 2)), value_range=(1, 0)), OptionError, "range",
    ),
    "boxes": (
        lambda: utils.draw_bounding_boxes(tl.zeros((3, 4, 4)), tl.zeros(4)), ShapeError, "are not",
    ),
    "colors": (
        lambda: utils.draw_bounding_boxes(tl.zeros((3, 4, 4)), tl.zeros((2, 4)), colors=["red"]),
        OptionError, "1 colors",
    ),
    "labels": (
        lambda: utils.draw_bounding_boxes(tl.zeros((3, 4, 4)), tl.zeros((2, 4)), ["a"]),
        OptionError, "1 labels",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_options(name: str) -> None:
    call, kind, text = BAD[name]
    with pytest.raises(kind, match=text):
        call()
