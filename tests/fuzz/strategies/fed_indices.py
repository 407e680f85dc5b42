"""Indices that are inputs of the network, in range, negative, or out of range: the host looks at
them before a run, since a GPU cannot refuse one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from ..case import Case
from ..draft import Draft, Shape
from .registry import draws

REDUCTIONS = ("add", "mul", "max", "min")
_TYPES = ("float32", "int32", "int64", "float16", "uint8")


class _Fed:
    """The indices of a case, and what moves or computes them on the way."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.outside = draft.integer(0, 3) == 3

    def along(self, shape: Shape, length: int) -> np.ndarray:
        """Indices along an axis; if some may be out of range, one of them is."""
        draft = self.draft
        dtype = draft.pick(("int64", "int32"))
        low = -length if draft.flag() else 0
        found = draft.array(dtype, shape, low, length - 1)
        if self.outside and found.size:
            at = draft.integer(0, found.size - 1)
            found = found.copy()
            found.flat[at] = draft.pick((length, -length - 1, length + 70, -(2**31), 2**31 - 1))
        return found

    def name(self, indices: np.ndarray) -> str:
        """An input, and what leaves these indices of it: moves, and sums if all are in range."""
        draft = self.draft
        ways: list[Callable[[np.ndarray], str]] = [self._plain, self._turned, self._cut, self._cast]
        if not self.outside:
            ways.append(self._computed)
        return draft.pick(ways)(indices)

    def _plain(self, indices: np.ndarray) -> str:
        return self.draft.given(indices, known=False)

    def _turned(self, indices: np.ndarray) -> str:
        order = self.draft.any(_orders(indices.ndim))
        turned = np.transpose(indices, np.argsort(order))
        name = self.draft.given(np.ascontiguousarray(turned), known=False)
        return self.draft.node("Transpose", name, perm=list(order))[0] if order else name

    def _cut(self, indices: np.ndarray) -> str:
        """A slice, which leaves out an index that is out of range for any axis."""
        if not indices.ndim:
            return self._plain(indices)
        axis = self.draft.integer(0, indices.ndim - 1)
        far = np.full_like(np.take(indices, [0] if indices.shape[axis] else [], axis), 10**6)
        name = self.draft.given(np.concatenate((far, indices), axis), known=False)
        begin, end, at = (
            self.draft.given(np.array([n], np.int64), known=True)
            for n in (far.shape[axis], 2**31 - 1, axis)
        )
        return self.draft.node("Slice", name, begin, end, at)[0]

    def _cast(self, indices: np.ndarray) -> str:
        name = self.draft.given(indices.astype(np.int32), known=False)
        return self.draft.node("Cast", name, to=7)[0]

    def _computed(self, indices: np.ndarray) -> str:
        by = self.draft.integer(-3, 3)
        shift = self.draft.given(np.array(by, indices.dtype), known=self.draft.flag())
        name = self.draft.given(indices - indices.dtype.type(by), known=False)
        return self.draft.node("Add", name, shift)[0]


def _orders(rank: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(rank))


def _case(draft: Draft, op: str, *inputs: str, exact: bool = True, **attributes: object) -> Case:
    """A case of one node more, and of what follows it seldom."""
    found = draft.node(op, *inputs, **attributes)
    if draft.seldom():
        found = draft.node("Transpose", *found)
    draft.outputs += found
    return draft.case(slack=0 if exact else 1, scaled=not exact)


def _table(draft: Draft, shape: Shape, dtype: str | None = None) -> str:
    kind = dtype or draft.pick(_TYPES)
    return draft.given(draft.array(kind, shape, edges=False), known=draft.flag())


@draws("fed_indices", "fed:Gather")
def gather(draft: Draft) -> Case:
    """As of an embedding, most often: from the rows of a table."""
    fed, shape = _Fed(draft), draft.shape(1, 3, zeros=False, long=17)
    axis = draft.axis(len(shape)) if draft.flag() else 0
    indices = fed.along(draft.shape(0, 3, long=9), shape[axis])
    return _case(draft, "Gather", _table(draft, shape), fed.name(indices), axis=axis)


@draws("fed_indices", "fed:Gather_twice")
def gather_twice(draft: Draft) -> Case:
    """The same indices for two tables, one of which is longer."""
    fed, columns = _Fed(draft), draft.integer(1, 5)
    lengths = draft.integer(1, 9), draft.integer(1, 9)
    name = fed.name(fed.along(draft.shape(1, 2, long=9), min(lengths)))
    # A negative one means another row of each.
    rows = [draft.node("Gather", _table(draft, (n, columns), "float32"), name)[0] for n in lengths]
    return _case(draft, "Add", *rows, exact=False)


@draws("fed_indices", "fed:GatherElements")
def gather_elements(draft: Draft) -> Case:
    fed, shape = _Fed(draft), draft.shape(1, 3, zeros=False, long=17)
    axis = draft.axis(len(shape))
    wanted = [draft.integer(1, n) for n in shape]
    wanted[axis] = draft.integer(1, 6)
    name = fed.name(fed.along(tuple(wanted), shape[axis]))
    return _case(draft, "GatherElements", _table(draft, shape), name, axis=axis)


def _tuples(draft: Draft, fed: _Fed, shape: Shape, depth: int, count: Shape) -> np.ndarray:
    """Indices into the first axes; if some may be out of range, those of one axis are."""
    wrong = draft.integer(0, depth - 1)
    outside, columns = fed.outside, []
    for number, length in enumerate(shape[:depth]):
        fed.outside = outside and number == wrong
        columns.append(fed.along(count, length).astype(np.int64))
    fed.outside = outside
    return np.stack(columns, -1)


@draws("fed_indices", "fed:GatherND")
def gather_nd(draft: Draft) -> Case:
    fed, shape = _Fed(draft), draft.shape(1, 4, zeros=False, long=9)
    batch = draft.integer(0, min(2, len(shape) - 1)) if draft.seldom() else 0
    depth = draft.integer(1, len(shape) - batch)
    count = (*shape[:batch], *draft.shape(0 if batch else 1, 2, zeros=False, long=4))
    name = fed.name(_tuples(draft, fed, shape[batch:], depth, count))
    return _case(draft, "GatherND", _table(draft, shape), name, batch_dims=batch)


@draws("fed_indices", "fed:ScatterElements")
def scatter_elements(draft: Draft) -> Case:
    """With reductions, so that an element may be written several times."""
    fed, shape = _Fed(draft), draft.shape(1, 3, zeros=False, long=9)
    axis = draft.axis(len(shape))
    written = [draft.integer(1, n) for n in shape]
    written[axis] = draft.integer(1, 6)
    name = fed.name(fed.along(tuple(written), shape[axis]))
    kind, how = draft.pick(("float32", "int32")), draft.pick(REDUCTIONS)
    x, updates = _table(draft, shape, kind), _table(draft, tuple(written), kind)
    exact = kind == "int32"
    return _case(draft, "ScatterElements", x, name, updates, exact=exact, axis=axis, reduction=how)


@draws("fed_indices", "fed:ScatterND")
def scatter_nd(draft: Draft) -> Case:
    fed, shape = _Fed(draft), draft.shape(1, 3, zeros=False, long=9)
    depth = draft.integer(1, len(shape))
    count = (draft.integer(1, 5),)
    name = fed.name(_tuples(draft, fed, shape, depth, count))
    kind, how = draft.pick(("float32", "int32")), draft.pick(REDUCTIONS)
    x, updates = _table(draft, shape, kind), _table(draft, (*count, *shape[depth:]), kind)
    return _case(draft, "ScatterND", x, name, updates, exact=kind == "int32", reduction=how)
