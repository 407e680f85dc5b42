"""Measures in turns, so that all engines run under the same conditions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from playwright.sync_api import Browser

from bench import engines, tflite
from bench.answers import WrongAnswerError
from bench.cases import Case, Files, addition, prepare
from bench.figures import Figures

Row = dict[str, Any]


class Measured(Protocol):
    """The interface of an engine; engines.Engine implements it."""

    name: str
    boot_ms: float
    adapter: str

    def first(self, files: Files) -> dict[str, Any]: ...

    def turn(self) -> dict[str, Any]: ...

    def finish(self) -> dict[str, Any]: ...


def say(words: str) -> None:
    """Prints progress to stderr, separate from the figures."""
    print(words, file=sys.stderr, flush=True)


def take_turns(
    running: Sequence[Measured],
    rows: Mapping[str, Figures],
    files: Mapping[str, Files],
    rounds: int,
) -> None:
    """A first run of each engine, then `rounds` times some warm runs of each.

    rows, files: by the engine's name. An engine that fails or answers wrongly is reported, and gets
    no more turns in this case.
    """

    def attempt(engine: Measured, number: int) -> None:
        row = rows[engine.name]
        if number < 0:
            say(f"{row.case.name} on {engine.name} ...")
            row.first(engine.first(files[engine.name]), engine.adapter, engine.boot_ms)
        elif number < rounds:
            row.turn(engine.turn())
        else:
            row.finish(engine.finish())

    for number in range(-1, rounds + 1):
        for engine in running:
            row = rows[engine.name]
            if row.failed:
                continue
            try:
                attempt(engine, number)
            except (engines.EngineError, WrongAnswerError) as error:
                row.failed = str(error)
                say(f"{row.case.name} on {engine.name} FAILED: {error}")


class Schedule(NamedTuple):
    """names: the engines. rounds: warm turns per engine. firsts: first runs per network."""

    names: Sequence[str]
    rounds: int
    firsts: int


class Bench:
    """Runs cases on engines in one Chromium. address: the server's, with a trailing slash."""

    def __init__(self, chromium: Browser, address: str, schedule: Schedule) -> None:
        self._chromium = chromium
        self._address = address
        self._schedule = schedule
        self._small = prepared(addition(), schedule.names)

    def apart(self, case: Case) -> list[Row]:
        """A row for each engine; each first run is in a new worker without compiled code."""
        files, rows = self._ready(case)
        for left in reversed(range(self._schedule.firsts)):
            with self._started() as running:
                take_turns(running, rows, files, 0 if left else self._schedule.rounds)
        return [row.summary() for row in rows.values()]

    def together(self, several: Sequence[Case]) -> Iterator[Row]:
        """A row for each case on each engine; all cases run in the same workers."""
        if not several:
            return
        with self._started() as running:
            for case in several:
                files, rows = self._ready(case)
                take_turns(running, rows, files, self._schedule.rounds)
                yield from (row.summary() for row in rows.values())

    def _ready(self, case: Case) -> tuple[dict[str, Files], dict[str, Figures]]:
        files = prepared(case, self._schedule.names)
        rows = {name: Figures(case, each.answer.ravel(), name) for name, each in files.items()}
        return files, rows

    def _started(self) -> AbstractContextManager[list[engines.Engine]]:
        return engines.started(self._chromium, self._address, self._small)


def prepared(case: Case, names: Sequence[str]) -> dict[str, Files]:
    """The files of a case for each of these engines, made if missing. Raises BuildError."""
    files = prepare(case)
    return {
        name: tflite.prepare(case, files) if name.startswith("litert") else files for name in names
    }
