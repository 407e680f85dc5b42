"""Plans of kernels that take sizes as arguments (codegen/strided/): node by node, for a graph that
is computed once. No pass runs and no kernel is written that another graph has used.

What only moves elements is a view, as in NumPy: where it begins, and strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...compile.limits import Limits
from ...compile.plan import Plan, Port, Slot, Step
from ...compile.target import Quick, is_simple
from ...core.dtype import DType, float32, word_type
from ...core.hostarray import HostArray, from_values
from ...core.shape import Shape, size_of, strides_of
from ...graph import Node
from ...ops import contract, gather, movement
from ...ops.kinds import Elementwise, Reduce
from ...ops.source import iota
from .codegen.assembler import Function
from .codegen.strided import Strided, steps_of
from .codegen.values import UnsupportedError

_LONGEST_LINE = 1 << 16
"""Elements of coordinates that are written down."""

_LONGEST_SUM = 1 << 12
"""Products that float32 adds up one by one."""

_GROUP = 64  # bytes to which slots are rounded, so that they are found again


@dataclass(slots=True)
class _View:
    """Elements in a slot: from a byte on, with strides in bytes."""

    slot: int
    start: int
    shape: Shape
    strides: tuple[int, ...]


def strided_plan(
    order: Sequence[Node],
    inputs: Mapping[str, Node],
    outputs: Mapping[str, Node],
    limits: Limits,
    kernels: Strided,
) -> Quick | None:
    """The plan of some nodes, whose kernels are among `kernels`: see QuickPlan."""
    if not is_simple(order):
        return None
    try:
        made = _Plan(order, kernels).made(inputs, outputs)
    except UnsupportedError:
        return None
    return made if sum(slot.bytes for slot in made.plan.slots) <= limits.total_bytes else None


class _Plan:
    """A plan, growing."""

    def __init__(self, nodes: Sequence[Node], kernels: Strided) -> None:
        self._nodes, self._kernels = nodes, kernels
        self._slots: list[Slot] = []
        self._free: list[int] = []  # slots that hold nothing that is still needed
        self._users: dict[int, int] = {}  # of scratch slots: how many values are in them
        self._views: dict[Node, _View] = {}
        self._constants: dict[tuple[bytes, str], int] = {}
        self._weights: list[tuple[int, HostArray]] = []
        self._weight_bytes = 0
        self._functions: dict[str, Function] = {}
        self._steps: list[Step] = []

    def made(self, inputs: Mapping[str, Node], outputs: Mapping[str, Node]) -> Quick:
        for node in inputs.values():
            slot = self._slot(node.size * node.dtype.size, "input")
            self._views[node] = _dense(slot, node)
        left: dict[Node, int] = dict.fromkeys(outputs.values(), 1)
        for node in self._nodes:
            for child in node.inputs:
                left[child] = left.get(child, 0) + 1
        for node in self._nodes:
            if node not in self._views:
                view = self._views[node] = self._value(node)
                if view.slot in self._users:
                    self._users[view.slot] += 1
            for child in node.inputs:
                left[child] -= 1
                if not left[child]:
                    self._leave(self._views[child].slot)
        given = [_port(each, self._views[node].slot, node) for each, node in inputs.items()]
        results = [self._output(each, node) for each, node in outputs.items()]
        modules = self._kernels.module(self._functions)
        plan = Plan("quick", "wasm", self._slots, given, results, modules, [], self._steps)
        return Quick(plan, self._weights)

    # ---- slots ---------------------------------------------------------------------------------

    def _slot(self, size: int, kind: str) -> int:
        self._slots.append(Slot(max(size, 16), kind))
        return len(self._slots) - 1

    def _scratch(self, size: int) -> int:
        """A slot that nothing needs."""
        size = -(-size // _GROUP) * _GROUP
        fitting = [slot for slot in self._free if size <= self._slots[slot].bytes <= 2 * size]
        if fitting:
            slot = min(fitting, key=lambda each: self._slots[each].bytes)
            self._free.remove(slot)
        else:
            slot = self._slot(size, "scratch")
        self._users[slot] = 0
        return slot

    def _leave(self, slot: int) -> None:
        """Releases the slot of a value that is no longer needed."""
        if slot in self._users:
            self._users[slot] -= 1
            if not self._users[slot]:
                self._free.append(slot)

    def _output(self, name: str, node: Node) -> Port:
        """An output is in a slot of its own."""
        view = self._views[node]
        if self._slots[view.slot].kind != "scratch" or not _is_dense(view, node.dtype):
            view = self._copy(view, node.dtype)
        kept = self._slots[view.slot]
        self._slots[view.slot] = Slot(kept.bytes, "output")
        return _port(name, view.slot, node)

    def _constant(self, data: HostArray) -> int:
        key = bytes(data.data), data.dtype.name
        if key not in self._constants:
            self._slots.append(Slot(max(data.nbytes, 16), "weight", self._weight_bytes))
            self._weights.append((self._weight_bytes, data))
            self._weight_bytes += max(data.nbytes, 16)
            self._constants[key] = len(self._slots) - 1
        return self._constants[key]

    # ---- values --------------------------------------------------------------------------------

    def _value(self, node: Node) -> _View:
        op = node.op
        if node.is_constant:
            return _dense(self._constant(node.attrs["data"]), node)
        if not node.size:
            return self._new(node)
        if op is iota:
            return self._line(node)
        given = [self._views[child] for child in node.inputs]
        if op is movement.after:
            return given[0]
        if op in _MOVED:
            return _MOVED[op](given[0], node.attrs)
        if op is movement.reshape:
            return self._reshaped(given[0], node)
        if isinstance(op, Elementwise):
            return self._elementwise(op, node, given)
        if isinstance(op, Reduce):
            return self._reduced(op, node, given[0])
        if op is movement.concat:
            return self._joined(node, given)
        if op is contract.matmul:
            return self._product(node, given)
        if op is gather.take:
            return self._taken(node, given)
        raise UnsupportedError(op.name)

    def _new(self, node: Node) -> _View:
        return _dense(self._scratch(node.size * node.dtype.size), node)

    def _line(self, node: Node) -> _View:
        """Coordinates: one line of them, whatever the shape."""
        axis, dtype = node.attrs["axis"], node.dtype
        length = node.shape[axis]
        if length > _LONGEST_LINE:
            raise UnsupportedError("a long line")
        slot = self._constant(from_values(range(length), (length,), dtype))
        strides = [dtype.size if other == axis else 0 for other in range(len(node.shape))]
        return _View(slot, 0, node.shape, tuple(strides))

    def _reshaped(self, view: _View, node: Node) -> _View:
        strides = reshaped_strides(view.shape, view.strides, node.shape)
        if strides is not None:
            return _View(view.slot, view.start, node.shape, strides)
        copied = self._copy(view, node.dtype)
        return _dense(copied.slot, node)

    def _copy(self, view: _View, dtype: DType) -> _View:
        """The elements of a view next to each other."""
        strides = [stride * dtype.size for stride in strides_of(view.shape)]
        slot = self._scratch(size_of(view.shape) * dtype.size)
        made = _View(slot, 0, view.shape, tuple(strides))
        self._map(None, {}, [view], (dtype, dtype), made, "copy")
        return made

    def _dense(self, view: _View, dtype: DType) -> _View:
        return view if _is_dense(view, dtype) else self._copy(view, dtype)

    def _elementwise(self, op: Elementwise, node: Node, given: list[_View]) -> _View:
        made = self._new(node)
        types = (*(child.dtype for child in node.inputs), node.dtype)
        self._map(op, node.attrs, given, types, made, op.name)
        return made

    def _map(
        self,
        op: Elementwise | None,
        attrs: Mapping[str, Any],
        given: list[_View],
        types: tuple[DType, ...],
        target: _View,
        name: str,
    ) -> None:
        """A step that computes each element of `target`, which has the shape of what is given."""
        views = [*given, target]
        if not size_of(target.shape):
            return
        counts, strides = loops_of(target.shape, [view.strides for view in views])
        lanes = "".join(
            "c" if each[-1] == dtype.size else "x" if each[-1] else "s"
            for each, dtype in zip(strides, types, strict=True)
        )
        function = self._kernels.elementwise(op, attrs, types, len(counts), lanes)
        steps = [steps_of(counts, each) for each in strides]
        turns = [step for loop in zip(*steps, strict=True) for step in loop]
        self._step(name, function, views, [*counts, *turns])

    def _reduced(self, op: Reduce, node: Node, view: _View) -> _View:
        (child,) = node.inputs
        if not child.size:
            raise UnsupportedError("a fold of nothing")
        made = self._new(node)
        axes = node.attrs["axes"]
        kept = [axis for axis in range(len(view.shape)) if axis not in axes]
        outer, (reads, writes) = loops_of(
            [view.shape[axis] for axis in kept],
            [[each.strides[axis] for axis in kept] for each in (view, made)],
        )
        inner, (folded,) = loops_of(
            [view.shape[axis] for axis in axes], [[view.strides[axis] for axis in axes]]
        )
        counts = [*outer, *inner]
        function = self._kernels.reduction(op, child.dtype, len(outer), len(inner))
        steps = [*steps_of(counts, [*reads, *folded]), *steps_of(outer, writes)]
        self._step(op.name, function, [view, made], [*counts, *steps])
        return made

    def _joined(self, node: Node, given: list[_View]) -> _View:
        made = self._new(node)
        start, axis = 0, node.attrs["axis"]
        for view in given:
            part = _View(made.slot, start, view.shape, made.strides)
            self._map(None, {}, [view], (node.dtype, node.dtype), part, "concat")
            start += view.shape[axis] * made.strides[axis]
        return made

    def _product(self, node: Node, given: list[_View]) -> _View:
        a, b = given
        (batch, m, k), n = a.shape, b.shape[2]
        if node.dtype != float32 or not 0 < k <= _LONGEST_SUM:
            raise UnsupportedError("products of that type or length")
        made = self._new(node)
        if n > 1 and b.strides[2] != 4:
            b = self._copy(b, float32)
        sizes = [batch, m, k, n, *a.strides, *b.strides[:2], 4 * n]
        self._step("matmul", self._kernels.product(), [a, b, made], sizes)
        if b is not given[1]:
            self._give_back(b)
        return made

    def _taken(self, node: Node, given: list[_View]) -> _View:
        child, indices = node.inputs
        pairs = zip(given, node.inputs, strict=True)
        rows, index_view = (self._dense(view, each.dtype) for view, each in pairs)
        axis = node.attrs["axis"]
        length = child.shape[axis]
        if not length:
            raise UnsupportedError("rows of nothing")
        row = size_of(child.shape[axis + 1 :]) * child.dtype.size
        unit = next(size for size in (16, 8, 4, 2, 1) if row % size == 0)
        made = self._new(node)
        sizes = [size_of(child.shape[:axis]), indices.size, row // unit, length, row, length * row]
        function = self._kernels.take(indices.dtype, unit)
        self._step("take", function, [rows, index_view, made], sizes)
        for copied, view in zip((rows, index_view), given, strict=True):
            if copied is not view:
                self._give_back(copied)
        return made

    def _give_back(self, view: _View) -> None:
        """Frees the slot of a copy that no node has."""
        self._users[view.slot] += 1
        self._leave(view.slot)

    def _step(
        self, name: str, function: Function, views: Sequence[_View], sizes: list[int]
    ) -> None:
        self._functions[function.exported] = function
        kernel = {
            "function": function.exported,
            "at": [view.start for view in views],
            "sizes": sizes,
        }
        slots = [view.slot for view in views]
        self._steps.append(Step(name, slots, [], (views[-1].shape, ""), [], kernel))


# ---- views -------------------------------------------------------------------------------------


def _dense(slot: int, node: Node) -> _View:
    size = node.dtype.size
    strides = tuple([stride * size for stride in strides_of(node.shape)])
    return _View(slot, 0, node.shape, strides)


def _is_dense(view: _View, dtype: DType) -> bool:
    if view.start:
        return False
    size = dtype.size
    for dim, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if dim != 1:
            if stride != size:
                return False
            size *= dim
    return True


def _permuted(view: _View, attrs: Mapping[str, Any]) -> _View:
    axes = attrs["axes"]
    shape = tuple([view.shape[axis] for axis in axes])
    return _View(view.slot, view.start, shape, tuple([view.strides[axis] for axis in axes]))


def _expanded(view: _View, attrs: Mapping[str, Any]) -> _View:
    shape = attrs["shape"]
    pairs = zip(view.shape, shape, view.strides, strict=True)
    strides = tuple([stride if old == new else 0 for old, new, stride in pairs])
    return _View(view.slot, view.start, shape, strides)


def _sliced(view: _View, attrs: Mapping[str, Any]) -> _View:
    start = view.start + sum(map(int.__mul__, attrs["starts"], view.strides))
    strides = tuple(map(int.__mul__, attrs["steps"], view.strides))
    return _View(view.slot, start, attrs["shape"], strides)


_MOVED = {
    movement.permute: _permuted,
    movement.expand: _expanded,
    movement.slice_: _sliced,
}


def reshaped_strides(
    source: Shape, strides: Sequence[int], target: Shape
) -> tuple[int, ...] | None:
    """The strides with which a view has another shape; None if it has to be copied for that."""
    found = [0] * len(target)
    for a, b in movement.runs_of(source, target):
        old = [(source[axis], strides[axis]) for axis in a if source[axis] != 1]
        new = [axis for axis in b if target[axis] != 1]
        if not old:
            continue
        for (_, outer), (count, inner) in pairwise(old):
            if outer != inner * count:
                return None
        stride = old[-1][1]
        for axis in reversed(new):
            found[axis] = stride
            stride *= target[axis]
    return tuple(found)


def loops_of(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """The loops that visit all elements of some operands of one shape: their turns, and for each
    operand its strides. Axes that every operand has next to each other are one loop."""
    counts: list[int] = []
    found: list[list[int]] = [[] for _ in strides]
    for axis, dim in enumerate(shape):
        if dim == 1:
            continue
        if counts and all(
            each[-1] == given[axis] * dim for each, given in zip(found, strides, strict=True)
        ):
            counts[-1] *= dim
            for each, given in zip(found, strides, strict=True):
                each[-1] = given[axis]
            continue
        counts.append(dim)
        for each, given in zip(found, strides, strict=True):
            each.append(given[axis])
    if not counts:
        return [1], [[0] for _ in strides]
    return counts, found


def _port(name: str, slot: int, node: Node) -> Port:
    dtype = word_type(node.dtype)
    return Port(name, slot, dtype.name, node.shape, node.size * dtype.size)
