"""torch.autograd.forward_ad: tensors with tangents, and the tangents of what they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from .. import functions as f
from ..errors import GradientError
from ..grad_mode import enable_grad
from ..graph import Node
from ..tensor import Tensor, check_floating, check_gradient
from .past import argument
from .reverse import pullback

_levels: list[list[tuple[Node, Tensor]]] = []
"""The level that is open, if one is: the nodes of its dual tensors, with their tangents."""


class UnpackedDualTensor(NamedTuple):
    """A tensor, and its tangent; None if it depends on no dual tensor."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begins a level, for `make_dual`.

    Returns: its number, 0.
    Raises: GradientError within another level.
    Source: PyTorch, `torch.autograd.forward_ad.enter_dual_level`.
    """
    if _levels:
        raise GradientError("forward_ad: one level at a time; use tl.jvp within tl.jvp instead")
    _levels.append([])
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: its dual tensors have no tangents any more.

    level: its number, which changes nothing.
    Returns: nothing.
    Raises: GradientError outside of a level.
    Source: PyTorch, `torch.autograd.forward_ad.exit_dual_level`.
    """
    if not _levels:
        raise GradientError("forward_ad: no level to leave; enter_dual_level() begins one")
    _levels.pop()


@contextmanager
def dual_level() -> Iterator[int]:
    """Within it, tensors can have tangents.

    Raises: GradientError within another level.
    Source: PyTorch, `torch.autograd.forward_ad.dual_level`.
    """
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a tangent, of which `unpack_dual` gives those of what is computed of it.

    tensor: floating numbers, of any shape.
    tangent: the direction in which it moves, in its shape and type.
    level: changes nothing.
    Returns: another tensor of the same values.
    Raises: GradientError outside of a level and for integers, ShapeError or DTypeError for another
      tangent.
    Source: PyTorch, `torch.autograd.forward_ad.make_dual`.
    """
    if not _levels:
        raise GradientError("make_dual: no level is open; use `with dual_level():`")
    check_floating(tensor, "make_dual")
    check_gradient(tensor, tangent)
    made = Tensor(argument(tensor.node))
    _levels[-1].append((made.node, tangent))
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor and its tangent, which is reverse mode twice: see `jvp`.

    tensor: what was computed of dual tensors, outside of `no_grad`.
    level: changes nothing.
    Returns: (primal, tangent); the tangent is None of what depends on no dual tensor.
    Source: PyTorch, `torch.autograd.forward_ad.unpack_dual`.
    """
    duals = _levels[-1] if _levels else []
    with enable_grad():
        start = Tensor(argument(f.zeros(tensor.shape, tensor.dtype).node))
        found = pullback([tensor.node], [start.node], [node for node, _ in duals])
        reached = [(x, t.node) for x, (_, t) in zip(found, duals, strict=True) if x is not None]
        if not reached:
            return UnpackedDualTensor(tensor, None)
        (tangent,) = pullback([x for x, _ in reached], [t for _, t in reached], [start.node])
        if tangent is None:
            tangent = f.zeros(tensor.shape, tensor.dtype).node
    return UnpackedDualTensor(tensor, Tensor(tangent))
