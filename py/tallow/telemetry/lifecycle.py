"""What users call: beginning, ending, and what was collected."""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Mapping

from ..core import watching
from ..errors import OptionError
from .otlp_json import as_json
from .pipeline import PROTOCOLS, Pipeline
from .watcher import Telemetry

_current: list[Pipeline] = []
"""The pipeline in use, if there is one."""


def init(
    endpoint: str | None = "",
    *,
    protocol: str | None = None,
    service_name: str | None = None,
    service_version: str | None = None,
    headers: Mapping[str, str] | None = None,
    sample: float = 0.01,
    statistics: bool = False,
) -> None:
    """Has spans, metrics and logs of this process sent to a collector, in the background.

    What is sent waits in a queue of bounded length. An endpoint that does not answer slows nothing
    down: what does not fit is dropped, and one line says so. A second call begins anew.

    endpoint: the collector's address; "" is what OTEL_EXPORTER_OTLP_ENDPOINT says, or this
      computer. None sends nothing, and keeps the latest 10,000 spans for `export_json`.
    protocol: "http/protobuf" or "grpc"; None is what OTEL_EXPORTER_OTLP_PROTOCOL says, or the
      first.
    service_name: service.name; None is what OTEL_SERVICE_NAME says, or "tallow".
    service_version: service.version; None is Tallow's own.
    headers: sent with each request, such as a key; None is OTEL_EXPORTER_OTLP_HEADERS.
    sample: the share of steps, and of inferences, that have a span, from 0 to 1; the first one has.
      Metrics count all of them.
    statistics: whether the span of an inference has mean, standard deviation, minimum and maximum
      of what came from the host and went to it. They are computed on the host.
    Raises: OptionError for an unknown protocol, and for a sample outside of 0 to 1. PackageError
      without the packages of OpenTelemetry: pip install tallow[telemetry].
    Source: the OpenTelemetry Protocol, https://opentelemetry.io/docs/specs/otlp/.
    """
    if not 0 <= sample <= 1:
        raise OptionError(f"telemetry.init: sample={sample} is not between 0 and 1")
    chosen = protocol or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") or PROTOCOLS[0]
    if chosen not in PROTOCOLS:
        raise OptionError(
            f"telemetry.init: protocol={chosen!r} is neither {' nor '.join(map(repr, PROTOCOLS))}"
        )
    if endpoint == "":
        local = "http://127.0.0.1:4317" if chosen == "grpc" else "http://127.0.0.1:4318"
        endpoint = os.environ.get(watching.ENDPOINT) or local
    shutdown()
    pipeline = Pipeline(endpoint, chosen, service_name, service_version, headers)
    _current.append(pipeline)
    watching.watcher = Telemetry(pipeline.tracer, pipeline.meter, sample, statistics)


def shutdown(timeout: float = 2.0) -> bool:
    """Sends what waits, and ends telemetry; also called when the process ends.

    timeout: for how many seconds it may take; what is not sent by then is dropped.
    Returns: whether all was sent in time; True if there was no telemetry.
    """
    watching.watcher = None
    return _current.pop().close(timeout) if _current else True


def handler(level: int = logging.NOTSET) -> logging.Handler:
    """A handler of Python's logging that sends records on, with the trace and the span in which
    they were made.

        logging.getLogger().addHandler(tl.telemetry.handler())

    level: the lowest that is sent.
    Raises: OptionError without telemetry, or where it only collects.
    """
    made = _current[-1].handler(level) if _current else None
    if made is None:
        raise OptionError("telemetry.handler: nothing is sent; call init(endpoint=...) first")
    return made


def export_json() -> str:
    """The spans that were collected since `init(endpoint=None)`, as OTLP/JSON: what a collector
    takes at /v1/traces, and tools read from a file.

    Raises: OptionError if none are collected.
    Source: OTLP 1.x, "JSON Protobuf Encoding": numbers of traces and spans are in hexadecimal.
    """
    spans = _current[-1].collected if _current else None
    if spans is None:
        raise OptionError(
            "telemetry.export_json: no spans are collected; call init(endpoint=None) first"
        )
    return as_json(spans)


atexit.register(shutdown)
