"""Whether gradients are tracked: `no_grad`, `enable_grad` and the like, as in torch.autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from .core import context
from .core.context import Override

F = TypeVar("F", bound=Callable[..., Any])


@overload
def no_grad(function: None = None) -> Override: ...


@overload
def no_grad(function: F) -> F: ...


def no_grad(function: F | None = None) -> F | Override:
    """Turns gradient tracking off within a block, as in PyTorch.

    Other threads are not affected. `@no_grad()` and `@no_grad` decorate a function.

    function: the function to decorate; None makes a block for a with statement.
    Returns: the decorated function, or the block.
    Source: PyTorch, `torch.no_grad`.
    """
    block = context.gradients.override(False)
    return block if function is None else block(function)


def enable_grad() -> Override:
    """Turns gradient tracking on within a block, also inside `no_grad`.

    Returns: a block for a with statement, which also decorates functions.
    Source: PyTorch, `torch.enable_grad`.
    """
    return context.gradients.override(True)


def inference_mode(mode: bool = True) -> Override:
    """Turns gradient tracking off within a block, as `no_grad` does.

    mode: False turns it on, as `enable_grad` does.
    Returns: a block for a with statement, which also decorates functions.
    Source: PyTorch, `torch.inference_mode`.
    """
    return context.gradients.override(not mode)


class set_grad_enabled:  # noqa: N801 - PyTorch's name
    """Turns gradient tracking on or off; in a with statement, within its block only.

    Holds for the thread that calls it.

    mode: whether gradients are tracked.
    Source: PyTorch, `torch.set_grad_enabled`.
    """

    def __init__(self, mode: bool) -> None:
        self._before = context.gradients.get()
        self._block = context.gradients.override(mode)
        context.gradients.set(mode)

    def __enter__(self) -> None:
        context.gradients.set(self._before)
        self._block.__enter__()

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(*error)


def is_grad_enabled() -> bool:
    """Whether gradients are tracked here.

    Returns: True or False, for the thread that calls it.
    Source: PyTorch, `torch.is_grad_enabled`.
    """
    return context.gradients.get()
