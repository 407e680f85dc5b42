"""Reductions, running totals, and normalization along an axis."""

from __future__ import annotations

from ..case import Case
from ..draft import Draft
from ..values import INTEGERS
from .registry import draws

_AXES_FED = {"ReduceSum": 13}  # the others: 18


def _range(op: str, dtype: str) -> tuple[int, int] | tuple[None, None]:
    """Elements whose intermediate results fit in the oracle's type."""
    if op == "ReduceProd":
        return 0, 2
    if dtype in INTEGERS and op == "ReduceL2":
        most = 99 if dtype == "uint32" else 99_999  # the reference squares in the type itself
        return 0 if dtype.startswith("u") else -most, most
    if dtype in INTEGERS and op in ("ReduceLogSum", "ReduceLogSumExp"):
        return 1, 3
    return None, None


@draws(
    "reductions",
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum ReduceSumSquare",
)
def reduction(draft: Draft) -> Case:
    """Over axes from an attribute, or since 13 or 18 from an input; also over no axes."""
    opset = draft.opset()
    dtype = draft.dtype()
    shape = draft.shape()
    x = draft.given(draft.array(dtype, shape, *_range(draft.op, dtype)))
    axes = draft.axes(len(shape)) if draft.flag() else None
    keepdims = draft.pick((None, 0, 1))
    if opset < _AXES_FED.get(draft.op, 18):
        return draft.result(x, axes=axes or None, keepdims=keepdims, scaled=True, slack=4)
    more = [] if axes is None else [draft.constant(axes)]
    empty = draft.pick((None, 0, 1))
    return draft.result(
        x, *more, keepdims=keepdims, noop_with_empty_axes=empty, scaled=True, slack=4
    )


@draws("reductions", "ArgMax ArgMin")
def arg_reduction(draft: Draft) -> Case:
    opset = draft.opset()
    shape = draft.shape(1, zeros=False)
    x = draft.array(draft.dtype(), shape, edges=False)
    last = draft.pick((None, 0, 1)) if opset >= 12 else None
    return draft.result(
        draft.given(x),
        axis=draft.axis(len(shape)) if opset >= 11 else draft.integer(0, len(shape) - 1),
        keepdims=draft.pick((None, 0, 1)),
        select_last_index=last,
    )


@draws("reductions", "CumSum CumProd")
def running(draft: Draft) -> Case:
    draft.opset(11)
    shape = draft.shape(1)
    small = draft.op == "CumProd"
    x = draft.array(draft.dtype(), shape, *((0, 2) if small else (None, None)), edges=False)
    axis = draft.constant(draft.axis(len(shape)), draft.pick(("int64", "int32")))
    flags = {key: draft.pick((None, 0, 1)) for key in ("exclusive", "reverse")}
    return draft.result(draft.given(x), axis, **flags, scaled=True)


@draws("reductions", "Softmax LogSoftmax Hardmax")
def soft(draft: Draft) -> Case:
    """Before 13, over all axes from the chosen one on."""
    opset = draft.opset()
    shape = draft.shape(1)
    x = draft.array(draft.dtype(), shape, edges=False)
    axis = draft.axis(len(shape)) if opset >= 11 else draft.integer(0, len(shape) - 1)
    return draft.result(draft.given(x), axis=axis if draft.flag() else None, slack=4)
