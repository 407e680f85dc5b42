"""The protocol over HTTP, on KServe's server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from kserve.protocol.model_repository_extension import ModelRepositoryExtension
from kserve.protocol.rest.server import RESTServer, metrics_handler
from kserve.protocol.rest.v2_endpoints import V2Endpoints
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..core import watching
from ..errors import FeedError, ServiceError, TallowError
from .bodies import LENGTH, read, written
from .guard import Guard, too_large
from .pictures import Preparation, feeds_of, ranked
from .plane import Plane
from .refusals import HTTP, kind_of, line_of
from .serving import Limits

_log = logging.getLogger("tallow.serve")
_LARGE = 1 << 16
"""Bytes of a body that another thread reads, so that the loop of requests goes on."""


def request_span(headers: Mapping[str, str], model: str) -> AbstractContextManager[Any]:
    """The span of a request, if telemetry watches."""
    watcher = watching.watcher
    return nullcontext() if watcher is None else watcher.request(headers, {"model.name": model})


class Endpoints(V2Endpoints):  # type: ignore[misc]
    """KServe's endpoints, with versions, and tensors that stay bytes.

    preparations: how pictures become inputs, by the model's name.
    """

    def __init__(
        self, plane: Plane, preparations: Mapping[str, Preparation], limits: Limits
    ) -> None:
        super().__init__(plane, ModelRepositoryExtension(plane.model_registry))
        self._repository = plane.repository
        self._preparations, self._limits = preparations, limits

    async def model_metadata(
        self, model_name: str, model_version: str | None = None
    ) -> dict[str, Any]:
        """What a model takes and gives."""
        found: dict[str, Any] = self.dataplane.described(model_name, model_version)
        return found

    async def model_ready(
        self, model_name: str, model_version: str | None = None
    ) -> dict[str, Any]:
        """Whether a model serves."""
        self._repository.find(model_name, model_version)
        return {"name": model_name, "ready": True}

    async def infer(
        self, raw_request: Request, model_name: str, model_version: str | None = None
    ) -> Response:
        """An inference."""
        headers = raw_request.headers
        with request_span(headers, model_name):
            body = await self._body(raw_request)
            request = await _apart(len(body), read, body, headers)
            serving = self._repository.find(model_name, model_version)
            ask = serving.infer(request.feeds, list(request.outputs), request.timeout)
            outputs = await _while_connected(raw_request, ask)
            size = sum(each.nbytes for each in outputs.values())
            text, length = await _apart(
                size, written, request, model_name, serving.version, outputs
            )
            if length is None:
                return Response(text, media_type="application/json")
            return Response(
                text, headers={LENGTH: str(length)}, media_type="application/octet-stream"
            )

    async def classify(
        self, raw_request: Request, model_name: str, model_version: str | None = None, top: int = 5
    ) -> Response:
        """The plain route: a picture or a list of numbers in, labels and probabilities out."""
        if top < 1:
            raise FeedError(f"top={top}: at least one class is needed")
        headers = raw_request.headers
        with request_span(headers, model_name):
            body = await self._body(raw_request)
            inputs = self._repository.find(model_name, model_version).model.inputs
            if len(inputs) != 1:
                raise FeedError(f"{model_name} has {len(inputs)} inputs; use the route infer")
            how = self._preparations.get(model_name, Preparation())
            content = headers.get("content-type", "application/octet-stream")
            feeds = await asyncio.to_thread(
                feeds_of, inputs[0], body, content, how, "the request's body"
            )
            serving = self._repository.find(model_name, model_version)
            outputs = await _while_connected(raw_request, serving.infer(feeds))
            return JSONResponse(
                {
                    "model_name": model_name,
                    "model_version": str(serving.version),
                    "predictions": ranked(outputs, top, how.labels),
                }
            )

    async def load(self, model_name: str) -> dict[str, Any]:
        """Loads a model, or loads it again."""
        await self._repository.load(model_name)
        return {"name": model_name, "load": True}

    async def unload(self, model_name: str) -> dict[str, Any]:
        """Takes a model away."""
        await self._repository.unload(model_name)
        return {"name": model_name, "unload": True}

    async def index(self) -> list[dict[str, str]]:
        """Every version of every model."""
        return self._repository.index()

    async def _body(self, request: Request) -> bytes:
        pieces, size, limits = [], 0, self._limits
        try:
            async with asyncio.timeout(limits.timeout):
                async for piece in request.stream():
                    size += len(piece)
                    if size > limits.body:
                        raise too_large(size, limits.body)
                    pieces.append(piece)
        except ClientDisconnect as error:
            raise ClientGoneError from error
        except TimeoutError as error:
            words = f"the body has not arrived within {limits.timeout:g} s"
            raise ServiceError("late", words) from error
        return b"".join(pieces)


async def _apart(size: int, work: Any, *given: Any) -> Any:
    """The result of work, in another thread if it has much to read or write."""
    if size < _LARGE:
        return work(*given)
    return await asyncio.to_thread(work, *given)


async def _while_connected(request: Request, ask: Coroutine[Any, Any, Any]) -> Any:
    """The answer; the request is taken back if its client hangs up. Raises ClientGoneError then."""
    asked = asyncio.current_task()
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone = True
        if asked is not None:
            asked.cancel()

    watching_ = asyncio.create_task(watch())
    try:
        answer = await ask
        if gone:
            await asyncio.sleep(0)  # where the cancellation arrives that came with the answer
        return answer
    except asyncio.CancelledError:
        if not gone or asked is None:
            raise
        asked.uncancel()
        raise ClientGoneError from None
    finally:
        watching_.cancel()


class ClientGoneError(Exception):
    """Nobody waits for the answer any more."""


class Rest(RESTServer):  # type: ignore[misc]
    """KServe's server with our endpoints."""

    def __init__(
        self, plane: Plane, preparations: Mapping[str, Preparation], token: str | None,
        limits: Limits,
    ) -> None:  # fmt: skip
        super().__init__(
            "kserve.model_server:app", plane, None, 0, grace_period=max(1, round(limits.grace))
        )
        self._endpoints = Endpoints(plane, preparations, limits)
        self._token, self._most = token, limits.body
        self._server.capture_signals = nullcontext  # signals are server.py's

    async def serve(self, socket: Any) -> None:
        """Answers requests until `end`, then those that are in hand."""
        self.create_application()
        await self._server.serve(sockets=[socket])

    def end(self) -> None:
        """Takes no more connections."""
        self._server.should_exit = True

    def _register_endpoints(self, app: FastAPI) -> None:
        here = self._endpoints
        app.add_api_route("/", self.dataplane.live)
        app.add_api_route("/metrics", metrics_handler, response_model=None)
        router = APIRouter(prefix="/v2")
        for path, endpoint in (
            ("", here.metadata),
            ("/health/live", here.live),
            ("/health/ready", here.ready),
            ("/models", here.models),
        ):
            router.add_api_route(path, endpoint)
        for path in ("/models/{model_name}", "/models/{model_name}/versions/{model_version}"):
            router.add_api_route(path, here.model_metadata)
            router.add_api_route(f"{path}/ready", here.model_ready)
            router.add_api_route(f"{path}/infer", here.infer, methods=["POST"])
            router.add_api_route(f"{path}/classify", here.classify, methods=["POST"])
        place = "/repository/models/{model_name}"
        router.add_api_route(f"{place}/load", here.load, methods=["POST"])
        router.add_api_route(f"{place}/unload", here.unload, methods=["POST"])
        router.add_api_route("/repository/index", here.index, methods=["POST"])
        app.include_router(router)

    def _add_middlewares(self, app: FastAPI) -> None:
        app.add_middleware(Guard, token=self._token, most=self._most)

    def _add_exception_handlers(self, app: FastAPI) -> None:
        super()._add_exception_handlers(app)
        app.add_exception_handler(TallowError, _refused)
        app.add_exception_handler(ClientGoneError, _gone)
        app.add_exception_handler(HTTPException, _no_route)
        app.add_exception_handler(RequestValidationError, _no_number)


async def _refused(request: Request, error: Exception) -> Response:
    kind = kind_of(error)
    if kind is None:
        _log.error("%s: %s", request.url.path, line_of(error))
    status = 500 if kind is None else HTTP[kind]
    return JSONResponse({"error": line_of(error)}, status)


async def _no_route(request: Request, error: Any) -> Response:
    line = f"{request.method} {request.url.path}: {error.detail}"
    return JSONResponse({"error": line}, error.status_code)


async def _no_number(request: Request, error: Any) -> Response:
    first = error.errors()[0]
    return JSONResponse({"error": f"{first['loc'][-1]}: {first['msg']}"}, 400)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=499)
