"""Rows of tensors as batches.

The host joins rows of data that it has. Any others are one gather, whose indices are in a buffer
and not in the graph: a batch of other rows needs no new plan. Samples that a user's dataset slices
out of a tensor are stacked, and the plan reads where they start (runtime/starts.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index as whole
from typing import overload

from .. import functions as f
from ..core import dtype as dt
from ..core.hostarray import HostArray, from_values
from ..errors import IndexRangeError
from ..graph import Node, constant, seams, topological
from ..ops import movement
from ..runtime import starts
from ..tensor import Tensor, asarray, realize_now


class Samples(Sequence[tuple[Tensor, ...]]):
    """Tensors at some indices of their first axes: what a list of these samples would be."""

    def __init__(self, tensors: Sequence[Tensor], indices: Sequence[int]) -> None:
        self._tensors, self._indices = tensors, indices

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> tuple[Tensor, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> Samples: ...

    def __getitem__(self, index: int | slice) -> tuple[Tensor, ...] | Samples:
        if isinstance(index, slice):
            return Samples(self._tensors, self._indices[index])
        return tuple(x[self._indices[index]] for x in self._tensors)

    def collated(self) -> list[Tensor]:
        """The samples as one tensor for each of theirs."""
        return [rows(x, self._indices) for x in self._tensors]


def checked(indices: Iterable[int], length: int, what: str) -> list[int]:
    """Indices counted from the front. Raises IndexRangeError for one out of range."""
    found = [whole(each) for each in indices]
    for number, each in enumerate(found):
        if not -length <= each < length:
            raise IndexRangeError(f"{what}: the index {each} is out of range for {length} samples")
        found[number] = each % length
    return found


def rows(x: Tensor, indices: Sequence[int]) -> Tensor:
    """x at indices along its first axis, counted from the front: one gather. The host gathers what
    it has; all else is computed once and gathered on its device."""
    data = _constant(x.node)
    if data is not None and not seams.derivatives.tracked(x.node):
        joined = _joined(data, indices)
        return Tensor(constant(HostArray(joined, (len(indices), *x.shape[1:]), x.dtype)))
    realize_now([x])
    picked = asarray(from_values(indices, (len(indices),), dt.int32)).realize(x.device)
    return f.take(x, picked)


def stacked(samples: Sequence[Tensor]) -> Tensor:
    """Tensors of one shape joined along a new first axis; the host joins those that it has."""
    nodes = [x.node for x in samples]
    dtype = nodes[0].dtype
    if dtype.coded or any(node.dtype != dtype or seams.derivatives.tracked(node) for node in nodes):
        return f.stack(samples)
    data = [_elements(node) for node in nodes]
    if any(each is None for each in data):
        if 1 < len(set(map(_sources, nodes))) < len(nodes):
            # Rows of several tensors come in another order in each batch. Computed one by one,
            # they share a plan.
            for each in samples:
                realize_now([each])
        return f.stack(samples)
    joined = memoryview(b"".join(each for each in data if each is not None))
    return Tensor(constant(HostArray(joined, (len(nodes), *nodes[0].shape), dtype)))


def _sources(node: Node) -> frozenset[Node]:
    """The sources that a sample is computed from, without scalar constants."""
    found = topological([node])
    return frozenset(each for each in found if each.is_source and not each.is_scalar_constant)


def _constant(node: Node) -> HostArray | None:
    """The elements of a constant, also within `tl.tensor` or `detach`."""
    while node.op is movement.reshape and node.shape == node.inputs[0].shape:
        node = node.inputs[0]
    if not node.is_constant or node.dtype.coded:
        return None
    data: HostArray = node.attrs["data"]
    return data


def _elements(node: Node) -> memoryview | None:
    """The bytes of what the host has: a constant, or rows of an array."""
    single = node.op is movement.reshape and node.inputs[0].shape == (1, *node.shape)
    cut = node.inputs[0] if single else node
    data = starts.elements(cut) if cut.op is movement.slice_ else _constant(node)
    return None if data is None else data.data.cast("B")


def _joined(data: HostArray, indices: Sequence[int]) -> memoryview:
    """The bytes of rows; those of neighbours are not copied."""
    if not indices:
        return memoryview(b"")
    view, width = data.data.cast("B"), data.nbytes // data.shape[0]
    first = indices[0]
    if all(each == first + number for number, each in enumerate(indices)):
        return view[first * width : (first + len(indices)) * width]
    return memoryview(b"".join([view[each * width : (each + 1) * width] for each in indices]))
