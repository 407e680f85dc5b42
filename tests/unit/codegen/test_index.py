"""Index expressions: simplified text must mean the same numbers as the arithmetic it stands for."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallow.codegen.index import Coord, Index, is_multiple, joined, variable
from tallow.core.shape import size_of, strides_of
from tallow.devices.webgpu.codegen.index_text import text_of
from tallow.ops.movement import reshape_coords


def evaluate(coord: Coord, **values: int) -> int:
    """The value of a coordinate, by running its WGSL text as Python."""
    text = text_of(coord).replace("/", "//")
    for suffix in "0123456789":
        text = text.replace(f"{suffix}u", suffix)
    return int(eval(text, {}, values))


def test_division_vanishes_where_the_remainder_is_known() -> None:
    row, column = variable("row", 7), variable("column", 32)
    linear = row * 32 + column
    assert linear // 32 == row
    assert linear % 32 == column
    assert (column * 4 + 3) // 128 == 0


def test_groups_of_four_stay_together() -> None:
    linear = variable("i", 16) * 4
    assert (linear + 3) // 8 == (linear // 8)
    assert (linear + 1) % 8 == linear % 8 + 1
    assert is_multiple(linear % 8, 4)


def test_a_variable_with_one_value_is_that_value() -> None:
    assert variable("batch", 1) == 0


@settings(deadline=None)
@given(
    st.integers(1, 9), st.integers(0, 40), st.integers(1, 30), st.integers(1, 12), st.integers(1, 9)
)
def test_arithmetic_is_exact(scale: int, offset: int, divisor: int, bound: int, more: int) -> None:
    a, b = variable("a", bound), variable("b", more)
    whole: Coord = a * scale + b + offset
    for x, y in itertools.product(range(bound), range(more)):
        expected = (x * scale if bound > 1 else 0) + (y if more > 1 else 0) + offset
        values = {"a": x, "b": y}
        assert evaluate(whole, **values) == expected
        assert evaluate(whole // divisor, **values) == expected // divisor
        assert evaluate(whole % divisor, **values) == expected % divisor


def test_quotient_and_remainder_are_joined() -> None:
    a, b = variable("a", 150), variable("b", 7)
    assert joined(b * 300 + a // 6 * 12 + a % 6 * 2 + 5) == b * 300 + a * 2 + 5
    assert joined((a // 30) * 30 + (a % 30) // 5 * 5 + (a % 30) % 5) == a
    assert joined(4) == 4


@pytest.mark.parametrize(
    "apart",
    [
        lambda a, b: a // 6 * 5 + a % 6,
        lambda a, b: a // 6 * 6 + a % 5,
        lambda a, b: a // 6 * 6 + b % 6,
    ],
)
def test_others_stay_apart(apart: Callable[[Coord, Coord], Coord]) -> None:
    parts = apart(variable("a", 150), variable("b", 7))
    assert joined(parts) == parts


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((6, 4), (2, 3, 4)),
        ((2, 3, 4), (24,)),
        ((1, 6, 1), (2, 3)),
        ((5, 6), (10, 3)),
        ((2, 1, 8), (4, 4, 1)),
        ((7,), (1, 7, 1, 1)),
    ],
)
def test_reshape_finds_the_same_element(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    for linear, coords in enumerate(itertools.product(*map(range, target))):
        found = reshape_coords(source, target, coords)
        assert sum(c * s for c, s in zip(found, strides_of(source), strict=True)) == linear
    names = [variable(f"c{axis}", dim) for axis, dim in enumerate(target)]
    symbolic = reshape_coords(source, target, names)
    assert all(isinstance(c, (int, Index)) for c in symbolic)
    assert size_of(source) == size_of(target)
