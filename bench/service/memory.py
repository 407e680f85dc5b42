"""What a process takes for the requests that it answers: memory, and processor time."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path

Sample = tuple[int, int]
"""How many requests there were, and the bytes that the process had in memory."""
WARM = 0.25
"""The share of samples at the beginning that do not count: plans and pools fill up."""


def resident(process: int) -> int:
    """The bytes of a process that are in memory; on Linux."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    (line,) = (each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


def processor_seconds(process: int) -> float:
    """How long processors have worked for a process so far, all its threads counted; on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def slope(samples: Sequence[Sample]) -> float:
    """Bytes per request: the slope of a line by least squares. NaN for too few samples."""
    kept = samples[round(WARM * len(samples)) :]
    if len({x for x, _ in kept}) < 2:
        return float("nan")
    return statistics.linear_regression([x for x, _ in kept], [y for _, y in kept]).slope
