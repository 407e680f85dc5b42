"""What every request passes before anything reads it: the token, and the size of its body."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from ..errors import ServiceError
from .refusals import HTTP

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_OPEN = ("/", "/metrics", "/v2/health/live", "/v2/health/ready")
"""Paths that probes ask, which have no token."""

_PATIENCE = 5.0
"""Seconds in which what is left of a refused body may come."""


def check_token(token: str | None, authorization: str) -> None:
    """Raises ServiceError "token" if a service has a token, and a request another one or none."""
    if token is None:
        return
    given = authorization.encode("utf-8", "replace")
    if not hmac.compare_digest(given, f"Bearer {token}".encode()):
        raise ServiceError("token", "send the service's token: Authorization: Bearer TOKEN")


class Guard:
    """A layer around an ASGI application. most: bytes of a body."""

    def __init__(self, application: Application, token: str | None, most: int) -> None:
        self._application, self._token, self._most = application, token, most

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it at once."""
        if scope["type"] == "http":
            headers = {key.decode("latin-1"): value for key, value in scope["headers"]}
            try:
                self._check(scope["path"], headers)
            except ServiceError as error:
                await _refuse(error, receive, send)
                return
        await self._application(scope, receive, send)

    def _check(self, path: str, headers: Mapping[str, bytes]) -> None:
        if path not in _OPEN:
            check_token(self._token, headers.get("authorization", b"").decode("latin-1"))
        length = headers.get("content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            raise too_large(int(length), self._most)
        if headers.get("content-encoding", b"identity") != b"identity":
            raise ServiceError("invalid", "send the body as it is, without content-encoding")


def too_large(size: int, most: int) -> ServiceError:
    """The refusal of a body."""
    return ServiceError("large", f"the body has {size:,} bytes or more; {most:,} are allowed")


async def _refuse(error: ServiceError, receive: Receive, send: Send) -> None:
    """Answers, and then lets the rest of the body pass: a connection that is closed before that may
    take the answer with it."""
    body = b'{"error":"%s"}' % str(error).replace('"', "'").encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if error.kind == "token":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": HTTP[error.kind], "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    try:
        async with asyncio.timeout(_PATIENCE):
            while (await receive()).get("more_body"):
                pass
    except TimeoutError:
        pass
    await send({"type": "http.response.body", "body": b""})
