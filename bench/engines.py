"""The engines: each has its own page, in one Chromium."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from playwright.sync_api import Browser, Error, Page

from bench.cases import Files
from tallow_build.environment.browser import until
from tallow_build.errors import BuildError

# Tallow's engines and the peers that each is compared with, by their library.
PEERS = {
    "tallow-webgpu": {"ort": "ort-webgpu", "litert": "litert-webgpu"},
    "tallow-wasm": {"ort": "ort-wasm", "litert": "litert-wasm"},
    "tallow-wasm-2": {"ort": "ort-wasm-2", "litert": "litert-wasm-2"},
    "tallow-numpy": {"ort": "ort-wasm", "litert": "litert-wasm"},
}

# Those that run unless others are named: with LiteRT.js, TensorFlow would have to be installed.
USUAL = ("tallow-webgpu", "ort-webgpu", "tallow-wasm", "tallow-numpy", "ort-wasm")

# All of them, each of Tallow's before its peers; "-2" has two threads.
ENGINES = (
    *("tallow-webgpu", "ort-webgpu", "litert-webgpu"),
    *("tallow-wasm", "tallow-numpy", "ort-wasm", "litert-wasm"),
    *("tallow-wasm-2", "ort-wasm-2", "litert-wasm-2"),
)

# An engine that does not answer within this time has failed.
PATIENCE_MS = 600_000

# One turn of a warm engine ends after this time or this many runs.
TURN_MS = 50
TURN_RUNS = 20

# LiteRT.js gives to the CPU what WebGPU can't run, and this is in the only line that says so.
_ELSEWHERE = "will run on the CPU"

_CALL = """async ([name, args, patience]) => {
    const late = new Promise((_, reject) =>
        setTimeout(() => reject(new Error(`no answer in ${patience / 1000} s`)), patience));
    const [object, method] = name.split(".");
    const call = method ? window[object][method](...args) : window[object](...args);
    return await Promise.race([call, late]);
}"""


class EngineError(Exception):
    """An engine failed; the message is its own."""


class Engine:
    """One engine, started. Every method raises EngineError if the engine fails."""

    def __init__(self, name: str, page: Page, small: Files) -> None:
        self.name = name
        self.page = page
        self._elsewhere = ""
        page.on("console", self._hear)
        page.goto("bench/in_browser/page.html")
        until(page, "window.start !== undefined")
        started = self._call("start", name, small.for_page())
        self.boot_ms = float(started["boot_ms"])
        self.adapter = str(started["adapter"])

    def first(self, files: Files) -> dict[str, Any]:
        """A model's session and its first answer: create_ms, first_ms (of both), answer."""
        self._elsewhere = ""
        result = self._call("engine.first", files.for_page())
        if self._elsewhere:
            raise EngineError(f"{self.name}: {self._elsewhere}")
        return result

    def turn(self) -> dict[str, Any]:
        """Some more runs: times, answer; for Tallow also python_ms."""
        return self._call("engine.turn", TURN_MS, TURN_RUNS)

    def finish(self) -> dict[str, Any]:
        """Closes the session; returns counts of its last run. On WebGPU it must have dispatches."""
        counts = self._call("engine.finish")
        if self.name.endswith("webgpu") and not counts["dispatches"]:
            raise EngineError(f"{self.name}: it ran nothing on the GPU")
        return counts

    def _call(self, name: str, *arguments: Any) -> dict[str, Any]:
        try:
            result: dict[str, Any] = self.page.evaluate(_CALL, [name, arguments, PATIENCE_MS])
        except Error as error:
            first = error.message.strip().splitlines()[0]
            raise EngineError(f"{self.name}: {first.removeprefix('Page.evaluate: ')}") from error
        return result

    def _hear(self, message: Any) -> None:
        if _ELSEWHERE in message.text:
            self._elsewhere = message.text
        if message.type == "error":
            print(f"{self.name}: {message.text}", file=sys.stderr)


@contextmanager
def started(chromium: Browser, address: str, small: Mapping[str, Files]) -> Iterator[list[Engine]]:
    """New engines, with nothing cached. Raises BuildError if one is unavailable.

    small: by the engine's name, the files of a network that it runs before anything is measured.
    """
    with ExitStack() as stack:
        engines = []
        for name, files in small.items():
            context = stack.enter_context(chromium.new_context(base_url=address))
            try:
                engines.append(Engine(name, context.new_page(), files))
            except EngineError as error:
                remedy = "omit it with --engines, or see the browser's messages above"
                raise BuildError(f"Starting {name}", str(error), remedy) from error
        yield engines
