"""Telemetry: spans, metrics and logs of runs and inferences, by OpenTelemetry.

    tl.telemetry.init("http://127.0.0.1:4318", service_name="flowers")

Nothing is imported or sent before `init` is called, or OTEL_EXPORTER_OTLP_ENDPOINT is set.
"""

from .lifecycle import export_json, handler, init, shutdown

__all__ = ["export_json", "handler", "init", "shutdown"]
