"""Tensors: building an op computes its shape and type, and raises mistakes."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

import tallow as tl
from tallow import functional
from tallow.graph import input_node
from tallow.tensor import Tensor


def tensor(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(input_node("x", shape, getattr(tl, dtype)))


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: tensor(3, 4) + tensor(2, 4), tl.ShapeError, ["add", "(3, 4)", "(2, 4)"]),
        (lambda: tensor(3, 4) @ tensor(5, 4), tl.ShapeError, ["matmul", "(3, 4)", "(5, 4)", "4"]),
        (
            lambda: functional.conv2d(tensor(1, 3, 28, 28), tensor(8, 1, 3, 3)),
            tl.ShapeError,
            ["conv2d: input has 3 channels, weight expects 1", "(1, 3, 28, 28)", "(8, 1, 3, 3)"],
        ),
        (
            lambda: functional.conv2d(tensor(1, 1, 2, 2), tensor(1, 1, 5, 5)),
            tl.ShapeError,
            ["(5, 5)", "(1, 1, 2, 2)"],
        ),
        (lambda: functional.max_pool2d(tensor(4, 4), 2), tl.ShapeError, ["max_pool2d", "(4, 4)"]),
        (lambda: tl.reshape(tensor(6), (4, -1)), tl.ShapeError, ["(6,)", "(4, -1)"]),
        (lambda: tl.sum(tensor(2, 3), axis=2), tl.ShapeError, ["axis 2", "2 dimensions"]),
        (lambda: tl.sum(tensor(2, 3), axis=(0, 0)), tl.ShapeError, ["twice"]),
        (lambda: tl.max(tensor(0, 3), axis=0), tl.ShapeError, ["empty"]),
        (lambda: tl.concat([tensor(2, 3), tensor(2, 4)]), tl.ShapeError, ["(2, 3)", "(2, 4)"]),
        (lambda: tl.permute_dims(tensor(2, 3), (0, 0)), tl.ShapeError, ["(0, 0)"]),
        (lambda: tl.squeeze(tensor(2, 3), 0), tl.ShapeError, ["axis 0"]),
        (lambda: tl.broadcast_to(tensor(2, 3), (2, 4)), tl.ShapeError, ["(2, 3)", "(2, 4)"]),
        (lambda: tensor(3)[5], tl.IndexRangeError, ["index 5", "axis 0", "(3,)"]),
        (lambda: tensor(3)[0, 0], tl.ShapeError, ["too many"]),
        (lambda: tensor(3)[1.5], tl.DTypeError, ["index"]),
        (lambda: tl.take(tensor(3), tensor(2)), tl.DTypeError, ["take", "float32"]),
        (lambda: tl.bitwise_and(tensor(3), tensor(3)), tl.DTypeError, ["bitwise_and", "float32"]),
        (lambda: -tensor(3, dtype="bool_"), tl.DTypeError, ["negative", "bool"]),
        (lambda: tensor(3).astype("complex64"), tl.DTypeError, ["complex64", "float32"]),
        (lambda: tl.asarray([[1, 2], [3]]), tl.ShapeError, ["ragged"]),
        (lambda: tl.asarray(["a"]), tl.DTypeError, ["'a'"]),
        (lambda: tl.asarray(object()), tl.DTypeError, ["object"]),
        (lambda: tl.zeros((2, -1)), tl.ShapeError, ["(2, -1)"]),
        (lambda: tl.pad(tensor(2, 2), [(1, 1)]), tl.ShapeError, ["pad", "(2, 2)"]),
    ],
)
def test_mistakes_say_what_and_where(build: object, error: type, words: list[str]) -> None:
    with pytest.raises(error) as caught:
        build()  # type: ignore[operator]
    assert isinstance(caught.value, tl.TallowError)
    for word in words:
        assert word in str(caught.value)


def test_types_promote_as_the_array_api_says() -> None:
    i, u, f, b = (tensor(2, dtype=d) for d in ("int32", "uint32", "float32", "bool_"))
    assert (i + f).dtype == tl.float32
    assert (i + u).dtype == tl.int64
    assert (f + 1).dtype == tl.float32
    assert (i + 1).dtype == tl.int32
    assert (i + 1.5).dtype == tl.float32
    assert (b + 1).dtype == tl.int32
    assert (i / i).dtype == tl.float32
    assert (i < 3).dtype == tl.bool_
    assert tl.sum(b).dtype == tl.int32
    assert tl.mean(i).dtype == tl.float32


def test_the_mean_of_integers_and_float16_is_summed_in_a_wider_type() -> None:
    far = tl.asarray(array("i", [1 << 30, 3 - (1 << 30)]))
    assert tl.mean(far).numpy(device="numpy").item() == 1.5
    half = tl.full((1000,), 100, tl.float16)
    assert tl.mean(half).numpy(device="numpy").item() == 100


def test_buffers_become_tensors_without_numpy() -> None:
    assert tl.asarray(array("f", [1, 2])).dtype == tl.float32
    assert tl.asarray(memoryview(b"\x01\x02")).tolist() == [1, 2]
    assert tl.asarray([[1, 2], [3, 4]]).shape == (2, 2)
    assert tl.asarray(2.5).shape == ()
    assert tl.asarray(np.float64(2)).dtype == tl.float64
    assert tl.asarray(np.arange(6).reshape(2, 3).T).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_realising() -> None:
    x = tl.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert (x @ x).numpy("numpy").tolist() == [[7, 10], [15, 22]]
    assert tl.sum(x).item() == 10
    assert float(x[0, 1]) == 2
    assert np.asarray(x + 1).tolist() == [[2, 3], [4, 5]]


def test_empty_tensors() -> None:
    x = tl.zeros((0, 3))
    assert (x + 1).numpy("numpy").shape == (0, 3)
    assert tl.sum(x, axis=0).numpy("numpy").tolist() == [0, 0, 0]
    assert tl.concat([x, tl.ones((2, 3))]).numpy("numpy").shape == (2, 3)
