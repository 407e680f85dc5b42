"""Values computed at compile time: the same as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tallow import functions as f
from tallow.compile.passes.fold import host_value
from tallow.tensor import Tensor, asarray

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda x: f.permute_dims(x, (2, 0, 1)), X.transpose(2, 0, 1)),
        (lambda x: f.reshape(x, (4, 6)), X.reshape(4, 6)),
        (lambda x: x[1, ::-2, 1:3], X[1, ::-2, 1:3]),
        (lambda x: x[:, 2:1], X[:, 2:1]),
        (lambda x: f.broadcast_to(x[:, :1], (5, 2, 3, 4)),
         np.broadcast_to(X[:, :1], (5, 2, 3, 4))),
        (lambda x: f.permute_dims(x[::-1], (1, 2, 0)) * 2, X[::-1].transpose(1, 2, 0) * 2),
        (lambda x: f.concat([x, x[..., :1]], 2), np.concatenate([X, X[..., :1]], 2)),
        (lambda x: f.take(x, asarray(np.array([2, 0, -1])), 1), X[:, [2, 0, -1]]),
        (lambda x: f.reshape(x[1, 2, 3], ()), X[1, 2, 3]),
    ],
)  # fmt: skip
def test_movement_gives_what_numpy_gives(made: object, wanted: np.ndarray) -> None:
    tensor: Tensor = made(asarray(X))  # type: ignore[operator]
    value = host_value(tensor.node)
    assert value is not None
    assert value.shape == wanted.shape
    assert value.flat() == wanted.ravel().tolist()


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_nan_of_either_operand_stays(name: str) -> None:
    x, y = np.float32([np.nan, 1, 2]), np.float32([1, np.nan, 3])
    value = host_value(getattr(f, name)(asarray(x), asarray(y)).node)
    assert value is not None
    np.testing.assert_array_equal(value.numpy(), getattr(np, name)(x, y))


@pytest.mark.parametrize("name", ["max", "min", "sign"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_nan_at_any_index_stays(name: str, index: int) -> None:
    x = np.array([3, 1, 2], np.float32)
    x[index] = np.nan
    value = host_value(getattr(f, name)(asarray(x)).node)
    assert value is not None
    np.testing.assert_array_equal(value.numpy(), getattr(np, name)(x))
