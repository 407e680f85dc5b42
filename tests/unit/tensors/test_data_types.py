"""Element types, constants and the last names of the array API, compared with NumPy's."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tallow as tl
from tallow.errors import DTypeError, OptionError, ShapeError

NAMES = (
    *("bool", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "float32", "float64"),
)


def test_constants() -> None:
    assert (tl.pi, tl.e, tl.inf) == (math.pi, math.e, math.inf) and math.isnan(tl.nan)
    assert tl.ones(3)[:, tl.newaxis].shape == (3, 1)


def mixed(a: str, b: str) -> bool:
    """Whether the array API leaves the pair undefined: NumPy goes to float64."""
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    return len(kinds) > 1 and ("f" in kinds or "b" in kinds or {a, b} & {"uint64"} != set())


@pytest.mark.parametrize(("a", "b"), [*itertools.product(NAMES, NAMES)])
def test_types_of_results(a: str, b: str) -> None:
    if mixed(a, b):
        return
    found = np.result_type(np.dtype(a), np.dtype(b)).name
    assert tl.result_type(a, b).name == found
    assert tl.result_type(tl.ones(2, dtype=a), b).name == found
    assert tl.can_cast(a, b) == (found == b)


def test_numbers_change_the_kind_alone() -> None:
    assert tl.result_type("int8", 300) == tl.int8
    assert tl.result_type(tl.ones(1, dtype="float16"), 2.5) == tl.float16
    assert tl.result_type("int8", 2.5) == tl.float32
    assert tl.result_type(True, 2) == tl.int32
    assert not tl.can_cast("uint64", "int64")
    with pytest.raises(DTypeError, match="uint64"):
        tl.result_type("uint64", "int64")
    with pytest.raises(OptionError, match="one value"):
        tl.result_type()


@pytest.mark.parametrize("name", NAMES)
def test_kinds(name: str) -> None:
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "numeric")
    for kind in (*kinds, "complex floating"):
        assert tl.isdtype(name, kind) == np.isdtype(np.dtype(name), kind)
    assert tl.isdtype(name, name) and tl.isdtype(name, ("bool", "numeric"))
    assert not tl.isdtype(name, "float16")
    with pytest.raises(DTypeError, match="whole"):
        tl.isdtype(name, "whole")


def test_products_along_an_axis_and_slices() -> None:
    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(3.0)[:, None]
    a, b = tl.asarray(x, "float32"), tl.asarray(y, "float32")
    np.testing.assert_array_equal(tl.vecdot(a, b, axis=-2).numpy(), (x * y).sum(1))
    pieces = tl.unstack(a, axis=1)
    assert len(pieces) == 3
    np.testing.assert_array_equal(pieces[2].numpy(), x[:, 2])
    assert tl.astype(a, "int32").dtype == tl.int32 and tl.positive(a) is a
    with pytest.raises(ShapeError, match="vecdot: axis 0"):
        tl.vecdot(a, b, axis=0)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_shapes_by_keyword(name: str) -> None:
    make = getattr(tl, name)
    assert make(size=(2, 3)).shape == make(2, 3).shape == (2, 3)
    assert make(size=4, dtype="float16").dtype == tl.float16
    if not name.startswith("rand"):
        assert make(shape=(2, 3)).shape == (2, 3)
