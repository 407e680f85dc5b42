"""Programs of Tallow's functions from the array API standard, compared with NumPy's.

A program is a graph whose nodes are calls: the operator is the function's name, in the domain
tallow, and the attributes are what it is called with beside its tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import Case
from ..draft import Draft
from ..program_worker import numpy_call
from ..values import FLOATS
from .registry import draws

_MOST = 2048
_FLOATING = (
    "negative abs sign floor ceil trunc round tanh sinh exp sqrt log1p atan reciprocal square"
)
_ANY = "negative abs sign square"


class Program:
    """The values computed so far, by NumPy, so that shapes and types are known."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.values: dict[str, np.ndarray] = {}

    def new(self, shape: tuple[int, ...], dtype: str) -> str:
        """An input, or a constant."""
        array = self.draft.array(dtype, shape, 0 if dtype.startswith("uint") else -3, 3)
        name = self.draft.given(array)
        self.values[name] = array
        return name

    def one(self, fits: Callable[[np.ndarray], Any] = lambda x: True) -> str | None:
        """The name of a value that fits, if any."""
        names = [name for name, value in self.values.items() if fits(value)]
        return self.draft.pick(names[::-1]) if names else None

    def call(self, function: str, *names: str, **keywords: Any) -> None:
        """Adds a call, unless the result is large or not finite."""
        with np.errstate(all="ignore"):
            value = np.asarray(numpy_call(function, [self.values[n] for n in names], keywords))
        if value.size <= _MOST and (value.dtype.kind != "f" or np.isfinite(value).all()):
            (made,) = self.draft.node(function, *names, domain="tallow", **keywords)
            self.values[made] = value


def _of_elements(p: Program) -> None:
    name = p.one(lambda x: x.dtype.kind != "b")
    if name:
        floating = p.values[name].dtype.kind == "f"
        p.call(p.draft.pick((_FLOATING if floating else _ANY).split()), name)


def _of_two(p: Program) -> None:
    name = p.one(lambda x: x.dtype.kind != "b")
    if name:
        x = p.values[name]
        other = p.new(p.draft.broadcast(x.shape), x.dtype.name)
        function = p.draft.pick(
            ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal"]
        )
        p.call(function, *((name, other) if p.draft.flag() else (other, name)))


def _chosen(p: Program) -> None:
    name = p.one(lambda x: x.dtype.kind == "b")
    if name:
        shape, dtype = p.values[name].shape, p.draft.pick(("float32", "int32"))
        p.call("where", name, p.new(p.draft.broadcast(shape), dtype), p.new(shape, dtype))


def _reduced(p: Program) -> None:
    name = p.one(lambda x: x.ndim and x.size)
    if name:
        x = p.values[name]
        names = "any all" if x.dtype.kind == "b" else "sum max min prod"
        names += " mean var std" if x.dtype.kind == "f" else ""
        axis = p.draft.axis(x.ndim) if p.draft.flag() else None
        p.call(p.draft.pick(names.split()), name, axis=axis, keepdims=p.draft.flag())


def _searched(p: Program) -> None:
    name = p.one(lambda x: x.ndim and x.size and x.dtype.kind != "b")
    if name:
        axis = p.draft.axis(p.values[name].ndim)
        p.call(p.draft.pick(("argmax", "argmin", "sort", "cumulative_sum")), name, axis=axis)


def _moved(p: Program) -> None:
    name = p.one(lambda x: x.ndim)
    if name:
        x = p.values[name]
        axis = p.draft.axis(x.ndim)
        function = p.draft.pick(
            ["permute_dims", "flip", "expand_dims", "tile", "repeat", "reshape"]
        )
        keywords: dict[str, dict[str, Any]] = {
            "permute_dims": {"axes": [a % x.ndim for a in p.draft.axes(x.ndim, x.ndim)]},
            "flip": {"axis": p.draft.pick((None, axis))},
            "expand_dims": {"axis": axis},
            "tile": {"repetitions": [p.draft.integer(1, 2) for _ in x.shape]},
            "repeat": {"repeats": p.draft.integer(1, 3), "axis": axis},
            "reshape": {"shape": [-1]},
        }
        p.call(function, name, **keywords[function])


def _joined(p: Program) -> None:
    name = p.one(lambda x: x.ndim)
    if name:
        x = p.values[name]
        other = p.one(lambda y: y.shape == x.shape and y.dtype == x.dtype)
        assert other
        p.call(p.draft.pick(("concat", "stack")), name, other, axis=p.draft.axis(x.ndim))


def _product(p: Program) -> None:
    name = p.one(lambda x: x.ndim >= 1 and x.dtype.name in ("float32", "int32", "float64"))
    if name:
        x = p.values[name]
        p.call("matmul", name, p.new((x.shape[-1], p.draft.integer(1, 4)), x.dtype.name))


def _converted(p: Program) -> None:
    name = p.one(lambda x: x.dtype.kind in "biu" or x.size == 0 or abs(x).max() < 100)
    if name:
        signed = (p.values[name] >= 0).all()
        kinds = ("float32", "int32", "int64", "int16", "bool", *(("uint8",) if signed else ()))
        p.call("astype", name, dtype=p.draft.pick(kinds))


def _taken(p: Program) -> None:
    name = p.one(lambda x: x.ndim and x.size)
    if name:
        axis = p.draft.axis(p.values[name].ndim)
        n = p.values[name].shape[axis]
        where = np.clip(p.draft.array("int32", (p.draft.integer(1, 4),), -n, n - 1), -n, n - 1)
        indices = p.draft.given(where)
        p.values[indices] = where
        p.call("take", name, indices, axis=axis)


_STEPS = (
    _of_elements, _of_elements, _of_two, _of_two, _chosen, _reduced, _searched, _moved, _moved,
    _joined, _product, _converted, _taken,
)  # fmt: skip


@draws("programs", "program:any")
def program(draft: Draft) -> Case:
    """Outputs all values, or only the last one, so that the rest may be fused."""
    p = Program(draft)
    kinds = ("float32", "float32", "int32", *FLOATS, "bool", "int64", "uint8", "uint32", "int16")
    p.new(draft.shape(0, 3, zeros=True, long=33), draft.pick(kinds))
    for _ in range(draft.integer(2, 9)):
        draft.pick(_STEPS)(p)
    if not draft.nodes:
        p.call("logical_not" if next(iter(p.values.values())).dtype == bool else "square",
               next(iter(p.values)))  # fmt: skip
    made = [name for node in draft.nodes for name in node.outputs]
    draft.outputs += made if draft.flag() else made[-1:]
    return draft.case(scaled=True, slack=100)
