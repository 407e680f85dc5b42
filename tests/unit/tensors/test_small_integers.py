"""Sums and products of small integers widen, and powers of integers are exact, on each device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl

SMALL = ["bool", "int8", "uint8", "int16", "uint16"]


@pytest.mark.parametrize("kind", SMALL)
def test_sums_of_small_integers_do_not_wrap(device: str, kind: str) -> None:
    x = np.full((3, 300), 1 if kind == "bool" else 100).astype(kind)
    t, each = tl.asarray(x), 1 if kind == "bool" else 100
    unsigned = kind.startswith("u")
    for found in (t.sum(), tl.sum(t), tl.sum(t, axis=(0, 1))):
        assert found.item() == 900 * each
        assert found.dtype == (tl.uint32 if unsigned else tl.int32)
    assert t.sum(0).tolist() == [3 * each] * 300
    running = [n * each for n in range(1, 301)]
    for found in (t.cumsum(1), tl.cumsum(t, 1), tl.cumulative_sum(t, 1)):
        assert found.tolist() == [running] * 3
    assert tl.trace(t).item() == 3 * each


@pytest.mark.parametrize("kind", SMALL)
def test_products_of_small_integers_do_not_wrap(device: str, kind: str) -> None:
    x = np.ones(3, bool) if kind == "bool" else np.array([100, 50, 7]).astype(kind)
    t, running = tl.asarray(x), [1, 1, 1] if kind == "bool" else [100, 5000, 35000]
    for found in (t.prod(), tl.prod(t), tl.prod(t, 0)):
        assert found.item() == running[-1] and found.dtype.bits == 32
    for found in (t.cumprod(0), tl.cumprod(t, 0), tl.cumulative_prod(t)):
        assert found.tolist() == running


@pytest.mark.parametrize("count", [3, 4, 5, 9, 17])
def test_running_sums_of_packed_elements(device: str, count: int) -> None:
    x = np.arange(-2, count - 2).astype("int8")
    assert tl.cumsum(tl.asarray(x), 0).tolist() == np.cumsum(x.astype("int32")).tolist()


def test_a_type_can_be_chosen(device: str) -> None:
    t = tl.asarray(np.full(3, 100, np.int8))
    for found in (
        t.sum(dtype="int16"), tl.sum(t, dtype="int16"), t.prod(dtype="int16"),
        t.cumsum(0, dtype="int16"), tl.cumsum(t, 0, dtype="int16"), t.cumprod(0, dtype="int16"),
    ):  # fmt: skip
        assert found.dtype == tl.int16
    assert t.sum(dtype="int8").item() == 44
    assert t.cumsum(0, dtype="int8").tolist() == [100, -56, 44]
    assert t.sum(dtype="float32").item() == 300.0


def test_wider_types_stay(device: str) -> None:
    for kind in ("int32", "uint32", "int64", "float32"):
        x = tl.asarray(np.array([1, 2, 3]).astype(kind))
        for found in (x.sum(), x.prod(), x.cumsum(0), x.cumprod(0)):
            assert found.dtype == x.dtype
    half = tl.asarray(np.array([1, 2], np.float16))
    assert half.sum().dtype == tl.float16


def test_products_of_matrices_keep_the_type(device: str) -> None:
    x = tl.asarray(np.array([3, 4], np.int8))
    for found in (x.dot(x), tl.vecdot(x, x), tl.einsum("i,i->", x, x)):
        assert found.dtype == tl.int8 and found.item() == 25


POWERS: list[tuple[Any, Any, list[int]]] = [
    (np.array([7, -3, 2, 0, 1, -1], "int32"), 10, [282475249, 59049, 1024, 0, 1, 1]),
    (np.array([7, -3, -2], "int32"), np.array([10, 3, 31], "int32"), [282475249, -27, -(2**31)]),
    (np.array([7, 3], "int64"), np.array([10, 3], "int64"), [282475249, 27]),
    (np.array([11, 3], "int64"), 8, [214358881, 6561]),
    (np.array([5, 2], "int64"), np.array([3, 1], "int64"), [125, 2]),
    (2, np.array([0, 5, 30], "int32"), [1, 32, 1 << 30]),
    (np.array([3, 2], "uint8"), 5, [243, 32]),
    (np.array([255, 15], "uint16"), np.array([2, 4], "uint16"), [65025, 50625]),
    (np.array([2, 1, -1, -1, 0, 5], "int32"), np.array([-1, -2, -3, -2, -1, 0], "int32"),
     [0, 1, -1, 1, 0, 1]),
    (np.array([2, -1, 0, 6], "int32"), np.array([64, 999, 70, 70], "int32"), [0, -1, 0, 0]),
    (np.array([3, 2, 1, -3, 2], "int32"), np.array([0, 1, 2, 3, 4], "int32"), [1, 2, 1, -27, 16]),
    (np.array([9, -9], "int32"), 0, [1, 1]),
    (np.array([9, -9], "int32"), 1, [9, -9]),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(POWERS)))
def test_powers_of_integers_are_exact(device: str, number: int) -> None:
    base, exponent, wanted = POWERS[number]
    whole = [
        tl.asarray(each) if isinstance(each, np.ndarray) else each for each in (base, exponent)
    ]
    for found in (whole[0] ** whole[1], tl.pow(*whole)):
        assert found.dtype.is_integer and found.tolist() == wanted


def test_powers_that_are_no_integers(device: str) -> None:
    x = tl.asarray(np.array([4, 9], np.int32))
    with pytest.raises(tl.OptionError, match="pow: integers of int32 to the power -1"):
        x**-1
    assert (x**0.5).tolist() == pytest.approx([2.0, 3.0])
    assert (2.0**x).tolist() == pytest.approx([16.0, 512.0])
    y = tl.asarray(np.array([2, 3], np.int8))
    y **= 2
    assert y.dtype == tl.int8 and y.tolist() == [4, 9]
