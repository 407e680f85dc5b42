"""`tallow serve --compute`: lends this machine's device over WebSockets.

One message at a time computes, from whichever borrower it comes. The `websockets` package speaks
the protocol; TLS is a proxy's. A borrower shows a token first.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from ..core.packages import package
from ..devices.remote.wire import FRAME, Assembler, Message, error_as_json, frames
from ..errors import DeviceUnavailableError, PlanError
from ..runtime.base import Backend
from ..version import __version__
from .addresses import place
from .lending import Visit, about

LOG = logging.getLogger("tallow.serve")

GREETING_SECONDS = 10.0
"""For a borrower to show its token."""

REFUSED, BUSY, GONE, WRONG = 4401, 4429, 1001, 1002
"""Codes with which a connection is closed: no or a wrong token or another version; too many
borrowers; the server ends; what is no message."""


@dataclass(frozen=True)
class Terms:
    """The terms of lending. token: what a borrower shows. memory: bytes for each borrower.
    borrowers: how many at a time."""

    token: str
    memory: int = 4 << 30
    borrowers: int = 4


class Lender:
    """Lends a device to borrowers."""

    def __init__(self, backend: Backend, terms: Terms) -> None:
        self._backend, self._terms = backend, terms
        self._present = 0
        self._computing = ThreadPoolExecutor(1, "tallow-compute")

    async def receive(self, socket: Any) -> None:
        """A borrower's connection, from its greeting to its end."""
        closed = package("websockets.exceptions", "serving", "serve").ConnectionClosed
        try:
            await self._receive(socket)
        except closed:
            pass  # it went away; what it had is freed
        except PlanError as error:
            await _send(socket, {"error": error_as_json(error)})
            await socket.close(WRONG, _reason(str(error)))

    async def _receive(self, socket: Any) -> None:
        assembler = Assembler(0)  # no bytes from strangers
        problem, number = "nobody said hello", None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GREETING_SECONDS):
                greeting = await _message(socket, assembler)
                problem, number = self._problem(greeting.header), greeting.header.get("id")
        if problem:
            LOG.warning("%s was refused: %s", _name(socket), problem)
            error = error_as_json(DeviceUnavailableError(problem))
            await _send(socket, {"error": error, "id": number})
            await socket.close(BUSY if "borrowers" in problem else REFUSED, _reason(problem))
            return
        assembler.most = self._terms.memory
        visit = Visit(self._backend, self._terms.memory)
        self._present += 1
        LOG.info("%s borrows the device; %d are here", _name(socket), self._present)
        try:
            await _send(socket, {**about(self._backend), "id": number})
            while True:
                reply = await self._on_device(visit.answer, await _message(socket, assembler))
                if reply is not None:
                    await _send(socket, *reply)
        finally:
            self._present -= 1
            await self._on_device(visit.leave)
            LOG.info("%s has left; %d are here", _name(socket), self._present)

    def _problem(self, header: dict[str, Any]) -> str:
        """Why a borrower is refused; "" if it is welcome."""
        if header.get("do") != "hello":
            return "a borrower says hello first"
        if not hmac.compare_digest(
            str(header.get("token", "")).encode(errors="replace"), self._terms.token.encode()
        ):
            return "the token is wrong; give the one that the server printed"
        if header.get("version") != __version__:
            theirs = ascii(header.get("version"))[:40].strip("'")
            return f"the server has Tallow {__version__}, you have {theirs}; install the same one"
        if self._present >= self._terms.borrowers:
            return f"all {self._terms.borrowers} borrowers that the server takes are here"
        return ""

    async def _on_device(self, call: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._computing, call, *given)

    def close(self) -> None:
        """Waits for what computes."""
        self._computing.shutdown()


async def _message(socket: Any, assembler: Assembler) -> Message:
    while True:
        message = assembler.add(await socket.recv())
        if message is not None:
            return message


async def _send(socket: Any, header: dict[str, Any], parts: Any = ()) -> None:
    for frame in frames(header, parts):
        await socket.send(frame)


def _name(socket: Any) -> str:
    address = socket.remote_address
    return f"{address[0]}:{address[1]}" if address else "a borrower"


def _reason(words: str) -> str:
    """As much of them as a frame that closes a connection has room for: 123 bytes."""
    return words.encode(errors="replace")[:120].decode(errors="ignore")


def _health(socket: Any, request: Any) -> Any:
    """Probes ask over HTTP; all other requests go on to the WebSocket."""
    if request.path.startswith("/v2/health/"):
        return socket.respond(HTTPStatus.OK, "ok\n")
    if request.path.split("?")[0].rstrip("/").endswith("/compute"):
        return None
    return socket.respond(HTTPStatus.NOT_FOUND, "this server lends its device, at /compute\n")


async def serve(
    backend: Backend,
    terms: Terms,
    host: str,
    port: int,
    ready: Callable[[int], object] = lambda port: None,
    stop: asyncio.Event | None = None,
) -> None:
    """Lends the device until `stop` is set or the process gets SIGTERM or SIGINT; what computes
    then is finished. ready: called with the port, once borrowers can come."""
    server = package("websockets.asyncio.server", "serving", "serve")
    stop, lender = stop or asyncio.Event(), Lender(backend, terms)
    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows; another thread's loop
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, stop.set)
    listening = await server.serve(
        lender.receive, host, port, process_request=_health, max_size=2 * FRAME,
        compression=None, server_header=None,
    )  # fmt: skip
    async with listening:
        ready(listening.sockets[0].getsockname()[1])
        await stop.wait()
        listening.close(code=GONE, reason="the server ends")
        await listening.wait_closed()
    lender.close()


def run(backend: Backend, terms: Terms, host: str, port: int, *, tell: bool) -> None:
    """Lends the device until SIGTERM or SIGINT; says where. Blocks. Raises OSError for an address
    that is taken.

    tell: whether the log has the token, which nobody could know otherwise.
    """

    def ready(found: int) -> None:
        address = f"http://{place(host, found)}"
        LOG.info("%s is lent at %s", backend.info.adapter, address)
        token = terms.token if tell else "..."
        LOG.info("borrow it: tl.open_device(%r, token=%r)", f"remote:{address}", token)

    asyncio.run(serve(backend, terms, host, port, ready))


def new_token() -> str:
    """A token for those who give none."""
    return secrets.token_urlsafe(24)
