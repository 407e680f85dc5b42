"""Regions at a position, as the ops that ONNX has: Slice with ends that are computed, ScatterND."""

from __future__ import annotations

from .... import functions as f
from ....core import dtype as dt
from ....functions.arrange import scatter_elements
from ....graph import Node
from ....tensor import Tensor
from .forms import Inputs, form, integers


def first(start: Node, dim: int, size: int) -> Tensor:
    """A start counted from the front of an axis and clamped, as an int64."""
    at = Tensor(start).astype(dt.int64)
    return f.clip(f.where(at < 0, at + dim, at), 0, dim - size)


def ends(node: Node, inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Where the region of `slice_at` begins and ends along its axes, (n,)."""
    x, *starts = inputs
    pairs = [*zip(node.attrs["axes"], starts, strict=True)]
    begin = f.stack([first(start, x.shape[axis], node.shape[axis]) for axis, start in pairs])
    return begin, begin + Tensor(integers(*(node.shape[axis] for axis, _ in pairs)))


def cut(node: Node, x: Node, begin: Node, end: Node) -> Node:
    """`slice_at` as Slice."""
    return form("Slice", x, begin, end, integers(*node.attrs["axes"]), shape=node.shape)


def filled(node: Node, inputs: Inputs) -> Tensor:
    """`fill_from` as a choice by a comparison."""
    x, axis = Tensor(inputs[0]), node.attrs["axis"]
    dim = x.shape[axis]
    along = [-1 if a == axis else 1 for a in range(x.ndim)]
    line = f.reshape(f.arange(dim, dtype=dt.int64), along)
    return f.where(line < first(inputs[1], dim, 0), x, f.full((), node.attrs["value"], x.dtype))


def update(node: Node, inputs: Inputs) -> Tensor:
    """`update_at` as scatters along one axis after the other."""
    x, new, *nodes = inputs
    starts: list[int | Tensor] = list(node.attrs["starts"])
    for axis, start in zip(node.attrs["axes"], nodes, strict=True):
        starts[axis] = first(start, x.shape[axis], new.shape[axis])
    shorter = [axis for axis, dim in enumerate(x.shape) if new.shape[axis] != dim]
    return _written(Tensor(x), Tensor(new), starts, shorter)


def _written(x: Tensor, new: Tensor, starts: list[int | Tensor], axes: list[int]) -> Tensor:
    axis, *others = axes
    if others:  # what is written along the first axis alone is a region along the others
        sizes = [new.shape[a] if a in others else dim for a, dim in enumerate(x.shape)]
        within = [start if a in others else 0 for a, start in enumerate(starts)]
        new = _written(f.slice_at(x, within, sizes), new, starts, [axis])
        return _written(x, new, starts, others)
    line = f.arange(new.shape[axis], dtype=dt.int64) + starts[axis]
    along = [-1 if a == axis else 1 for a in range(x.ndim)]
    at = f.broadcast_to(f.reshape(line, along), new.shape)
    return scatter_elements(x, axis, at.astype(dt.int32), new, "none")
