"""Operators that read or write at indices, and those that sort and search."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ..case import Case
from ..draft import Draft, Shape
from .registry import draws


def _indices(draft: Draft, shape: Shape, length: int, *, negative: bool = True) -> np.ndarray:
    """int64 or int32 indices along an axis, rarely out of range."""
    dtype = draft.pick(("int64", "int32"))
    beyond = 1 if draft.integer(0, 14) == 14 else 0
    low = -length if negative and draft.flag() else 0
    return draft.array(dtype, shape, low - beyond * bool(low), length - 1 + beyond)


@draws("indexing", "Gather")
def gather(draft: Draft) -> Case:
    opset = draft.opset()
    shape = draft.shape(1, zeros=False)
    axis = draft.axis(len(shape))
    x = draft.array(draft.dtype(), shape)
    indices = _indices(draft, draft.shape(0, 2), shape[axis], negative=opset >= 11)
    return draft.result(draft.given(x), draft.given(indices), axis=axis, slack=0)


@draws("indexing", "GatherElements")
def gather_elements(draft: Draft) -> Case:
    draft.opset(11)
    shape = draft.shape(1, zeros=False, long=17)
    axis = draft.axis(len(shape))
    wanted = [draft.integer(0 if draft.seldom() else 1, n) for n in shape]
    wanted[axis] = draft.integer(1, 6)
    x = draft.array(draft.dtype(), shape)
    indices = _indices(draft, tuple(wanted), shape[axis])
    return draft.result(draft.given(x), draft.given(indices), axis=axis, slack=0)


def _tuples(draft: Draft, shape: Shape, depth: int, count: Shape) -> np.ndarray:
    """Indices into the first `depth` axes of a shape."""
    columns = [_indices(draft, count, n).astype(np.int64) for n in shape[:depth]]
    return np.stack(columns, -1) if columns else np.zeros((*count, 0), np.int64)


@draws("indexing", "GatherND")
def gather_nd(draft: Draft) -> Case:
    opset = draft.opset(11)
    shape = draft.shape(1, zeros=False, long=17)
    batch = draft.integer(0, min(2, len(shape) - 1)) if opset >= 12 and draft.flag() else 0
    depth = draft.integer(1, len(shape) - batch)
    count = (*shape[:batch], *draft.shape(0 if batch else 1, 2, long=4))
    indices = _tuples(draft, shape[batch:], depth, count)
    x = draft.array(draft.dtype(), shape)
    dims = batch if opset >= 12 else None
    return draft.result(draft.given(x), draft.given(indices), batch_dims=dims, slack=0)


_REDUCTIONS = (None, "none", "add", "mul", "max", "min")


def _reduction(opset: int) -> tuple[str | None, ...]:
    return _REDUCTIONS if opset >= 18 else _REDUCTIONS[:4] if opset >= 16 else (None,)


@draws("indexing", "ScatterElements")
def scatter_elements(draft: Draft) -> Case:
    """Without a reduction no element is written twice."""
    opset = draft.opset(11)
    how = draft.pick(_reduction(opset))
    dtype = draft.dtype()
    if dtype == "bool":
        how = None
    shape = draft.shape(1, 3, zeros=False, long=17)
    axis = draft.axis(len(shape))
    written = [draft.integer(1, n) for n in shape]
    if how in (None, "none"):
        order = draft.any(_orders(shape[axis]))[: written[axis]]
        along = [1] * len(shape)
        along[axis] = len(order)
        written[axis] = len(order)
        indices = np.broadcast_to(np.reshape(order, along), written).astype(np.int64)
    else:
        written[axis] = draft.integer(1, 6)
        indices = _indices(draft, tuple(written), shape[axis])
    x, updates = (draft.array(dtype, s, edges=False) for s in (shape, tuple(written)))
    names = (draft.given(value) for value in (x, indices, updates))
    return draft.result(*names, axis=axis, reduction=how, scaled=how in ("add", "mul"))


def _orders(length: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(length))


@draws("indexing", "ScatterND")
def scatter_nd(draft: Draft) -> Case:
    opset = draft.opset(11)
    how = draft.pick(_reduction(opset))
    dtype = draft.dtype()
    if dtype == "bool":
        how = None
    shape = draft.shape(1, 3, zeros=False, long=17)
    depth = draft.integer(1, len(shape))
    if how in (None, "none"):
        rows = draft.any(_orders(int(np.prod(shape[:depth]))))[: draft.integer(1, 5)]
        indices = np.stack(np.unravel_index(rows, shape[:depth]), -1).astype(np.int64)
    else:
        indices = _tuples(draft, shape, depth, (draft.integer(1, 5),))
    x = draft.array(dtype, shape, edges=False)
    updates = draft.array(dtype, (*indices.shape[:-1], *shape[depth:]), edges=False)
    names = (draft.given(value) for value in (x, indices, updates))
    return draft.result(*names, reduction=how, scaled=how in ("add", "mul"))


@draws("indexing", "TensorScatter")
def tensor_scatter(draft: Draft) -> Case:
    draft.opset(24)
    shape = draft.shape(2, 4, zeros=False, long=9)
    axis = draft.integer(1, len(shape) - 1)
    length = draft.integer(1, shape[axis])
    x = draft.array(draft.dtype(), shape)
    updates = draft.array(x.dtype.name, (*shape[:axis], length, *shape[axis + 1 :]))
    mode = draft.pick((None, "linear", "circular"))
    last = shape[axis] - (1 if mode == "circular" else length)
    starts = draft.array("int64", (shape[0],), 0, last)
    more = [draft.given(starts)] if draft.flag() else []
    return draft.result(
        draft.given(x), draft.given(updates), *more, axis=axis - len(shape), mode=mode, slack=0
    )


@draws("indexing", "OneHot")
def one_hot(draft: Draft) -> Case:
    """With a depth that is small, or larger than a byte."""
    draft.opset(9)
    kinds = ("int64", "int32", "float32", "uint8", "int8")
    indices = draft.array(draft.dtype(0, kinds), draft.shape(0, 3), edges=False)
    indices = np.trunc(indices).astype(indices.dtype)
    kind = draft.dtype(1, kinds)
    far = kind not in ("uint8", "int8") and indices.size <= 100 and draft.seldom()
    depth = draft.given(np.array(300 if far else draft.integer(1, 6), kind))
    pair = draft.given(draft.array(draft.dtype(2), (2,), edges=False))
    axis = draft.integer(-indices.ndim - 1, indices.ndim) if draft.flag() else None
    return draft.result(draft.given(indices), depth, pair, axis=axis, slack=0)


@draws("indexing", "Compress")
def compress(draft: Draft) -> Case:
    draft.opset(9)
    x = draft.array(draft.dtype(), draft.shape(1))
    axis = draft.axis(x.ndim) if draft.flag() else None
    length = x.size if axis is None else x.shape[axis]
    condition = draft.array("bool", (draft.integer(min(1, length), min(length, 70)),))
    return draft.result(draft.given(x), draft.given(condition), axis=axis, slack=0)


@draws("indexing", "NonZero")
def nonzero(draft: Draft) -> Case:
    draft.opset(9)
    return draft.result(draft.given(draft.array(draft.dtype(), draft.shape())), slack=0)


@draws("indexing", "Unique")
def unique(draft: Draft) -> Case:
    draft.opset(11)
    x = draft.array(draft.dtype(), draft.shape(1, 3, zeros=False), edges=False)
    axis = draft.axis(x.ndim) if draft.flag() else None
    ordered = draft.pick((None, 0, 1))
    return draft.result(draft.given(x), outputs=draft.integer(1, 4), axis=axis, sorted=ordered)


@draws("indexing", "TopK")
def top_k(draft: Draft) -> Case:
    """Among equal elements the first comes first; before set 11 only the largest are sought."""
    opset = draft.opset()
    x = draft.array(draft.dtype(), draft.shape(1, 3), edges=False)
    axis = draft.axis(x.ndim)
    k = draft.integer(0 if draft.seldom() else min(1, x.shape[axis]), x.shape[axis])
    if opset < 10:
        return draft.result(draft.given(x), axis=axis, k=max(k, 1), outputs=2)
    largest = draft.pick((None, 0, 1)) if opset >= 11 else None
    return draft.result(
        draft.given(x), draft.constant([k]), axis=axis, largest=largest, outputs=2, slack=0
    )


@draws("indexing", "NonMaxSuppression")
def suppression(draft: Draft) -> Case:
    draft.opset(10)
    batches, boxes, classes = draft.integer(1, 2), draft.integer(1, 7), draft.integer(1, 3)
    corners = draft.array("float32", (batches, boxes, 4), 0, 4)
    scores = draft.array("float32", (batches, classes, boxes), 0, 4)
    more = [
        draft.constant(draft.integer(0, 4)),
        draft.constant(draft.integer(0, 8) / 8, "float32"),
        draft.constant(draft.real(0, 2), "float32"),
    ][: draft.integer(0, 3)]
    return draft.result(
        draft.given(corners),
        draft.given(scores),
        *more,
        center_point_box=draft.pick((None, 0, 1)),
    )
