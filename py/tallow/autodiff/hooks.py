"""Hooks of gradients: functions that see them on their way, and may change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from math import prod
from typing import Any
from weakref import ref

from .. import functions as f
from ..core.hooks import RemovableHandle, hooked
from ..errors import DTypeError, GradientError, ShapeError
from ..graph import Node
from ..tensor import Tensor
from .past import add_hooks, is_tracked, leaf_of, routed, same

Hook = Callable[[Tensor], Tensor | None]

notes: ContextVar[dict[Any, Any]] = ContextVar("notes")
"""What a backward pass records for its own later steps (nn/hooks.py); cleared at its end."""


def passed(hooks: Mapping[int, Hook], gradient: Tensor) -> Tensor:
    """A gradient after these hooks. Raises ShapeError or DTypeError if one gives another kind."""
    for hook in list(hooks.values()):
        changed = hook(gradient)
        if changed is None:
            continue
        if changed.shape != gradient.shape:
            raise ShapeError(
                f"a hook gives a gradient of the shape {changed.shape}; the tensor has "
                f"{gradient.shape}"
            )
        if changed.dtype != gradient.dtype:
            raise DTypeError(
                f"a hook gives a gradient of {changed.dtype.name}; the tensor has "
                f"{gradient.dtype.name}"
            )
        gradient = changed
    return gradient


def register(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """Registers a hook for a tensor's gradient. GradientError if it gets none."""
    if not is_tracked(tensor.node):
        raise GradientError(
            "register_hook: no gradient reaches this tensor, since nothing that it is computed "
            "from requires one"
        )
    if leaf_of(tensor.node) is tensor:
        return hooked(tensor.own_hooks, hook)
    return hooked(add_hooks(tensor.node), hook)


def retain(tensor: Tensor) -> None:
    """Makes a tensor that is no leaf keep its gradient."""
    if leaf_of(tensor.node) is tensor:  # which keeps it anyway
        return
    held = ref(tensor)  # what a hook holds is not freed while its node exists

    def keep(gradient: Tensor) -> None:
        kept = held()
        if kept is not None:
            kept.grad = gradient if kept.grad is None else kept.grad + gradient

    register(tensor, keep)


def joined(
    outputs: Sequence[Tensor],
    operands: Sequence[Node],
    pull: Callable[..., Sequence[Tensor | None]],
    saved: Sequence[Node] = (),
) -> list[Tensor]:
    """The same tensors, whose gradients come together: pull(all of them, *saved) gives those of the
    operands. Several tensors are copied for that."""
    if not outputs:
        return []
    kinds = [(x.shape, x.dtype) for x in outputs]

    def parts(line: Tensor) -> list[Tensor]:
        if len(kinds) == 1:
            return [line]
        found, start = [], 0
        for shape, dtype in kinds:
            end = start + prod(shape)
            found.append(f.reshape(line[start:end], shape).astype(dtype))
            start = end
        return found

    def step(gradient: Tensor, result: Tensor, *saved: Tensor) -> Sequence[Tensor | None]:
        return pull(parts(gradient), *saved)

    whole = outputs[0]
    if len(outputs) > 1:
        whole = f.concat([f.reshape(x, (-1,)) for x in outputs])
    node = same(whole.node)
    node.past = routed(operands, step, saved)
    return parts(Tensor(node))
