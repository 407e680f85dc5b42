"""Which facts were changed lately."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any
from weakref import ref

Key = tuple[int, Hashable]
"""The id of an owner, and which of its facts."""

WHOLE = ("all of it",)
"""Which fact of a table it is if a function reads all entries, or their number."""

_KEPT = 4096
"""Changes that are remembered; a plan that was asked for longer ago compares all of its facts."""


class Log:
    """The recent changes of facts whose owners a plan depends on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: list[Key] = []
        self._watched: dict[int, ref[Any]] = {}
        self.total = 0

    def watch(self, owner: object) -> None:
        """From now on the changes of this owner count."""
        number = id(owner)
        if number not in self._watched:
            self._watched[number] = ref(owner, lambda _: self._watched.pop(number, None))

    def add(self, owner: object, name: Hashable) -> None:
        """Counts a change of a fact, if its owner is watched."""
        if id(owner) not in self._watched:
            return
        with self._lock:
            self._recent.append((id(owner), name))
            if len(self._recent) > _KEPT:
                del self._recent[: _KEPT // 2]
            self.total += 1

    def since(self, before: int) -> tuple[int, list[Key] | None]:
        """How many there are, and those after so many; None if these are no longer known."""
        with self._lock:
            count = self.total - before
            known = count <= len(self._recent)
            return self.total, self._recent[len(self._recent) - count :] if known else None


log = Log()


def parts(name: Hashable) -> tuple[Hashable, ...]:
    """The facts that change with one."""
    return (name,) if name is WHOLE else (name, WHOLE, ("there", name), ("true", name))
