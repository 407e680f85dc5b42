"""Reads Chromium's trace of a visit: the longest blocks of the page's main thread, and how long
Python compiled.

Long-task entries start at 50 ms and do not tell what ran; the trace has every task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Tasks and their parts; marks and measures of the page and its workers.
CATEGORIES = (
    "disabled-by-default-devtools.timeline",
    "devtools.timeline",
    "v8.compile",
    "blink.user_timing",
)

# Graph building, passes and WGSL, as web/worker/models/models.js measures them.
COMPILE = "tallow:compile"

Event = dict[str, Any]


def compile_ms(events: Sequence[Event]) -> float:
    """Milliseconds of all compiling measures, in any thread."""
    begun: dict[tuple[Any, ...], float] = {}
    total = 0.0
    for event in events:
        if event["name"] == COMPILE:
            measure = event["pid"], str(event.get("id2") or event.get("id"))
            if event["ph"] == "b":
                begun[measure] = event["ts"]
            elif event["ph"] == "e":
                total += (event["ts"] - begun.pop(measure)) / 1000
    return total


def blocks(events: Sequence[Event], limit: int = 8) -> list[dict[str, Any]]:
    """The longest tasks of the page's main thread, from navigation to the mark "bench:answer".

    Each: at_ms since navigation, ms, cpu_ms (on the processor), what (the largest part of it).
    Empty if the trace has no such mark.
    """
    marks = [event for event in events if event["name"] == "bench:answer"]
    if not marks:
        return []
    mark = marks[-1]
    end = mark["ts"]
    begin = end - 1000 * mark["args"]["data"]["startTime"]
    own = [
        event
        for event in events
        if event.get("ph") == "X"
        and (event["pid"], event["tid"]) == (mark["pid"], mark["tid"])
        and begin <= event["ts"] <= end
    ]
    tasks = [event for event in own if event["name"] == "RunTask"]
    parts = [event for event in own if event["name"] != "RunTask"]
    tasks.sort(key=lambda task: -int(task["dur"]))
    return [
        {
            "at_ms": (task["ts"] - begin) / 1000,
            "ms": task["dur"] / 1000,
            "cpu_ms": task.get("tdur", 0) / 1000,
            "what": _what(task, parts),
        }
        for task in tasks[:limit]
    ]


def _what(task: Event, parts: Sequence[Event]) -> str:
    """The largest parts of a task, with their files, as far as the trace has them."""
    until = task["ts"] + task["dur"]
    inside = [part for part in parts if task["ts"] <= part["ts"] < until]
    inside.sort(key=lambda part: -int(part.get("dur", 0)))
    words = []
    for part in inside[:3]:
        data = part.get("args", {}).get("data") or {}
        file = str(data.get("url") or data.get("fileName") or "").rsplit("/", 1)[-1]
        called = data.get("functionName") or data.get("type") or ""
        about = " ".join(filter(None, [str(called), file]))
        words.append(f"{part['name']} {part.get('dur', 0) / 1000:.1f} ms ({about})")
    return "; ".join(words) or "?"
