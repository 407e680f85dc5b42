"""What building a graph makes: no node too many, the same answer and the same error every time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core import context
from tallow.errors import DTypeError, ShapeError


@pytest.fixture
def made() -> Iterator[list[str]]:
    """The names of the ops of all nodes that are made."""
    names: list[str] = []
    with context.recorder.override(lambda node: names.append(node.op.name)):
        yield names


X = tl.ones((2, 3))
BATCH = tl.ones((4, 2, 2))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: X + X, ["add"]),
        (lambda: X * 2.0, ["multiply"]),
        (lambda: 2 - X, ["subtract"]),
        (lambda: X + tl.ones(3), ["constant", "expand", "reshape", "expand", "add"]),
        (lambda: X**2, ["multiply"]),
        (lambda: X**3, ["multiply", "multiply"]),
        (lambda: X**1, []),
        (lambda: tl.exp(X), ["exp"]),
        (lambda: BATCH @ BATCH, ["matmul"]),
        (lambda: X @ X.mT, ["permute", "reshape", "reshape", "matmul", "reshape"]),
        (lambda: X[0:2], []),
        (lambda: X[1:], ["slice"]),
        (lambda: X[..., 1], ["slice", "reshape"]),
        (lambda: X[:, None], ["reshape"]),
        (lambda: tl.concat([X, X]), ["concat"]),
        (lambda: tl.full((2, 3), 0.5), ["constant", "expand"]),
        (lambda: tl.sum(X, 1, keepdims=True), ["sum"]),
    ],
)
def test_no_node_too_many(build: Callable[[], Any], expected: list[str], made: list[str]) -> None:
    build()  # numbers are kept
    made.clear()
    build()
    assert made == expected


def test_a_number_is_made_once_for_a_shape(made: list[str]) -> None:
    X * 0.123
    assert made == ["constant", "expand", "multiply"]
    made.clear()
    X / 0.123
    assert made == ["divide"]


def test_equal_numbers_of_other_types_and_signs_stay_apart() -> None:
    truths = tl.asarray([True, False])
    for value, sign in ((0.0, 1.0), (-0.0, -1.0), (0.0, 1.0)):
        assert np.copysign(1, tl.where(truths, value, value).numpy()).tolist() == [sign, sign]
    for value, dtype in ((True, "bool"), (1, "int32"), (1.0, "float32"), (True, "bool")):
        assert tl.where(truths, value, value).dtype.name == dtype
        assert (tl.asarray([1, 0]) == value).numpy().tolist() == [True, False]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: X + tl.ones((2, 4)), ShapeError, "add: shapes .2, 3. and .2, 4. do not"),
        (lambda: tl.subtract(X == 1, X == 1), DTypeError, "subtract: takes .*, not bool"),
        (lambda: X.reshape(4, 2), ShapeError, "reshape: .* has 6 elements"),
        (lambda: X.reshape(-2, -3), ShapeError, "reshape: at most one"),
        (lambda: tl.permute_dims(X, (0, 0)), ShapeError, "permute_dims: .* permutation"),
        (lambda: tl.permute_dims(X, (0, True)), ShapeError, "permute_dims: an axis is an int"),
        (lambda: tl.concat([X, tl.ones((2, 4))]), ShapeError, "concat: .* differ in an axis"),
        (lambda: tl.concat([X, tl.ones(3)], 1), ShapeError, "concat: .* differ in an axis"),
        (lambda: tl.max(tl.zeros((0, 3)), 0), ShapeError, "max: axis 0 of shape .* is empty"),
        (lambda: X[0, 0, 0], ShapeError, "3 indices are too many"),
        (lambda: X @ X, ShapeError, "matmul: .* the inner lengths 3, 2 differ"),
    ],
)
def test_an_error_is_the_same_every_time(
    build: Callable[[], Any], error: type[Exception], message: str
) -> None:
    said = []
    for _ in range(2):
        with pytest.raises(error, match=message) as caught:
            build()
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_gradient_passes_a_part_without_elements() -> None:
    parts = [tl.zeros(shape, requires_grad=True) for shape in ((2, 1), (2, 0), (2, 3))]
    joined = tl.concat(parts, 1)
    (joined * tl.asarray(np.arange(8, dtype="float32").reshape(2, 4))).sum().backward()
    found = [part.grad.tolist() for part in parts if part.grad is not None]
    assert found == [[[0.0], [4.0]], [[], []], [[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]]


@pytest.mark.parametrize(
    "key",
    [
        (slice(1, 3),),
        (slice(None, None, 2), 1),
        (slice(3, 0, -1), slice(1, 2)),
        (slice(2, 2),),
        (..., slice(1, None)),
        (None, -1),
    ],
)
def test_the_gradient_of_a_slice_goes_back_to_its_place(key: Any) -> None:
    x = tl.asarray(np.ones((4, 3), "float32"), requires_grad=True)
    picked = x[key]
    factors = np.arange(1.0, 1 + math.prod(picked.shape), dtype="float32").reshape(picked.shape)
    (picked * tl.asarray(factors)).sum().backward()
    expected = np.zeros((4, 3), "float32")
    expected[key] = factors
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), expected)
