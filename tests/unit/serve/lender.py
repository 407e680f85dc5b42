"""A server of `tallow serve --compute` in a thread, which a test starts, stops and starts again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tallow.runtime.device import backend
from tallow.serve import compute
from tallow.serve.compute import Terms

TOKEN = "a secret"


class LenderThread:
    """A server; it listens when `start` returns. port: 0 before the first start, kept from then."""

    def __init__(self, device: str, terms: Terms | None = None) -> None:
        self.device, self.terms = device, terms or Terms(TOKEN)
        self.port = 0
        self._thread: Thread | None = None

    @property
    def name(self) -> str:
        """Of the device that it lends."""
        return f"remote:http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listens."""
        ready = Event()

        def listening(port: int) -> None:
            self.port = port
            ready.set()

        async def run() -> None:
            self._stop, self._loop = asyncio.Event(), asyncio.get_running_loop()
            await compute.serve(
                backend(self.device), self.terms, "127.0.0.1", self.port, listening, self._stop
            )

        self._thread = Thread(target=lambda: asyncio.run(run()))
        self._thread.start()
        assert ready.wait(30)

    def stop(self) -> None:
        """Ends it, and waits until it has ended."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._thread = None


@contextmanager
def lending(device: str, terms: Terms | None = None) -> Iterator[LenderThread]:
    """A server for as long as a test needs it."""
    lender = LenderThread(device, terms)
    lender.start()
    try:
        yield lender
    finally:
        lender.stop()
