"""Spans as OTLP/JSON, without protobuf: a browser's Python need not have it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def as_json(spans: Iterable[Any]) -> str:
    """An ExportTraceServiceRequest of ended spans. Numbers of traces and spans are in hexadecimal,
    and integers of 64 bits are texts, as OTLP wants them."""
    resources: dict[int, dict[str, Any]] = {}
    for span in spans:
        scope = span.instrumentation_scope
        whole = resources.setdefault(
            id(span.resource),
            {
                "resource": {"attributes": _attributes(span.resource.attributes)},
                "scopeSpans": [
                    {"scope": {"name": scope.name, "version": scope.version or ""}, "spans": []}
                ],
            },
        )
        whole["scopeSpans"][0]["spans"].append(_span(span))
    return json.dumps({"resourceSpans": list(resources.values())})


def _span(span: Any) -> dict[str, Any]:
    found = {
        "traceId": f"{span.context.trace_id:032x}",
        "spanId": f"{span.context.span_id:016x}",
        "name": span.name,
        "kind": span.kind.value + 1,  # where 0 stands for an unknown kind
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": _attributes(span.attributes),
        "events": [
            {
                "name": event.name,
                "timeUnixNano": str(event.timestamp),
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "status": {"code": span.status.status_code.value},
    }
    if span.status.description:
        found["status"]["message"] = span.status.description
    if span.parent is not None:
        found["parentSpanId"] = f"{span.parent.span_id:016x}"
    return found


def _attributes(attributes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in (attributes or {}).items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        finite = value - value == 0
        return {"doubleValue": value if finite else _names(value)}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)}


def _names(value: float) -> str:
    """What protobuf's JSON calls a number that is not finite."""
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
