"""The simulated connection of `bench --cold`: counts the bytes that the server sends, and can slow
them down.

Chromium's own throttling affects neither fetches of a service worker nor worker scripts. Here
everything that the server sends goes through a single queue, whatever requested it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The size of the chunks in which connections share a slow wire.
PIECE = 16_384

# How much an idle or delayed queue may send immediately, in seconds of its speed.
BURST = 0.02


class Speed(NamedTuple):
    """A connection's speed. bits: per second; delay: seconds from a request to its response."""

    name: str
    bits: float | None = None
    delay: float = 0.0


FULL = Speed("full speed")
SLOW = Speed("20 Mbit/s, 40 ms", bits=20e6, delay=0.04)
SPEEDS = {"full": FULL, "slow": SLOW}


class Piece(NamedTuple):
    """A sent chunk. at: milliseconds since 1970, like a page's clock; size: bytes of the encoded
    body."""

    at: float
    path: str
    size: int


class Wire:
    """An ASGI application behind a simulated connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._speed = FULL
        self._free = 0.0
        self._sent: list[Piece] = []

    @contextmanager
    def watched(self, speed: Speed) -> Iterator[list[Piece]]:
        """Collects everything that is sent within the block, at this speed."""
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
        """Waits until everything queued before, and then this chunk, has been sent."""
        if speed.bits is None:
            return
        now = time.monotonic()
        self._free = max(self._free, now - BURST) + 8 * size / speed.bits
        await asyncio.sleep(max(0.0, self._free - now))


def by_path(sent: list[Piece], until: float = float("inf")) -> dict[str, int]:
    """The bytes sent for each path up to a time, the largest first."""
    total: Counter[str] = Counter()
    for piece in sent:
        if piece.at <= until:
            total[piece.path] += piece.size
    return dict(total.most_common())
