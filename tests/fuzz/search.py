"""The search: Hypothesis draws cases, a bench judges them, and Hypothesis minimizes findings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from .bench import Bench
from .case import Case
from .coding import written
from .judgement import Verdict
from .known import deviation

_TRIES = 150
"""The most cases that are run to minimize one."""


class SmallerError(Exception):
    """Tells Hypothesis that a case still shows the finding."""


def drawn(strategy: st.SearchStrategy[Case], number: int, count: int) -> list[Case]:
    """Up to `count` cases, determined by the number."""
    cases: list[Case] = []
    _run(strategy, number, count, cases.append, [Phase.generate])
    return cases


def _run(
    strategy: st.SearchStrategy[Case],
    number: int,
    count: int,
    take: Callable[[Case], Any],
    phases: Sequence[Phase],
) -> None:
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def each(case: Case) -> None:
        take(case)

    each()


def key(case: Case) -> str:
    """A key that is equal for equal cases."""
    return hashlib.sha256(json.dumps(written(case)).encode()).hexdigest()[:12]


def shrunk(
    strategy: st.SearchStrategy[Case], number: int, count: int, finding: Verdict, bench: Bench
) -> Verdict:
    """A smaller case of the same finding: redraws the case and then simplifies it."""
    verdicts = {key(finding.case): finding}
    smallest = finding
    reached = False

    def still(case: Case) -> None:
        nonlocal smallest, reached
        name = key(case)
        reached = reached or name in verdicts
        if not reached:
            return
        if name not in verdicts and len(verdicts) < _TRIES:
            (verdicts[name],) = bench.judge([case])
        verdict = verdicts.get(name)
        alike = verdict and (verdict.status, verdict.kind) == (finding.status, finding.kind)
        if verdict and alike and not deviation(case):
            smallest = verdict
            raise SmallerError

    with suppress(SmallerError):
        _run(strategy, number, count, still, [Phase.generate, Phase.shrink])
    return smallest
