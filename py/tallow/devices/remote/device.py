"""A machine that lends its device, as an entry of the registry: "remote:https://host"."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer

from ...core.drivers import run_async, run_sync
from ...errors import DeviceUnavailableError, TallowError
from ...runtime.base import Backend
from ...version import __version__
from .backend import RemoteBackend
from .connection import Connection

TOKEN = "TALLOW_TOKEN"
"""The environment's variable that has the token, where none is given."""

GREETING_SECONDS = 15.0
"""For the other machine to answer a greeting."""

_LATE = "it does not answer; is it a `tallow serve --compute`?"

_IN_BROWSER = sys.platform == "emscripten"
_ADDRESS = re.compile(r"remote:(http|ws)(s?)://([^/?#@\s]+)(/[^?#\s]*)?")


def url_of(name: str) -> str:
    """The address of the WebSocket of "remote:https://host/path". Raises DeviceUnavailableError for
    anything else."""
    found = _ADDRESS.fullmatch(name)
    if found is None:
        raise DeviceUnavailableError(
            f"{name!r} is not the address of a device; write remote:https://HOST or, on your own "
            "machine, remote:http://127.0.0.1:8080"
        )
    _, secure, host, path = found.groups()
    return f"ws{secure}://{host}{(path or '').rstrip('/')}/compute"


class RemoteDevice:
    """The entry of one machine. A connection that ended is opened anew: by `open`, or on a desktop
    by the next use."""

    rank = -1  # never chosen by itself

    def __init__(self, name: str) -> None:
        self.name = name
        self._url = url_of(name)
        self._token: str | None = None
        self._backend: RemoteBackend | None = None
        self._lock = Lock()

    def use_token(self, token: str | None) -> None:
        """Takes a token for the connections from now on, unless it is None."""
        if token is not None and token != self._token:
            self._token = token
            if self._backend is not None:
                self._backend.connection.close()

    async def open(self) -> None:
        if self._is_open():
            return
        try:
            if _IN_BROWSER:
                await self._open_in_browser()
            else:
                await asyncio.to_thread(self._open_now)
        except TallowError as error:
            raise DeviceUnavailableError(
                f"the device {self.name!r} is unavailable: {error}"
            ) from error

    def backend(self) -> Backend | str:
        """A connection that has ended stays the device, if no other can be opened; computing on
        it then raises DeviceLostError."""
        found = self._backend
        if found is not None and (found.connection.lost is None or _IN_BROWSER):
            return found
        if _IN_BROWSER:
            return f"open it first: await tl.open_device({self.name!r})"
        try:
            self._open_now()
        except TallowError as error:
            return found or str(error)
        assert self._backend is not None
        return self._backend

    def _is_open(self) -> bool:
        return self._backend is not None and self._backend.connection.lost is None

    async def _open_in_browser(self) -> None:
        from .browser import BrowserSocket

        connection = Connection(self.name)
        connection.use(await BrowserSocket.opened(connection, self._url))
        loop = asyncio.get_running_loop()
        late = loop.call_later(GREETING_SECONDS, connection.ended, _LATE)
        with _closed_if_refused(connection, late):
            about = await run_async(connection.ask("hello", **self._hello()))
            self._backend = RemoteBackend(connection, about.header)

    def _open_now(self) -> None:
        """Opens it, outside a browser; blocks."""
        from .desktop import DesktopSocket

        with self._lock:
            if self._is_open():
                return
            connection = Connection(self.name)
            connection.use(DesktopSocket(connection, self._url))
            late = Timer(GREETING_SECONDS, connection.ended, [_LATE])
            late.daemon = True
            late.start()
            with _closed_if_refused(connection, late):
                about = run_sync(connection.ask("hello", **self._hello()))
                self._backend = RemoteBackend(connection, about.header)

    def _hello(self) -> dict[str, str]:
        token = self._token if self._token is not None else os.environ.get(TOKEN, "")
        return {"version": __version__, "token": token}


@contextmanager
def _closed_if_refused(connection: Connection, late: Timer | asyncio.TimerHandle) -> Iterator[None]:
    """late: ends the connection, if the greeting has no answer by then."""
    try:
        yield
    except TallowError:
        connection.close()
        raise
    finally:
        late.cancel()
