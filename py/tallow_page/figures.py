"""Figures about runs of the visitor's model: statistics of times, differences of outputs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallow.core.hostarray import HostArray, StringArray
from tallow.formats.onnx.values import Value

if TYPE_CHECKING:
    from .contract.models import Difference, Series, Times


def times_of(first: float | None, warm: Sequence[float]) -> Times:
    """The times of a first run and of further ones; each in seconds, the result in milliseconds."""
    return {"first": None if first is None else 1000 * first, "series": series_of(warm)}


def series_of(seconds: Sequence[float]) -> Series | None:
    """Statistics of some runs; None without any."""
    if not seconds:
        return None
    times = sorted(1000 * each for each in seconds)
    low, _, high = (
        statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else 3 * times
    )
    return {
        "count": len(times),
        "median": statistics.median(times),
        "low": low,
        "high": high,
        "least": times[0],
        "most": times[-1],
    }


def difference_of(name: str, ours: Value, theirs: Value) -> Difference:
    """How far an output is from the same on another device."""
    import numpy as np

    if isinstance(ours, StringArray):
        return {"name": name, "difference": float(ours != theirs), "largest": None}
    if not isinstance(ours, HostArray):
        return {"name": name, "difference": 0.0, "largest": None}
    if not isinstance(theirs, HostArray) or ours.shape != theirs.shape:
        return {"name": name, "difference": None, "largest": None}
    a, b = (np.asarray(x.numpy(), np.float64) for x in (ours, theirs))
    if ours.dtype.coded:
        a, b = np.array(ours.flat()), np.array(theirs.flat())
    with np.errstate(invalid="ignore"):
        differences = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    largest = float(np.max(differences, initial=0.0))
    return {
        "name": name,
        "difference": largest if np.isfinite(largest) else None,
        "largest": float(np.max(finite, initial=0.0)),
    }
