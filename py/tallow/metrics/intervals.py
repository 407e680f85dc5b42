"""Confidence intervals of measures."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

from .. import functions as f
from ..errors import OptionError
from ..tensor import Tensor, asarray


class Interval(NamedTuple):
    """The ends of an interval."""

    lower: Tensor
    upper: Tensor


def _deviations(level: float) -> float:
    if not 0 < level < 1:
        raise OptionError(f"level={level} is outside of (0, 1)")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson_interval(successes: Any, total: Any, level: float = 0.95) -> Interval:
    """The confidence interval of a proportion, such as accuracy.

    successes, total: how many samples are right, and how many there are; numbers or tensors.
    level: how likely such intervals contain the proportion.
    Returns: (lower, upper), float32 tensors; (0, 1) of no samples.
    Raises: OptionError for a level outside of (0, 1).
    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    z = _deviations(level)
    hits, n = (asarray(each).astype("float32") for each in (successes, total))
    middle = (hits + z * z / 2) / (n + z * z)
    some = f.where(n > 0, n, 1.0)
    spread = hits * (n - hits) / some + z * z / 4
    half = z * f.sqrt(f.clip(spread, min=0.0)) / (n + z * z)
    return Interval(f.clip(middle - half, min=0.0), f.clip(middle + half, max=1.0))


def auroc_interval(auroc: Any, positives: Any, negatives: Any, level: float = 0.95) -> Interval:
    """The confidence interval of an AUROC.

    auroc: its value. positives, negatives: how many targets of each kind there are; numbers or
      tensors.
    level: how likely such intervals contain the value.
    Returns: (lower, upper), float32 tensors, within [0, 1].
    Raises: OptionError for a level outside of (0, 1).
    Source: Hanley and McNeil 1982, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve".
    """
    z = _deviations(level)
    area, p, n = (asarray(each).astype("float32") for each in (auroc, positives, negatives))
    square = area * area
    variance = area * (1 - area)
    variance = variance + (p - 1) * (area / (2 - area) - square)
    variance = variance + (n - 1) * (2 * square / (1 + area) - square)
    half = z * f.sqrt(f.clip(variance / (p * n), min=0.0))
    return Interval(f.clip(area - half, min=0.0), f.clip(area + half, max=1.0))
