"""What a case may take. Processor time is counted, so that a busy machine ends no case."""

from __future__ import annotations

import signal

PROCESSOR_SECONDS = 60
"""Of a case: after these the system ends the process, and the case is a finding."""

PATIENCE = 300
"""Seconds after which a process that computes nothing either is ended from outside."""


def begin() -> None:
    """Gives this process PROCESSOR_SECONDS from now on; the system ends it after them."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
