"""A WebSocket of a browser's. It imports `js`, which is there in a browser only."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from pyodide.ffi import JsException, create_proxy, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

from ...errors import DeviceUnavailableError
from ...runtime.promised import Promised
from .connection import Connection


class BrowserSocket:
    """An open WebSocket; `opened` makes one."""

    def __init__(self, connection: Connection, url: str) -> None:
        self._connection = connection
        self._opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._socket = js.WebSocket.new(url)
        except JsException as error:
            raise DeviceUnavailableError(f"no connection: {error.message}") from error
        self._socket.binaryType = "arraybuffer"
        self._proxies = [create_proxy(each) for each in (self._opened, self._taken, self._closed)]
        self._socket.onopen, self._socket.onmessage, self._socket.onclose = self._proxies

    @classmethod
    async def opened(cls, connection: Connection, url: str) -> BrowserSocket:
        """A socket, once it is open. Raises DeviceUnavailableError."""
        socket = cls(connection, url)
        await socket._opening
        return socket

    def _opened(self, event: Any) -> None:
        if not self._opening.done():
            self._opening.set_result(None)

    def _taken(self, event: Any) -> None:
        data = event.data
        self._connection.receive(data if isinstance(data, str) else data.to_bytes())

    def _closed(self, event: Any) -> None:
        """A browser does not tell a page why a connection could not be made."""
        why = str(event.reason) or f"the browser closed it with the code {event.code}"
        if not self._opening.done():
            self._opening.set_exception(DeviceUnavailableError(f"no connection: {why}"))
        self._connection.ended(why)
        for proxy in self._proxies:
            proxy.destroy()
        self._proxies = []

    def send(self, frames: Iterable[str | memoryview]) -> None:
        """The browser keeps what the network does not take yet."""
        if self._socket.readyState != js.WebSocket.OPEN:
            raise OSError("the connection is closed")
        for frame in frames:
            self._socket.send(frame if isinstance(frame, str) else to_js(frame))

    def future(self) -> asyncio.Future[Any]:
        """Of the event loop."""
        return asyncio.get_running_loop().create_future()

    def result(self, future: asyncio.Future[Any], what: str) -> Promised:
        return Promised(what, lambda: future)

    def close(self) -> None:
        """Ends it."""
        self._socket.close()
