"""Measures Tallow inside the browser; page.js calls these functions.

All clocks run from numbers in the engine's own memory to numbers there: what the page and the
worker say to each other is not measured.
"""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

from pyodide.code import run_js  # type: ignore[import-not-found]

import tallow.onnx
from tallow import dtype
from tallow.formats.onnx.run.model_session import ModelSession
from tallow.hostarray import HostArray


class _Subject:
    """The session that is being measured, and what it is fed."""

    session: ModelSession
    feeds: dict[str, HostArray]
    counts: dict[str, int]
    meter: Any
    inside: Any


subject = _Subject()


async def attach(origin: str) -> None:
    """Puts the counters in place: meter.js and tallow.js of this server."""
    folder = f"{origin}/bench/in_browser"
    subject.meter = (await run_js(f"import('{folder}/meter.js')")).meter
    subject.inside = (await run_js(f"import('{folder}/tallow.js')")).inside


async def _run() -> HostArray:
    (answer,) = (await subject.session.run_host_async(subject.feeds)).values()
    assert isinstance(answer, HostArray)
    return answer


def _count(dispatches: int) -> None:
    """Notes what the meter says; dispatches: its count before the last run."""
    subject.counts = {
        "kernels": subject.meter.pipelines,
        "dispatches": subject.meter.dispatches - dispatches,
        "gpu_peak_bytes": subject.meter.peak,
        "gpu_held_bytes": subject.meter.held,
    }


def _base64(answer: HostArray) -> str:
    return base64.b64encode(answer.data).decode()


async def first(name: str, shape: list[int]) -> dict[str, Any]:
    """model.onnx as a session, and its answer to input.bin.

    create_ms: until the session is there; first_ms: until the answer is. answer: float32, base64.
    """
    content, values = Path("model.onnx").read_bytes(), Path("input.bin").read_bytes()
    subject.feeds = {name: HostArray(memoryview(values), tuple(shape), dtype.float32)}
    subject.meter.reset()
    began = time.perf_counter()
    subject.session = await tallow.onnx.load(content).session_async()
    created = time.perf_counter()
    dispatches = subject.meter.dispatches
    answer = await _run()
    ended = time.perf_counter()
    _count(dispatches)
    return {
        "create_ms": 1000 * (created - began),
        "first_ms": 1000 * (ended - began),
        "answer": _base64(answer),
    }


async def turn(milliseconds: float, most: int) -> dict[str, Any]:
    """Runs until so much time has gone, at most so often, but once at least.

    times: of each run. python_ms: of each, the part that was not in the runner (tallow.js).
    """
    times: list[float] = []
    python: list[float] = []
    answer = None
    while answer is None or (sum(times) < milliseconds and len(times) < most):
        before, dispatches = subject.inside.milliseconds, subject.meter.dispatches
        began = time.perf_counter()
        answer = await _run()
        times.append(1000 * (time.perf_counter() - began))
        python.append(times[-1] - (subject.inside.milliseconds - before))
        _count(dispatches)
    return {"times": times, "python_ms": python, "answer": _base64(answer)}


async def finish() -> dict[str, Any]:
    """Closes the session; the counts at its last run, and its plan as JSON."""
    session = subject.session
    own = {"runner_bytes": session.stats.get("bytes"), "plan": session.plan.to_json(host=False)}
    session.close()
    return {**subject.counts, **own}
