"""WebGPU's products by weights in blocks: kernels that read codes as words, on real GPUs for few
rows; in other products, minima stand behind."""

from __future__ import annotations

import numpy as np
import pytest
from block_forms import FORMS
from wasm_runs import fed, random

import tallow as tl
from tallow.compile import Limits, compile_graph
from tallow.compile.passes.blocks import use_blocks_in_words
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.graph import Graph
from tallow.ops import contract
from tallow.ops.blocks import block_matmul
from tallow.ops.kinds import Op
from tallow.tensor import Tensor

WITH_MINIMA = ("Q4_1", "Q4_K", "minima of 16", "minima of 64", "zero points", "Q4_K in turns")
IN_NO_WORDS = ("along columns", "joined", "looked up")
"""Codes that lie in another order, or that are computed."""


def products_of(form: str, rows: int) -> tuple[Graph, list[Op]]:
    """The graph of a product, and what products become."""
    weight, _ = FORMS[form](64, 256)
    x = fed("a", random(rows, 256))
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    graph = Graph((x,), {"y": y.node}, "blocks")
    ops = [node.op for node in use_blocks_in_words(graph, 4).nodes()]
    return graph, [op for op in ops if op in (contract.matmul, block_matmul)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 4, 5])
def test_weights_stay_packed(form: str, rows: int) -> None:
    graph, products = products_of(form, rows)
    if rows > 4 or form in IN_NO_WORDS:
        assert products == [contract.matmul] * (1 + (form in WITH_MINIMA))
    else:
        assert products == [block_matmul]
    plan = compile_graph(graph, "webgpu").plan
    if form == "Q4_1" and rows <= 4:
        assert not plan.prepare  # scales and minima stay float16
    # Of the weight itself nothing is unpacked: only minima, and what they are made of.
    assert sum(slot.bytes for slot in plan.slots if slot.kind == "prepared") <= 64 * 16 * 8


@pytest.mark.parametrize("subgroups", [True, False])
def test_software_adapters_read_words_for_any_number_of_rows(subgroups: bool) -> None:
    graph, _ = products_of("Q4_1", 40)
    limits = Limits(traits=Traits(software=True, subgroups=subgroups))
    plan = compile_graph(graph, "webgpu", limits).plan
    (step,) = plan.run
    kernel = plan.modules[step.kernel["module"]]
    assert ("blocks_quad_16x8" if subgroups else "blocks_8x8") in kernel
    assert not plan.prepare


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("rows", [1, 4, 40])
@pytest.mark.parametrize("form", FORMS)
def test_products(form: str, rows: int) -> None:
    weight, plain = FORMS[form](67, 512)
    a = random(rows, 512)
    product = tl.jit(lambda x: x @ tl.permute_dims(weight, (1, 0)), device="webgpu")
    found, wanted = product(tl.asarray(a)).numpy(), a.astype(np.float64) @ plain.T
    assert (np.abs(found - wanted) <= 1e-5 * np.abs(wanted).max(-1, keepdims=True)).all()
