"""Winograd: which convolutions are rewritten, and that whole ones are right on every device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import winograd_cases
from winograd_cases import CONVOLUTIONS, difference

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import TARGETS, Limits, Plan, compile_graph, optimise
from tallow.compile.count import count
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.devices.webgpu.tuning import _heavy_ops
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

TOLERANCE = 1e-4  # of the largest value
SOFTWARE = Limits(traits=Traits(software=True, subgroups=True))
HARDWARE = Limits(traits=Traits(subgroups=True))


def network(
    size: int,
    channels: int,
    filters: int,
    *,
    window: int = 3,
    fed: bool = False,
    pictures: int = 1,
    **options: Any,
) -> Graph:
    """One convolution of padding 1; `fed`: its weight is an input."""
    inputs = [input_node("x", (pictures, channels, size, size), tl.float32)]
    shape = filters, channels // options.get("groups", 1), window, window
    if fed:
        inputs.append(input_node("w", shape, tl.float32))
    weight = Tensor(inputs[1]) if fed else tl.asarray(np.ones(shape, np.float32))
    y = F.conv2d(Tensor(inputs[0]), weight, padding=1, **options)
    return Graph(tuple(inputs), {"y": y.node}, "network")


def is_rewritten(graph: Graph, limits: Limits = SOFTWARE, device: str = "webgpu") -> bool:
    steps = [step.name for step in compile_graph(graph, device, limits).plan.run]
    assert steps.count("conv2d") + steps.count("winograd_output") == 1
    return "winograd_output" in steps


def test_what_is_rewritten() -> None:
    graph = network(28, 64, 64)
    assert is_rewritten(graph)
    plan = compile_graph(graph, "webgpu", SOFTWARE).plan
    assert [step.name for step in plan.run if step.name != "permute"] == [
        "winograd_input",
        "matmul",
        "winograd_output",
    ]
    assert [step.name for step in plan.prepare][-1] == "matmul"


@pytest.mark.parametrize(
    "other",
    [
        network(28, 64, 64, stride=2),
        network(28, 64, 64, dilation=2),
        network(28, 64, 64, groups=2),
        network(28, 64, 64, window=5),
        network(28, 64, 64, window=1),
        network(28, 64, 64, fed=True),
        network(28, 16, 64),
        network(28, 3, 512),
        network(6, 64, 64),
    ],
    ids=["stride", "dilation", "groups", "5x5", "1x1", "fed", "narrow", "colours", "few pixels"],
)
def test_what_stays_as_it_is(other: Graph) -> None:
    assert not is_rewritten(other)


def test_numpy_convolves_directly() -> None:
    assert not is_rewritten(network(28, 64, 64), device="numpy")


def test_hardware_needs_more() -> None:
    """Memory is dearer there, beside arithmetic, and small products leave it idle."""
    assert is_rewritten(network(14, 256, 256))
    assert not is_rewritten(network(14, 256, 256), HARDWARE)
    assert not is_rewritten(network(28, 64, 64), HARDWARE)
    assert is_rewritten(network(20, 256, 256), HARDWARE)
    assert is_rewritten(network(14, 256, 256, pictures=2), HARDWARE)


def test_wide_lanes_need_more_channels() -> None:
    wide = Limits(traits=Traits(software=True, subgroups=True, lanes=8))
    assert not is_rewritten(network(28, 64, 64), wide)
    assert is_rewritten(network(28, 128, 128), wide)


def test_it_fits_the_device() -> None:
    image, weight = network(28, 96, 96), network(8, 128, 128)  # 1.2 MB and 1.05 MB, transformed
    for graph in (image, weight):
        assert is_rewritten(graph, replace(SOFTWARE, binding_bytes=1_300_000))
        assert not is_rewritten(graph, replace(SOFTWARE, binding_bytes=1_000_000))


def test_activations_do_not_grow() -> None:
    """A convolution whose transforms would be the largest results of the network stays direct."""
    graph = network(112, 64, 64)
    assert not is_rewritten(graph)
    x = input_node("x", (1, 1024, 112, 112), tl.float32)  # which needs more all the same
    y = F.conv2d(Tensor(x), tl.asarray(np.ones((64, 1024, 1, 1), np.float32)))
    y = F.conv2d(y, tl.asarray(np.ones((64, 64, 3, 3), np.float32)), padding=1)
    plan = compile_graph(Graph((x,), {"y": y.node}, "wide"), "webgpu", SOFTWARE).plan
    assert "winograd_output" in [step.name for step in plan.run]


def test_what_is_around_it_stays_fused() -> None:
    graph, _, _ = winograd_cases.convolution("odd")
    plan = compile_graph(graph, "webgpu", SOFTWARE).plan
    computing = [step.name for step in plan.run if step.name != "permute"]
    assert computing == ["winograd_input", "matmul", "winograd_output+add+add+maximum+add"]


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_numpy_runs_the_plan_for_webgpu(name: str) -> None:
    graph, feeds, expected = winograd_cases.convolution(name)
    compiled = compile_graph(graph, "webgpu", SOFTWARE)
    assert "winograd_input" in [step.name for step in compiled.plan.run]
    again = replace(compiled, plan=Plan.from_json(compiled.plan.to_json()))
    for each in (compiled, again):
        (output,) = run_sync(NumpyProgram(each).run(list(feeds.values())))
        assert difference(output.numpy(), expected) < TOLERANCE


def test_work_is_counted() -> None:
    """Of one picture of 28 x 28, so 196 tiles, and 64 channels."""
    plan = compile_graph(network(28, 64, 64), "webgpu", SOFTWARE).plan
    flops = {step.name: count(step).flops for step in plan.run}
    assert flops["winograd_input"] == 32 * 196 * 64
    assert flops["matmul"] == 2 * 16 * 196 * 64 * 64
    assert flops["winograd_output"] == 24 * 196 * 64


def test_the_product_is_tuned() -> None:
    graph = optimise(network(28, 64, 64), TARGETS["webgpu"], SOFTWARE)
    (node,) = _heavy_ops(graph, SOFTWARE).values()
    assert node.shape == (16, 196, 64), "the weight's transform is not of the run"


def check(outcome: dict[str, Any]) -> None:
    assert outcome["device"] == "webgpu"
    assert outcome["adapter"]
    assert "winograd_output+add+add+maximum+add" in outcome["steps"]
    assert outcome["difference"] < TOLERANCE


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_native(name: str, run_async: Callable[..., Any]) -> None:
    check(run_async(winograd_cases.run_convolution(name)))


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_webgpu(name: str, python: Any) -> None:
    check(python.run(f"import winograd_cases; await winograd_cases.run_convolution({name!r})"))
