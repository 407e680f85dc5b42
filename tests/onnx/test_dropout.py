"""Dropout in training mode, which is random: the operator of the host, called by itself."""

from typing import Any

import numpy as np
import pytest

from tallow.errors import OnnxFormatError
from tallow.onnx.call import Call
from tallow.onnx.records import NodeRecord
from tallow.onnx.registry import host_operators

X = np.arange(1, 10_001, dtype=np.float32)


def dropout(*inputs: Any, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What the operator gives."""
    attributes = {} if seed is None else {"seed": seed}
    call = Call(NodeRecord("", "Dropout", "", ("x",), ("y", "mask"), attributes), 22)
    result = host_operators()["", "Dropout"].function(call, np, *inputs)
    assert isinstance(result, tuple)
    return result


@pytest.mark.parametrize("x", [X, X.astype(np.float16) / 100])
def test_a_share_is_dropped_and_the_rest_grows(x: np.ndarray) -> None:
    y, mask = dropout(x, np.float32(0.25), np.array(True))
    assert y.dtype == x.dtype
    assert mask.dtype == bool
    assert abs(mask.mean() - 0.75) < 0.03
    np.testing.assert_allclose(y, np.where(mask, x / 0.75, 0), rtol=2e-3)


def test_half_is_dropped_unless_said_otherwise() -> None:
    _, mask = dropout(X, None, np.array(True))
    assert abs(mask.mean() - 0.5) < 0.03


def test_a_seed_decides() -> None:
    first, again, other = (dropout(X, None, np.array(True), seed=seed)[1] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("ratio", "training"), [(0.5, False), (0.5, None), (0.0, True)], ids=["off", "unsaid", "none"]
)
def test_nothing_is_dropped(ratio: float, training: bool | None) -> None:
    y, mask = dropout(X, np.float32(ratio), None if training is None else np.array(training))
    np.testing.assert_array_equal(y, X)
    assert mask.all()


@pytest.mark.parametrize("ratio", [1.0, -0.5, np.nan])
def test_a_ratio_that_is_none(ratio: float) -> None:
    with pytest.raises(OnnxFormatError, match="from 0 up to, without, 1"):
        dropout(X, np.float32(ratio), np.array(True))
