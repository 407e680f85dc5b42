"""What stays on a device, on NumPy, WebAssembly and desktop WebGPU; and what is refused."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from staying_cases import CASES, counting, run_case

import tallow as tl
from tallow.devices.webgpu.native import device as native_device
from tallow.graph import Graph, input_node
from tallow_build.paths import ROOT

RunAsync = Callable[..., Any]


def check(name: str, device: str, run_async: RunAsync) -> None:
    """Runs a case, of which nothing may be left."""
    outcome = run_async(run_case(name, device))
    assert outcome["device"] == device
    assert outcome["adapter"]
    assert outcome["left"] == [0, 0]


@pytest.mark.parametrize("name", CASES)
def test_on_numpy(name: str, run_async: RunAsync) -> None:
    check(name, "numpy", run_async)


@pytest.mark.parametrize("name", CASES)
def test_on_wasm(name: str, run_async: RunAsync) -> None:
    check(name, "wasm", run_async)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("native")
def test_on_a_desktop_gpu(name: str, run_async: RunAsync) -> None:
    check(name, "webgpu", run_async)


@pytest.mark.parametrize("name", ["counter", "running_mean", "rolling_cache"])
def test_the_examples_of_the_docs_are_these(name: str) -> None:
    shown = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tensors.md").read_text("utf-8"), re.S)
    _, body = inspect.getsource(CASES[name]).split("-> None:\n", 1)
    lines = [line for line in textwrap.dedent(body).splitlines() if line]
    found = [[line for line in block.splitlines() if line] for block in shown]
    assert any(lines[: len(block)] == block for block in found)


def test_blocking_forms() -> None:
    tl.set_default_device("numpy")
    try:
        count = tl.Variable(1.5, name="count")
        count.assign(count * 2)
        assert (float(count), count.item(), count.numpy().tolist()) == (3, 3, 3)
        assert count.device == "numpy"
        variable = tl.Variable(np.ones(3, np.float32))
        with tl.compile_session(counting(), "numpy", {"count": variable}) as session:
            found = session.run({"x": [1.0, 1.0, 1.0]}, fetch=["y"])
            assert found["y"].tolist() == [2, 2, 2]
            assert session.state_dict()["count"].tolist() == [2, 2, 2]
    finally:
        tl.set_default_device(None)


def test_zeros_of_either_sign_are_two_structures() -> None:
    x = tl.asarray(np.ones(100, np.float32))
    for zero in (0.0, -0.0, 0.0):
        assert np.signbit((x * zero).numpy("numpy")).tolist() == [np.signbit(zero)] * 100


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ([1.0], tl.ShapeError, r"w: has the shape \(2,\), assigned \(1,\)"),
        (np.array([1, 2]), tl.DTypeError, "w: has the type float32, assigned int64; cast it"),
    ],
)
def test_a_variable_keeps_shape_and_type(value: Any, error: type[Exception], words: str) -> None:
    variable = tl.Variable([1.0, 2.0], name="w", device="numpy")
    with pytest.raises(error, match=words):
        variable.assign(value)
    assert variable.numpy().tolist() == [1, 2]


def test_bad_states_and_fetches_are_named() -> None:
    variable = tl.Variable(np.zeros(3, np.float32), device="numpy")
    with pytest.raises(tl.GraphError, match="its states are count, given are none"):
        tl.compile_session(counting(), "numpy")
    with pytest.raises(tl.GraphError, match="the state 'count' is"):
        tl.compile_session(counting(), "numpy", {"count": tl.Variable([1.0])})
    with tl.compile_session(counting(), "numpy", {"count": variable}) as session:
        with pytest.raises(tl.FeedError, match=r"fetch names z \(outputs are y, old\)"):
            session.run({"x": [1.0, 1.0, 1.0]}, fetch=["z"])
        with pytest.raises(tl.FeedError, match="missing count; unknown other"):
            session.load_state_dict({"other": 1})
        with pytest.raises(tl.ShapeError, match=r"assigned \(1,\)"):
            session.load_state_dict({"count": [1.0]})
        with pytest.raises(tl.FeedError, match=r"'x' expects float32 \(3,\), got float32 \(1,\)"):
            session.run({"x": tl.asarray([1.0]).realize()})
    assert variable.numpy().tolist() == [0, 0, 0]


def test_arguments_must_be_tensors_or_hashable() -> None:
    @tl.jit
    def f(x: Any) -> Any:
        return x

    with pytest.raises(tl.OptionError, match="neither a tensor nor hashable"):
        f({1, 2})


@pytest.mark.usefixtures("native")
def test_two_devices_do_not_meet_unasked() -> None:
    here = tl.asarray([1.0, 2.0]).realize("numpy")
    there = tl.asarray([3.0, 4.0]).realize("webgpu")
    with pytest.raises(tl.DeviceError, match=r"numpy and webgpu meet .* x.to\(\)"):
        (here + there).numpy()
    assert (here.to("webgpu") + there).numpy().tolist() == [4, 6]


@pytest.mark.usefixtures("native")
def test_what_was_on_a_lost_device_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = native_device.open_device()
    monkeypatch.setattr(native_device, "_opened", gpu)  # the tests after this one use it again
    x = tl.asarray([1.0, 2.0]).realize("webgpu")
    weight = tl.Variable([1.0, 2.0], name="weight", device="webgpu").assign([3.0, 4.0])
    scaled = tl.jit(lambda y: y * weight)
    assert scaled(x).numpy().tolist() == [3, 8]
    monkeypatch.setattr(gpu, "lost", tl.DeviceLostError("The GPU device was lost: a test"))
    uses: list[Callable[[], Any]] = [lambda: (x + 1).numpy(), weight.numpy, lambda: scaled(x)]
    for use in uses:
        with pytest.raises(tl.DeviceLostError, match="lost with its GPU device; compute it again"):
            use()
    with pytest.raises(tl.DeviceLostError, match="the variable 'weight' was lost"):
        weight.numpy()
    weight.assign([5.0, 6.0])
    assert scaled(tl.asarray([1.0, 1.0]).realize("webgpu")).numpy().tolist() == [5, 6]


@pytest.mark.usefixtures("native")
def test_tuning_and_a_run_elsewhere_leave_states_as_they_are(
    run_async: RunAsync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    x, total = input_node("x", (64, 64), tl.float32), input_node("total", (64, 64), tl.float32)
    following = tl.Tensor(total) + tl.Tensor(x) @ tl.Tensor(x)
    graph = Graph(
        (x, total), {"y": following.node, "next": following.node}, "sum", {"total": "next"}
    )
    state = tl.Variable(np.ones((64, 64), np.float32), device="webgpu")
    feeds = {"x": np.eye(64, dtype=np.float32)}
    with tl.compile_session(graph, "webgpu", {"total": state}) as session:  # which warms up
        np.testing.assert_array_equal(state.numpy(), 1)
        assert run_async(tl.tune(graph, "webgpu"))
        session.profile(feeds)
        np.testing.assert_array_equal(state.numpy(), 1)
        copy = tl.Variable(state.numpy(), device="numpy")
        with tl.compile_session(graph, "numpy", {"total": copy}) as other:
            elsewhere = other.run(feeds)["y"]
        np.testing.assert_array_equal(state.numpy(), 1)
        np.testing.assert_array_equal(session.run(feeds)["y"], elsewhere)
    np.testing.assert_array_equal(state.numpy(), copy.numpy())
