"""Sends a service bad requests among good ones, and counts how each ends.

    python3 build.py bench --serving --faults [--requests N] [--clients N] [--device wasm]
                                              [--no-kill] [--seed N] [--json FILE]

Each request is answered, refused with its status and a line, or hung up by its own client;
whatever else is *lost*. Models are loaded again and taken away meanwhile. After a tenth of the
requests the whole process is killed (SIGKILL) and started again, as a supervisor does; clients that
had no answer then ask again. *Bytes per request* is the slope of the process's memory, by least
squares, without the first quarter of its requests. Exits with 1 if a request is lost or if memory
grows.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import tritonclient.grpc.aio
from tritonclient.utils import InferenceServerException

import tallow as tl
from bench import report
from bench.service import models
from bench.service.faults import BODY, KINDS, LostError, Target
from bench.service.memory import Sample, resident, slope
from bench.service.process import Service

FLAT = 1000.0
"""Bytes per request that still are flat: 10 MB in 10,000 requests."""
SAMPLES = 100
PAUSE = 0.2
"""Seconds until a client whose connection broke asks again."""
AGAIN = [
    (f"grpc.{which}_reconnect_backoff_ms", round(1000 * PAUSE))
    for which in ("initial", "min", "max")
]
"""As often gRPC's channel tries to connect; until then it tells the error that it had before."""
PATIENCE = 60.0
"""Seconds in which a request must end."""


@dataclass
class Found:
    """ends: how often each kind ended how. lost: of each, the kind and why. again: requests that
    were sent again after the kill. memory: samples of each process."""

    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    again: int = 0
    memory: list[list[Sample]] = field(default_factory=lambda: [[]])

    @property
    def slopes(self) -> list[float]:
        """Bytes per request of each process."""
        return [slope(samples) for samples in self.memory]


class Storm:
    """requests: how many, by so many clients. kill: whether the process is killed once."""

    def __init__(self, device: str, requests: int, clients: int, kill: bool, seed: int) -> None:
        self._device, self._requests, self._clients = device, requests, clients
        self._kill_at = requests // 10 if kill else -1
        self._random = random.Random(seed)
        self._deaths, self._down = 0, asyncio.Event()
        self.found = Found()

    def _service(self, folder: Path, ports: tuple[int, int] = (0, 0)) -> Service:
        service = Service(
            models.prepare("mnist"), folder / "doubled", "--name", "digits",
            "--device", self._device, "--max-body-mb", BODY / 1e6, "--warm", ports=ports,
        )  # fmt: skip
        service.line("doubled: version 1, 2 serves")
        return service

    async def run(self) -> Found:
        """All requests."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for factor in (1, 2):
                models.times(folder / "doubled" / str(factor) / "model.onnx", factor)
            self._current = await asyncio.to_thread(self._service, folder)
            try:
                await self._all(folder)
            finally:
                await asyncio.to_thread(self._current.kill)
        return self.found

    async def _all(self, folder: Path) -> None:
        connections = aiohttp.TCPConnector(limit=0, force_close=True)
        async with (
            aiohttp.ClientSession(connector=connections) as session,
            tritonclient.grpc.aio.InferenceServerClient(
                self._current.grpc, channel_args=AGAIN
            ) as client,
        ):
            to = Target(self._current.http, session, client, models.digits(16), self._random)
            numbers = iter(range(self._requests))
            tasks = [asyncio.create_task(self._client(to, numbers, folder))
                     for _ in range(self._clients)]  # fmt: skip
            await asyncio.gather(*tasks)
        left = sum(
            self._current.figure("tallow_serve_waiting", model=name)
            for name in ("digits", "doubled")
        )
        if left:
            self.found.lost.append(f"{left:g} requests still wait at the end")

    async def _client(self, to: Target, numbers: Iterator[int], folder: Path) -> None:
        names, weights = list(KINDS), [weight for weight, _ in KINDS.values()]
        for number in numbers:
            if number == self._kill_at:
                await self._die(folder)
            (name,) = self._random.choices(names, weights)
            await self._one(to, name)
            done = self.found.ends.total()
            if done % max(1, self._requests // SAMPLES) == 0 and not self._down.is_set():
                self.found.memory[-1].append((done, resident(self._current.process.pid)))

    async def _one(self, to: Target, name: str) -> None:
        """A request of a kind, until it ends."""
        broken = False
        while True:
            deaths = self._deaths
            try:
                async with asyncio.timeout(PATIENCE):
                    end = await KINDS[name][1](to)
            except (LostError, OSError, aiohttp.ClientError, InferenceServerException) as error:
                if deaths == self._deaths and not self._down.is_set():
                    self.found.ends[name, "lost"] += 1
                    self.found.lost.append(f"{name}: {type(error).__name__} {error}")
                    return
                self.found.again += not broken
                broken = True
                await asyncio.sleep(PAUSE)
                continue
            self.found.ends[name, end] += 1
            return

    async def _die(self, folder: Path) -> None:
        """Kills the process, and starts another one at the same addresses."""
        ports = self._current.ports
        self._down.set()
        self._deaths += 1
        await asyncio.to_thread(self._current.kill)
        self._current = await asyncio.to_thread(self._service, folder, ports)
        self.found.memory.append([])
        await asyncio.sleep(5 * PAUSE)  # until gRPC's channel has found it
        self._down.clear()


def lines(found: Found) -> list[str]:
    """A table of how each kind ended, and the memory."""
    ends = ("answered", "refused", "hung up", "lost")
    written = [f"| requests | {' | '.join(ends)} |", f"|---|{'--:|' * len(ends)}"]
    for name in KINDS:
        counts = (found.ends[name, end] for end in ends)
        written.append(f"| {name} | {' | '.join(str(each or '') for each in counts)} |")
    total = [sum(n for (_, end), n in found.ends.items() if end == each) for each in ends]
    written += [f"| all | {' | '.join(map(str, total))} |", ""]
    for samples, rise in zip(found.memory, found.slopes, strict=True):
        if samples:
            low, high = min(y for _, y in samples), max(y for _, y in samples)
            written.append(
                f"Requests {samples[0][0]:,} to {samples[-1][0]:,}: {low / 1e6:.1f} to "
                f"{high / 1e6:.1f} MB, {rise:.0f} bytes per request"
            )
    return [*written, f"Sent again after the kill: {found.again}"]


def main(argv: Sequence[str]) -> int:
    """Sends them and reports."""
    parser = argparse.ArgumentParser(prog="build.py bench --serving --faults", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000, help="(10,000)")
    parser.add_argument("--clients", type=int, default=32, help="(32)")
    parser.add_argument("--device", choices=("wasm", "native", "numpy"), default="wasm")
    parser.add_argument("--no-kill", action="store_true", help="the process lives")
    parser.add_argument("--seed", type=int, default=0, help="of the requests (0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(argv)
    facts = report.about()
    tl.set_default_device("numpy")
    storm = Storm(
        options.device, options.requests, options.clients, not options.no_kill, options.seed
    )
    found = asyncio.run(storm.run())
    print(report.headline(facts, options.device), "", *lines(found), sep="\n")
    print(*(f"lost: {each}" for each in found.lost[:20]), sep="\n")
    ends: dict[str, Any] = {f"{name}: {end}": n for (name, end), n in found.ends.items()}
    memory = {"memory": found.memory, "slopes": found.slopes}
    report.write(options.json, {**facts, "ends": ends, "lost": found.lost, **memory})
    return 1 if found.lost or found.slopes[-1] > FLAT else 0
