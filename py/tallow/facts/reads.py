"""Plain attributes of modules: their reads are noted while a function is traced."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

from ..core import context

T = TypeVar("T")


# Why: docs/decisions/jit.md, "Reads of plain attributes are noted by a `__getattribute__` that
# goes with later eager calls"
_PATIENCE = 256
"""After so many calls reads are no longer recorded, at the latest."""


class Reads:
    """Records reads of plain attributes while any function is traced.

    The classes get a `__getattribute__` for that. It goes with calls of modules outside of traces,
    not with the trace: each time that a class changes, Python forgets what it knows of the class
    and of all that derive from it, and from version 3.13 on it never learns it again after 1,000
    changes; reads then take three to eight times as long. So it goes with the first call, then with
    the second, the fourth and so on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._classes: list[Any] = []
        self.running = 0
        self.installed = False
        self._calls, self._patience = 0, 1

    def watch(self, kind: T) -> T:
        """Records reads of the plain attributes of a class, and returns the class. A function may
        have been traced before the class was made."""
        made: Any = kind
        with self._lock:
            self._classes.append(made)
            if self.installed:
                made.__getattribute__ = _noting
        return kind

    def begin(self) -> None:
        """Tells it that a function begins to be traced."""
        with self._lock:
            self.running += 1
            self._calls = 0
            if not self.installed:
                for kind in self._classes:
                    kind.__getattribute__ = _noting
                self.installed = True

    def end(self) -> None:
        """Tells it that a function is no longer traced."""
        with self._lock:
            self.running -= 1

    def called(self) -> None:
        """Records that a module is called outside of traces."""
        self._calls += 1
        if self._calls < self._patience:
            return
        with self._lock:
            if self.installed and not self.running:
                self._patience = min(2 * self._patience, _PATIENCE)
                for kind in self._classes:
                    del kind.__getattribute__
                self.installed = False


reads = Reads()


def _noting(self: object, name: str) -> Any:
    if reads.running and name[:2] != "__":
        tracing = context.trace.get()
        if tracing is not None:
            tracing.facts.attribute(self, name)
    return object.__getattribute__(self, name)
