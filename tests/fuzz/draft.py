"""A case under construction, for which strategies draw values and add inputs and nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from onnx import defs

from . import values
from .case import OTHER, PROGRAM, Case, Graph, Kind, Node, Value, kind_of

T = TypeVar("T")
Shape = tuple[int, ...]
OLDEST, NEWEST = 7, 28
_USUAL = 21
_NAMED = {
    "float": "float32", "double": "float64",
    **{name: name for name in ("bool", "float16", "bfloat16", *values.INTEGERS)},
}  # fmt: skip


@cache
def versions(op: str, domain: str = "", first: int = OLDEST) -> tuple[int, ...]:
    """The operator sets from `first` on that define an operator, the newest first."""
    since = [
        schema.since_version
        for schema in defs.get_all_schemas_with_history()
        if (schema.name, schema.domain) == (op, domain) and not schema.deprecated
    ]
    floor = first if not domain else 1
    known = {max(version, floor) for version in since if version <= NEWEST}
    newest_before = {max((v for v in since if v <= floor), default=None)}
    return tuple(sorted(known - ({floor} if newest_before == {None} else set()), reverse=True))


@cache
def types(op: str, opset: int, port: int = 0, domain: str = "") -> tuple[str, ...]:
    """The element types, by NumPy's names, that an operator accepts as an input; no strings."""
    schema = defs.get_schema(op, opset, domain)
    formal = schema.inputs[min(port, len(schema.inputs) - 1)]
    admitted = [text.removeprefix("tensor(").removesuffix(")") for text in formal.types]
    return tuple(_NAMED[name] for name in sorted(admitted) if name in _NAMED)


class Draft:
    """The helper with which a strategy draws. `op` is the operator; inputs and nodes are added."""

    def __init__(self, draw: Callable[[Any], Any], family: str, op: str) -> None:
        self._draw = draw
        self.family = family
        self.domain, _, self.op = op.rpartition(".")
        self.about = op
        self.opsets = dict(OTHER)
        self.nodes: list[Node] = []
        self.inputs: dict[str, Kind] = {}
        self.feeds: dict[str, Value] = {}
        self.known: dict[str, np.ndarray] = {}
        self.outputs: list[str] = []
        self._names = 0

    # ---- drawing -------------------------------------------------------------------------------

    def any(self, strategy: st.SearchStrategy[T]) -> T:
        """A value of a Hypothesis strategy."""
        value: T = self._draw(strategy)
        return value

    def pick(self, options: Sequence[T]) -> T:
        """One of them; the first is the simplest."""
        return self.any(st.sampled_from(list(options)))

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return self.any(st.integers(low, high))

    def flag(self) -> bool:
        """True or false; false is simpler."""
        return self.any(st.booleans())

    def seldom(self) -> bool:
        """True once in five times."""
        return self.integer(0, 4) == 4

    def real(self, low: float = -2.0, high: float = 2.0) -> float:
        """A multiple of an eighth."""
        return self.integer(int(low * 8), int(high * 8)) / 8

    def opset(self, first: int = OLDEST, last: int = NEWEST) -> int:
        """The operator set for the operator's domain: mostly the newest that defines the operator
        and that onnxruntime supports."""
        found = [v for v in versions(self.op, self.domain, first) if first <= v <= last] or [first]
        usual = [v for v in found if v <= _USUAL] or found
        chosen = self.pick((usual[0], usual[0], *found)) if len(found) > 1 else found[0]
        self.opsets[self.domain] = chosen
        return chosen

    def dtype(self, port: int = 0, among: Sequence[str] | None = None) -> str:
        """An element type from `among` that the operator accepts at an input."""
        found = types(self.op, self.opsets[self.domain], port, self.domain)
        if among is not None:
            found = tuple(name for name in found if name in among)
        if "float32" in found and self.integer(0, 2) == 0:
            return "float32"
        return self.pick(sorted(found, key=lambda name: (name != "float32", name)))

    def floating(self, port: int = 0) -> str:
        """A floating element type that the operator accepts at an input."""
        return self.dtype(port, values.FLOATS)

    def shape(self, least: int = 0, most: int = 4, *, zeros: bool = True, long: int = 65) -> Shape:
        """Lengths of axes, from `least` to `most` of them."""
        rank = self.integer(least, most)
        limit = long if rank <= 2 else min(long, 9)
        return tuple(
            self.any(values.dimension(zeros and self.seldom(), limit)) for _ in range(rank)
        )

    def broadcast(self, shape: Shape) -> Shape:
        """A shape that broadcasts to it: leading axes are missing, or axes have length 1."""
        kept = shape[self.integer(0, len(shape)) if self.flag() else 0 :]
        return tuple(1 if self.seldom() else n for n in kept)

    def axis(self, rank: int) -> int:
        """An axis, rarely counted from the end."""
        axis = self.integer(0, rank - 1)
        return axis - rank if self.seldom() else axis

    def axes(self, rank: int, least: int = 0) -> list[int]:
        """Some axes, in some order, each once."""
        found = self.any(st.permutations(range(rank)))[: self.integer(min(least, rank), rank)]
        return [axis - rank if self.seldom() else axis for axis in found]

    def array(
        self,
        dtype: str,
        shape: Shape,
        low: float | None = None,
        high: float | None = None,
        *,
        edges: bool | None = None,
    ) -> np.ndarray:
        """An array, of elements from low to high. edges: whether NaN, infinities and the limits of
        the type may be among them; None: seldom, where there is neither low nor high."""
        count = int(np.prod(shape, dtype=np.int64))
        if dtype == "string":
            return self.any(values.texts(count)).reshape(shape)
        if edges is None:
            edges = low is None and high is None
        edges = edges and self.seldom()
        return self.any(values.elements(dtype, count, low, high, edges)).reshape(shape)

    # ---- what it consists of -------------------------------------------------------------------

    def name(self) -> str:
        """A new name."""
        self._names += 1
        return f"v{self._names - 1}"

    def given(self, value: Value, *, known: bool | None = None, kind: Kind | None = None) -> str:
        """An input with this value. known: whether it is an initializer; None: drawn."""
        name = self.name()
        able = isinstance(value, np.ndarray)
        if able and (self.seldom() if known is None else known):
            self.known[name] = value
            return name
        self.feeds[name] = value
        kind = kind or kind_of(value)
        if kind.shape and self.seldom():
            kind = Kind(kind.dtype, tuple(f"{name}_{i}" for i in range(len(kind.shape))))
        self.inputs[name] = kind
        return name

    def constant(self, value: Any, dtype: str = "int64") -> str:
        """Mostly an initializer: for numbers that are usually part of the model."""
        return self.given(np.array(value, values.dtype_of(dtype)), known=not self.seldom())

    def node(
        self, op: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Adds a node and returns the names of its results. Attributes of None are omitted."""
        names = [self.name() for _ in range(outputs)]
        keep = domain == PROGRAM
        kept = {key: value for key, value in attributes.items() if keep or value is not None}
        self.nodes.append(Node(op, inputs, tuple(names), kept, domain))
        return names

    def result(
        self,
        *inputs: str,
        outputs: int = 1,
        slack: float = 1.0,
        scaled: bool = False,
        steps: int = 0,
        **attributes: Any,
    ) -> Case:
        """A case with one node of the operator and these inputs."""
        self.outputs += self.node(
            self.op, *inputs, outputs=outputs, domain=self.domain, **attributes
        )
        return self.case(slack=slack, scaled=scaled, steps=steps)

    def case(self, *, slack: float = 1.0, scaled: bool = False, steps: int = 0) -> Case:
        """The finished case."""
        graph = Graph(self.nodes, self.inputs, self.outputs, self.known)
        used = {node.domain for node in graph.every_node()} | {""}
        opsets = {domain: version for domain, version in self.opsets.items() if domain in used}
        return Case(self.family, self.about, graph, self.feeds, opsets, slack, scaled, steps)
