"""Gradients of tensors, as `Tensor.backward` and `autograd.grad` ask for them.

A training step makes the same gradients of the same graph in every turn. They depend on the graph's
structure and on the pasts of its nodes, of which the marks here tell. Where both come again, the
runtime has a plan for graph and gradients, and nothing is made (`Derivation`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from types import FunctionType
from typing import Any

from ..core.dtype import DType
from ..graph import Node
from ..tensor import Tensor
from .past import TRACKED, Past, computed_as, leaf_of
from .reverse import Ancestry, pullback
from .rules import BY_USERS


class Gradients:
    """The gradient by each group of nodes, the sum of those by its nodes; None where no gradient
    reaches any. See `Derivation`.

    tensors: the ends, of which the gradients are taken. starts: the gradients of the ends. groups:
    several nodes stand for one tensor that was read as each of them. before: what the gradient of a
    group is added to. order: the ancestry of the ends. again: whether the same may be made of
    another graph.
    """

    def __init__(
        self,
        tensors: Sequence[Tensor],
        starts: Sequence[Node],
        groups: Sequence[Sequence[Node]],
        before: Sequence[Tensor | None],
        order: Ancestry,
        again: bool,
    ) -> None:
        self.tensors = tensors
        self.repeats = again
        self._starts, self._groups, self._before, self._order = starts, groups, before, order
        self._pulls: dict[Node, Hashable] = {}
        beside = [each.node for each in (*tensors, *before) if each is not None]
        beside += chain(starts, *groups)
        for node in order:
            past: Past = node.past
            if past is not TRACKED:
                beside += self._looked_at(node, past)
            if BY_USERS and computed_as(node).op in BY_USERS:
                self.repeats = False
        self.beside: Sequence[Node] = beside

    def _looked_at(self, node: Node, past: Past) -> Sequence[Node]:
        """The nodes that the gradient of a node depends on; what else, is noted."""
        leaf = leaf_of(node)
        if past.hooks or (leaf is not None and leaf.gradient_hooks):
            self.repeats = False
        if past.route is None:
            return () if past.origin is None else past.origin.inputs
        try:
            self._pulls[node] = _meaning(past.route.pull)
        except _UnknownError:
            self.repeats = False
        return *past.route.operands, *past.route.saved

    def references(self) -> Iterable[Node]:
        return chain(self._order, self.beside, self._starts, *self._groups, self._pulls)

    # Why: docs/decisions/derivatives.md, "`backward` finds gradients again, and makes none"
    def marks(self, numbers: Mapping[Node, int]) -> Hashable:

        def numbered(nodes: Iterable[Node]) -> tuple[int, ...]:
            return tuple([numbers[node] for node in nodes])

        marks: list[Hashable] = [
            numbered(each.node for each in self.tensors),
            numbered(self._starts),
            *map(numbered, self._groups),
            *(None if each is None else numbers[each.node] for each in self._before),
        ]
        for node in self._order:
            past: Past = node.past
            if past is TRACKED:
                marks.append(numbers[node])
            elif past.route is not None:
                operands, saved = numbered(past.route.operands), numbered(past.route.saved)
                marks.append((numbers[node], self._pulls[node], operands, saved))
            elif past.origin is not None:
                op, inputs, attrs = past.origin
                marks.append((numbers[node], op, numbered(inputs), attrs.exact))
            else:
                marks.append((numbers[node],))
        return tuple(marks)

    def make(self) -> list[Tensor | None]:
        """See `Derivation`. Raises GradientError for an op that has no derivative."""
        flat = [*chain(*self._groups)]
        ends = [each.node for each in self.tensors]
        parts = dict(zip(flat, pullback(ends, self._starts, flat, self._order), strict=True))
        found = []
        for total, group in zip(self._before, self._groups, strict=True):
            reached = False
            for part in map(parts.get, group):
                if part is not None:
                    total = Tensor(part) if total is None else total + Tensor(part)
                    reached = True
            found.append(total if reached else None)
        return found


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
    if kind is FunctionType and value.__module__.startswith(_TALLOW) and not value.__kwdefaults__:
        cells = [_meaning(each.cell_contents) for each in value.__closure__ or ()]
        return value.__module__, value.__code__, tuple(cells), _meaning(value.__defaults__)
    raise _UnknownError


_PLAIN = (bool, int, float, str, DType)

_TALLOW = f"{__name__.partition('.')[0]}."
