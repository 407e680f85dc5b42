"""Host evaluation: values that are known before anything runs, in pure Python.

Exporters compute shapes with tensors; those must be numbers when the graph is built, and on the
WebGPU road there is no NumPy to compute them. The same records serve: elementwise evaluators get
`_Numbers` in place of NumPy, movement goes by its index rule on Python integers. Where NumPy is
loaded anyway, it computes what has many elements.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ...core.dtype import DType
from ...core.hostarray import HostArray, from_buffer, from_values
from ...core.shape import strides_of
from ...errors import DTypeError
from ...graph import Graph, Node, constant, rebuild
from ...ops import elementwise, movement, reduce, source
from ...ops.kinds import Elementwise, Movement, Reduce

MAX_ELEMENTS = 4096  # elements; more than any shape has
_MANY = 128  # elements from which on NumPy takes less time, where it is loaded anyway


class _Numbers:
    """The functions of NumPy that evaluators of shape arithmetic use, on single numbers."""

    add = staticmethod(operator.add)
    subtract = staticmethod(operator.sub)
    multiply = staticmethod(operator.mul)
    floor_divide = staticmethod(operator.floordiv)
    remainder = staticmethod(operator.mod)
    fmod = staticmethod(math.fmod)
    negative = staticmethod(operator.neg)
    abs = staticmethod(abs)
    equal = staticmethod(operator.eq)
    not_equal = staticmethod(operator.ne)
    less = staticmethod(operator.lt)
    less_equal = staticmethod(operator.le)
    greater = staticmethod(operator.gt)
    greater_equal = staticmethod(operator.ge)
    floor = staticmethod(math.floor)
    ceil = staticmethod(math.ceil)
    sqrt = staticmethod(math.sqrt)
    round = staticmethod(round)
    power = staticmethod(operator.pow)

    @staticmethod
    def maximum(x: float, y: float) -> float:
        return x if x > y or x != x else y  # NaN of either

    @staticmethod
    def minimum(x: float, y: float) -> float:
        return x if x < y or x != x else y

    @staticmethod
    def true_divide(x: float, y: float) -> float:
        """As IEEE 754 has it: a shader may not have a quotient of constants that is not finite."""
        if y:
            return x / y
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)

    @staticmethod
    def sign(x: float) -> float:
        return x if x != x else (x > 0) - (x < 0)

    @staticmethod
    def where(condition: bool, x: object, y: object) -> object:
        return x if condition else y

    @staticmethod
    def logical_and(x: bool, y: bool) -> bool:
        return x and y

    @staticmethod
    def logical_or(x: bool, y: bool) -> bool:
        return x or y

    @staticmethod
    def logical_not(x: bool) -> bool:
        return not x


_FOLDS: dict[Reduce, Callable[[list[Any]], Any]] = {
    reduce.sum_: sum,
    reduce.prod: math.prod,
    reduce.max_: partial(functools.reduce, _Numbers.maximum),
    reduce.min_: partial(functools.reduce, _Numbers.minimum),
}

_STRIDED = (movement.permute, movement.expand, movement.slice_)


def host_value(node: Node) -> HostArray | None:
    """The value of a small node that depends on constants alone, or None."""
    waiting = [node]
    while waiting:  # stops at what is known: to walk a whole graph for each of its nodes is slow
        missing = [child for child in waiting[-1].inputs if child.known is False]
        if missing:
            waiting += missing
        elif (done := waiting.pop()).known is False:
            done.known = _evaluate(done)
    return node.known or None


def _evaluate(node: Node) -> HostArray | None:
    if node.is_constant:
        data: HostArray = node.attrs["data"]
        return data if data.size <= MAX_ELEMENTS else None
    values = [child.known for child in node.inputs]
    if node.is_input or node.size > MAX_ELEMENTS or not all(values):
        return None
    known = [value for value in values if value]
    try:
        if node.size >= _MANY and sys.modules.get("numpy") and _same_in_numpy(node):
            return _by_numpy(node, known)
        items = _items(node, known)
        return None if items is None else from_values(items, node.shape, node.dtype)
    except (AttributeError, ArithmeticError, ValueError, IndexError, DTypeError):
        return None  # a function that _Numbers does not have, or no result: left to the device


def _same_in_numpy(node: Node) -> bool:
    """Whether NumPy gives what `_items` gives: the op moves elements by a fixed rule, or computes
    with whole numbers."""
    if any(each.dtype.coded for each in (node, *node.inputs)):
        return False
    if isinstance(node.op, Movement):
        return node.op.view or node.op in (movement.concat, movement.pad)
    floating = any(each.dtype.is_floating for each in (node, *node.inputs))
    return isinstance(node.op, Elementwise) and not floating


def _by_numpy(node: Node, values: list[HostArray]) -> HostArray:
    import numpy as np

    with np.errstate(over="ignore", divide="raise", invalid="raise"):
        found = node.op.numpy(np, *(value.numpy() for value in values), **node.attrs)
    return from_buffer(np.ascontiguousarray(found, node.dtype.name).reshape(node.shape))


def _items(node: Node, values: list[HostArray]) -> list[Any] | None:
    op, flat = node.op, [value.flat() for value in values]
    if op is elementwise.cast:
        return list(map(_PYTHON.get(node.dtype.kind, int), flat[0]))
    if isinstance(op, Elementwise):
        attrs = dict(node.attrs.items())
        found = list(map(partial(op.numpy, _Numbers, **attrs), *flat))
        return _wrapped(found, node.dtype) if node.dtype.is_integer else found
    if op is source.iota:
        return [coords[node.attrs["axis"]] for coords in _all_coords(node)]
    if op is movement.reshape:
        return flat[0]
    if op in _STRIDED:
        return _strided(node, flat[0])
    if isinstance(op, Movement):
        return _moved(node, op, flat)
    if isinstance(op, Reduce) and op in _FOLDS:
        return _reduced(node, flat[0], _FOLDS[op])
    return None


def _wrapped(items: list[Any], dtype: DType) -> list[int]:
    """Whole numbers, wrapped round to the bits of a type."""
    whole = list(map(int, items))
    low = -(1 << dtype.bits - 1) if dtype.kind == "i" else 0
    mask = (1 << dtype.bits) - 1
    if not whole or (low <= min(whole) and max(whole) <= low + mask):
        return whole
    return [(item - low & mask) + low for item in whole]


_PYTHON: dict[str, type] = {"b": bool, "f": float}
"""The types of numbers by the kind of a dtype, int for all others."""


def _all_coords(node: Node) -> itertools.product[tuple[int, ...]]:
    return itertools.product(*(range(dim) for dim in node.shape))


def moved_items(node: Node, items: list[Any]) -> list[Any]:
    """The elements of a cast of integers, or of an op that only moves them by a fixed step."""
    return _strided(node, items) if node.op in _STRIDED else items


def _strided(node: Node, items: list[Any]) -> list[Any]:
    """What an op gives that reads with a fixed step along each axis: far faster than its rule for
    each element, and exporters compute masks and indices of thousands with such ops."""
    (child,), op, rank = node.inputs, node.op, len(node.shape)
    assert isinstance(op, Movement)
    rule, strides = op.pick, strides_of(child.shape)

    def flat_index(coords: tuple[int, ...]) -> int:
        assert rule is not None
        (pick,) = rule([child.shape], node.attrs, coords, None)
        return sum(map(operator.mul, pick.coords, strides))

    first = flat_index((0,) * rank)
    indices = [first]
    for axis, dim in enumerate(node.shape):
        step = flat_index(tuple(int(other == axis) for other in range(rank))) - first
        indices = [start + step * i for start in indices for i in range(dim)]
    return [items[index] for index in indices]


def _moved(node: Node, op: Movement, flat: list[list[Any]]) -> list[Any]:
    shapes = [child.shape for child in node.inputs]
    strides = [strides_of(shape) for shape in shapes]

    def at(operand: int, coords: tuple[int, ...]) -> Any:
        return flat[operand][sum(map(operator.mul, coords, strides[operand]))]

    def read(operand: int, coords: tuple[int, ...], size: int, region: int | None = None) -> int:
        index = int(at(operand, coords))
        if region is not None:
            return min(max(index + size if index < 0 else index, 0), size - region)
        if not -size <= index < size:
            raise IndexError(index)
        return index % size

    def element(coords: tuple[int, ...]) -> Any:
        assert op.pick is not None
        for pick in op.pick(shapes, node.attrs, coords, read):
            if all(low <= coord < high for coord, low, high in pick.when):
                return at(pick.operand, pick.coords)
        return node.attrs.get("value", 0)

    return [element(coords) for coords in _all_coords(node)]


def _reduced(node: Node, items: list[Any], fold: Callable[[list[Any]], Any]) -> list[Any]:
    (child,), strides = node.inputs, strides_of(node.shape)
    groups: list[list[Any]] = [[] for _ in range(node.size)]
    for item, coords in zip(items, _all_coords(child), strict=True):
        kept = (0 if axis in node.attrs["axes"] else c for axis, c in enumerate(coords))
        groups[sum(map(operator.mul, kept, strides))].append(item)
    return [fold(group) for group in groups]


def is_discontinuous(node: Node) -> bool:
    """Whether the last bit of what a node reads may change its value altogether: floating numbers
    rounded, compared, or cast to integers."""
    if not any(child.dtype.is_floating for child in node.inputs):
        return False
    rounds = isinstance(node.op, Elementwise) and node.op.discontinuous
    return rounds or not node.dtype.is_floating


def fold(graph: Graph) -> Graph:
    """Replaces what is known and small by constants; floating arithmetic stays on the device.

    So the value of a number here may differ in its last bit from the device's. A discontinuous op
    is therefore evaluated in one place: here, for all its readers, or on the device, with all that
    depends on it. Otherwise an index might be that of one element, and its weight that of the next.
    """
    left: set[Node] = set()  # what is discontinuous on the device, and what depends on it

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = rebuild(node, inputs)
        if new.is_constant or new.is_input:
            return new
        discontinuous = is_discontinuous(new)
        if left.isdisjoint(inputs) and new.size <= 64:
            small = new.size == 1 or new.dtype.is_integer or discontinuous
            value = host_value(new) if small else None
            if value is not None:
                return constant(value)
        if discontinuous or not left.isdisjoint(inputs):
            left.add(new)
        return new

    return graph.rewrite(rule)
