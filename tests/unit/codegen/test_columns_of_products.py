"""A linear layer's weight has its columns along k: products read it by fours all the same."""

from __future__ import annotations

import pytest

import tallow as tl
from tallow.compile import Limits, compile_graph
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.graph import Graph, input_node

SOFTWARE = Limits(traits=Traits(software=True, subgroups=True))


def kernel_of(inner: int, transposed: bool) -> str:
    x = tl.Tensor(input_node("x", (64, inner), tl.float32))
    shape = (32, inner) if transposed else (inner, 32)
    weight = tl.Tensor(input_node("w", shape, tl.float32))
    y = x @ (weight.mT if transposed else weight)
    graph = Graph((x.node, weight.node), {"y": y.node}, "linear")
    (kernel,) = compile_graph(graph, "webgpu", SOFTWARE).plan.modules
    return kernel


def test_a_transposed_factor_is_read_by_fours() -> None:
    kernel = kernel_of(48, transposed=True)
    assert kernel.count("array<vec4f>;") == 3  # both factors, and the result
    assert "fn load_column(" in kernel
    assert "fn load_b(" not in kernel
    assert kernel.count("fn block(") == 1


@pytest.mark.parametrize(("inner", "transposed"), [(48, False), (47, True)])
def test_other_factors_are_read_as_they_lie(inner: int, transposed: bool) -> None:
    kernel = kernel_of(inner, transposed)
    assert "fn load_b(" in kernel
    assert "load_column" not in kernel
    assert kernel.count("fn block(") == 1
