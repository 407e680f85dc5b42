"""Sequences and optionals."""

from __future__ import annotations

import numpy as np

from ..case import Case, Kind, element_type
from ..draft import Draft
from .registry import draws

_KINDS = ("float32", "int64", "int32", "bool", "float64", "string", "uint8")


def _sequence(draft: Draft, dtype: str, least: int = 1) -> list[np.ndarray]:
    rank = draft.integer(0, 2)
    return [
        draft.array(dtype, draft.shape(rank, rank, long=4)) for _ in range(draft.integer(least, 4))
    ]


def _fed(draft: Draft, items: list[np.ndarray], dtype: str) -> str:
    return draft.given(items, kind=Kind(dtype, None, "sequence"))


def _position(draft: Draft, length: int) -> str:
    beyond = int(draft.integer(0, 14) == 14)
    at = draft.integer(-length - beyond, length - 1 + beyond)
    return draft.constant(at, draft.pick(("int64", "int32")))


@draws("sequences", "SequenceAt SequenceErase SequenceInsert SequenceLength")
def of_a_sequence(draft: Draft) -> Case:
    draft.opset(11)
    dtype = draft.pick(_KINDS)
    items = _sequence(draft, dtype)
    names = [_fed(draft, items, dtype)]
    if draft.op == "SequenceInsert":
        names.append(draft.given(draft.array(dtype, items[0].shape)))
    if draft.op != "SequenceLength" and (draft.op == "SequenceAt" or draft.flag()):
        names.append(_position(draft, len(items)))
    return draft.result(*names, slack=0)


@draws("sequences", "SequenceConstruct")
def construct(draft: Draft) -> Case:
    draft.opset(11)
    dtype = draft.pick(_KINDS)
    return draft.result(*map(draft.given, _sequence(draft, dtype)), slack=0)


@draws("sequences", "SequenceEmpty")
def empty(draft: Draft) -> Case:
    """Also its length, or the sequence after an insertion."""
    draft.opset(11)
    dtype = draft.pick(_KINDS)
    (name,) = draft.node("SequenceEmpty", dtype=element_type(dtype))
    if draft.flag():
        x = draft.given(draft.array(dtype, draft.shape(0, 2, long=4)))
        (name,) = draft.node("SequenceInsert", name, x)
    draft.outputs += [*draft.node("SequenceLength", name), name]
    return draft.case(slack=0)


@draws("sequences", "ConcatFromSequence")
def joined(draft: Draft) -> Case:
    draft.opset(11)
    dtype = draft.pick(_KINDS)
    shape = list(draft.shape(1, 3, long=4))
    new = draft.pick((None, 0, 1))
    axis = draft.integer(-len(shape) - bool(new), len(shape) - 1 + bool(new))
    items = []
    for _ in range(draft.integer(1, 3)):
        if not new:
            shape[axis] = draft.integer(0, 3)
        items.append(draft.array(dtype, tuple(shape)))
    return draft.result(_fed(draft, items, dtype), axis=axis, new_axis=new, slack=0)


@draws("sequences", "SplitToSequence")
def split(draft: Draft) -> Case:
    draft.opset(11)
    dtype = draft.pick([kind for kind in _KINDS if kind != "string"])
    shape = list(draft.shape(1, 3, zeros=False, long=6))
    axis = draft.axis(len(shape))
    how = draft.integer(0, 2)
    kind = draft.pick(("int64", "int32"))
    if how == 2:
        lengths = [draft.integer(0, 3) for _ in range(draft.integer(1, 3))]
        shape[axis] = sum(lengths)
    x = draft.given(draft.array(dtype, tuple(shape)))
    if how == 2:
        return draft.result(x, draft.constant(lengths, kind), axis=axis, slack=0)
    if how == 1:
        return draft.result(x, draft.constant(draft.integer(1, 3), kind), axis=axis, slack=0)
    return draft.result(x, axis=axis, keepdims=draft.pick((None, 0, 1)), slack=0)


@draws("sequences", "Optional OptionalHasElement OptionalGetElement")
def optional(draft: Draft) -> Case:
    """An optional that is an input, or that is made from a tensor or a sequence."""
    draft.opset(18)
    dtype = draft.pick(_KINDS[:5])
    if draft.flag():
        name = _fed(draft, _sequence(draft, dtype), dtype)
    else:
        name = draft.given(draft.array(dtype, draft.shape(0, 2, long=4)))
    if draft.flag() or draft.op == "Optional":
        (name,) = draft.node("Optional", name)
    op = "OptionalGetElement" if draft.op == "Optional" else draft.op
    draft.outputs += draft.node(op, name)
    return draft.case(slack=0)
