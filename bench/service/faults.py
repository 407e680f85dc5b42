"""The kinds of requests in a storm: what each sends, and how it may end.

A kind is a coroutine that returns "answered", "refused" or "hung up", and raises LostError for
whatever should not be.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import numpy as np
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
from tritonclient.utils import InferenceServerException

from bench.service import messages

BODY = 1_000_000
"""Bytes of a body that the service takes."""
SHAPE = (1, 1, 28, 28)


class LostError(Exception):
    """A request that was neither answered nor refused, or not as it should be."""


@dataclass
class Target:
    """A service that has the models `digits` and `doubled`, which gives its input times its
    version, 1 or 2. digits: inputs with their outputs."""

    http: str
    session: aiohttp.ClientSession
    grpc: tritonclient.grpc.aio.InferenceServerClient
    digits: list[tuple[Any, Any]]
    random: random.Random

    def digit(self) -> tuple[Any, Any]:
        """An input of `digits`, and what it gives."""
        return self.random.choice(self.digits)

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str] | None = None,
        *, refusals: Collection[int] = (), good: bool = True,
    ) -> tuple[bytes, Mapping[str, str]] | None:  # fmt: skip
        """Body and headers of an answer; None if it is refused with one of these statuses and a
        line. good: whether it may be answered."""
        asked = self.session.post(
            f"http://{self.http}{path}", data=io.BytesIO(body), headers=headers
        )
        async with asked as answer:
            status, text, named = answer.status, await answer.read(), {**answer.headers}
        if not judged(status, text, refusals, good):
            return None
        return text, {key.lower(): value for key, value in named.items()}


def judged(status: int, text: bytes, refusals: Collection[int], good: bool) -> bool:
    """Whether it is answered; False if it is refused as it should be. Raises LostError."""
    if status == 200 and good:
        return True
    if status in refusals:
        line = json.loads(text).get("error", "")
        if line and "\n" not in line:
            return False
    raise LostError(f"{status} {text[:200].decode(errors='replace')}")


def same(found: Any, expected: Any) -> str:
    """ "answered". Raises LostError for other values."""
    if found is None or found.shape != expected.shape or np.abs(found - expected).max() > 1e-3:
        raise LostError("another request's answer, or a wrong one")
    return "answered"


def _outputs(answer: tuple[bytes, Mapping[str, str]], name: str) -> Any:
    text, headers = answer
    length = headers.get(messages.LENGTH)
    client: Any = tritonclient.http.InferenceServerClient
    return client.parse_response_body(
        text, header_length=None if length is None else int(length)
    ).as_numpy(name)


async def _binary(to: Target) -> str:
    image, expected = to.digit()
    answer = await to.post("/v2/models/digits/infer", *messages.request({"image": image}))
    assert answer
    return same(_outputs(answer, "logits"), expected)


async def _json(to: Target) -> str:
    image, expected = to.digit()
    answer = await to.post("/v2/models/digits/infer", _digit(data=image.ravel().tolist()))
    assert answer
    (found,) = json.loads(answer[0])["outputs"]
    return same(np.array(found["data"], np.float32).reshape(found["shape"]), expected)


async def _grpc(to: Target) -> str:
    image, expected = to.digit()
    inputs = messages.inputs({"image": image}, tritonclient.grpc)
    return same((await to.grpc.infer("digits", inputs)).as_numpy("logits"), expected)


async def _that_is_reloaded(to: Target) -> str:
    version = to.random.choice(("1", "2"))
    rows = np.full((to.random.randint(1, 3), 2), to.random.random(), np.float32)
    path = f"/v2/models/doubled/versions/{version}/infer"
    answer = await to.post(path, *messages.request({"x": rows}), refusals=(503,))
    if answer is None:
        return "refused"
    return same(_outputs(answer, "y"), rows * int(version))


def _digit(
    shape: Collection[int] = SHAPE, datatype: str = "FP32", data: Any = None, timeout: int = 0
) -> bytes:
    one = {"name": "image", "datatype": datatype, "shape": list(shape)}
    one["data"] = [0] * int(np.prod(SHAPE)) if data is None else data
    return json.dumps({"inputs": [one], "parameters": {"timeout": timeout}}).encode()


def _refused(path: str, body: bytes, status: int) -> Kind:
    """A kind that is always refused with this status."""

    async def kind(to: Target) -> str:
        await to.post(path, body, refusals=(status,), good=False)
        return "refused"

    return kind


async def _cut_short(to: Target) -> str:
    body, headers = messages.request({"image": to.digit()[0]})
    body = body[: -to.random.randint(1, 3000)]
    await to.post("/v2/models/digits/infer", body, headers, refusals=(400,), good=False)
    return "refused"


async def _late(to: Target) -> str:
    answer = await to.post("/v2/models/digits/infer", _digit(timeout=100), refusals=(504,))
    return "answered" if answer else "refused"


def _refused_by_grpc(model: str, status: str, good: bool = False, **more: Any) -> Kind:
    async def kind(to: Target) -> str:
        array = np.zeros(SHAPE, np.float64 if status == "INVALID_ARGUMENT" else np.float32)
        inputs = messages.inputs({"image": array}, tritonclient.grpc)
        try:
            await to.grpc.infer(model, inputs, **more)
        except InferenceServerException as error:
            if error.status() == f"StatusCode.{status}":
                return "refused"
            raise
        if good:
            return "answered"
        raise LostError(f"{model} answered over gRPC")

    return kind


def _hung_up(part: float, wait: bool) -> Kind:
    """A client that sends a part of a request, or all of it, and goes, or waits until the answer
    begins."""

    async def kind(to: Target) -> str:
        body, headers = messages.request({"image": to.digit()[0]})
        head = {**headers, "host": "x", "content-length": len(body)}
        named = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        whole = f"POST /v2/models/digits/infer HTTP/1.1\r\n{named}\r\n".encode() + body
        host, _, port = to.http.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(whole[: int(len(whole) * part)])
            await writer.drain()
            if wait and not await reader.read(1):
                raise LostError("the connection was closed without an answer")
        finally:
            writer.transport.abort()
        return "hung up"

    return kind


def _told(path: str) -> Kind:
    async def kind(to: Target) -> str:
        await to.post(f"/v2/repository/models/{path}", b"")
        return "answered"

    return kind


Kind = Callable[[Target], Awaitable[str]]
_INFER = "/v2/models/digits/infer"
KINDS: dict[str, tuple[int, Kind]] = {
    "good, binary": (25, _binary),
    "good, JSON": (10, _json),
    "good, gRPC": (15, _grpc),
    "good, of a model that is reloaded": (15, _that_is_reloaded),
    "bad JSON": (3, _refused(_INFER, b'{"inputs": [', 400)),
    "no inputs": (2, _refused(_INFER, b"[]", 400)),
    "a wrong shape": (3, _refused(_INFER, _digit((28, 28)), 400)),
    "a wrong type": (3, _refused(_INFER, _digit(datatype="INT64"), 400)),
    "texts for numbers": (2, _refused(_INFER, _digit(data=["a"]), 400)),
    "binary data cut short": (3, _cut_short),
    "a body too large": (2, _refused(_INFER, bytes(BODY + 200_000), 413)),
    "an unknown model": (3, _refused("/v2/models/none/infer", _digit(), 404)),
    "an unknown version": (3, _refused("/v2/models/digits/versions/9/infer", _digit(), 404)),
    "a deadline that passes": (4, _late),
    "a deadline that passes, gRPC": (
        2, _refused_by_grpc("digits", "DEADLINE_EXCEEDED", True, client_timeout=0.001)
    ),
    "an unknown model, gRPC": (2, _refused_by_grpc("none", "NOT_FOUND")),
    "a wrong type, gRPC": (2, _refused_by_grpc("digits", "INVALID_ARGUMENT")),
    "a client that goes within its request": (4, _hung_up(0.5, False)),
    "a client that goes while it waits": (4, _hung_up(1.0, False)),
    "a client that goes within its answer": (4, _hung_up(1.0, True)),
    "loading again": (2, _told("digits/load")),
    "loading again, versions": (4, _told("doubled/load")),
    "unloading": (1, _told("doubled/unload")),
}  # fmt: skip
"""By name: how often, and the kind."""
