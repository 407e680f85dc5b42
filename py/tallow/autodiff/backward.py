"""What `Tensor.backward` makes of a graph: the gradients of what receives them.

A training step makes the same gradients of the same graph in every turn. They depend on the graph's
structure and on the pasts of its nodes, of which the marks here tell. Where both come again, the
runtime has a plan for graph and gradients, and nothing is made (`Derivation`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

from ..dtype import DType
from ..graph import Node
from ..tensor import Tensor
from .past import FOLLOWED, Past, computed_as
from .reverse import Ancestry, pullback
from .rules import BY_USERS


class Backward:
    """The gradient of a tensor by each of its leaves, added to the one that the leaf has; None for
    a leaf that no gradient reaches.

    order: the ancestry of the tensor. receivers: the leaves among it. again: whether the same may
    be made of another graph.
    """

    def __init__(
        self,
        tensor: Tensor,
        start: Node,
        order: Ancestry,
        receivers: Mapping[Node, Tensor],
        again: bool,
    ) -> None:
        self.tensors: Sequence[Tensor] = [tensor]
        self.leaves = [*{id(leaf): leaf for leaf in receivers.values()}.values()]
        grown = [leaf.grad.node for leaf in self.leaves if leaf.grad is not None]
        self.repeats = again and not any(leaf.gradient_hooks for leaf in self.leaves)
        self._start, self._order, self._receivers = start, order, receivers
        self._pulls: dict[Node, Hashable] = {}
        further: list[Node] = []
        for node in order:
            past: Past = node.past
            if past is not FOLLOWED:
                further += self._looked_at(node, past)
            if BY_USERS and computed_as(node).op in BY_USERS:
                self.repeats = False
        self.beside: Sequence[Node] = [tensor.node, start, *grown, *further]

    def _looked_at(self, node: Node, past: Past) -> Sequence[Node]:
        """The nodes that the gradient of a node depends on; what else, is noted."""
        if past.hooks:
            self.repeats = False
        if past.route is None:
            return () if past.origin is None else past.origin.inputs
        try:
            self._pulls[node] = _meaning(past.route.pull)
        except _UnknownError:
            self.repeats = False
        return *past.route.operands, *past.route.saved

    def references(self) -> Iterable[Node]:
        """See `Derivation`."""
        return chain(self._order, self.beside, self._receivers, self._pulls)

    def marks(self, numbers: Mapping[Node, int]) -> Hashable:
        """See `Derivation`."""
        marks: list[Hashable] = [numbers[self._start]]
        numbered = {id(leaf): number for number, leaf in enumerate(self.leaves)}
        places = {node: numbered[id(leaf)] for node, leaf in self._receivers.items()}
        for leaf in self.leaves:
            marks.append(None if leaf.grad is None else numbers[leaf.grad.node])
        for node in self._order:
            past: Past = node.past
            if past is FOLLOWED:
                marks.append(numbers[node])
                continue
            mark: list[Hashable] = [numbers[node], places.get(node)]
            if past.route is not None:
                operands, saved = past.route.operands, past.route.saved
                mark += self._pulls[node], len(operands)
                mark += map(numbers.__getitem__, (*operands, *saved))
            elif past.origin is not None:
                op, inputs, attrs = past.origin
                mark += op, attrs.exact
                mark += map(numbers.__getitem__, inputs)
            marks.append(tuple(mark))
        return tuple(marks)

    def make(self) -> list[Tensor | None]:
        """See `Derivation`. Raises GradientError for an op that has no derivative."""
        nodes = [*self._receivers]
        parts = pullback([self.tensors[0].node], [self._start], nodes, self._order)
        new: dict[int, Tensor] = {}
        for leaf, part in zip(self._receivers.values(), parts, strict=True):
            if part is not None:
                before = new.get(id(leaf), leaf.grad)
                new[id(leaf)] = Tensor(part) if before is None else before + Tensor(part)
        return [new.get(id(leaf)) for leaf in self.leaves]


class _UnknownError(Exception):
    """Nobody knows what a function depends on."""


def _meaning(value: Any) -> Hashable:
    """What a value in a closure stands for, such that equal ones lead to equal graphs. Raises
    _UnknownError for all but plain values, and functions of Tallow made of such."""
    kind = type(value)
    if value is None or kind in _PLAIN:
        return value if kind in (str, DType) else (kind, repr(value))
    if kind is tuple:
        return tuple([_meaning(each) for each in value])
    if kind is FunctionType and value.__module__.startswith(_TALLOW):
        cells = [_meaning(each.cell_contents) for each in value.__closure__ or ()]
        return value.__code__, tuple(cells), _meaning(value.__defaults__)
    raise _UnknownError


_PLAIN = (bool, int, float, str, DType)

_TALLOW = f"{__name__.partition('.')[0]}."
