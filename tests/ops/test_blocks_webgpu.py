"""WebGPU's products by weights in blocks: their minima stand behind the product."""

from __future__ import annotations

import numpy as np
import pytest
from block_forms import FORMS
from wasm_runs import fed, random

import tallow as tl
from tallow.compile import compile_graph
from tallow.compile.passes.blocks import part_minima
from tallow.graph import Graph
from tallow.ops import contract
from tallow.tensor import Tensor

WITH_MINIMA = ("Q4_1", "Q4_K", "minima of 16", "minima of 64", "zero points", "Q4_K in turns")


@pytest.mark.parametrize("form", FORMS)
def test_a_product_with_minima_becomes_two(form: str) -> None:
    weight, _ = FORMS[form](64, 256)
    x = fed("a", random(3, 256))
    y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
    graph = Graph((x,), {"y": y.node}, "blocks")
    products = [n for n in part_minima(graph).nodes() if n.op is contract.matmul]
    assert len(products) == 1 + (form in WITH_MINIMA)
    plan = compile_graph(graph, "webgpu").plan
    # Of the weight itself nothing is unpacked: only minima, and what they are made of.
    assert sum(slot.bytes for slot in plan.slots if slot.kind == "prepared") <= 64 * 16 * 8


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("form", FORMS)
def test_products(form: str, rows: int) -> None:
    weight, plain = FORMS[form](67, 512)
    a = random(rows, 512)
    product = tl.jit(lambda x: x @ tl.permute_dims(weight, (1, 0)), device="webgpu")
    found, wanted = product(tl.asarray(a)).numpy(), a.astype(np.float64) @ plain.T
    assert (np.abs(found - wanted) <= 1e-5 * np.abs(wanted).max(-1, keepdims=True)).all()
