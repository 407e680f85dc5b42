"""Casts, and activations with attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case, element_type
from ..draft import Draft
from ..values import FLOATS, INTEGERS
from .registry import draws

_KINDS = (*FLOATS, *INTEGERS, "bool", "bfloat16")


def _castable(draft: Draft, dtype: str, to: str) -> np.ndarray:
    """Only floating elements that fit the other type: the rest is undefined."""
    shape = draft.shape()
    if dtype not in INTEGERS and dtype != "bool" and to in INTEGERS:
        return draft.array(dtype, shape, 0 if to[0] == "u" else -4, 4)
    return draft.array(dtype, shape)


@draws("casting", "Cast")
def cast(draft: Draft) -> Case:
    draft.opset(13)
    dtype, to = draft.dtype(), draft.pick(_KINDS)
    return draft.result(draft.given(_castable(draft, dtype, to)), to=element_type(to), slack=0)


@draws("casting", "CastLike")
def cast_like(draft: Draft) -> Case:
    draft.opset(15)
    dtype, to = draft.dtype(), draft.pick((*FLOATS, *INTEGERS, "bool"))
    other = draft.given(draft.array(to, draft.shape()))
    return draft.result(draft.given(_castable(draft, dtype, to)), other, slack=0)


@draws("casting", "BitCast")
def bit_cast(draft: Draft) -> Case:
    draft.opset(26)
    dtype = draft.pick((*FLOATS, *INTEGERS))
    x = draft.array(dtype, draft.shape(), edges=False)
    same = [to for to in (*FLOATS, *INTEGERS) if np.dtype(to).itemsize == x.dtype.itemsize]
    return draft.result(draft.given(x), to=element_type(draft.pick(same)), slack=0)


@draws("casting", "Relu Selu Elu Celu LeakyRelu ThresholdedRelu HardSigmoid HardSwish Mish Gelu")
def activation(draft: Draft) -> Case:
    """Also near 0, where the result is scaled up to check all of its digits."""
    draft.opset()
    chosen: dict[str, Any] = {}
    for key in {
        "Selu": ("alpha", "gamma"),
        "HardSigmoid": ("alpha", "beta"),
        **dict.fromkeys(("Elu", "Celu", "LeakyRelu", "ThresholdedRelu"), ("alpha",)),
    }.get(draft.op, ()):
        chosen[key] = draft.pick((None, 0.5, 0.25, 2.0, 1.5))
    if draft.op == "Gelu":
        chosen["approximate"] = draft.pick((None, "none", "tanh"))
    x = draft.array(draft.dtype(), draft.shape())
    # Constants such as 1/6 are float32 where others compute in float64; HardSwish has its error
    # times the square of x.
    double = x.dtype == np.float64
    slack, scaled = 1000 if double else 1, double and draft.op == "HardSwish"
    if draft.op in ("Elu", "Celu", "Selu") and draft.seldom():
        near = draft.array(x.dtype.name, x.shape, -0.03125, 0.03125)
        large = draft.node("Mul", *draft.node(draft.op, draft.given(near), **chosen),
                           draft.constant(512, x.dtype.name))  # fmt: skip
        draft.outputs += large
        return draft.case(slack=slack)
    return draft.result(draft.given(x), slack=slack, scaled=scaled, **chosen)


@draws("casting", "Shrink")
def shrink(draft: Draft) -> Case:
    draft.opset(9)
    dtype = draft.dtype()
    whole = dtype in INTEGERS
    bias, lambd = (draft.pick((None, 1.0, 0.0, 2.0) if whole else (None, 0.5, 1.0)) for _ in "12")
    low = 0 if dtype.startswith("u") else None
    x = draft.array(dtype, draft.shape(), low, edges=False)
    return draft.result(draft.given(x), bias=bias, lambd=lambd)


@draws("casting", "Swish")
def swish(draft: Draft) -> Case:
    draft.opset(24)
    x = draft.array(draft.dtype(), draft.shape())
    return draft.result(draft.given(x), alpha=draft.pick((None, 0.5, 2.0)))


@draws("casting", "Dropout")
def dropout(draft: Draft) -> Case:
    """Outside of training, where it has no effect."""
    opset = draft.opset()
    x = draft.given(draft.array(draft.dtype(), draft.shape()))
    outputs = draft.integer(1, 2)
    if opset >= 12:
        more = [draft.constant(0.25, "float32")] if draft.flag() else []
        return draft.result(x, *more, outputs=outputs, slack=0)
    return draft.result(x, outputs=outputs if opset >= 10 else 1, ratio=draft.pick((None, 0.25)))


@draws("casting", "com.microsoft.QuickGelu com.microsoft.Gelu com.microsoft.FastGelu")
def contributed(draft: Draft) -> Case:
    dtype = draft.pick(("float32", "float16") if draft.op == "FastGelu" else ("float32",))
    x = draft.given(draft.array(dtype, draft.shape(1, zeros=False)))
    alpha = draft.pick((None, 1.0, 0.5)) if draft.op == "QuickGelu" else None
    return draft.result(x, alpha=alpha)


@draws("casting", "com.microsoft.BiasGelu")
def biased(draft: Draft) -> Case:
    shape = draft.shape(1, zeros=False)
    x, bias = draft.array("float32", shape), draft.array("float32", shape[-1:])
    return draft.result(draft.given(x), draft.given(bias))
