"""The rules of derivatives: every op has one or a reason, and each agrees with differences.

The cases are those of the op suite, in float64 on NumPy: the derivative in a random direction,
weighed with a random gradient, beside the central difference of the case itself.
"""

from __future__ import annotations

import numpy as np
import pytest
from op_cases import CASES, OF_WEBASSEMBLY
from run_case import graph_of

import tallow as tl
from tallow import ops
from tallow.autodiff.everything import FAMILIES
from tallow.autodiff.rules import NO_DERIVATIVE, RULES
from tallow.graph import Node
from tallow.ops.kinds import REGISTRY, Source
from tallow.tensor import Tensor

STEP = 1e-5

KINKED = {
    "bitcast": "bits of 64-bit numbers are no 32-bit integers",
    "sign": "0 is among the operands",
    "round": "halves are among the operands",
    "input-float16": "the operand is rounded",
    "batch_norm-folded": "its constants are float32",
    "softplus": "3e38 is among the operands",
}
"""Cases that cannot be compared with differences in float64."""


def test_every_op_has_a_rule_or_a_reason() -> None:
    assert FAMILIES  # they register the rules
    known = {*RULES, *NO_DERIVATIVE}
    missing = [
        op.name for op in REGISTRY.values() if op not in known and not isinstance(op, Source)
    ]
    assert not missing, f"no rule in autodiff/ and no reason: {', '.join(missing)}"
    assert not [op.name for op in RULES if op in NO_DERIVATIVE]


def _floating_nodes(name: str) -> list[Node]:
    return [node for node in graph_of(name).nodes() if node.dtype.is_floating]


def _smooth() -> list[str]:
    names = []
    for name, case in CASES.items():
        if name in KINKED or any(node.op in NO_DERIVATIVE for node in _floating_nodes(name)):
            continue
        floating = [x for x in case.inputs if x.dtype.kind == "f"]
        if floating and all(np.isfinite(x).all() for x in floating):
            names.append(name)
    return names


def _feeds(name: str) -> list[np.ndarray]:
    return [x.astype(np.float64) if x.dtype.kind == "f" else x for x in CASES[name].inputs]


def _value(name: str, inputs: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return CASES[name].build(*map(tl.asarray, inputs)).numpy("numpy")


@pytest.mark.parametrize("name", _smooth())
def test_a_rule_agrees_with_differences(name: str) -> None:
    inputs = _feeds(name)
    rng = np.random.default_rng(7)
    tensors = [tl.asarray(x, requires_grad=x.dtype.kind == "f") for x in inputs]
    result = CASES[name].build(*tensors)
    if not result.dtype.is_floating:
        assert not result.requires_grad
        return
    weights = rng.normal(size=result.shape)
    directions = [rng.normal(size=x.shape) for x in inputs]
    moved = {}
    for sign in (1, -1):
        at = [
            x + sign * STEP * d if x.dtype.kind == "f" else x
            for x, d in zip(inputs, directions, strict=True)
        ]
        moved[sign] = _value(name, at)
    dtype = np.dtype(result.dtype.name)
    expected = np.sum((moved[1].astype(np.float64) - moved[-1]) * weights) / (2 * STEP)
    result.backward(tl.asarray(weights.astype(dtype)))
    got = sum(
        float(np.sum(x.grad.numpy() * d))
        for x, d in zip(tensors, directions, strict=True)
        if x.requires_grad and x.grad is not None
    )
    if not np.isfinite(expected):
        return
    size = np.sqrt(np.sum(weights**2)) * max(1.0, abs(expected))
    assert abs(got - expected) < 1e-4 * size, f"{got} beside {expected}"


def test_ops_that_only_passes_make_have_reasons() -> None:
    assert {*OF_WEBASSEMBLY, *ops.dynamic_recurrence.OF_WEBGPU} <= set(NO_DERIVATIVE)
    assert ops.recurrence.recurrence_steps in NO_DERIVATIVE


def test_no_derivative_names_the_op_and_the_reason() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    y = tl.bitcast(tl.bitcast(x, tl.int32), tl.float32)
    assert not y.requires_grad  # integers lie between
    node = tl.functions.elementwise.make(ops.elementwise.bitcast, x.node, dtype=tl.float32)
    with pytest.raises(tl.GradientError, match="bitcast has no derivative: it reads bits"):
        tl.sum(Tensor(node)).backward()
