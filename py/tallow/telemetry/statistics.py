"""Statistics of arrays, for the spans of inferences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.hostarray import HostArray


def statistics_of(prefix: str, values: Any) -> dict[str, float]:
    """Mean, standard deviation, minimum and maximum of the arrays in a mapping, by
    "PREFIX.NAME.mean" and so on. What stays on a device, is empty or has no numbers has none: it
    would have to be read."""
    found: dict[str, float] = {}
    for name, value in values.items() if isinstance(values, Mapping) else ():
        array = _array(value)
        if array is None:
            continue
        numbers = {
            "mean": array.mean(), "std": array.std(), "min": array.min(), "max": array.max()
        }  # fmt: skip
        found |= {f"{prefix}.{name}.{kind}": float(number) for kind, number in numbers.items()}
    return found


def _array(value: Any) -> Any:
    """The numbers in an array of float64; None if there are none here."""
    if isinstance(value, HostArray):
        value = value.numpy()
    if not (hasattr(value, "__array__") or isinstance(value, (list, int, float))):
        return None
    if hasattr(value, "realize"):  # a tensor, which may be on a device
        return None
    import numpy as np

    try:
        array = np.asarray(value).astype(np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.size else None
