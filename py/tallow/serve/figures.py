"""Measures of the service, for Prometheus."""

from __future__ import annotations

from ..core.packages import package

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
_LABELS = ("model", "version")


class Figures:
    """Counts requests and batches, in Prometheus's own registry unless another is given."""

    def __init__(self, registry: object = None) -> None:
        client = package("prometheus_client", "tallow serve", "serve")
        where = client.REGISTRY if registry is None else registry
        self._requests = client.Counter(
            "tallow_serve_requests", "Requests by how they ended.", (*_LABELS, "outcome"),
            registry=where,
        )  # fmt: skip
        self._seconds = client.Histogram(
            "tallow_serve_request_seconds", "How long answered requests took, waiting included.",
            _LABELS, buckets=_SECONDS, registry=where,
        )  # fmt: skip
        self._rows = client.Histogram(
            "tallow_serve_batch_rows", "How many rows a batch had.", _LABELS, buckets=_ROWS,
            registry=where,
        )  # fmt: skip
        self._waiting = client.Gauge(
            "tallow_serve_waiting", "How many requests wait.", _LABELS, registry=where
        )

    def ended(self, model: str, version: int, outcome: str, seconds: float) -> None:
        """A request ended. outcome: "answered", a kind of refusal, "gone" or "failed"."""
        self._requests.labels(model, str(version), outcome).inc()
        if outcome == "answered":
            self._seconds.labels(model, str(version)).observe(seconds)

    def batch(self, model: str, version: int, rows: int) -> None:
        """A batch is computed."""
        self._rows.labels(model, str(version)).observe(rows)

    def waiting(self, model: str, version: int, count: int) -> None:
        """So many requests wait."""
        self._waiting.labels(model, str(version)).set(count)
