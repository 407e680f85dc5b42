"""The figures of `bench --cold`: medians over visits, and their tables in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from bench.engines import PEERS
from bench.table import milliseconds, share, table
from bench.wire import SPEEDS

Row = dict[str, Any]

KINDS = ("model", "speed", "cache", "engine")
MARKS = ("paint", "started", "ready", "answer")


def _kind(visit: Row) -> tuple[str, ...]:
    return tuple(visit[name] for name in KINDS)


def rows(visits: Sequence[Row]) -> list[Row]:
    """A row for each kind of visit that did not fail, in the order of the first round."""
    well = [visit for visit in visits if not visit["failed"]]
    kinds = dict.fromkeys(map(_kind, well))
    return [_row([visit for visit in well if _kind(visit) == kind], well) for kind in kinds]


def _row(same: Sequence[Row], all_visits: Sequence[Row]) -> Row:
    answers = [visit["marks"]["answer"] for visit in same]
    first = same[0]
    peer = PEERS.get(first["engine"], {}).get("ort")
    peers = {
        visit["round"]: visit["marks"]["answer"]
        for visit in all_visits
        if _kind(visit) == (*_kind(first)[:3], peer)
    }
    ratios = [
        answer / peers[visit["round"]]
        for visit, answer in zip(same, answers, strict=True)
        if visit["round"] in peers
    ]
    stages = dict.fromkeys(name for visit in same for name in visit["stages"])
    longest = [visit["blocks"][0] for visit in same if visit["blocks"]]
    return {
        **{name: first[name] for name in KINDS},
        "visits": len(same),
        **{f"{mark}_ms": _median(visit["marks"].get(mark) for visit in same) for mark in MARKS},
        "spread_ms": (max(answers) - min(answers)) / 2,
        "answer_of_peer": _median(ratios),
        "answer_of_peer_each": ratios,
        "stages": {
            name: {
                key: _median(visit["stages"].get(name, {}).get(key) for visit in same)
                for key in ("begun", "done", "ms")
            }
            for name in stages
        },
        **{
            name: _median(visit[name] for visit in same)
            for name in ("bytes", "model_bytes", "bytes_in_all", "compile_ms")
        },
        "block_ms": _median(block["ms"] for block in longest),
        "block_cpu_ms": _median(
            max(block["cpu_ms"] for block in visit["blocks"]) for visit in same if visit["blocks"]
        ),
    }


def _median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def failures(visits: Sequence[Row]) -> str:
    """The failures, one per line: failed visits; models on which two engines disagree; and first
    visits without observed compilation, without which 0 ms on a second visit means nothing."""
    lines = [f"FAILED: {visit['failed']}" for visit in visits if visit["failed"]]
    for visit in visits:
        first = visit["engine"] in PEERS and visit["cache"] == "empty"
        if first and not visit["failed"] and not visit["compile_ms"]:
            where = f"{visit['model']} on {visit['engine']}"
            lines.append(f"FAILED: {where}: no compilation was observed on a first visit")
    for model in dict.fromkeys(visit["model"] for visit in visits):
        own = [visit for visit in visits if visit["model"] == model and not visit["failed"]]
        answers = {visit["answer"]: visit["engine"] for visit in own}
        if len(answers) > 1:
            words = ", ".join(f"{answer} by {engine}" for answer, engine in answers.items())
            lines.append(f"FAILED: answers of {model} differ: {words}")
    return "\n".join(lines)


def report(found: Sequence[Row], headline: str) -> str:
    """All tables."""
    parts = [headline, _times(found), _stages(found), _targets(found)]
    return "\n\n".join(part for part in parts if part)


def _mb(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:.2f} MB"


def _where(row: Row) -> tuple[str, ...]:
    return (row["model"], SPEEDS[row["speed"]].name, row["cache"], row["engine"])


def _times(found: Sequence[Row]) -> str:
    titles = (*KINDS, "paint", "can draw", "ready", "answer", "±", "of peer", "sent", "model",
              "compiling", "longest block", "on the CPU")  # fmt: skip
    lines = [
        (
            *_where(row),
            *(milliseconds(row[f"{mark}_ms"]) for mark in MARKS),
            milliseconds(row["spread_ms"]),
            share(row["answer_of_peer"]),
            _mb(row["bytes"]),
            _mb(row["model_bytes"]),
            milliseconds(row["compile_ms"] if row["engine"] in PEERS else None),
            milliseconds(row["block_ms"]),
            milliseconds(row["block_cpu_ms"]),
        )
        for row in found
    ]
    return table(titles, lines, len(KINDS))


def _stages(found: Sequence[Row]) -> str:
    """When each stage of the boot log started and ended."""
    lines = [
        (
            *_where(row),
            name,
            milliseconds(stage["begun"]),
            milliseconds(stage["done"]),
            milliseconds(stage["ms"]),
        )
        for row in found
        for name, stage in row["stages"].items()
    ]
    return table((*KINDS, "stage", "begun", "done", "took"), lines, 5) if lines else ""


def _seconds(row: Row) -> str:
    return f"{row['answer_ms'] / 1000:.2f} s"


# Targets: description, goal, stretch goal, the kind of visit, and how to format it.
_TARGETS: tuple[tuple[str, str, str, tuple[str, ...], Callable[[Row], str]], ...] = (
    ("digits answered, warm cache, WebGPU", "1.5 s", "0.7 s",
     ("mnist", "full", "warm", "tallow-webgpu"), _seconds),
    ("EfficientNet-Lite0, warm cache, WebGPU, of peer", "1/2", "1/4",
     ("efficientnet_lite0", "full", "warm", "tallow-webgpu"), lambda r: share(r["answer_of_peer"])),
    ("EfficientNet-Lite0, warm cache, NumPy, of peer", "1.0 ×", "1/1.3",
     ("efficientnet_lite0", "full", "warm", "tallow-numpy"), lambda r: share(r["answer_of_peer"])),
    ("graph building, passes and WGSL, second visit, digits", "0 ms", "",
     ("mnist", "full", "warm", "tallow-webgpu"), lambda r: milliseconds(r["compile_ms"])),
    ("graph building, passes and WGSL, second visit, EfficientNet-Lite0", "0 ms", "",
     ("efficientnet_lite0", "full", "warm", "tallow-webgpu"),
     lambda r: milliseconds(r["compile_ms"])),
    ("bytes before the answer, model apart, WebGPU", "7 MB", "5 MB",
     ("mnist", "full", "empty", "tallow-webgpu"), lambda r: _mb(r["bytes"])),
    ("bytes before the answer, model apart, NumPy", "10 MB", "5 MB",
     ("mnist", "full", "empty", "tallow-numpy"), lambda r: _mb(r["bytes"])),
    ("longest block of the main thread, first visit", "50 ms", "16 ms",
     ("mnist", "full", "empty", "tallow-webgpu"), lambda r: milliseconds(r["block_ms"])),
    ("longest block of the main thread, second visit", "50 ms", "16 ms",
     ("mnist", "full", "warm", "tallow-webgpu"), lambda r: milliseconds(r["block_ms"])),
)  # fmt: skip


def _targets(found: Sequence[Row]) -> str:
    by_kind = {_kind(row): row for row in found}
    lines = [
        (words, reach, beyond, format_row(by_kind[kind]))
        for words, reach, beyond, kind, format_row in _TARGETS
        if kind in by_kind
    ]
    return table(("what", "reach", "beyond", "measured"), lines, 1) if lines else ""
