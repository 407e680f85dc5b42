"""The wire of `bench --cold`: what its server sends is counted, and may be as slow as a connection.

Chromium's own throttling reaches neither what a service worker fetches nor the script of a worker.
Here a single queue stands before all that the server sends, so that every request meets it,
whoever asks.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The size of the pieces in which connections share a slow wire.
PIECE = 16_384

# What a queue that was idle, or woken late, may send at once, in seconds of its speed.
BURST = 0.02


class Speed(NamedTuple):
    """Of a connection. bits: a second; delay: seconds from a request to its answer's begin."""

    name: str
    bits: float | None = None
    delay: float = 0.0


FULL = Speed("full speed")
SLOW = Speed("20 Mbit/s, 40 ms", bits=20e6, delay=0.04)
SPEEDS = {"full": FULL, "slow": SLOW}


class Piece(NamedTuple):
    """Something that was sent. at: milliseconds since 1970, as a page's clock has them; size: bytes
    of a body as it was encoded."""

    at: float
    path: str
    size: int


class Wire:
    """An ASGI application behind a wire."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._speed = FULL
        self._free = 0.0
        self._sent: list[Piece] = []

    @contextmanager
    def watched(self, speed: Speed) -> Iterator[list[Piece]]:
        """All that is sent from now on, at this speed."""
        self._speed, self._sent = speed, []
        yield self._sent
        self._speed = FULL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent, speed, path = self._sent, self._speed, scope.get("path", "")

        async def pass_on(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
                return
            body, more = message.get("body", b""), message.get("more_body", False)
            for at in range(0, len(body) or 1, PIECE):
                part = body[at : at + PIECE]
                await self._queue(len(part), speed)
                sent.append(Piece(1000 * time.time(), path, len(part)))
                last = at + PIECE >= len(body)
                await send({**message, "body": part, "more_body": more or not last})

        if speed.delay:
            await asyncio.sleep(speed.delay)
        await self._app(scope, receive, pass_on)

    async def _queue(self, size: int, speed: Speed) -> None:
        """Waits until all that was to be sent before is gone, and this much after it."""
        if speed.bits is None:
            return
        now = time.monotonic()
        self._free = max(self._free, now - BURST) + 8 * size / speed.bits
        await asyncio.sleep(max(0.0, self._free - now))


def by_path(sent: list[Piece], until: float = float("inf")) -> dict[str, int]:
    """Bytes of each path, largest first, of what was sent until then."""
    total: Counter[str] = Counter()
    for piece in sent:
        if piece.at <= until:
            total[piece.path] += piece.size
    return dict(total.most_common())
