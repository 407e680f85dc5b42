"""Sessions of models made here, held against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import tallow as tl

INT, BOOL, TEXT = TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING


X = np.random.default_rng(7).standard_normal((4, 3), dtype=np.float32)


def graph(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: Any = ()) -> Any:
    return helper.make_graph(nodes, "inner", inputs, outputs, list(weights))


def session_of(proto: onnx.ModelProto, device: str = "numpy", **options: Any) -> Any:
    return tl.onnx.load(proto.SerializeToString()).session(device, **options)


def both(proto: onnx.ModelProto, *feeds: dict[str, Any], device: str = "numpy") -> Any:
    """Asserts that one session agrees with onnxruntime for several inputs; returns the session."""
    other = onnxruntime.InferenceSession(proto.SerializeToString())
    session = session_of(proto, device)
    for feed in feeds:
        got = list(session.run(feed).values())
        for mine, wanted in zip(got, other.run(None, feed), strict=True):
            assert_same(mine, wanted)
    assert session.device == device
    return session


def assert_same(mine: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(mine, list)
        for one, other in zip(mine, wanted, strict=True):
            assert_same(one, other)
        return
    assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype == object:
        assert mine.tolist() == wanted.tolist()
    else:
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)
