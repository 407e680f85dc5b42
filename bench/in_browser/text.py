"""Texts, sentences and speech of Tallow's; bench/text.py calls these functions in Pyodide.

Times are milliseconds of the clock. Of a token, *Python* is what neither the runner takes nor the
wait for the device.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyodide.code import run_js  # type: ignore[import-not-found]

import tallow as tl
from tallow.core.drivers import Steps
from tallow.generation import Request
from tallow.runtime.device import backend

if TYPE_CHECKING:  # it has run before
    from bench.in_browser.clock import clock


class _Subject:
    """The model that is being measured, and what counts for the GPU."""

    model: Any = None
    meter: Any = None
    prompt: list[int]
    turn: int


subject = _Subject()


async def attach(origin: str) -> None:
    """Counts what is done with the GPU: meter.js from this server."""
    subject.meter = (await run_js(f"import('{origin}bench/meter.js')")).meter


async def load(sources: dict[str, str] | str, threads: int) -> float:
    """Opens a model by the addresses of its files; the one before is freed."""
    subject.model = None
    tl.set_num_threads(threads)
    began = time.perf_counter()
    subject.model = await tl.zoo.load_async(sources)
    return 1000 * (time.perf_counter() - began)


def held() -> int:
    """Bytes that Tallow holds on the device now."""
    used = backend()
    if used.info.device == "webgpu":
        return int(subject.meter.held)
    return sum(arena.used for arena in used.engine.arenas)  # type: ignore[attr-defined]


def tokens(text: str, count: int) -> str:
    """The text of a text's first tokens, which a prompt is from now on."""
    subject.prompt = subject.model.tokens_of(text)[:count]
    subject.turn = 0
    found: str = subject.model.tokenizer.decode(subject.prompt)
    return found


class _Timed:
    """Drives steps as `run_async` does, and adds up what lies between its requests."""

    def __init__(self) -> None:
        self.python = self.whole = 0.0

    async def run(self, steps: Steps[Any]) -> Any:
        """The result of the steps."""
        clock.runner, clock.calls = 0.0, 0
        answer, inside = None, 0.0
        began = time.perf_counter()
        while True:
            entered, before = time.perf_counter(), clock.runner
            try:
                request = steps.send(answer)
            except StopIteration as end:
                ended = time.perf_counter()
                inside += ended - entered - (clock.runner - before)
                self.python, self.whole = 1000 * inside, 1000 * (ended - began)
                return end.value
            inside += time.perf_counter() - entered - (clock.runner - before)
            answer = await request.run_async()


async def write(count: int) -> dict[str, Any]:
    """Writes so many tokens behind the prompt, turned by one token each time: the cache does not
    have what it begins with. Gives the time until the first token, that of all later ones, and
    of one of them Python's part, calls of plans, submits and dispatches."""
    writer, timed = subject.model.writer, _Timed()
    subject.turn += 1
    turned = subject.prompt[subject.turn :] + subject.prompt[: subject.turn]
    written = await timed.run(writer.begin(Request(turned, most=count)))
    found: dict[str, Any] = {"prefill_ms": timed.whole, "decode_ms": 0.0, "tokens": count - 1}
    python = []
    while written.end is None:
        before = _gpu_counts()
        await timed.run(writer.step())
        found["decode_ms"] += timed.whole
        python.append(timed.python)
        if len(written.tokens) == 3:
            submits, dispatches = (b - a for a, b in zip(before, _gpu_counts(), strict=True))
            found |= {"calls": clock.calls, "submits": submits, "dispatches": dispatches}
    if python:
        found["python_ms"] = statistics.median(python)
    return found


def _gpu_counts() -> tuple[int, int]:
    return int(subject.meter.submits), int(subject.meter.dispatches)


async def answer(question: str, count: int) -> str:
    """What a model answers."""
    messages = [{"role": "user", "content": question}]
    text: str = await subject.model.generate_async(messages, max_tokens=count)
    return text


async def embed(texts: list[str], at_once: int, calls: int) -> dict[str, Any]:
    """Vectors of texts, so many at once: ms of each call, the cosine of the first two."""
    times: list[float] = []
    for turn in range(calls):
        begin = turn * at_once % len(texts)
        began = time.perf_counter()
        vectors = await subject.model.embed_async(texts[begin : begin + at_once])
        await vectors.numpy_async()
        times.append(1000 * (time.perf_counter() - began))
    return {"ms": times}


async def cosine(texts: list[str]) -> float:
    """How alike the meanings of two texts are."""
    a, b = await (await subject.model.embed_async(texts)).numpy_async()
    return float(a @ b)


async def hear() -> dict[str, Any]:
    """The text of a sound of 16,000 float32 a second, in the file `sound`."""
    samples = np.frombuffer(Path("sound").read_bytes(), np.float32)
    began = time.perf_counter()
    text, _ = await subject.model.transcribe_async(samples, language="en")
    return {"ms": 1000 * (time.perf_counter() - began), "text": text}
