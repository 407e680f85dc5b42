"""What the library does, as OpenTelemetry's spans and metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from ..core.packages import package
from ..core.watchers import Attributes, Seen, Shapes
from ..core.watching import ignore
from .statistics import statistics_of

_GAUGES = {
    "train_loss": "ml.train.loss",
    "items_per_second": "ml.train.items_per_second",
    "memory": "ml.device.memory",
}
"""Figures of a run, and the metrics that they are."""


_traced: ContextVar[bool] = ContextVar("traced", default=False)
"""Whether a request is answered whose caller traces it: its inference has a span in any case."""


class Telemetry:
    """A watcher: see `core/watchers.py`.

    sample: the share of steps and inferences that have a span. statistics: whether spans of
    inferences have statistics of inputs and outputs.
    """

    def __init__(self, tracer: Any, meter: Any, sample: float, statistics: bool) -> None:
        self._tracer, self._statistics = tracer, statistics
        self._apart = round(1 / sample) if sample else 0
        self._steps = self._inferences = 0
        self._count = meter.create_counter(
            "ml.inference.count", "{inference}", "How many inferences there were."
        )
        self._duration = meter.create_histogram(
            "ml.inference.duration", "s", "How long inferences took."
        )
        self._gauges = {
            "ml.model.accuracy": meter.create_gauge(
                "ml.model.accuracy", "1", "The accuracy in the latest validation."
            ),
            "ml.train.loss": meter.create_gauge(
                "ml.train.loss", "1", "The mean loss of the running epoch."
            ),
            "ml.train.items_per_second": meter.create_gauge(
                "ml.train.items_per_second", "{item}/s", "How many samples are learned from."
            ),
            "ml.device.memory": meter.create_gauge(
                "ml.device.memory", "By", "What tensors and plans hold on the device."
            ),
        }

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[Any]:
        """A span; an error in it is an event of it, and its status."""
        with self._tracer.start_as_current_span(name, attributes=attributes) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__qualname__)
                raise

    @contextmanager
    def request(self, headers: Mapping[str, str], attributes: Attributes) -> Iterator[Any]:
        """A span of a request to a service, within that of its caller; none if the caller has none
        or does not sample it. Source: W3C Trace Context, https://www.w3.org/TR/trace-context/."""
        trace = package("opentelemetry.trace", "telemetry", "telemetry")
        module = package("opentelemetry.trace.propagation.tracecontext", "telemetry", "telemetry")
        asked = module.TraceContextTextMapPropagator().extract(headers)
        caller = trace.get_current_span(asked).get_span_context()
        if not (caller.is_valid and caller.trace_flags.sampled):
            yield None
            return
        before = _traced.set(True)
        start = self._tracer.start_as_current_span
        try:
            with start("request", asked, trace.SpanKind.SERVER, attributes) as span:
                try:
                    yield span
                except BaseException as error:
                    span.set_attribute("error.type", type(error).__qualname__)
                    raise
        finally:
            _traced.reset(before)

    def step(self, attributes: Attributes) -> AbstractContextManager[Any]:
        """A span of one step of many: the time in which it was given to the device."""
        number, self._steps = self._steps, self._steps + 1
        return self.span("step", attributes) if self._sampled(number) else nullcontext()

    def _sampled(self, number: int) -> bool:
        return bool(self._apart) and number % self._apart == 0

    @contextmanager
    def inference(
        self, model: str, device: str, shapes: Shapes, inputs: Mapping[str, Any]
    ) -> Iterator[Seen]:
        """A span of one inference of many. All are counted and timed."""
        number, self._inferences = self._inferences, self._inferences + 1
        facts = {"model.type": model, "device": device}
        started, failed = time.perf_counter(), {}
        try:
            if not self._sampled(number) and not _traced.get():
                yield ignore
                return
            listed = [f"{name} {list(shape)}" for name, shape in shapes.items()]
            with self.span("inference", facts | {"input.shape": listed}) as span:
                if self._statistics:
                    span.set_attributes(statistics_of("input", inputs))
                    yield lambda results: span.set_attributes(statistics_of("output", results))
                else:
                    yield ignore
        except Exception as error:
            failed = {"error.type": type(error).__qualname__}
            raise
        finally:
            self._count.add(1, facts | failed)
            self._duration.record(time.perf_counter() - started, facts | failed)

    def figures(self, attributes: Attributes, figures: Mapping[str, float]) -> None:
        """Sets the gauges that there are among the figures."""
        for name, value in figures.items():
            metric = _GAUGES.get(name)
            if metric is None and name.startswith("valid_") and name.endswith("accuracy"):
                metric = "ml.model.accuracy"
            if metric is not None and isinstance(value, (int, float)):
                self._gauges[metric].set(value, dict(attributes))
