"""Hooks: functions of the user's that are called on the way, and the handles that remove them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, Self, TypeVar

H = TypeVar("H")

_hook_numbers = count()


class RemovableHandle:
    """Takes a hook away again, by `remove()` or at the end of a with block."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self.id = next(_hook_numbers)

    def remove(self) -> None:
        """The hook is not called any more."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class WithKeywords(NamedTuple):
    """A hook that is given keyword arguments too."""

    hook: Callable[..., Any]


def hooked(hooks: dict[int, H], hook: H, prepend: bool = False) -> RemovableHandle:
    """Adds a hook behind those that there are, or before them."""
    handle = RemovableHandle(hooks)
    before = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[handle.id] = hook
    hooks.update(before)
    return handle
