"""The types in which ops compute within `tl.amp.autocast`, as in PyTorch's table for CUDA.

`autocast` in an op's record says it for nodes of that op: functions that build them ask here. What
is composed of several ops, such as a loss, is told as a whole, by `in_float32`. All else computes
in the widest type of its operands, as it does without autocast.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .core.context import autocast
from .core.dtype import float16, float32
from .graph import make
from .ops.elementwise import to_half
from .ops.kinds import Op
from .tensor import Tensor

P = ParamSpec("P")
R = TypeVar("R")


def widened(value: Any) -> Any:
    """A float16 tensor as float32; anything else as it is."""
    if isinstance(value, Tensor) and value.dtype == float16:
        return value.astype(float32)
    return value


def operands(op: Op, values: list[Any]) -> list[Any]:
    """The operands of a node of this op. Call it only where autocast is active."""
    return [*map(widened, values)] if op.autocast == "float32" else values


def product(op: Op, compute: Callable[..., Tensor], *factors: Tensor) -> Tensor:
    """compute(*factors), which sums products by this op. With autocast, factors and result are
    rounded to float16, in which the result is, and the sums are float32.

    Gradients are rounded at the same points. Factors that are neither float16 nor float32 stay.
    """
    if not (autocast.get() and op.autocast == "float16"):
        return compute(*factors)
    if any(x.dtype not in (float16, float32) for x in factors):
        return compute(*factors)
    rounded = compute(*map(_rounded, factors))
    return _rounded(rounded).astype(float16)


def _rounded(x: Tensor) -> Tensor:
    """The nearest numbers of float16, in float32: kernels know them by the op that makes them
    (devices/webgpu/codegen/choice.py)."""
    return Tensor(make(to_half, x.astype(float32).node))


def matched(x: Tensor, other: Tensor) -> Tensor:
    """A bias or weight in the type of what it is added to, where autocast is active: a float32 one
    would make the result float32."""
    both = x.dtype in (float16, float32) and other.dtype == float16
    return x.astype(float16) if both and autocast.get() else x


def in_float32(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates what autocast computes in float32 as a whole: its float16 arguments are cast."""

    @functools.wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        if not autocast.get():
            return function(*args, **kwargs)
        wide: Any = {name: widened(value) for name, value in kwargs.items()}
        return function(*map(widened, args), **wide)

    return computed
