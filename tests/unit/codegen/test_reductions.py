"""Who computes a reduction, by shape and kind of device, and which are split. Needs no device."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, Limits, compile_graph
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.devices.webgpu.codegen.choice import REDUCTIONS, Traits, reduction_schedule, signature
from tallow.graph import Graph, Node, input_node, make
from tallow.ops import reduce as records
from tallow.ops.kinds import Reduce
from tallow.tensor import Tensor

SOFTWARE = Traits(software=True, subgroups=True)
GPU = Traits(subgroups=True)
PLAIN_GPU = Traits()


def reduction(shape: tuple[int, ...], *axes: int, op: Reduce = records.sum_) -> Node:
    return make(op, input_node("x", shape, tl.float32), axes=axes)


def chosen(node: Node, traits: Traits) -> str:
    return reduction_schedule(node, node.size, traits)


@pytest.mark.parametrize(
    ("shape", "axis", "software", "gpu"),
    [
        ((64, 4096), 1, "serial", "subgroup"),
        ((1, 50_000), 1, "workgroup", "subgroup"),
        ((4, 32_000), 1, "serial", "subgroup"),
        ((16, 1_000), 1, "serial", "subgroup"),
        ((64, 100), 1, "serial", "serial"),
        ((4096, 64), 0, "serial", "subgroup"),
        ((1000, 1 << 15), 0, "serial", "serial"),
        ((3, 100_003), 1, "workgroup", "subgroup"),
        ((64, 1), 1, "serial", "serial"),
    ],
)
def test_rule(shape: tuple[int, ...], axis: int, software: str, gpu: str) -> None:
    node = reduction(shape, axis)
    assert chosen(node, SOFTWARE) == software
    assert chosen(node, GPU) == gpu
    assert chosen(node, PLAIN_GPU) == gpu.replace("subgroup", "workgroup")


def test_no_workgroup_where_few_of_the_results_are_folds() -> None:
    """For example where a short fold is concatenated with a long tensor."""
    assert reduction_schedule(reduction((2, 4096), 1), 100_000, GPU) == "serial"


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_choice_goes_before_the_rule(name: str) -> None:
    node = reduction((8, 512), 1)
    choices = {signature(node): name}
    assert chosen(node, Traits(subgroups=True, choices=choices)) == name
    unable = chosen(node, Traits(choices=choices))
    assert unable == (name if name != "subgroup" else "workgroup")


def test_no_invocation_loops_longer_than_devices_let_it() -> None:
    """lavapipe silently ends an invocation's loops after 65535 iterations in total."""
    node = reduction((1, 70_001), 1, op=records.argmax)
    for traits in (SOFTWARE, GPU):
        serial = Traits(traits.software, True, choices={signature(node): "serial"})
        assert chosen(node, serial) != "serial"
    rows = reduction((4, 8191), 1)
    assert reduction_schedule(rows, 4, SOFTWARE, passes=7) == "serial"
    assert reduction_schedule(rows, 4, SOFTWARE, passes=9) == "workgroup"


def compiled(x: Node, result: Tensor, traits: Traits) -> Compiled:
    return compile_graph(Graph((x,), {"y": result.node}, "g"), "webgpu", Limits(traits=traits))


def image(*shape: int) -> tuple[Node, Tensor]:
    node = input_node("x", shape, tl.float32)
    return node, Tensor(node)


@pytest.mark.parametrize("traits", [SOFTWARE, GPU])
@pytest.mark.parametrize("name", ["sum", "max", "min", "prod", "mean"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((1 << 16,), None), ((3, 1 << 17), 1), ((1, 256, 1, 300, 4), (1, 3)), ((70, 1400, 2), (0, 1))],
)
def test_split_gives_the_same(
    shape: tuple[int, ...], axes: int | tuple[int, ...] | None, name: str, traits: Traits
) -> None:
    rng = np.random.default_rng(7)
    data = (1 + 0.001 * rng.normal(size=shape)).astype(np.float32)
    node, x = image(*shape)
    plan = compiled(node, getattr(tl, name)(x, axis=axes), traits)
    assert len(plan.plan.run) == 2
    expected = getattr(np, name)(data.astype(np.float64), axis=axes)
    got = run_sync(NumpyProgram(plan).run([data]))[0].numpy()
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "axes", "kernels"),
    [
        ((1 << 20,), 0, 2),
        ((1024, 1024), (0, 1), 2),
        ((4, 8192), 1, 1),  # not long
        ((1024, 1 << 14), 1, 1),  # many results
        ((100_003,), 0, 1),  # a prime
        ((64, 3, 64, 64), (0, 2, 3), 1),  # another axis between them
    ],
)
def test_what_is_split(shape: tuple[int, ...], axes: int | tuple[int, ...], kernels: int) -> None:
    node, x = image(*shape)
    for traits in (SOFTWARE, GPU):
        assert len(compiled(node, tl.sum(x * x, axis=axes), traits).plan.run) == kernels


def test_an_argmax_is_not_split() -> None:
    node, x = image(1 << 20)
    assert len(compiled(node, tl.argmax(x), SOFTWARE).plan.run) == 1


def test_a_split_reads_in_order() -> None:
    """Its fused inputs are not indexed element by element, by division."""
    node, x = image(1024, 1 << 10)
    for traits in (SOFTWARE, GPU):
        first = compiled(node, tl.sum(x * x), traits).plan
        text = first.modules[first.run[0].kernel["module"]]
        assert "array<vec4f>" in text
        assert not {"/", "%"} & set(text.partition("fn main")[2])


def test_a_team_computes_rows() -> None:
    node, x = image(7, 1021)
    plan = compiled(node, F.softmax(x), PLAIN_GPU).plan
    assert [step.kernel["workgroups"] for step in plan.run] == [[7, 1, 1]]
    assert "enable" not in plan.modules[0]
    plan = compiled(node, F.softmax(x), GPU).plan
    assert plan.modules[0].count("enable subgroups;") == 1
    assert plan.modules[0].splitlines()[1] == "enable subgroups;"
