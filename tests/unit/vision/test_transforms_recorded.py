"""Each transform, beside what torchvision gave for the same images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

import tallow as tl
from tallow.vision.transforms import InterpolationMode, functional
from tallow.vision.transforms.policies import changed

from .record_transforms import recorded
from .transform_cases import CASES, CONVERSIONS, IMAGES, KINDS, displacement, values

RECORDED = recorded()


def near(found: Any, name: str, loose: bool = False) -> None:
    """loose: a pixel in a hundred may be its neighbour, where a coordinate lies in the middle."""
    expected = RECORDED[name]
    if isinstance(found, Image.Image):
        np.testing.assert_array_equal(np.array(found), expected)
        return
    value = found.numpy()
    assert value.shape == expected.shape and value.dtype == expected.dtype
    whole = value.dtype.kind in "iu"
    apart = np.abs(value.astype(np.float64) - expected.astype(np.float64))
    worst = np.quantile(apart, 0.99) if loose else apart.max()
    assert worst <= (1 if whole else 3e-5), f"{worst} apart, {(apart > 0.01).mean():.1%} of pixels"


@pytest.mark.parametrize("name", CASES)
def test_as_torchvision(name: str) -> None:
    case = CASES[name]
    array = IMAGES[case.image]
    image = Image.fromarray(np.moveaxis(array, 0, -1)) if case.pil else tl.asarray(array)
    result = getattr(functional, case.function)(image, *case.args, **case.options)
    for number, each in enumerate(result if isinstance(result, tuple) else [result]):
        near(each, f"{name}/{number}", case.options.get("interpolation") == "nearest")


@pytest.mark.parametrize(("before", "after"), CONVERSIONS)
def test_types_as_torchvision(before: str, after: str) -> None:
    near(
        functional.convert_image_dtype(tl.asarray(values(before)[None]), after)[0],
        f"{before} to {after}",
    )


@pytest.mark.parametrize("pil", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_policies_as_torchvision(kind: str, pil: bool) -> None:
    array = IMAGES["bytes"]
    image = Image.fromarray(np.moveaxis(array, 0, -1)) if pil else tl.asarray(array)
    found = changed(image, kind, KINDS[kind], InterpolationMode.NEAREST, None)
    near(found, kind + " in Pillow" * pil, loose=True)


def test_elastic_as_torchvision() -> None:
    moved = tl.asarray(displacement())
    near(functional.elastic_transform(tl.asarray(IMAGES["float"]), moved), "elastic")


def test_every_recorded_value_is_compared() -> None:
    known = {*CASES, *(f"{before} to {after}" for before, after in CONVERSIONS), "elastic"}
    known |= {kind + end for kind in KINDS for end in ("", " in Pillow")}
    assert {name.rpartition("/")[0] or name for name in RECORDED} == known
