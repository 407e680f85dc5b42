"""Limits of a case. They count processor time, so that a busy machine does not end a case."""

from __future__ import annotations

import signal

PROCESSOR_SECONDS = 60
"""Per case: the system ends a process that exceeds this, and the case is a finding."""

PATIENCE = 300
"""Seconds after which even an idle process is ended from outside."""


def begin() -> None:
    """Limits this process to PROCESSOR_SECONDS from now on."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
