"""Sessions: feeds are checked by name, and what can't fit is rejected before it is tried."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow.compile import Limits, compile_graph
from tallow.devices.webgpu.native import device as native_device
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor


def doubled() -> Graph:
    node = input_node("image", (2, 3), tl.float32)
    return Graph((node,), {"double": (Tensor(node) * 2.0).node}, "doubler")


def test_run() -> None:
    with tl.compile_session(doubled(), "numpy") as session:
        result = session.run({"image": np.ones((2, 3), np.float32)})
        assert result["double"].tolist() == [[2] * 3] * 2
        assert session.run({"image": [[1, 2, 3], [4, 5, 6]]})["double"][1, 2] == 12
        assert session.stats["runs"] == 2
    with pytest.raises(tl.DeviceError, match="closed"):
        session.run({"image": np.ones((2, 3), np.float32)})


@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ({}, ["doubler", "missing image"]),
        ({"image": np.ones((2, 3), np.float32), "mask": 1}, ["unknown mask", "image"]),
        ({"picture": 1}, ["missing image", "unknown picture"]),
        ({"image": np.ones((3, 2), np.float32)}, ["'image'", "float32 (2, 3)", "(3, 2)"]),
        ({"image": np.ones((2, 3))}, ["'image'", "float32", "float64"]),
        ({"image": "text"}, ["'image'", "float32 (2, 3)"]),
        ({"image": [[1, 2], [3]]}, ["'image'", "ragged"]),
        ({"image": None}, ["'image'"]),
    ],
)
def test_feeds_that_do_not_fit_are_named(feeds: dict[str, object], words: list[str]) -> None:
    with tl.compile_session(doubled(), "numpy") as session:
        with pytest.raises(tl.FeedError) as caught:
            session.run(feeds)
        for word in words:
            assert word in str(caught.value)
        good = session.run({"image": np.zeros((2, 3), np.float32)})
        assert good["double"].shape == (2, 3)


def test_a_plan_that_cannot_fit_is_refused_with_both_numbers() -> None:
    node = input_node("x", (1 << 20, 64), tl.float32)
    graph = Graph((node,), {"y": (Tensor(node) + 1.0).node}, "huge")
    with pytest.raises(tl.DeviceMemoryError) as caught:
        compile_graph(graph, "webgpu", Limits(binding_bytes=1 << 27, buffer_bytes=1 << 28))
    for word in ("huge", "268,435,456", "134,217,728", "device='numpy'"):
        assert word in str(caught.value)


def test_devices_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tl.DeviceUnavailableError, match="'cuda' is not a device"):
        tl.compile_session(doubled(), "cuda")
    monkeypatch.setattr(native_device, "find_adapter", lambda: "no driver")
    with pytest.raises(tl.DeviceUnavailableError, match="'webgpu' is unavailable: no driver"):
        tl.compile_session(doubled(), "webgpu")
    assert "webgpu" not in tl.devices()
    assert tl.devices()[0] == "numpy"


def test_int64_constants_that_do_not_fit_the_gpu_are_named() -> None:
    node = input_node("x", (2,), tl.int64)
    big = Tensor(node) + tl.asarray(np.array([1, 1 << 40]))
    graph = Graph((node,), {"y": big.node}, "big")
    with pytest.raises(tl.DTypeError, match="device='numpy'"):
        compile_graph(graph, "webgpu")
    with tl.compile_session(graph, "numpy") as session:
        assert session.run({"x": np.zeros(2, np.int64)})["y"].tolist() == [1, 1 << 40]
