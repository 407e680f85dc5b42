"""Kernels that a device compiles while Python writes the rest of their plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.graph import Graph, input_node

TWICE = """\
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&y)) { y[id.x] = 2 * x[id.x]; }
}
"""


def network() -> Graph:
    x = tl.Tensor(input_node("x", (8, 16), tl.float32))
    w = tl.Tensor(input_node("w", (16, 16), tl.float32))
    y = tl.exp(tl.sum(x @ w, axis=1)) @ w[:8]
    return Graph((x.node, w.node), {"y": y.node}, "network")


def test_every_kernel_is_begun_as_the_plan_has_it() -> None:
    begun: list[tuple[str, Mapping[str, Any]]] = []
    plan = compile_graph(network(), "webgpu", begin=lambda *kernel: begun.append(kernel)).plan
    assert len(plan.modules) > 2
    assert begun == [(module, {}) for module in plan.modules]


def test_a_users_kernel_is_not_since_its_errors_are_explained_later() -> None:
    twice = tl.custom_op(
        "twice",
        shape=lambda x: x.shape,
        wgsl=TWICE,
        workgroups=lambda x: (1, 1, 1),
        numpy=lambda x: 2 * x,
    )
    x = tl.Tensor(input_node("x", (8,), tl.float32))
    graph = Graph((x.node,), {"y": tl.exp(twice(tl.exp(x))).node}, "own")
    begun: list[str] = []
    plan = compile_graph(graph, "webgpu", begin=lambda text, constants: begun.append(text)).plan
    (own,) = {step.kernel["module"] for step in plan.run if "op" in step.kernel}
    assert begun == [module for number, module in enumerate(plan.modules) if number != own]


@pytest.mark.parametrize("device", ["wasm", "numpy"])
def test_where_kernels_are_no_text_nothing_is_begun(device: str) -> None:
    def never(text: str, constants: Mapping[str, Any]) -> None:
        raise AssertionError(text)

    assert compile_graph(network(), device, begin=never).plan.run
