"""Measures Tallow inside the browser; page.js calls these functions.

All times are from numbers in the engine's own memory to numbers there; messages between the page
and the worker are not included.
"""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

from pyodide.code import run_js  # type: ignore[import-not-found]

import tallow.onnx
from tallow.core import dtype
from tallow.core.hostarray import HostArray
from tallow.formats.onnx.run.model_session import ModelSession


class _Subject:
    """The session that is being measured, and its inputs."""

    session: ModelSession
    feeds: dict[str, HostArray]
    counts: dict[str, int]
    meter: Any
    inside: Any


subject = _Subject()


async def attach(origin: str) -> None:
    """Installs the counters: meter.js and tallow.js from this server."""
    folder = f"{origin}/bench/in_browser"
    subject.meter = (await run_js(f"import('{folder}/meter.js')")).meter
    subject.inside = (await run_js(f"import('{folder}/tallow.js')")).inside


async def _run() -> list[HostArray]:
    answers: list[HostArray] = []
    for each in (await subject.session.run_host_async(subject.feeds)).values():
        assert isinstance(each, HostArray)
        answers.append(each)
    return answers


def _count(dispatches: int) -> None:
    """Stores the meter's counts; dispatches: the count before the last run."""
    subject.counts = {
        "kernels": subject.meter.pipelines,
        "dispatches": subject.meter.dispatches - dispatches,
        "gpu_peak_bytes": subject.meter.peak,
        "gpu_held_bytes": subject.meter.held,
    }


def _sent(answers: list[HostArray]) -> list[dict[str, str]]:
    """The type and the base64 of each."""
    return [
        {"type": each.dtype.name, "data": base64.b64encode(each.data).decode()} for each in answers
    ]


async def first(inputs: list[tuple[str, str, list[int]]]) -> dict[str, Any]:
    """Opens model.onnx as a session, and runs it on inputs of these names, types and shapes.

    create_ms: until the session is ready; first_ms: until the answer.
    """
    content = Path("model.onnx").read_bytes()
    subject.feeds = {}
    for number, (name, type_, shape) in enumerate(inputs):
        values = memoryview(Path(f"{number}.input").read_bytes())
        subject.feeds[name] = HostArray(values, tuple(shape), dtype.BY_NAME[type_])
    subject.meter.reset()
    start_time = time.perf_counter()
    subject.session = await tallow.onnx.load(content).session_async()
    created = time.perf_counter()
    dispatches = subject.meter.dispatches
    answer = await _run()
    ended = time.perf_counter()
    _count(dispatches)
    return {
        "create_ms": 1000 * (created - start_time),
        "first_ms": 1000 * (ended - start_time),
        "answer": _sent(answer),
    }


async def turn(milliseconds: float, max_runs: int) -> dict[str, Any]:
    """Runs at least once, and until the time is up or `max_runs` is reached.

    times: the time of each run. python_ms: the part of each outside of the runner (tallow.js).
    """
    times: list[float] = []
    python: list[float] = []
    answer = None
    while answer is None or (sum(times) < milliseconds and len(times) < max_runs):
        before, dispatches = subject.inside.milliseconds, subject.meter.dispatches
        start_time = time.perf_counter()
        answer = await _run()
        times.append(1000 * (time.perf_counter() - start_time))
        python.append(times[-1] - (subject.inside.milliseconds - before))
        _count(dispatches)
    return {"times": times, "python_ms": python, "answer": _sent(answer)}


async def finish() -> dict[str, Any]:
    """Closes the session; returns the counts of its last run, and its plans as JSON."""
    session = subject.session
    plans = [plan.to_json(host=False) for plan in session.plans]
    runner_bytes = session.stats.get("bytes")
    session.close()
    return {**subject.counts, "runner_bytes": runner_bytes, "plans": plans}
