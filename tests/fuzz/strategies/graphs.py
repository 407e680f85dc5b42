"""Whole graphs: 2 to 12 nodes of many families, each reading results of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..case import Case
from ..draft import Draft, Shape
from .registry import draws

_SMALL = 2048


@dataclass(frozen=True)
class Made:
    """A value of the graph."""

    name: str
    shape: Shape
    dtype: str = "float32"


class Growing:
    """A growing graph. `values` are all its values, the newest last."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.values: list[Made] = []

    def one(self, least: int = 0, dtype: str = "float32") -> Made:
        """A value with a minimum number of axes: mostly a recent one, else a new input."""
        fits = [v for v in self.values if v.dtype == dtype and len(v.shape) >= least]
        if fits and not self.draft.seldom():
            return self.draft.pick(fits[::-1][:4])
        shape = self.draft.shape(least, max(least, 3), zeros=False, long=6)
        return self.new(shape, dtype)

    def new(self, shape: Shape, dtype: str = "float32") -> Made:
        """An input, or an initializer."""
        limits = (0, 3) if dtype == "int64" else (-2, 2)
        array = self.draft.array(dtype, shape, *limits)
        self.values.append(Made(self.draft.given(array), shape, dtype))
        return self.values[-1]

    def add(
        self, op: str, inputs: list[str], shape: Shape, dtype: str = "", **more: object
    ) -> None:
        """Adds a node with one result of the given shape."""
        (name,) = self.draft.node(op, *inputs, **more)
        self.values.append(Made(name, shape, dtype or "float32"))


Step = Callable[[Growing], None]


def _unary(g: Growing) -> None:
    x = g.one()
    ops = [
        "Abs",
        "Neg",
        "Relu",
        "Sigmoid",
        "Tanh",
        "Floor",
        "Ceil",
        "Softplus",
        "Identity",
        "Erf",
        "HardSwish",
        "LeakyRelu",
    ]
    g.add(g.draft.pick(ops), [x.name], x.shape)


def _binary(g: Growing) -> None:
    x = g.one()
    fits = [v for v in g.values if v.dtype == "float32" and _together(x.shape, v.shape)]
    y = g.draft.pick(fits[::-1]) if g.draft.flag() else g.new(g.draft.broadcast(x.shape))
    pair = [x, y] if g.draft.flag() else [y, x]
    op = g.draft.pick(["Add", "Sub", "Mul", "Max", "Min", "Mean"])
    g.add(op, [v.name for v in pair], np.broadcast_shapes(x.shape, y.shape))


def _together(x: Shape, y: Shape) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(x, y))) <= _SMALL
    except ValueError:
        return False


def _choice(g: Growing) -> None:
    x = g.one()
    y = g.new(g.draft.broadcast(x.shape))
    (below,) = g.draft.node(g.draft.pick(("Less", "GreaterOrEqual")), x.name, y.name)
    g.add("Where", [below, x.name, y.name], x.shape)


def _reduced(g: Growing) -> None:
    x = g.one(1)
    axes = sorted(axis % len(x.shape) for axis in g.draft.axes(len(x.shape), 1))
    keep = g.draft.integer(0, 1)
    shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
    left = shape if keep else [n for i, n in enumerate(x.shape) if i not in axes]
    op = g.draft.pick(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"])
    g.add(op, [x.name, g.draft.constant(axes)], tuple(left), keepdims=keep)


def _along(g: Growing) -> None:
    x = g.one(1)
    axis = g.draft.axis(len(x.shape))
    if g.draft.flag():
        g.add(g.draft.pick(("Softmax", "LogSoftmax")), [x.name], x.shape, axis=axis)
    else:
        g.add("CumSum", [x.name, g.draft.constant(axis)], x.shape)


def _turned(g: Growing) -> None:
    x = g.one(2)
    order = [axis % len(x.shape) for axis in g.draft.axes(len(x.shape), len(x.shape))]
    g.add("Transpose", [x.name], tuple(x.shape[i] for i in order), perm=order)


def _reshaped(g: Growing) -> None:
    x = g.one()
    whole = int(np.prod(x.shape))
    first = g.draft.pick([n for n in (1, 2, 3, 4, 6, whole) if whole % n == 0])
    shape = (first, whole // first)
    said = list(shape) if g.draft.flag() or not whole else [first, -1]
    g.add("Reshape", [x.name, g.draft.constant(said)], shape)


def _computed(g: Growing) -> None:
    """A shape that the graph itself computes."""
    x = g.one(1)
    (shape,) = g.draft.node("Shape", x.name)
    axis = g.draft.integer(0, len(x.shape) - 1)
    (length,) = g.draft.node("Gather", shape, g.draft.constant([axis]))
    (wanted,) = g.draft.node("Concat", length, g.draft.constant([-1]), axis=0)
    whole, n = int(np.prod(x.shape)), x.shape[axis]
    g.add("Reshape", [x.name, wanted], (n, whole // max(n, 1)))


def _sliced(g: Growing) -> None:
    x = g.one(1)
    axis = g.draft.integer(0, len(x.shape) - 1)
    n = x.shape[axis]
    start, step = g.draft.integer(0, n - 1), g.draft.pick((1, 2, -1))
    end = n if step > 0 else -n - 1
    count = len(range(start, n, step) if step > 0 else range(start, -1, step))
    more = [g.draft.constant([value]) for value in (start, end, axis, step)]
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    g.add("Slice", [x.name, *more], shape)


def _padded(g: Growing) -> None:
    x = g.one(1)
    pads = [g.draft.integer(0, 1) for _ in range(2 * len(x.shape))]
    n = len(x.shape)
    shape = tuple(pads[i] + pads[i + n] + length for i, length in enumerate(x.shape))
    if int(np.prod(shape)) <= _SMALL:
        g.add("Pad", [x.name, g.draft.constant(pads)], shape,
              mode=g.draft.pick(("constant", "edge")))  # fmt: skip


def _joined(g: Growing) -> None:
    x = g.one(1)
    axis = g.draft.integer(0, len(x.shape) - 1)
    rest = [
        v for v in g.values if v.dtype == "float32" and _but(v.shape, axis) == _but(x.shape, axis)
    ]
    y = g.draft.pick(rest[::-1])
    shape = (*x.shape[:axis], x.shape[axis] + y.shape[axis], *x.shape[axis + 1 :])
    if int(np.prod(shape)) <= _SMALL:
        g.add("Concat", [x.name, y.name], shape, axis=axis)


def _but(shape: Shape, axis: int) -> tuple[int, Shape] | None:
    return (len(shape), shape[:axis] + shape[axis + 1 :]) if axis < len(shape) else None


def _parted(g: Growing) -> None:
    x = g.one(1)
    axis = g.draft.integer(0, len(x.shape) - 1)
    n = x.shape[axis]
    first = g.draft.integer(0, n)
    names = g.draft.node(
        "Split", x.name, g.draft.constant([first, n - first]), outputs=2, axis=axis
    )
    for name, length in zip(names, (first, n - first), strict=True):
        if length:
            shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
            g.values.append(Made(name, shape))


def _picked(g: Growing) -> None:
    x = g.one(1)
    axis = g.draft.integer(0, len(x.shape) - 1)
    n = x.shape[axis]
    where = g.draft.array("int64", g.draft.shape(0, 2, zeros=False, long=3), -n, n - 1)
    shape = (*x.shape[:axis], *where.shape, *x.shape[axis + 1 :])
    if int(np.prod(shape)) <= _SMALL:
        indices = np.clip(where, -n, n - 1)
        g.add("Gather", [x.name, g.draft.given(indices)], shape, axis=axis)


def _product(g: Growing) -> None:
    x = g.one(2)
    y = g.new((x.shape[-1], g.draft.integer(1, 5)))
    g.add("MatMul", [x.name, y.name], (*x.shape[:-1], y.shape[1]))


def _convolved(g: Growing) -> None:
    x = g.one(4)
    if len(x.shape) != 4:
        return
    channels, k = g.draft.integer(1, 4), g.draft.pick((1, 3))
    w = g.new((channels, x.shape[1], k, k))
    shape = (x.shape[0], channels, *x.shape[2:])
    g.add("Conv", [x.name, w.name], shape, pads=[k // 2] * 4)


def _pooled(g: Growing) -> None:
    x = g.one(4)
    if len(x.shape) != 4 or min(x.shape[2:]) < 2:
        return
    shape = (*x.shape[:2], *(n // 2 for n in x.shape[2:]))
    op = g.draft.pick(("MaxPool", "AveragePool"))
    g.add(op, [x.name], shape, kernel_shape=[2, 2], strides=[2, 2])


def _cast(g: Growing) -> None:
    """To another type and back."""
    x = g.one()
    (other,) = g.draft.node("Cast", x.name, to=g.draft.pick((6, 10, 7, 9)))
    g.add("Cast", [other], x.shape, to=1)


def _whole(g: Growing) -> None:
    """Arithmetic of int64."""
    x = g.one(0, "int64")
    y = g.new(g.draft.broadcast(x.shape), "int64")
    g.add(g.draft.pick(["Add", "Sub", "Mul", "Max"]), [x.name, y.name], x.shape, "int64")


_STEPS: tuple[Step, ...] = (
    _unary, _binary, _binary, _choice, _reduced, _along, _turned, _reshaped, _computed, _sliced,
    _padded, _joined, _parted, _picked, _product, _convolved, _pooled, _cast, _whole,
)  # fmt: skip


@draws("graphs", "graph:any")
def graph(draft: Draft) -> Case:
    """Every value that no node reads is an output, and rarely one that is read."""
    draft.opsets[""] = draft.pick((18, 21))
    growing = Growing(draft)
    rank = draft.pick((2, 4, 3, 1, 0))
    growing.new(draft.shape(rank, rank, zeros=False, long=6))
    for _ in range(draft.integer(2, 8)):
        draft.pick(_STEPS)(growing)
    if not draft.nodes:
        _unary(growing)
    read = {name for node in draft.nodes for name in node.inputs}
    made = [name for node in draft.nodes for name in node.outputs]
    draft.outputs += [name for name in made if name not in read or draft.seldom()]
    return draft.case(scaled=True, slack=100)
