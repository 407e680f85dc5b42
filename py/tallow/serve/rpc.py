"""The protocol over gRPC, with KServe's messages and servicer."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
from kserve.protocol.grpc import grpc_predict_v2_pb2 as messages
from kserve.protocol.grpc import grpc_predict_v2_pb2_grpc as services
from kserve.protocol.grpc.servicer import InferenceServicer
from kserve.protocol.infer_type import get_content

from ..errors import FeedError, ServiceError
from .addresses import place
from .bodies import timeout_of
from .datatypes import NAMES, NUMPY, from_bytes, from_list, to_bytes
from .guard import check_token
from .plane import Plane
from .refusals import GRPC, kind_of, line_of
from .rest import request_span

_log = logging.getLogger("tallow.serve")
_MOST = (1 << 31) - 1
"""Bytes of a message, beyond which gRPC has none."""


class Servicer(InferenceServicer):  # type: ignore[misc]
    """KServe's servicer, with versions, a token, and arrays that stay bytes."""

    def __init__(self, plane: Plane, token: str | None) -> None:
        super().__init__(plane, None)
        self._plane, self._token = plane, token

    @asynccontextmanager
    async def _answering(self, context: Any) -> AsyncIterator[dict[str, str]]:
        """Checks the token, gives the metadata, and turns an error into a status and a line."""
        headers = dict(context.invocation_metadata() or ())
        try:
            check_token(self._token, str(headers.get("authorization", "")))
            yield headers
        except Exception as error:
            kind = kind_of(error)
            if kind is None:
                _log.error("%s", line_of(error))
            code = "INTERNAL" if kind is None else GRPC[kind]
            await context.abort(grpc.StatusCode[code], line_of(error))

    async def ServerMetadata(self, request: Any, context: Any) -> Any:
        """What the service is."""
        async with self._answering(context):
            return messages.ServerMetadataResponse(**self._plane.metadata())

    async def ModelReady(self, request: Any, context: Any) -> Any:
        """Whether a model serves."""
        async with self._answering(context):
            try:
                self._plane.repository.find(request.name, request.version)
            except ServiceError as error:
                if error.kind != "unready":
                    raise
                return messages.ModelReadyResponse(ready=False)
            return messages.ModelReadyResponse(ready=True)

    async def ModelMetadata(self, request: Any, context: Any) -> Any:
        """What a model takes and gives."""
        async with self._answering(context):
            return messages.ModelMetadataResponse(
                **self._plane.described(request.name, request.version)
            )

    async def ModelInfer(self, request: Any, context: Any) -> Any:
        """An inference."""
        async with self._answering(context) as headers:
            with request_span(headers, request.model_name):
                self.validate(request)
                raw = request.raw_input_contents
                feeds = {
                    each.name: _array(each, raw[i] if raw else None)
                    for i, each in enumerate(request.inputs)
                }
                if len(feeds) < len(request.inputs):
                    raise FeedError("an input is given twice")
                times = [context.time_remaining(), timeout_of(_plain(request.parameters))]
                timeout = min((each for each in times if each is not None), default=None)
                serving = self._plane.repository.find(request.model_name, request.model_version)
                names = [each.name for each in request.outputs]
                outputs = await serving.infer(feeds, names, timeout)
                return messages.ModelInferResponse(
                    model_name=request.model_name,
                    model_version=str(serving.version),
                    id=request.id,
                    outputs=[
                        {"name": name, "datatype": NAMES[x.dtype.name], "shape": x.shape}
                        for name, x in outputs.items()
                    ],
                    raw_output_contents=[to_bytes(x) for x in outputs.values()],
                )

    @staticmethod
    def validate(request: Any) -> None:
        """Raises FeedError for raw contents that do not belong to the inputs."""
        count = len(request.raw_input_contents)
        if count and count != len(request.inputs):
            raise FeedError(f"{len(request.inputs)} inputs have {count} raw contents")
        if count and any(each.HasField("contents") for each in request.inputs):
            raise FeedError("inputs have contents and raw contents; send one of them")

    async def RepositoryModelLoad(self, request: Any, context: Any) -> Any:
        """Loads a model, or loads it again."""
        async with self._answering(context):
            await self._plane.repository.load(_named(request))
            return messages.RepositoryModelLoadResponse(
                model_name=request.model_name, isLoaded=True
            )

    async def RepositoryModelUnload(self, request: Any, context: Any) -> Any:
        """Takes a model away."""
        async with self._answering(context):
            await self._plane.repository.unload(_named(request))
            return messages.RepositoryModelUnloadResponse(
                model_name=request.model_name, isUnloaded=True
            )


def _named(request: Any) -> str:
    """The model's name. Triton's client puts it into another field than KServe's protocol."""
    if not request.model_name:
        raise FeedError("the request names no model; clients of Triton load models over HTTP")
    return str(request.model_name)


def _plain(parameters: Any) -> dict[str, Any]:
    """Parameters as JSON would have them."""
    kinds = {name: each.WhichOneof("parameter_choice") for name, each in parameters.items()}
    return {name: getattr(parameters[name], kind) for name, kind in kinds.items() if kind}


def _array(record: Any, raw: bytes | None) -> Any:
    shape = list(record.shape)
    if raw is not None:
        return from_bytes(record.name, record.datatype, shape, raw)
    if record.datatype == "FP16":
        raise FeedError(f"the input {record.name!r}, FP16, needs raw contents")
    data = get_content(record.datatype, record.contents) if record.datatype in NUMPY else []
    return from_list(record.name, record.datatype, shape, data)


class Rpc:
    """A server for gRPC. Raises OSError, with a line, for an address that is taken."""

    def __init__(self, plane: Plane, host: str, port: int, token: str | None, most: int) -> None:
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", min(most, _MOST)),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
            ]
        )
        services.add_GRPCInferenceServiceServicer_to_server(Servicer(plane, token), self._server)
        address = place(host, port)
        try:
            self.port: int = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise OSError(f"gRPC cannot listen at {address}: {error}") from error

    async def serve(self) -> None:
        """Answers requests until `end`."""
        await self._server.start()
        await self._server.wait_for_termination()

    async def end(self, grace: float) -> None:
        """Takes no more requests, and answers those in hand."""
        await self._server.stop(grace)
