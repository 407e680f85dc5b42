"""Ctrl-C during a run: the first ends it after the running step, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .run import Run

INTERRUPTED = "Ctrl-C"


@contextmanager
def interrupts(learner: Run) -> Iterator[None]:
    """Handles SIGINT while a run goes on. Raises KeyboardInterrupt at its end if there was one. In
    a thread, and in a browser, signals are left alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if learner.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        learner.stop(INTERRUPTED)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except (ValueError, OSError):
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if learner.stopped == INTERRUPTED:
        raise KeyboardInterrupt
