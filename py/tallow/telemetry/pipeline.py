"""From spans, metrics and logs to a collector: OpenTelemetry's providers and exporters."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ..core.packages import package
from ..version import __version__

PROTOCOLS = ("http/protobuf", "grpc")
_KEPT = 10_000
"""How many spans are kept where none are sent."""

_log = logging.getLogger("tallow.telemetry")


def _module(name: str) -> Any:
    return package(f"opentelemetry.{name}", "telemetry", "telemetry")


class Pipeline:
    """Providers of spans, metrics and logs, which belong to no global.

    endpoint: None collects spans, and sends nothing. tracer, meter: what makes spans and measures.
    collected: the spans, if they are.
    """

    def __init__(
        self,
        endpoint: str | None,
        protocol: str,
        service_name: str | None,
        service_version: str | None,
        headers: Mapping[str, str] | None,
    ) -> None:
        trace, metrics = _module("sdk.trace"), _module("sdk.metrics")
        resource = _resource(service_name, service_version)
        self.collected: deque[Any] | None = None
        self._logs: Any = None
        # The providers' own handlers at exit wait for half a minute.
        self._tracing = trace.TracerProvider(resource=resource, shutdown_on_exit=False)
        readers: list[Any] = []
        if endpoint is None:
            self.collected = deque(maxlen=_KEPT)
            self._tracing.add_span_processor(_collector(self.collected))
        else:
            spans, measures, records = _exporters(endpoint, protocol, headers)
            self._tracing.add_span_processor(_module("sdk.trace.export").BatchSpanProcessor(spans))
            reader = _module("sdk.metrics.export").PeriodicExportingMetricReader
            readers.append(reader(measures))
            logs = _module("sdk._logs")
            self._logs = logs.LoggerProvider(resource=resource, shutdown_on_exit=False)
            batches = _module("sdk._logs.export").BatchLogRecordProcessor
            self._logs.add_log_record_processor(batches(records))
            _say_once(endpoint)
        self._measuring = metrics.MeterProvider(readers, resource, shutdown_on_exit=False)
        self.tracer = self._tracing.get_tracer("tallow", __version__)
        self.meter = self._measuring.get_meter("tallow", __version__)
        self._close_now, self._closed = threading.Event(), threading.Event()
        if endpoint is not None:  # begun here: when Python ends, no thread can begin any more
            threading.Thread(target=self._close, name="telemetry", daemon=True).start()

    def close(self, timeout: float) -> bool:
        """Sends what waits. Returns whether that was done in time."""
        self._close_now.set()
        if self.collected is not None:
            self._close()
        in_time = self._closed.wait(timeout)
        _say_once("")  # what still fails would be told of the next endpoint
        return in_time

    def _close(self) -> None:
        self._close_now.wait()
        providers = [each for each in (self._tracing, self._logs, self._measuring) if each]
        for each in providers:
            with suppress(Exception):  # the others are still to be closed
                each.shutdown()
        self._closed.set()

    def handler(self, level: int) -> logging.Handler | None:
        """What sends records of logging on; None if nothing is sent."""
        return None if self._logs is None else LogHandler(self._logs, level)


class LogHandler(logging.Handler):
    """Sends records of logging on. They have the trace and the span of where they were made."""

    def __init__(self, provider: Any, level: int) -> None:
        super().__init__(level)
        self._provider = provider

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a record; not one of telemetry's own, which would lead to the next."""
        if record.name.startswith(("opentelemetry", _log.name)):
            return
        try:
            body = self.format(record)
            severity = _module("_logs").SeverityNumber
            self._provider.get_logger(record.name).emit(
                timestamp=int(record.created * 1e9),
                severity_number=severity(min(21, max(1, record.levelno // 10 * 4 + 1))),
                severity_text=record.levelname,
                body=body,
                attributes={
                    "code.file.path": record.pathname,
                    "code.function.name": record.funcName,
                    "code.line.number": record.lineno,
                },
            )
        except Exception:
            self.handleError(record)


def _resource(name: str | None, version: str | None) -> Any:
    """What all of it is about: what is given, else what the environment says, else Tallow.
    (`Resource.create` would begin a thread, which a browser's Python cannot.)"""
    resources = _module("sdk.resources")
    given = {"service.name": name, "service.version": version}
    own = {
        "service.name": "tallow",
        "service.version": __version__,
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": _module("sdk.version").__version__,
        "ml.framework": "tallow",
        "ml.framework.version": __version__,
    }
    found = resources.Resource(own).merge(resources.OTELResourceDetector().detect())
    return found.merge(resources.Resource({key: x for key, x in given.items() if x is not None}))


def _collector(kept: deque[Any]) -> Any:
    """A processor that keeps spans that have ended."""

    class Collector(_module("sdk.trace").SpanProcessor):  # type: ignore[misc]
        def on_end(self, span: Any) -> None:
            kept.append(span)

    return Collector()


def _exporters(
    endpoint: str, protocol: str, headers: Mapping[str, str] | None
) -> tuple[Any, Any, Any]:
    """What sends spans, metrics and logs."""
    kind = "grpc" if protocol == "grpc" else "http"
    inside = f"exporter.otlp.proto.{kind}"
    classes = (
        _module(f"{inside}.trace_exporter").OTLPSpanExporter,
        _module(f"{inside}.metric_exporter").OTLPMetricExporter,
        _module(f"{inside}._log_exporter").OTLPLogExporter,
    )
    given: dict[str, Any] = {} if headers is None else {"headers": dict(headers)}
    if kind == "grpc":
        given |= {"endpoint": endpoint, "insecure": not endpoint.startswith("https:")}
        spans, measures, records = (each(**given) for each in classes)
    else:
        base = endpoint.rstrip("/")
        spans, measures, records = (
            each(endpoint=f"{base}/v1/{path}", **given)
            for each, path in zip(classes, ("traces", "metrics", "logs"), strict=True)
        )
    return spans, measures, records


class _Once(logging.Filter):
    """Says in one line that a collector does not take what is sent, and keeps all that
    OpenTelemetry says of it, time after time, from the log."""

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self.endpoint, self._lock = endpoint, threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return False
        with self._lock:
            endpoint, self.endpoint = self.endpoint, ""
        if endpoint:
            said = " ".join(record.getMessage().split())[:160]
            text = "what telemetry sends to %s is not taken, and dropped; the program goes on: %s"
            _log.warning(text, endpoint, said)
        return False


_once = _Once("")


def _say_once(endpoint: str) -> None:
    """Has a line say that the endpoint takes nothing, and not more than one; "" has none."""
    _once.endpoint = endpoint
    for name in _loggers():
        logger = logging.getLogger(name)
        if _once not in logger.filters:
            logger.filters.insert(0, _once)


def _loggers() -> Iterable[str]:
    """The loggers of OpenTelemetry that have to do with sending."""
    whose = ("opentelemetry.exporter.", "opentelemetry.sdk._shared_internal", "opentelemetry.sdk.")
    return [name for name in logging.root.manager.loggerDict if name.startswith(whose)]
