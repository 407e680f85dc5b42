"""The derivative of every op: a rule, or the reason why there is none.

A rule gets the gradient of an op's result and gives those of its operands: the product of the
transposed Jacobian and the gradient. Rules are made of ops, so that derivatives of derivatives
work and every target computes them. The files beside this one hold them, one per family of ops;
tests/unit/autodiff/test_rules.py demands a rule or a reason for each op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import GradientError
from ..functions.creation import zeros
from ..graph import Node
from ..ops.kinds import Op
from ..tensor import Tensor
from .past import computed_as

Gradients = Sequence[Tensor | None]
Rule = Callable[..., Gradients]
"""rule(gradient, result, *operands, **attrs) -> a gradient for each operand, or None where the
result does not depend on it smoothly."""

RULES: dict[Op, Rule] = {}

NO_DERIVATIVE: dict[Op, str] = {}
"""Ops without a rule, each with the reason that an error gives."""

BY_USERS: set[Op] = set()
"""Ops whose rule a user wrote, which may depend on anything."""


def rule(*ops: Op) -> Callable[[Rule], Rule]:
    """Registers the rule of ops."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, function))
        return function

    return register


def flat(*ops: Op) -> None:
    """Registers ops of one operand whose derivative is 0 wherever it exists, as that of rounding
    is. Its gradient is zeros, as in PyTorch: the operand is reached."""
    RULES.update(dict.fromkeys(ops, lambda gradient, result, x: [zeros(x.shape, x.dtype)]))


def gradients_of(node: Node, gradient: Tensor) -> Gradients:
    """The gradients of a node's operands. Raises GradientError if its op has no derivative."""
    op, inputs, attrs = computed_as(node)
    found = RULES.get(op)
    if found is None:
        reason = NO_DERIVATIVE.get(op, "no rule is known for it")
        raise GradientError(f"{op.name} has no derivative: {reason}")
    operands = [Tensor(child) for child in inputs]
    return found(gradient, Tensor(node), *operands, **dict(attrs.items()))
