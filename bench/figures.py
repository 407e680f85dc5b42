"""The figures of one case on one engine, from the results of its page."""

from __future__ import annotations

import statistics
from typing import Any

from bench.answers import Numbers, decoded, deviation
from bench.cases import Case
from bench.engines import PEERS
from bench.memory import activation_bytes, largest_live
from tallow.compile import Plan


class Figures:
    """Collects first runs, warm turns and counts; `summary` turns them into plain data.

    Every answer is compared with the expected one; a wrong one raises WrongAnswerError.
    """

    def __init__(self, case: Case, expected: Numbers, engine: str) -> None:
        self.case = case
        self.engine = engine
        self.failed: str | None = None
        self._expected = expected
        self._adapter = ""
        self._boot: list[float] = []
        self._create: list[float] = []
        self._first: list[float] = []
        self._warm: list[float] = []
        self._python: list[float] = []
        self._deviation = 0.0
        self._class: int | None = None
        self._counts: dict[str, Any] = {}

    def first(self, result: dict[str, Any], adapter: str, boot_ms: float) -> None:
        """Adds a first run, on this adapter, in an engine that took boot_ms to start."""
        self._judge(result)
        self._adapter = adapter
        self._boot.append(boot_ms)
        self._create.append(result["create_ms"])
        self._first.append(result["first_ms"])

    def turn(self, result: dict[str, Any]) -> None:
        """Adds warm runs."""
        self._judge(result)
        self._warm += result["times"]
        self._python += result.get("python_ms", [])

    def finish(self, counts: dict[str, Any]) -> None:
        """Adds counts of the last run; for Tallow also its plans."""
        self._counts = dict(counts)
        plans = [Plan.from_json(text) for text in self._counts.pop("plans", ())]
        if plans:
            self._counts["slots"] = sum(len(plan.slots) for plan in plans)
            self._counts["activation_bytes"] = sum(map(activation_bytes, plans))
            self._counts["live_bytes"] = sum(map(largest_live, plans))

    def _judge(self, result: dict[str, Any]) -> None:
        answer = decoded(result["answer"])
        off = deviation(
            answer, self._expected, classes=self.case.has_classes, tolerance=self.case.tolerance
        )
        self._deviation = max(self._deviation, off)
        self._class = int(answer.argmax()) if self.case.has_classes else None

    def summary(self) -> dict[str, Any]:
        """All figures, with median times in milliseconds. No times if the engine failed."""
        is_tallow_gpu = self.engine == "tallow-webgpu"
        head = {
            "case": self.case.name,
            "kind": "network" if self.case.is_network else "operator",
            "title": self.case.title,
            "engine": self.engine,
            "adapter": self._adapter,
            "failed": self.failed,
        }
        if self.failed:
            return head
        warm = statistics.median(self._warm)
        quartiles = statistics.quantiles(self._warm, n=4)
        return {
            **head,
            "boot_ms": statistics.median(self._boot),
            "create_ms": statistics.median(self._create),
            "first_ms": statistics.median(self._first),
            "first_each_ms": self._first,
            "warm_ms": warm,
            "quartiles_ms": [quartiles[0], quartiles[2]],
            "warm_runs": len(self._warm),
            "python_ms": statistics.median(self._python) if is_tallow_gpu else None,
            "gflops": self.case.flop / warm / 1e6 if self.case.flop else None,
            "class": self._class,
            "deviation": self._deviation,
            **self._counts,
        }


def compare(rows: list[dict[str, Any]]) -> None:
    """Adds to each row its times relative to those of its peers that were measured, by library.
    Only Tallow's engines have peers."""
    times = {(row["case"], row["engine"]): row for row in rows if not row["failed"]}
    for row in times.values():
        for time in ("first_ms", "warm_ms"):
            row[f"{time}_of"] = {
                library: row[time] / times[row["case"], peer][time]
                for library, peer in PEERS.get(row["engine"], {}).items()
                if (row["case"], peer) in times
            }
