"""Hooks: user functions called in forward or backward, and the handles that remove them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, Self, TypeVar

H = TypeVar("H")

_hook_numbers = count()


class RemovableHandle:
    """Removes a hook, by `remove()` or at the end of a with block."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self.id = next(_hook_numbers)

    def remove(self) -> None:
        """Removes the hook."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class WithKeywords(NamedTuple):
    """A hook that is given keyword arguments too."""

    hook: Callable[..., Any]


def hooked(hooks: dict[int, H], hook: H, prepend: bool = False) -> RemovableHandle:
    """Appends a hook, or prepends it."""
    handle = RemovableHandle(hooks)
    before = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[handle.id] = hook
    hooks.update(before)
    return handle
