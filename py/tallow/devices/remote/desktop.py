"""A WebSocket outside a browser, by the package `websockets`: a thread reads, and
the thread that computes sends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from threading import Thread
from typing import Any

from ...core.packages import package
from ...errors import DeviceUnavailableError
from .connection import Connection
from .wire import FRAME

SECONDS = 10.0
"""For a connection to open."""


class _Result:
    """Requests the result of a future."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def run_sync(self) -> Any:
        return self._future.result()

    async def run_async(self) -> Any:
        return await asyncio.wrap_future(self._future)


class DesktopSocket:
    """An open WebSocket."""

    def __init__(self, connection: Connection, url: str) -> None:
        client = package("websockets.sync.client", "a remote device", "remote")
        self._open = ExitStack()
        self._errors = package("websockets.exceptions", "a remote device", "remote")
        try:
            self._socket = self._open.enter_context(
                client.connect(url, open_timeout=SECONDS, max_size=2 * FRAME, compression=None)
            )
        except (OSError, self._errors.WebSocketException) as error:
            raise DeviceUnavailableError(
                f"no connection: {str(error) or type(error).__name__}"
            ) from error
        self._connection = connection
        Thread(target=self._read, name="tallow-remote", daemon=True).start()

    def _read(self) -> None:
        why = "its reader failed"
        try:
            for frame in self._socket:
                self._connection.receive(frame)
            why = self._socket.close_reason or "the other machine closed it"
        except (OSError, self._errors.WebSocketException) as error:
            why = self._socket.close_reason or str(error)
        finally:  # no thread may wait forever, even after an unexpected error
            self._connection.ended(why)

    def send(self, frames: Iterable[str | memoryview]) -> None:
        """Blocks while the network takes no more."""
        try:
            for frame in frames:
                self._socket.send(frame)
        except self._errors.ConnectionClosed as error:
            raise OSError(self._socket.close_reason or str(error)) from error

    def future(self) -> Future[Any]:
        """Of a thread."""
        return Future()

    def result(self, future: Future[Any], what: str) -> _Result:
        return _Result(future)

    def close(self) -> None:
        """Ends it."""
        self._open.close()
