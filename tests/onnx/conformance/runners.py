"""Runs cases in this machine's Python or in a browser's. A runner that hangs is replaced."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

from playwright.sync_api import Browser, Playwright, sync_playwright

from tallow_build.environment import browser, firefox
from tallow_build.errors import BuildError
from tallow_build.paths import DIST, ROOT
from tallow_build.process import environment, python
from tallow_build.serving import server
from tallow_build.serving.script import BrowserPython

from .cases import Case
from .outcomes import Outcome, broken, judge

DEVICES = ("numpy", "webgpu", "native", "wasm")
"""What cases run on, by names of the command line: `webgpu` is that of a browser, `native` that of
this machine's Python, which has NumPy and WebAssembly too."""
BROWSERS = ("chromium", "firefox")
_NAMES = {"native": "webgpu"}
WORKER = Path(__file__).with_name("worker.py")
PATIENCE = 180
"""The time limit of a case in seconds: the largest networks need most of it on two slow cores."""


class Encodable(Protocol):
    """A case to run, of conformance or of the fuzzer."""

    def encoded(self) -> dict[str, Any]:
        """The form for worker.py."""


class Runner(ABC):
    """Runs cases on `device` ("numpy", "webgpu" or "wasm"), one after the other."""

    def __init__(self, device: str) -> None:
        self.device = device

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        """The outcome of each case. One that crashes its runner, or takes too long, has failed."""
        answers = zip(cases, self.ask(cases), strict=True)
        return [
            broken(case, said["ended"]) if "ended" in said else judge(case, said, self.device)
            for case, said in answers
        ]

    def ask(self, cases: Sequence[Encodable]) -> list[dict[str, Any]]:
        """The worker's answer for each case. For one that crashes its runner, or takes too long, it
        is {"ended": why}, and the next case gets a new runner. Raises BuildError if none starts."""
        answers: list[dict[str, Any]] = []
        while len(answers) < len(cases):
            self._start()
            try:
                self._answers(cases[len(answers) :], answers.append)
            except BuildError as error:
                self.close()
                if len(answers) == len(cases):
                    break  # every case was answered before the crash
                answers.append({"ended": error.why})
        return answers

    @abstractmethod
    def _start(self) -> None:
        """Starts the runner, unless it is running."""

    @abstractmethod
    def _answers(self, cases: Sequence[Encodable], take: Callable[[dict[str, Any]], None]) -> None:
        """Yields worker.py's answer for each case; BuildError if they end too early."""

    @abstractmethod
    def close(self) -> None:
        """Stops the runner; the next case starts a new one."""


class ProcessRunner(Runner):
    """Runs cases in a process of this machine's Python; `patience`: seconds without output."""

    def __init__(self, device: str, worker: Path = WORKER, patience: float = PATIENCE) -> None:
        super().__init__(device)
        self._worker = worker
        self._patience = patience
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()

    def _start(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self.close()
        lines: queue.Queue[str] = queue.Queue()
        process = subprocess.Popen(
            python(self._worker, self.device),
            env=environment({"PYTHONPATH": str(ROOT / "py")}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

        def read() -> None:
            assert process.stdout
            for line in process.stdout:
                lines.put(line)
            lines.put("")  # it has ended

        Thread(target=read, daemon=True).start()
        self._process, self._lines = process, lines

    def _answers(self, cases: Sequence[Encodable], take: Callable[[dict[str, Any]], None]) -> None:
        assert self._process and self._process.stdin
        with tempfile.TemporaryDirectory() as folder:
            request = Path(folder, "request.json")
            request.write_bytes(_request(cases))
            self._process.stdin.write(f"{request}\n")
            self._process.stdin.flush()
            for _ in cases:
                take(json.loads(self._line()))

    def _line(self) -> str:
        step = "Running cases"
        try:
            line = self._lines.get(timeout=self._patience)
        except queue.Empty:
            raise BuildError(step, f"no answer for {self._patience} seconds", "") from None
        if not line:
            raise BuildError(step, "it ended the process", "")
        return line

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream:
                    stream.close()
            self._process = None


class BrowserRunner(Runner):
    """Runs cases in a browser's Python. workers: the files to copy there; the last one is the
    worker."""

    def __init__(
        self, device: str, started: Browser, address: str, workers: Sequence[Path] = (WORKER,)
    ) -> None:
        super().__init__(device)
        self._workers = workers
        self._browser = started
        self._address = address
        self._stack = ExitStack()
        self._python: BrowserPython | None = None

    def _start(self) -> None:
        if self._python:
            return
        context = self._stack.enter_context(self._browser.new_context(service_workers="block"))
        started = BrowserPython(context.new_page(), self._address)
        booted = started.boot(self.device)
        if booted.device != self.device:
            why = booted.reason or "the browser gave no reason"
            raise BuildError(f"Getting the device {self.device}", why, "try again")
        for worker in self._workers:
            started.write(worker.name, worker.read_bytes())
        serving = f"import {self._workers[-1].stem} as serving"
        started.run(f"import sys; sys.path.insert(0, '.'); {serving}", "start.py", _nothing)
        self._python = started

    def _answers(self, cases: Sequence[Encodable], take: Callable[[dict[str, Any]], None]) -> None:
        assert self._python
        self._python.write("request.json", _request(cases))
        text = ""

        def write(stream: str, part: str) -> None:
            nonlocal text
            if stream == "stdout":
                *lines, text = (text + part).split("\n")
                for line in lines:
                    take(json.loads(line))

        code = f"await serving.serve('request.json', {self.device!r})"
        if self._python.run(code, "serve.py", write, PATIENCE).status:
            raise BuildError("Running cases", "it ended the browser's Python", "")

    def close(self) -> None:
        self._python = None
        self._stack.close()


def _request(cases: Sequence[Encodable]) -> bytes:
    return json.dumps([case.encoded() for case in cases]).encode()


def _nothing(stream: str, text: str) -> None:
    """Ignores a script's output."""


@contextmanager
def started(
    device: str, inside: str | None = None, workers: Sequence[Path] = (WORKER,)
) -> Iterator[Runner]:
    """The runner of a device by its name in DEVICES.

    inside: a name in BROWSERS, or None for this machine's Python, or for WebGPU Chromium. workers:
    the files that the worker imports, and the worker as the last one. Raises BuildError if there is
    no such browser here.
    """
    if inside is None and device == "webgpu":
        inside = "chromium"
    with ExitStack() as stack:
        runner: Runner
        if inside:
            address = stack.enter_context(server.running(DIST))
            playwright = stack.enter_context(sync_playwright())
            running = stack.enter_context(_browser(playwright, inside))
            runner = BrowserRunner(_NAMES.get(device, device), running, address, workers)
        else:
            runner = ProcessRunner(_NAMES.get(device, device), workers[-1])
        stack.callback(runner.close)
        yield runner


@contextmanager
def _browser(playwright: Playwright, name: str) -> Iterator[Browser]:
    if name == "chromium":
        with browser.launch(playwright) as running:
            yield running
        return
    path = firefox.find()
    if path is None:
        raise BuildError("Starting Firefox", "there is none here", "install Firefox")
    with firefox.running(playwright, path, webgpu=True) as running:
        yield running
