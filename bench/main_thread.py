"""The longest blocks of a page's main thread, read from Chromium's own trace.

Long-task entries begin at 50 ms and do not say what ran; the trace has every task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Tasks; what ran in them; navigations and the marks of the page.
CATEGORIES = (
    "disabled-by-default-devtools.timeline",
    "devtools.timeline",
    "v8.compile",
    "blink.user_timing",
)

Event = dict[str, Any]


def blocks(events: Sequence[Event], page: str, most: int = 8) -> list[dict[str, Any]]:
    """The longest tasks of the thread that shows `page`, from navigation to the mark "answer".

    Each: at_ms since navigation, ms, cpu_ms (on the processor), what (the largest part of it).
    Empty if the trace has no such navigation.
    """
    begins = [
        event
        for event in events
        if event["name"] == "navigationStart" and _document(event) == page.split("#", maxsplit=1)[0]
    ]
    ends = [event["ts"] for event in events if event["name"] == "bench:answer"]
    if not begins or not ends:
        return []
    begin, end = begins[-1], max(ends)
    own = [
        event
        for event in events
        if event.get("ph") == "X"
        and (event["pid"], event["tid"]) == (begin["pid"], begin["tid"])
        and begin["ts"] <= event["ts"] <= end
    ]
    tasks = [event for event in own if event["name"] == "RunTask"]
    parts = [event for event in own if event["name"] != "RunTask"]
    tasks.sort(key=lambda task: -int(task["dur"]))
    return [
        {
            "at_ms": (task["ts"] - begin["ts"]) / 1000,
            "ms": task["dur"] / 1000,
            "cpu_ms": task.get("tdur", 0) / 1000,
            "what": _what(task, parts),
        }
        for task in tasks[:most]
    ]


def _document(navigation: Event) -> str:
    data = navigation.get("args", {}).get("data", {})
    return str(data.get("documentLoaderURL", "")).split("#", maxsplit=1)[0]


def _what(task: Event, parts: Sequence[Event]) -> str:
    """The largest parts of a task, with their files, as far as the trace knows them."""
    until = task["ts"] + task["dur"]
    inside = [part for part in parts if task["ts"] <= part["ts"] < until]
    inside.sort(key=lambda part: -int(part.get("dur", 0)))
    words = []
    for part in inside[:3]:
        data = part.get("args", {}).get("data") or {}
        place = str(data.get("url") or data.get("fileName") or "").rsplit("/", 1)[-1]
        called = data.get("functionName") or data.get("type") or ""
        about = " ".join(filter(None, [str(called), place]))
        words.append(f"{part['name']} {part.get('dur', 0) / 1000:.1f} ms ({about})")
    return "; ".join(words) or "?"
