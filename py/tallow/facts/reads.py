"""Plain attributes of modules: their reads are noted while a function is traced."""

from __future__ import annotations

import threading
from typing import Any, TypeVar

from .. import context

T = TypeVar("T")


class Reads:
    """Has reads of plain attributes be noted while any function is traced.

    The classes get a `__getattribute__` for that. It goes with the first call of a module outside
    of traces, not with the trace: each time that a class changes, Python forgets what it knows of
    the class and of all that derive from it, and from version 3.13 on it no longer learns it anew
    after some 500 traces; reads then take eight times as long.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._classes: list[Any] = []
        self.running = 0
        self.installed = False

    def watch(self, kind: T) -> T:
        """Has the plain attributes of a class be noted; gives the class."""
        self._classes.append(kind)
        return kind

    def begin(self) -> None:
        with self._lock:
            self.running += 1
            if not self.installed:
                for kind in self._classes:
                    kind.__getattribute__ = _noting
                self.installed = True

    def end(self) -> None:
        with self._lock:
            self.running -= 1

    def remove(self) -> None:
        """Is called outside of traces."""
        with self._lock:
            if self.installed and not self.running:
                for kind in self._classes:
                    del kind.__getattribute__
                self.installed = False


reads = Reads()


def _noting(self: Any, name: str) -> Any:
    if reads.running and name[:2] != "__":
        tracing = context.trace.get()
        if tracing is not None:
            tracing.facts.attribute(self, name)
    return object.__getattribute__(self, name)
