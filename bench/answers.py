"""Checks an engine's answer. Wrong answers are not timed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Relative to the answer's largest value; float32 sums in another order differ a hundred times less.
TOLERANCE = 1e-3

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


class WrongAnswerError(Exception):
    """An engine's answer is not the expected one; the message says how far it is off."""


def joined(outputs: Sequence[NDArray[Any]]) -> Numbers:
    """All outputs as one vector of float32."""
    return np.concatenate([each.ravel().astype(np.float32) for each in outputs])


def decoded(outputs: Sequence[dict[str, str]]) -> Numbers:
    """The numbers of an answer in the form that the pages send: a type and base64 for each."""
    return joined([np.frombuffer(base64.b64decode(o["data"]), o["type"]) for o in outputs])


def deviation(
    answer: Numbers, expected: Numbers, *, classes: bool, tolerance: float = TOLERANCE
) -> float:
    """The largest difference, as a share of the largest expected value.

    classes: the values are scores, and the best one must be the same. Raises WrongAnswerError if
    it is not, if the deviation exceeds the tolerance, or if the answers differ in size.
    """
    if answer.shape != expected.shape:
        raise WrongAnswerError(f"{answer.size} values, expected {expected.size}")
    largest = float(np.abs(expected).max())
    off = float(np.abs(answer - expected).max()) / largest
    if not off <= tolerance:
        raise WrongAnswerError(f"off by {off:.3g} of the largest value {largest:.3g}")
    best, wanted = int(answer.argmax()), int(expected.argmax())
    if classes and best != wanted:
        raise WrongAnswerError(f"class {best}, expected {wanted}")
    return off
