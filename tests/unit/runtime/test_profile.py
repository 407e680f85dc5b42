"""Profiles: the work of each step of a plan, and the kernels' times as a table and a trace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import numpy as np
import pytest

import tallow as tl
from tallow import functional
from tallow.compile import compile_graph
from tallow.compile.count import anchor, count
from tallow.compile.plan import Plan
from tallow.graph import Graph, input_node
from tallow.runtime.base import DeviceInfo, Timing, typical
from tallow.runtime.profile import Profile
from tallow.tensor import Tensor

Build = Callable[..., Tensor]


def graph(build: Build, *shapes: tuple[int, ...]) -> Graph:
    """The graph of a function, for inputs of these shapes."""
    nodes = tuple(input_node(f"x{n}", shape, tl.float32) for n, shape in enumerate(shapes))
    return Graph(nodes, {"y": build(*map(Tensor, nodes)).node}, "small")


def plan(build: Build, *shapes: tuple[int, ...], device: str = "webgpu") -> Plan:
    return compile_graph(graph(build, *shapes), device).plan


CASES: dict[str, tuple[Build, tuple[tuple[int, ...], ...], str, int]] = {
    "matmul": (lambda a, b: a @ b, ((5, 7), (7, 3)), "matmul", 2 * 5 * 7 * 3),
    "matmul and what follows": (
        lambda a, b: functional.relu(a @ b),
        ((5, 7), (7, 3)),
        "matmul",
        2 * 5 * 7 * 3 + 5 * 3,
    ),
    "elementwise": (lambda a: a * a, ((4, 6),), "multiply", 24),
    "reduction": (lambda a: tl.sum(a, axis=1), ((4, 6),), "sum", 24),
    "convolution": (
        lambda x, w: functional.conv2d(x, w, padding=1),
        ((1, 3, 8, 8), (5, 3, 3, 3)),
        "conv2d",
        2 * (5 * 8 * 8) * (3 * 3 * 3),
    ),
    "depthwise": (
        lambda x, w: functional.conv2d(x, w, groups=4),
        ((1, 4, 6, 6), (4, 1, 3, 3)),
        "conv2d",
        2 * (4 * 4 * 4) * (3 * 3),
    ),
    "pool": (
        lambda x: functional.max_pool2d(x, 2, stride=2),
        ((1, 3, 8, 8),),
        "max_pool2d",
        (3 * 4 * 4) * (2 * 2),
    ),
    "movement": (lambda a: tl.permute_dims(a, (1, 0)), ((4, 6),), "permute", 0),
}


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
@pytest.mark.parametrize("name", CASES)
def test_operations_are_counted(name: str, device: str) -> None:
    build, shapes, about, flops = CASES[name]
    steps = plan(build, *shapes, device=device).run
    assert sum(count(step).flops for step in steps) == flops
    assert about in [anchor(step) for step in steps]


def test_bytes_are_those_of_the_buffers() -> None:
    (step,) = plan(lambda a, b: a @ b, (5, 7), (7, 3)).run
    found = count(step)
    assert found.read == 144 + 96  # whole groups of 16: 5 x 7 and 7 x 3 floats
    assert found.written == 64


def test_a_plan_from_json_counts_the_same() -> None:
    made = plan(*CASES["convolution"][:1], *CASES["convolution"][1])
    again = Plan.from_json(made.to_json())
    assert [count(step) for step in again.run] == [count(step) for step in made.run]


def network(a: Tensor, b: Tensor) -> Tensor:
    return functional.softmax(functional.relu(a @ b) @ tl.permute_dims(b, (1, 0)), axis=-1)


FEEDS = {"x0": np.ones((5, 7), np.float32), "x1": np.ones((7, 3), np.float32)}


def test_webassembly_shows_its_functions() -> None:
    with tl.compile_session(graph(network, (5, 7), (7, 3)), "wasm") as session:
        profile = session.profile(FEEDS)
    for kernel, recorded in zip(profile, profile.to_dict()["kernels"], strict=True):
        lines = kernel.code.splitlines()
        assert lines[0].startswith("(param i32 i32")
        assert any(line.strip() == "f32x4.add" or ".load" in line for line in lines)
        depths = [len(line) - len(line.lstrip()) for line in lines]
        assert depths[-1] == 0 and max(depths) > 0
        assert recorded["code"] == kernel.code


def test_numpy_is_timed_step_by_step() -> None:
    with tl.compile_session(graph(network, (5, 7), (7, 3)), "numpy") as session:
        expected = session.run(FEEDS)["y"]
        profile = session.profile(FEEDS)
        assert np.array_equal(session.run(FEEDS)["y"], expected)
    assert profile.source == "clock"
    assert profile.repeats >= 1
    assert [kernel.name for kernel in profile] == [step.name for step in session.plan.run]
    assert sum(kernel.share for kernel in profile) == pytest.approx(1)
    assert all(kernel.milliseconds > 0 for kernel in profile)
    assert profile[0].gflops == pytest.approx(profile[0].flops / profile[0].milliseconds / 1e6)
    assert profile[0].code == ""
    table = str(profile)
    assert "NumPy" in table
    assert all(kernel.name in table for kernel in profile)
    assert len(table.splitlines()) == len(profile) + 3


def test_profiles_check_their_feeds() -> None:
    session = tl.compile_session(graph(network, (5, 7), (7, 3)), "numpy")
    with pytest.raises(tl.FeedError, match="missing x1"):
        session.profile({"x0": FEEDS["x0"]})
    with pytest.raises(tl.FeedError, match="missing x1"):
        asyncio.run(session.profile_async({"x0": FEEDS["x0"]}))
    session.close()
    with pytest.raises(tl.DeviceError, match="closed"):
        session.profile(FEEDS)


def test_a_profile_is_a_trace() -> None:
    with tl.compile_session(graph(network, (5, 7), (7, 3)), "numpy") as session:
        profile = asyncio.run(session.profile_async(FEEDS))
    trace = json.loads(profile.to_trace())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in events] == [kernel.name for kernel in profile]
    ends = [event["ts"] + event["dur"] for event in events]
    assert [event["ts"] for event in events[1:]] == ends[:-1]
    assert ends[-1] == pytest.approx(profile.milliseconds * 1000)


def test_times_that_were_not_measured_are_counted_and_say_so() -> None:
    made = plan(network, (5, 7), (7, 3))
    info = DeviceInfo("webgpu", "some adapter")
    profile = Profile(made, Timing("counted", None, 0.004, 3), info)
    assert profile.milliseconds == pytest.approx(4)
    assert sum(kernel.share for kernel in profile) == pytest.approx(1)
    efforts = [count(step).effort for step in made.run]
    assert [kernel.share for kernel in profile] == pytest.approx(
        [effort / sum(efforts) for effort in efforts]
    )
    assert "counted, not measured" in str(profile)
    assert all("@compute" in kernel.code for kernel in profile)


def test_a_coarse_clock_is_told_of() -> None:
    made = plan(network, (5, 7), (7, 3))
    seconds = [0.0] * (len(made.run) - 1) + [0.0001]
    timing = Timing("timestamp", seconds, 0.0001, 9, 0.0001)
    profile = Profile(made, timing, DeviceInfo("webgpu", "some adapter"))
    assert "ticks every 0.1 ms" in profile.explanation
    assert "mean of 9 runs" in profile.explanation
    assert profile[0].gflops == 0  # it took less than a tick
    assert profile[-1].share == 1


def test_the_typical_time_is_the_median_or_by_a_coarse_clock_the_mean() -> None:
    runs = [[1.0, 0.0], [2.0, 0.0], [9.0, 3.0]]
    assert typical(runs, 0) == [2, 0]
    assert typical(runs, 1e-4) == [4, 1]


def test_a_gpu_of_this_machine_is_timed_step_by_step(native: str) -> None:
    with tl.compile_session(graph(network, (5, 7), (7, 3)), "webgpu") as session:
        expected = session.run(FEEDS)["y"]
        profile = session.profile(FEEDS)
        assert np.array_equal(session.run(FEEDS)["y"], expected)
    assert (profile.adapter, profile.source) == (native, "clock")
    assert all(kernel.milliseconds > 0 and "@compute" in kernel.code for kernel in profile)
    assert sum(kernel.share for kernel in profile) == pytest.approx(1)
