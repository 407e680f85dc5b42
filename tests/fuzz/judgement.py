"""Judges a case by comparing Tallow's answer with those of others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallow import errors

from .case import Case, Value
from .coding import decoded
from .known import ROUGH_ON_GPU, misled

_EPSILONS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# The tolerance in epsilons: a GPU's exp and pow lose some, and float16 may be rounded once or after
# every operator.
_USUAL = {"float64": 1e6, "float32": 150, "float16": 6, "bfloat16": 4}


# Python's messages about tuples or lists are about the oracle's code.
_OUTSIDE = re.compile(
    r"(?<!tuple index )(?<!list index )out of (data )?(bounds|range)|invalid ind(ex|ices)",
    re.IGNORECASE,
)

# What an error says of an index that is out of range, in a network whose indices are fed.
_NAMED = re.compile(r"the input 'v\d+' holds the index -?\d+, .* for axis -?\d+ of \d+ element")

_JUDGED = ("values", "shape", "type", "count")  # kinds of findings that oracles decide


@dataclass(frozen=True)
class Verdict:
    """status: "agreed"; "refused", by an error of Tallow's; "unjudged", where nobody else answers;
    "disputed", where the others differ from each other, and Tallow from both; or "finding".
    kind: of a finding, "values", "shape", "type", "count", "range" (of an index), "words"
    (of an error), "ended", or the exception's name; of a refusal "answered" where another answers.
    why: in words."""

    case: Case
    status: str
    kind: str = ""
    why: str = ""

    @property
    def signature(self) -> tuple[str, ...]:
        """A key that findings with the same cause mostly share."""
        return (*self.case.operators, self.kind)

    @property
    def settled(self) -> bool:
        """Whether another oracle's answer would change nothing."""
        judged = self.status == "finding" and self.kind in _JUDGED
        return not (judged or self.status == "unjudged")


def judge(
    case: Case,
    said: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    *,
    rough: bool = False,
) -> Verdict:
    """said: a line of worker.py, or {"ended": why}. others: the answer of each oracle, the one
    that counts most first. rough: whether a GPU computed it, whose functions are less exact."""
    answers = {
        name: _values(answer)
        for name, answer in others.items()
        if "outputs" in answer and not misled(name, case)
    }
    if "ended" in said:
        return Verdict(case, "finding", "ended", said["ended"])
    if said["error"]:
        name = said["error"].split(":")[0]
        own = getattr(errors, name, None)
        if own is None or not issubclass(own, errors.TallowError) or own is errors.DeviceError:
            return Verdict(case, "finding", name, said["error"])
        if case.family == "fed_indices" and name == "IndexRangeError":
            if "onnxruntime" in answers:
                return Verdict(case, "finding", "range", f"{said['error']}, where it is in range")
            if not _NAMED.search(said["error"]):
                return Verdict(case, "finding", "words", f"no index or axis: {said['error']}")
        return Verdict(case, "refused", "answered" if answers else "", said["error"])
    mine = [decoded(value) for value in said["outputs"][0]]
    differences = {name: difference(case, mine, wanted, rough) for name, wanted in answers.items()}
    if not differences:
        sound = {name: answer for name, answer in others.items() if not misled(name, case)}
        return _alone(case, sound)
    if None in differences.values():
        return Verdict(case, "agreed")
    first, *rest = answers
    kind, words = differences[first] or ("", "")
    why = f"{first}: {words}"
    if any(difference(case, answers[first], answers[name]) for name in rest):
        return Verdict(case, "disputed", kind, why)
    return Verdict(case, "finding", kind, why)


def _alone(case: Case, others: Mapping[str, Mapping[str, Any]]) -> Verdict:
    """Judges a case that only Tallow answers. Others decide whether an index is out of range."""
    errors = [f"{name}: {answer['error']}" for name, answer in others.items() if "error" in answer]
    outside = next((words for words in errors if _OUTSIDE.search(words)), None)
    if outside:
        return Verdict(case, "finding", "range", f"an answer, where {outside}")
    return Verdict(case, "unjudged")


def _values(answer: Mapping[str, Any]) -> list[Value]:
    return [decoded(value) for value in answer["outputs"]]


def difference(
    case: Case, mine: Sequence[Value], wanted: Sequence[Value], rough: bool = False
) -> tuple[str, str] | None:
    """The kind and a description of the difference; None if there is none. rough: see `judge`."""
    if len(mine) != len(wanted):
        return "count", f"{len(mine)} values, expected {len(wanted)}"
    for i, (one, other) in enumerate(zip(mine, wanted, strict=True)):
        found = _differs(case, one, other, rough)
        if found:
            return found[0], f"value {i}: {found[1]}"
    return None


def _differs(case: Case, mine: Value, wanted: Value, rough: bool) -> tuple[str, str] | None:
    if isinstance(mine, list) and isinstance(wanted, list):
        return difference(case, mine, wanted, rough)
    if not (isinstance(mine, np.ndarray) and isinstance(wanted, np.ndarray)):
        same = mine is None and wanted is None
        return None if same else ("type", f"{_form(mine)}, expected {_form(wanted)}")
    if mine.dtype != wanted.dtype:
        return "type", f"{mine.dtype}, expected {wanted.dtype}"
    if mine.shape != wanted.shape:
        return "shape", f"{mine.shape}, expected {wanted.shape}"
    wrong = _apart(case, mine, wanted, rough)
    if not wrong.any():
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    summary = f"{wrong.sum()} of {wrong.size} differ, first at {index}"
    return "values", f"{summary}: {mine[index]!r}, expected {wanted[index]!r}"


def _form(value: Value) -> str:
    return "an array" if isinstance(value, np.ndarray) else type(value).__name__


def _apart(case: Case, mine: np.ndarray, wanted: np.ndarray, rough: bool) -> np.ndarray:
    """Which elements are too far from each other."""
    name = wanted.dtype.name
    if name not in _EPSILONS:
        if case.steps and wanted.dtype.kind in "iu":
            far: np.ndarray = abs(mine.astype(np.int64) - wanted.astype(np.int64)) > case.steps
            return far
        return np.asarray(mine != wanted)
    one, other = mine.astype(np.float64), wanted.astype(np.float64)
    if rough and case.is_program and name == "float64":
        name = "float32"  # a GPU computes it as that type, which is documented
    relative = _epsilon(case, name) * _USUAL[name] * case.slack
    absolute = relative * (_scale(case) if case.scaled else 0.1) + _tiniest(wanted.dtype)
    if not case.slack:
        relative = absolute = 0.0
    absolute += _roughness(case) if rough else 0.0
    unpromised = rough & np.isnan(other)  # WGSL lets a GPU compute as if there were no NaN
    with np.errstate(all="ignore"):
        near = abs(one - other) <= absolute + relative * abs(other)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        return np.asarray(~(near | same | unpromised) & (absolute < np.inf))


def _roughness(case: Case) -> float:
    """The absolute error that WGSL permits a device's functions, beyond the usual one."""
    return max((ROUGH_ON_GPU.get(name, 0.0) for name in case.operators), default=0.0)


def _epsilon(case: Case, name: str) -> float:
    """The epsilon of the coarsest type in the case: the result's type may be finer."""
    arrays = [*case.feeds.values(), *case.graph.known.values()]
    names = {x.dtype.name for x in arrays if isinstance(x, np.ndarray)} & set(_EPSILONS)
    return max(_EPSILONS[other] for other in {name, *names})


def _tiniest(dtype: Any) -> float:
    """GPUs may flush smaller numbers to 0."""
    return {"float64": 1e-307, "float16": 6e-5}.get(dtype.name, 1.2e-38)


def _scale(case: Case) -> float:
    """The largest product of two finite elements of the operands."""
    largest = 1.0
    for value in [*case.feeds.values(), *case.graph.known.values()]:
        if isinstance(value, np.ndarray) and value.dtype.name in _EPSILONS and value.size:
            numbers = np.nan_to_num(value.astype(np.float64), nan=0, posinf=0, neginf=0)
            largest = max(largest, float(abs(numbers).max()))
    return largest * largest
