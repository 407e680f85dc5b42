"""Slices whose start differs from turn to turn, as that of `x[i : i + 64]` in a loop over batches.

The start is part of a slice's node, so each would have a plan of its own. Once it has differed
often enough (`structure.Numbers`), it becomes an input of the plan, which the device reads. Of
integers that the host has, the elements become the input: the host checks those that are indices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..compile.indices import MOVES
from ..core import dtype as dt
from ..core.hostarray import HostArray, from_values
from ..graph import Node, make
from ..ops.movement import reshape, slice_
from ..ops.positions import slice_at


def may_vary(cut: Node) -> bool:
    """Whether a slice may be an input: all but those with steps, and those of integers of the host
    that are not whole rows."""
    x = cut.inputs[0]
    if x.dtype.coded or not cut.size or cut.shape == x.shape:
        return False
    if any(step != 1 for step in cut.attrs["steps"]):
        return False
    return not x.dtype.is_integer or not _is_of_host(x) or _are_elements_fed(cut)


def leaf_key(cut: Node) -> Hashable:
    """What a plan that is fed the slice depends on of it, beside its operand."""
    return slice_at, _are_elements_fed(cut), cut.shape


def is_read(leaf: Node) -> bool:
    """Whether a leaf is a slice of which the plan is fed the start."""
    return leaf.op is slice_ and not _are_elements_fed(leaf)


def elements(cut: Node) -> HostArray | None:
    """The elements of a slice of whole rows, if the host has them."""
    data = _elements(cut.inputs[0]) if _axes(cut) == (0,) and cut.attrs["steps"][0] == 1 else None
    if data is None:
        return None
    width = data.nbytes // data.shape[0]
    begin = cut.attrs["starts"][0] * width
    rows = data.data.cast("B")[begin : begin + cut.shape[0] * width]
    return HostArray(rows, cut.shape, data.dtype)


def starts_of(cuts: Iterable[Node]) -> HostArray:
    """The starts of several slices along the axes that they do not take whole, one after the other:
    one input, since a kernel on a GPU reads few."""
    found = [cut.attrs["starts"][axis] for cut in cuts for axis in _axes(cut)]
    return from_values(found, (len(found),), dt.int32)


def count(cuts: Iterable[Node]) -> int:
    """How many starts these are."""
    return sum(len(_axes(cut)) for cut in cuts)


def moved(cut: Node, x: Node, given: Node, first: int) -> Node:
    """The slice of x, whose starts are read from an input, from its element `first` on."""
    axes, places = _axes(cut), []
    for number in range(first, first + len(axes)):
        attrs = {"starts": (number,), "steps": (1,), "shape": (1,)}
        places.append(make(reshape, make(slice_, given, **attrs), shape=()))
    return make(slice_at, x, *places, axes=axes, shape=cut.shape)


def _axes(cut: Node) -> tuple[int, ...]:
    """The axes that the slice does not take whole."""
    dims = zip(cut.shape, cut.inputs[0].shape, strict=True)
    return tuple(axis for axis, (size, dim) in enumerate(dims) if size != dim)


def _are_elements_fed(cut: Node) -> bool:
    x = cut.inputs[0]
    return x.dtype.is_integer and _axes(cut) == (0,) and _elements(x) is not None


def _elements(x: Node) -> HostArray | None:
    """The elements of an array that the host has, also within `tl.tensor` or `detach`."""
    while x.op is reshape and x.shape == x.inputs[0].shape:
        x = x.inputs[0]
    if x.is_constant:
        data: HostArray = x.attrs["data"]
        return data
    return x.attrs["buffer"].uploaded if x.is_buffer else None


def _is_of_host(x: Node) -> bool:
    """Whether it only moves integers that the host has."""
    while x.op in MOVES and x.inputs[0].dtype.is_integer:
        x = x.inputs[0]
    return _elements(x) is not None
