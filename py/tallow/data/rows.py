"""Rows of tensors as batches.

What the host has, it joins. All else is one gather, by indices in a buffer, so that no graph which
reads them contains them: a batch of other rows needs no other plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index as whole
from typing import NamedTuple, overload
from weakref import WeakKeyDictionary

from .. import functions as f
from ..core import dtype as dt
from ..core.hostarray import HostArray, from_values
from ..core.shape import Shape
from ..errors import IndexRangeError
from ..graph import Node, constant, seams
from ..ops import movement
from ..tensor import Tensor, asarray, realize_now

_computed: WeakKeyDictionary[Node, Node] = WeakKeyDictionary()
"""The buffers of nodes from which batches are gathered, so that each is computed once."""


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
    data = _known(x.node)
    if data is not None and not seams.derivatives.tracked(x.node):
        joined = _joined(data, indices)
        return Tensor(constant(HostArray(joined, (len(indices), *x.shape[1:]), x.dtype)))
    realize_now([x])
    return f.take(x, _fed(indices, (len(indices),), x.device))


def stacked(samples: Sequence[Tensor]) -> Tensor:
    """Tensors of one shape joined along a new first axis: one gather, if all are rows of the same
    tensors. What the host has, it joins."""
    nodes = [x.node for x in samples]
    dtype = nodes[0].dtype
    if dtype.coded or any(node.dtype != dtype or seams.derivatives.tracked(node) for node in nodes):
        return f.stack(samples)
    data = [_elements(node) for node in nodes]
    shape = (len(nodes), *nodes[0].shape)
    if all(each is not None for each in data):
        joined = memoryview(b"".join(each for each in data if each is not None))
        return Tensor(constant(HostArray(joined, shape, dtype)))
    parts = [part for part in map(_part, nodes) if part is not None]
    if len(parts) < len(nodes) or len({part.single for part in parts}) > 1:
        return f.stack(samples)
    return _gathered(parts)


# ---- on the host -----------------------------------------------------------------------------


def _known(node: Node) -> HostArray | None:
    """The elements of a constant, also within `tl.tensor` or `detach`."""
    while node.op is movement.reshape and node.shape == node.inputs[0].shape:
        node = node.inputs[0]
    if not node.is_constant or node.dtype.coded:
        return None
    data: HostArray = node.attrs["data"]
    return data


def _elements(node: Node) -> memoryview | None:
    """The bytes of a constant, or of rows of one."""
    data = _known(node)
    if data is not None:
        return data.data.cast("B")
    part = _part(node)
    base = None if part is None else _known(part.base)
    return None if part is None or base is None else _joined(base, part.indices)


def _joined(data: HostArray, indices: Sequence[int]) -> memoryview:
    """The bytes of rows; those of neighbours are not copied."""
    if not indices:
        return memoryview(b"")
    view, width = data.data.cast("B"), data.nbytes // data.shape[0]
    first = indices[0]
    if all(each == first + number for number, each in enumerate(indices)):
        return view[first * width : (first + len(indices)) * width]
    return memoryview(b"".join([view[each * width : (each + 1) * width] for each in indices]))


# ---- on the device ---------------------------------------------------------------------------


class _Part(NamedTuple):
    """base[indices]; single: it is one row, without the first axis."""

    base: Node
    indices: range
    single: bool


def _ranges(node: Node) -> list[range]:
    """The indices that a slice takes from each axis."""
    starts, steps = node.attrs["starts"], node.attrs["steps"]
    return [
        range(start, start + step * size, step)
        for start, step, size in zip(starts, steps, node.shape, strict=True)
    ]


def _part(node: Node) -> _Part | None:
    """The rows that x[i] and x[i:j] are; None for what is neither."""
    single = node.op is movement.reshape and node.inputs[0].shape == (1, *node.shape)
    cut = node.inputs[0] if single else node
    if cut.op is not movement.slice_:
        return None
    (base,) = cut.inputs
    first, *others = _ranges(cut)
    if any(taken != range(size) for taken, size in zip(others, base.shape[1:], strict=True)):
        return None
    return _Part(base, first, single)


def _gathered(parts: Sequence[_Part]) -> Tensor:
    """Parts joined along a new first axis: a gather from each tensor that they are parts of."""
    # In the order of their lengths, so that batches which begin with another one are alike.
    bases = sorted(dict.fromkeys(part.base for part in parts), key=lambda base: base.shape[0])
    length = len(parts[0].indices)
    shape = (len(parts),) if parts[0].single else (len(parts), length)
    result: Tensor | None = None
    for base in bases:
        held = Tensor(_computed.get(base, base))
        realize_now([held])
        if held.node is not base:
            _computed[base] = held.node
        own = [part.base is base for part in parts]
        indices = [
            index
            for part, mine in zip(parts, own, strict=True)
            for index in (part.indices if mine else [0] * length)
        ]
        device = held.device
        found = f.take(held, _fed(indices, shape, device))
        if result is not None:
            mask = asarray(from_values(own, (len(own),), dt.bool_)).realize(device)
            found = f.where(f.expand_dims(mask, tuple(range(1, found.ndim))), found, result)
        result = found
    assert result is not None
    return result


def _fed(numbers: Sequence[int], shape: Shape, device: str | None) -> Tensor:
    """Integers in a buffer: no graph that reads them contains them."""
    return asarray(from_values(numbers, shape, dt.int32)).realize(device)
