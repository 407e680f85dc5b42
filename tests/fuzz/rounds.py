"""Rounds over the families, and their results."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from .bench import Bench
from .judgement import Verdict
from .known import deviation
from .search import drawn, shrunk
from .strategies import cases

_COLUMNS = ("agreed", "refused", "known", "disputed", "unjudged", "finding")
_MAX_LINES = 40


class Rounds:
    """Draws a batch of each family in turn. findings: the first of each cause, minimized."""

    def __init__(
        self, bench: Bench, families: Mapping[str, Sequence[str]], seed: int, batch: int
    ) -> None:
        self.findings: list[Verdict] = []
        self._bench = bench
        self._families = families
        self._seed = seed
        self._batch = batch
        self._counts: Counter[tuple[str, str]] = Counter()
        self._noted: Counter[tuple[str, str, str]] = Counter()
        self._seen: set[tuple[str, ...]] = set()

    def run(self, deadline: float) -> None:
        """Runs rounds until a batch would start after `deadline` (of time.monotonic)."""
        number = self._seed * 1_000_003
        while True:
            for family in self._families:
                if time.monotonic() > deadline:
                    return
                self.one(family, number)
            number += 1

    def one(self, family: str, number: int) -> None:
        """Draws one batch of a family, judges it, and minimizes findings."""
        strategy = cases(family, self._families[family])
        for verdict in self._bench.judge(drawn(strategy, number, self._batch)):
            status = self._status(verdict)
            self._counts[family, status] += 1
            if status in ("refused", "disputed") and verdict.kind:
                self._noted[status, verdict.case.about, _without_numbers(verdict.why)] += 1
            if status == "finding" and verdict.signature not in self._seen:
                small = shrunk(strategy, number, self._batch, verdict, self._bench)
                if not {verdict.signature, small.signature} & self._seen:
                    self.findings.append(small)
                self._seen |= {verdict.signature, small.signature}

    def count(self, status: str) -> int:
        """The number of cases with a status, over all families."""
        return sum(n for (_, name), n in self._counts.items() if name == status)

    def _status(self, verdict: Verdict) -> str:
        known = verdict.status in ("finding", "disputed") and deviation(verdict.case)
        return "known" if known else verdict.status

    def summary(self, *, details: bool = False) -> str:
        """A line per family, and by operator the cases that Tallow refused but another answered."""
        lines = [f"{'family':16}{'cases':>8}" + "".join(f"{name:>10}" for name in _COLUMNS)]
        for family in self._families:
            counts = [self._counts[family, name] for name in _COLUMNS]
            lines.append(f"{family:16}{sum(counts):8}" + "".join(f"{n:10}" for n in counts))
        titles = {"refused": "refused, though others answer:"}
        if details:
            titles["disputed"] = "where the others differ from each other, and Tallow from both:"
        for status, title in titles.items():
            noted = [(n, key) for key, n in self._noted.most_common() if key[0] == status]
            lines += [title] if noted else []
            lines += [f"{n:6} {about}: {why[:150]}" for n, (_, about, why) in noted[:_MAX_LINES]]
        return "\n".join(lines)


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)
