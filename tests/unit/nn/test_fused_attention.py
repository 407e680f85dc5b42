"""Attention whose scores are not kept: where it is made, what memory it takes, its answers."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Limits, Plan, compile_graph
from tallow.compile.limits import host_limits
from tallow.devices.wasm.codegen.kernels import Features
from tallow.devices.wasm.target import TARGET
from tallow.devices.webgpu.codegen.choice import Traits
from tallow.errors import OptionError
from tallow.functional import attention
from tallow.graph import Graph, input_node, topological
from tallow.ops.numpy_attention import attend
from tallow.tensor import Tensor

CONTEXTS = 256, 1024, 4096
HEADS, SIZE = 4, 16


def plan_of(context: int, device: str, limits: Limits) -> Plan:
    """Of causal attention of a whole text, four heads to two."""
    shapes = [(1, heads, context, SIZE) for heads in (HEADS, 2, 2)]
    nodes = [input_node(f"x{n}", shape, tl.float32) for n, shape in enumerate(shapes)]
    query, key, value = map(Tensor, nodes)
    y = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    return compile_graph(Graph(tuple(nodes), {"y": y.node}, "text"), device, limits).plan


def bytes_of(plan: Plan) -> int:
    return sum(slot.bytes for slot in plan.slots)


@pytest.mark.parametrize("device", ["wasm", "webgpu", "numpy"])
def test_slots_grow_with_the_context_and_not_with_its_square(device: str) -> None:
    limits = Limits() if device == "webgpu" else host_limits()
    plans = [plan_of(context, device, limits) for context in CONTEXTS]
    for context, plan in zip(CONTEXTS, plans, strict=True):
        held = 4 * context * SIZE * (2 * HEADS + 4)  # queries and results, keys and values
        assert held <= bytes_of(plan) <= held + 4096
        assert any("attention" in step.name for step in plan.run)
    if device == "wasm":
        own = {step.kernel["scratch"] for plan in plans for step in plan.run if step.kernel}
        assert max(own) < 200_000


def test_software_adapters_keep_scores_up_to_a_bound() -> None:
    limits = replace(Limits(), traits=Traits(software=True))
    small, *_, large = (plan_of(context, "webgpu", limits) for context in CONTEXTS)
    assert any("matmul" in step.name for step in small.run)
    assert [step.name for step in large.run if "matmul" in step.name] == []
    assert bytes_of(large) < 16 << 20 < 4 * HEADS * CONTEXTS[-1] ** 2


def test_numpy_has_few_scores_at_once() -> None:
    rng = np.random.default_rng(3)
    query, key, value = (
        rng.normal(size=(1, heads, 2048, SIZE)).astype(np.float32) for heads in (HEADS, 2, 2)
    )
    tracemalloc.start()
    try:
        attend(np, query, key, value, np.array([1]), 0.25, True, 0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20 < 4 * HEADS * 2048**2


@pytest.mark.parametrize(
    ("rows", "keys", "options"),
    [
        (40, 40, {}), (40, 40, {"is_causal": True}), (33, 33, {"is_causal": True, "window": 5}),
        (12, 130, {"is_causal": True, "first": [100, 3]}), (20, 66, {"length": 50}),
        (30, 96, {"is_causal": True, "first": 66, "window": 40, "scale": 0.7}),
    ],
    ids=str,
)  # fmt: skip
def test_answers_are_those_of_the_composed_form(
    device: str, rows: int, keys: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    shapes = (2, HEADS, rows, SIZE), (2, 2, keys, SIZE), (2, 2, keys, 12)
    query, key, value = (tl.asarray(rng.normal(size=shape).astype(np.float32)) for shape in shapes)

    def found(many: int) -> tuple[bool, np.ndarray]:
        monkeypatch.setattr(attention, "_MANY", many)
        y = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **options)
        return _is_fused(y), y.numpy()

    (fused, answer), (composed, expected) = found(1), found(1 << 30)
    assert (fused, composed) == (True, False)
    np.testing.assert_allclose(answer, expected, rtol=1e-5, atol=1e-5)


def _is_fused(y: Tensor) -> bool:
    return any(node.op.name == "attention" for node in topological([y.node]))


def test_where_gradients_are_needed_the_scores_are_kept() -> None:
    rng = np.random.default_rng(6)
    x = tl.asarray(rng.normal(size=(1, 2, 96, 8)).astype(np.float32))
    assert _is_fused(F.scaled_dot_product_attention(x, x, x))
    wanted = x.clone().requires_grad_()
    y = F.scaled_dot_product_attention(wanted, x, x)
    assert not _is_fused(y)
    tl.sum(y * y).backward()
    assert wanted.grad is not None and np.abs(wanted.grad.numpy()).max() > 0
    with tl.no_grad():
        assert _is_fused(F.scaled_dot_product_attention(wanted * 1.0, x, x))


@pytest.mark.parametrize(
    "options",
    [{"dropout_p": 0.5}, {"attn_mask": np.ones((96, 96), bool)}],
    ids=["dropout", "mask"],
)
def test_masks_and_dropout_keep_the_scores(options: dict[str, Any]) -> None:
    x = tl.zeros((1, 2, 96, 8))
    options = {name: tl.asarray(value) if name == "attn_mask" else value
               for name, value in options.items()}  # fmt: skip
    assert not _is_fused(F.scaled_dot_product_attention(x, x, x, **options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"first": 3}, "is_causal"), ({"window": 3}, "is_causal"),
        ({"window": 0, "is_causal": True}, "window of 1 or more, not 0"),
    ],
    ids=str,
)  # fmt: skip
def test_options_that_do_not_fit(options: dict[str, Any], words: str) -> None:
    x = tl.zeros((1, 2, 4, 8))
    with pytest.raises(OptionError, match=words):
        F.scaled_dot_product_attention(x, x, x, **options)


def test_a_quick_plan_of_webassembly_has_products() -> None:
    """A text that grows in eager code does not wait for a plan of its own at each length."""
    x = [input_node(f"x{n}", (1, 2, 96, 8), tl.float32) for n in range(3)]
    query, key, value = map(Tensor, x)
    y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    assert _is_fused(y)
    named = {node.attrs["name"]: node for node in x}
    limits = replace(host_limits(), traits=Features())
    quick: Any = TARGET.quick
    found = quick(topological([y.node]), named, {"y": y.node}, limits)
    assert found is not None and len(found.plan.run) > 3
