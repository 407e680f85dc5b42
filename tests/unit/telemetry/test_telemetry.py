"""What collectors get of runs and inferences, over the real protocol."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.unit.telemetry.receivers import Received, facts, grpc_receiver, http_receiver
from tests.unit.train.problem import STEPS_PER_EPOCH, learner, loaders

import tallow as tl
from tallow.core import watching
from tallow.errors import FeedError, OptionError, PackageError
from tallow.graph import Graph
from tallow.graph.nodes import input_node
from tallow.runtime.session import compile_session
from tallow.train import Callback, Run


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """Each test begins and ends without telemetry."""
    assert watching.watcher is None
    yield
    tl.telemetry.shutdown()


@pytest.fixture(params=["http/protobuf", "grpc"])
def received(request: pytest.FixtureRequest) -> Iterator[Received]:
    """A collector, to which telemetry is sent by one of the protocols."""
    with grpc_receiver() if request.param == "grpc" else http_receiver() as found:
        tl.telemetry.init(
            found.endpoint, protocol=request.param, service_name="flowers", sample=0.5
        )
        yield found


def child_of(span: Any, parent: Any) -> bool:
    return span.parent_span_id == parent.span_id and span.trace_id == parent.trace_id


def test_a_run_is_a_tree_of_spans_and_metrics(received: Received, tmp_path: Path) -> None:
    trained = learner(tmp_path, metrics=["accuracy"])
    trained.fit(*loaders(), epochs=2)
    assert tl.telemetry.shutdown()

    (run,) = received.named("run")
    assert run.parent_span_id == b""
    epochs = received.named("epoch")
    assert [facts(each)["epoch"] for each in epochs] == [1, 2]
    assert all(child_of(each, run) for each in epochs)
    steps = received.named("step")
    assert [facts(each)["step"] for each in steps] == list(range(0, 2 * STEPS_PER_EPOCH, 2))
    parents = [epochs[0]] * 4 + [epochs[1]] * 3
    assert all(child_of(each, parent) for each, parent in zip(steps, parents, strict=True))
    for name in ("evaluate", "checkpoint"):
        found = received.named(name)
        assert len(found) == 2, name
        assert all(child_of(each, parent) for each, parent in zip(found, epochs, strict=True))
    first = received.named("compile")[0]
    assert facts(first)["device"] == tl.default_device()
    assert all(each.end_time_unix_nano >= each.start_time_unix_nano for each in received.spans)
    assert {each.status.code for each in received.spans} == {0}

    assert received.resource["service.name"] == "flowers"
    assert received.resource["ml.framework"] == "tallow"
    assert received.resource["service.version"] == tl.__version__
    metrics = received.metrics
    (accuracy,) = metrics["ml.model.accuracy"].gauge.data_points
    assert accuracy.as_double == pytest.approx(trained.history[-1]["valid_accuracy"])
    assert facts(accuracy) == {"model.type": "Sequential"}
    (loss,) = metrics["ml.train.loss"].gauge.data_points
    assert loss.as_double == pytest.approx(trained.history[-1]["train_loss"])
    assert metrics["ml.train.items_per_second"].gauge.data_points[0].as_double > 0
    assert metrics["ml.device.memory"].gauge.data_points[0].as_int > 0
    assert metrics["ml.device.memory"].unit == "By"


def doubled() -> Any:
    """A session that doubles three numbers."""
    x = input_node("x", (3,), tl.float32)
    y = tl.Tensor(x) * 2.0
    return compile_session(Graph((x,), {"y": y.node}, "doubled"))


def test_inferences_are_counted_timed_and_sampled(received: Received) -> None:
    with doubled() as session:
        for _ in range(5):
            assert session.run({"x": [1, 2, 3]})["y"].tolist() == [2, 4, 6]
        assert asyncio.run(session.run_async({"x": [1, 2, 3]}))["y"].tolist() == [2, 4, 6]
        with pytest.raises(FeedError):
            session.run({"x": [1, 2]})
    tl.telemetry.shutdown()
    spans = received.named("inference")
    assert len(spans) == 4  # of seven, the first, third, fifth and seventh
    assert facts(spans[0]) == {
        "model.type": "doubled", "device": tl.default_device(), "input.shape": ["x [3]"]
    }  # fmt: skip
    points = received.metrics["ml.inference.count"].sum.data_points
    counts = {facts(each).get("error.type"): each.as_int for each in points}
    assert counts == {None: 6, "FeedError": 1}
    durations = received.metrics["ml.inference.duration"]
    assert durations.unit == "s"
    assert sum(each.count for each in durations.histogram.data_points) == 7
    failed = spans[-1]
    assert failed.status.code == 2
    assert facts(failed)["error.type"] == "FeedError"
    assert [event.name for event in failed.events] == ["exception"]


def test_statistics_are_those_of_inputs_and_outputs() -> None:
    with http_receiver() as received:
        tl.telemetry.init(received.endpoint, sample=1.0, statistics=True)
        with doubled() as session:
            session.run({"x": np.array([1, 2, 6], np.float32)})
        tl.telemetry.shutdown()
    (span,) = received.named("inference")
    found = facts(span)
    assert (found["input.x.mean"], found["input.x.max"], found["input.x.min"]) == (3.0, 6.0, 1.0)
    assert (found["output.y.mean"], found["output.y.max"]) == (6.0, 12.0)
    assert found["output.y.std"] == pytest.approx(np.std([2, 4, 12]))


def test_what_a_learner_predicts_is_an_inference(received: Received) -> None:
    learner().predict(loaders()[1])
    tl.telemetry.shutdown()
    (predict,) = received.named("predict")
    (span,) = received.named("inference")  # of two batches, the first
    assert child_of(span, predict)
    assert facts(span)["input.shape"] == ["0 [32, 4]", "1 [32]"]
    assert facts(span)["model.type"] == "Sequential"


def test_logs_have_the_span_in_which_they_were_made(received: Received) -> None:
    log = logging.getLogger("a.program")
    log.addHandler(sending := tl.telemetry.handler(logging.WARNING))

    class Logging(Callback):
        def on_record(self, learner: Run, record: Any) -> None:
            log.warning("epoch %d is over", learner.epoch)
            log.info("not sent")

    try:
        learner(callbacks=[Logging()]).fit(loaders()[0], epochs=1)
        logging.getLogger("opentelemetry.sdk").warning("would be sent forever")
    finally:
        log.removeHandler(sending)
    tl.telemetry.shutdown()
    (record,) = received.logs
    (epoch,) = received.named("epoch")
    assert record.body.string_value == "epoch 1 is over"
    assert (record.trace_id, record.span_id) == (epoch.trace_id, epoch.span_id)
    assert (record.severity_text, record.severity_number) == ("WARNING", 13)


def test_an_error_ends_all_spans_and_is_in_them(received: Received) -> None:
    class Failing(Callback):
        def on_record(self, learner: Run, record: Any) -> None:
            raise ValueError("a disk is full")

    with pytest.raises(ValueError, match="a disk is full"):
        learner(callbacks=[Failing()]).fit(loaders()[0], epochs=1)
    tl.telemetry.shutdown()
    for name in ("run", "epoch"):
        (span,) = received.named(name)
        assert (span.status.code, facts(span)["error.type"]) == (2, "ValueError")


def test_an_awaited_run_is_the_same_tree() -> None:
    with http_receiver() as received:
        tl.telemetry.init(received.endpoint, sample=0)
        train, _ = loaders()

        async def both() -> None:
            await asyncio.gather(*(learner().fit_async(train, epochs=1) for _ in range(2)))

        asyncio.run(both())
        tl.telemetry.shutdown()
    runs, epochs = received.named("run"), received.named("epoch")
    assert len({run.trace_id for run in runs}) == 2  # of two tasks, neither is within the other
    assert {epoch.parent_span_id for epoch in epochs} == {run.span_id for run in runs}
    assert received.named("step") == []


def test_headers_are_sent_with_each_request() -> None:
    with http_receiver() as received:
        tl.telemetry.init(received.endpoint, headers={"api-key": "1234"})
        with doubled() as session:
            session.run({"x": [1, 2, 3]})
        tl.telemetry.shutdown()
    assert received.headers
    assert {each["api-key"] for each in received.headers} == {"1234"}


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_an_endpoint_that_does_not_answer_ends_no_run(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as silent:  # takes connections, and says nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        tl.telemetry.init(
            f"http://127.0.0.1:{silent.getsockname()[1]}", protocol=protocol, sample=1.0
        )
        trained = learner()
        trained.fit(loaders()[0], epochs=2)
        assert trained.epoch == 2
        assert not tl.telemetry.shutdown(timeout=0.2)  # what was not sent is dropped
    assert watching.watcher is None
    caplog.clear()
    logging.getLogger("opentelemetry.exporter.otlp").warning("Transient error, later")
    assert not caplog.records  # nobody asks for it any more, and the next endpoint is another


def test_an_endpoint_that_is_not_there_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    tl.telemetry.init(f"http://127.0.0.1:{port}", sample=1.0)
    with doubled() as session:
        session.run({"x": [1, 2, 3]})
    tl.telemetry.shutdown(timeout=30)
    lines = [each for each in caplog.records if each.name.startswith(("tallow", "opentelemetry"))]
    assert [each.levelname for each in lines] == ["WARNING"]
    assert f"telemetry sends to http://127.0.0.1:{port} is not taken" in lines[0].getMessage()


PROGRAM = """
import sys
import tallow as tl
from tallow import nn, optim
tl.set_default_device("numpy")
x = tl.ones((8, 4)).realize()
model = nn.Linear(4, 1)
learner = tl.train.Learner(
    model, optim.SGD(model.parameters(), lr=0.1), nn.functional.mse_loss, progress=False
)
learner.fit([(x, tl.ones((8, 1)).realize())], epochs=1)
others = any(name.startswith("opentelemetry") for name in sys.modules)
print(others, "tallow.telemetry" in sys.modules)
"""


def ran(**environment: str) -> str:
    """What a program that trains prints, with variables of the environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_without_init_nothing_is_imported() -> None:
    assert ran() == "False False"
    disabled = ran(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_SDK_DISABLED="true")
    assert disabled == "False False"


def test_the_environment_starts_telemetry_and_the_end_of_a_process_sends_it() -> None:
    with http_receiver() as received:
        output = ran(
            OTEL_EXPORTER_OTLP_ENDPOINT=received.endpoint,
            OTEL_SERVICE_NAME="from outside",
            OTEL_RESOURCE_ATTRIBUTES="service.version=7,team=botany",
        )
    assert output == "True True"
    assert received.resource["service.name"] == "from outside"
    assert (received.resource["service.version"], received.resource["team"]) == ("7", "botany")
    assert len(received.named("run")) == 1
    assert "ml.train.loss" in received.metrics


def test_a_dead_endpoint_of_the_environment_delays_no_end() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        assert ran(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{port}") == "True True"


def test_collected_spans_are_otlp_json(tmp_path: Path) -> None:
    tl.telemetry.init(endpoint=None, service_name="a tab", sample=1.0, statistics=True)
    learner(tmp_path).fit(loaders()[0], epochs=1)
    with doubled() as session, pytest.raises(FeedError):
        session.run({"x": [1.0, float("nan"), 3.0]})
        session.run({"x": [1]})
    text = tl.telemetry.export_json()
    with pytest.raises(OptionError, match="nothing is sent"):
        tl.telemetry.handler()

    # protobuf's own JSON has bytes in base64, where OTLP has numbers in hexadecimal
    data = json.loads(text)
    for span in data["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = _base64(span[name])
    request = Parse(json.dumps(data), ExportTraceServiceRequest())
    received = Received()
    received.requests.append(request)
    (run,), (epoch,) = received.named("run"), received.named("epoch")
    assert child_of(epoch, run)
    assert (len(run.trace_id), len(run.span_id)) == (16, 8)
    assert [facts(each)["step"] for each in received.named("step")] == list(range(STEPS_PER_EPOCH))
    assert received.resource["service.name"] == "a tab"
    good, failed = received.named("inference")
    assert np.isnan(facts(good)["output.y.mean"])
    assert facts(good)["input.shape"] == ["x [3]"]
    assert failed.status.code == 2
    assert "expects" in failed.status.message


def test_collecting_begins_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a browser's Python has none."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    tl.telemetry.init(endpoint=None)
    with doubled() as session:
        session.run({"x": [1, 2, 3]})
    assert '"name": "inference"' in tl.telemetry.export_json()
    assert tl.telemetry.shutdown()


def _base64(hexadecimal: str) -> str:
    import base64

    return base64.b64encode(bytes.fromhex(hexadecimal)).decode()


def test_options_that_do_not_fit() -> None:
    with pytest.raises(OptionError, match="protocol='udp' is neither 'http/protobuf' nor 'grpc'"):
        tl.telemetry.init("http://127.0.0.1:1", protocol="udp")
    with pytest.raises(OptionError, match="sample=2 is not between 0 and 1"):
        tl.telemetry.init("http://127.0.0.1:1", sample=2)
    with pytest.raises(OptionError, match="no spans are collected"):
        tl.telemetry.export_json()
    with pytest.raises(OptionError, match="nothing is sent"):
        tl.telemetry.handler()


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(PackageError, match=r"pip install tallow\[telemetry\]"):
        tl.telemetry.init("http://127.0.0.1:1")
    assert watching.watcher is None


def test_missing_packages_are_a_warning_if_the_environment_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.setenv(watching.ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setattr(watching, "watcher", watching.from_environment())
    with pytest.warns(RuntimeWarning, match="no telemetry"):
        doubled().close()
    assert watching.watcher is None


def test_a_request_is_its_callers_child_and_has_its_inference() -> None:
    tl.telemetry.init(endpoint=None, sample=0.0)
    assert watching.watcher is not None
    traces = {"sampled": f"00-{'a' * 32}-{'b' * 16}-01", "not": f"00-{'c' * 32}-{'d' * 16}-00"}
    for headers in ({}, {"traceparent": "nonsense"}, {"traceparent": traces["not"]}):
        with (
            watching.watcher.request(headers, {"model.name": "m"}),
            watching.watcher.inference("m", "numpy", {}, {}),
        ):
            pass
    assert "spanId" not in tl.telemetry.export_json()
    with (
        pytest.raises(FeedError),
        watching.watcher.request({"traceparent": traces["sampled"]}, {"model.name": "m"}),
        watching.watcher.inference("m", "numpy", {}, {}),
    ):
        raise FeedError("wrong")
    with watching.watcher.inference("m", "numpy", {}, {}):
        pass
    found = json.loads(tl.telemetry.export_json())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inference, request = found
    assert (inference["name"], request["name"]) == ("inference", "request")
    assert request["traceId"] == "a" * 32 and request["parentSpanId"] == "b" * 16
    assert inference["parentSpanId"] == request["spanId"]
    assert request["status"]["code"] == 2
