"""The outcome of a case, judged by the official runner's own comparison."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from onnx.backend.test.runner import Runner

from .cases import Case


@dataclass(frozen=True)
class Outcome:
    """status: "passed", "failed" (a wrong answer or an error) or "refused" (Tallow says that it
    does not have it). reason: "" where it passed. dispatches: of kernels on the GPU, in a run."""

    case: Case
    status: str
    reason: str
    dispatches: int
    seconds: float

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def judge(case: Case, said: dict[str, Any], device: str) -> Outcome:
    """The outcome from a line of worker.py."""
    reason, status = said["error"] or "", "refused" if said["refused"] else "failed"
    if not reason and said["device"] != device:
        reason = f"it ran on {said['device']}"
    if not reason:
        try:
            _compare(case, said["outputs"])
            status = "passed"
        except (AssertionError, AttributeError, TypeError) as error:
            reason = f"wrong answer: {' '.join(str(error).split())[:300]}"
    dispatches = said.get("dispatches", 0) if device == "webgpu" else 0
    return Outcome(case, status, reason, dispatches, said["seconds"])


def broken(case: Case, why: str) -> Outcome:
    """The outcome of a case that crashed its runner."""
    return Outcome(case, "failed", why, 0, 0.0)


def _compare(case: Case, outputs: list[list[Any]]) -> None:
    """Raises AssertionError, AttributeError or TypeError for a wrong output."""
    for (_, wanted), got in zip(case.runs, outputs, strict=True):
        _agree(case, [_decoded(value) for value in got], wanted)


def _agree(case: Case, mine: Any, other: Any) -> None:
    """Compares lists item by item: the official one would ignore missing items at the end."""
    if isinstance(other, list) and isinstance(mine, list):
        if len(mine) != len(other):
            raise AssertionError(f"{len(mine)} values, expected {len(other)}")
        for one, another in zip(mine, other, strict=True):
            _agree(case, one, another)
    elif mine is not None or other is not None:
        Runner.assert_similar_outputs([other], [mine], case.rtol, case.atol)


def _decoded(value: Any) -> Any:
    if value is None:
        return None
    if "list" in value:
        return [_decoded(item) for item in value["list"]]
    if "texts" in value:
        return np.array(value["texts"], object).reshape(value["shape"])
    name = value["dtype"]
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    return np.frombuffer(base64.b64decode(value["data"]), dtype).reshape(value["shape"])
