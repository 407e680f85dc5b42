"""Collectors that speak the OpenTelemetry Protocol, over HTTP and gRPC, and keep what they got."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import (
    LogsServiceServicer,
    add_LogsServiceServicer_to_server,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)


class Received:
    """What a collector got. endpoint: its address."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.requests: list[Any] = []
        self.headers: list[dict[str, str]] = []

    def _parts(self, kind: type, whole: str, inner: str) -> Iterator[Any]:
        for request in self.requests:
            if isinstance(request, kind):
                for each in getattr(request, whole):
                    yield from getattr(each, inner)

    @property
    def spans(self) -> list[Any]:
        scopes = self._parts(ExportTraceServiceRequest, "resource_spans", "scope_spans")
        return [span for scope in scopes for span in scope.spans]

    @property
    def logs(self) -> list[Any]:
        scopes = self._parts(ExportLogsServiceRequest, "resource_logs", "scope_logs")
        return [record for scope in scopes for record in scope.log_records]

    @property
    def metrics(self) -> dict[str, Any]:
        """The latest of each name."""
        scopes = self._parts(ExportMetricsServiceRequest, "resource_metrics", "scope_metrics")
        return {metric.name: metric for scope in scopes for metric in scope.metrics}

    @property
    def resource(self) -> dict[str, str]:
        traces = next(r for r in self.requests if isinstance(r, ExportTraceServiceRequest))
        return facts(traces.resource_spans[0].resource)

    def named(self, name: str) -> list[Any]:
        """The spans of a name, in the order in which they began."""
        found = [span for span in self.spans if span.name == name]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


def facts(of: Any) -> dict[str, Any]:
    """Attributes by name."""
    return {each.key: value_of(each.value) for each in of.attributes}


def value_of(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [value_of(each) for each in value.array_value.values]
    return getattr(value, kind)


_HTTP = {
    "/v1/traces": (ExportTraceServiceRequest, ExportTraceServiceResponse),
    "/v1/metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse),
    "/v1/logs": (ExportLogsServiceRequest, ExportLogsServiceResponse),
}


@contextmanager
def http_receiver() -> Iterator[Received]:
    """A collector at an address of its own."""
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request, response = _HTTP[self.path]
            assert self.headers["Content-Type"] == "application/x-protobuf"
            received.headers.append({k.lower(): v for k, v in self.headers.items()})
            received.requests.append(request.FromString(body))
            answer = response().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    received.endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        yield received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def grpc_receiver() -> Iterator[Received]:
    """A collector at an address of its own."""
    received = Received()

    class Traces(TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.requests.append(request)
            return ExportTraceServiceResponse()

    class Metrics(MetricsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.requests.append(request)
            return ExportMetricsServiceResponse()

    class Logs(LogsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            received.requests.append(request)
            return ExportLogsServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(Traces(), server)
    add_MetricsServiceServicer_to_server(Metrics(), server)
    add_LogsServiceServicer_to_server(Logs(), server)
    received.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield received
    finally:
        server.stop(None).wait()
