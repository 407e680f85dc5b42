"""The borrower's end of a connection: questions by number, and their answers.

What needs no answer is told, and the program goes on; an error in it comes back by itself, and is
raised by the next question. Buffers that were freed are named in the next message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from threading import Lock
from typing import Any, Protocol

from ...core.drivers import Request, Steps
from ...errors import DeviceLostError, PlanError, TallowError
from .wire import Assembler, Message, error_of_json, frames


class Future(Protocol):
    """An answer that is still to come: asyncio's or concurrent.futures' own."""

    def set_result(self, result: Any, /) -> None:
        """The answer."""

    def set_exception(self, exception: BaseException, /) -> None:
        """Why there is none."""

    def done(self) -> bool:
        """Whether there is either."""


class Socket(Protocol):
    """A WebSocket, as a desktop or a browser has it."""

    def send(self, frames: Iterable[str | memoryview]) -> None:
        """Sends frames, one after the other. Raises OSError if the connection has ended."""

    def future(self) -> Any:
        """A new `Future`."""

    def result(self, future: Any, what: str) -> Request:
        """Requests the result of a future. Code that blocks gets a RealizeError where that is
        impossible."""

    def close(self) -> None:
        """Ends the connection."""


class Connection:
    """An open connection.

    address: of the other machine, for errors. lost: the error of a connection that has ended.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.lost: DeviceLostError | None = None
        self._socket: Any = None
        self._assembler = Assembler()
        self._numbers = count(1)
        self._waiting: dict[int, Any] = {}
        self._freed: deque[int] = deque()
        self._failed: TallowError | None = None
        self._lock = Lock()

    def use(self, socket: Socket) -> None:
        """Sends through this socket from now on."""
        self._socket = socket

    # ---- what the borrower does ----------------------------------------------------------------

    def tell(self, do: str, parts: Sequence[Any] = (), **header: Any) -> None:
        """Sends what needs no answer. Raises DeviceLostError."""
        self._send({"do": do, **header}, parts)

    def ask(self, do: str, parts: Sequence[Any] = (), **header: Any) -> Steps[Message]:
        """Sends a question, and gives its answer. Raises what the other end raised, for this
        message or for one before it that was only told."""
        future = self._asked(do, parts, header)
        return self._answered((yield self._socket.result(future, f"{do} on {self.address}")))

    def free(self, number: int) -> None:
        """Says with the next message that nothing needs a buffer any more. Takes no lock: the
        collector may call it in the middle of anything."""
        self._freed.append(number)

    def close(self) -> None:
        """Ends the connection."""
        self.ended("it was closed here")
        self._socket.close()

    def _asked(self, do: str, parts: Sequence[Any], header: dict[str, Any]) -> Any:
        future, number = self._socket.future(), next(self._numbers)
        self._waiting[number] = future
        try:
            self._send({"do": do, "id": number, **header}, parts)
        except BaseException:
            self._waiting.pop(number, None)
            raise
        return future

    def _answered(self, found: Message) -> Message:
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        if "error" in found.header:
            raise error_of_json(found.header["error"])
        return found

    def _send(self, header: dict[str, Any], parts: Sequence[Any]) -> None:
        if self.lost is not None:
            raise self.lost
        freed = []
        while self._freed:
            freed.append(self._freed.popleft())
        if freed:
            header["free"] = freed
        try:
            with self._lock:
                self._socket.send(frames(header, parts))
        except OSError as error:
            self.ended(str(error))
            assert self.lost is not None
            raise self.lost from error

    # ---- what the socket does ------------------------------------------------------------------

    def receive(self, frame: str | bytes | memoryview) -> None:
        """Takes a frame from the other end."""
        try:
            message = self._assembler.add(frame)
        except PlanError as error:
            self.ended(str(error))
            self._socket.close()
            return
        if message is None:
            return
        future = self._waiting.pop(message.header.get("id", 0), None)
        if future is None:
            if "error" in message.header and self._failed is None:
                self._failed = error_of_json(message.header["error"])
        elif not future.done():  # the one who asked may have been cancelled
            future.set_result(message)

    def ended(self, why: str) -> None:
        """Ends all questions with the reason why the connection has ended."""
        if self.lost is None:
            self.lost = DeviceLostError(f"the connection to {self.address} has ended: {why}")
        while self._waiting:
            _, future = self._waiting.popitem()
            if not future.done():
                future.set_exception(self.lost)
