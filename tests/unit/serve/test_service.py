"""A real service, asked by Triton's clients over HTTP and gRPC."""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from PIL import Image
from tritonclient.utils import InferenceServerException

import tallow as tl

from ..telemetry.receivers import http_receiver
from . import running

TOKEN = {"authorization": "Bearer secret"}
"""Clients of Triton add to the headers that they are given: give them copies."""
ROW = np.array([[1.0, 2.0]], np.float32)


@pytest.fixture(scope="module")
def collected() -> Iterator[Any]:
    with http_receiver() as received:
        yield received


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def service(folder: Path, collected: Any) -> Iterator[running.Service]:
    running.scaled(folder / "versions" / "1" / "model.onnx", 1)
    running.scaled(folder / "versions" / "2" / "model.onnx", 2)
    (folder / "broken.onnx").write_bytes(b"not ONNX")
    models = [running.MNIST, folder / "versions", running.kinds(folder / "kinds.onnx"),
              running.counted(folder / "counted.onnx"), folder / "broken.onnx"]  # fmt: skip
    with running.Service(
        *models, "--name", "digits", "--device", "numpy", "--max-queue", 4, "--max-body-mb", 1,
        "--token", "secret", command=("-m", "tests.unit.serve.holding"),
        environment={"HELD": str(folder / "held"),
                     "OTEL_EXPORTER_OTLP_ENDPOINT": collected.endpoint,
                     "OTEL_BSP_SCHEDULE_DELAY": "100"},
    ) as found:  # fmt: skip
        found.line("broken does not load")
        yield found


@pytest.fixture
def http(service: running.Service) -> Iterator[Any]:
    with tritonclient.http.InferenceServerClient(service.http, concurrency=8) as client:
        yield client


@pytest.fixture
def grpc(service: running.Service) -> Iterator[Any]:
    with tritonclient.grpc.InferenceServerClient(service.grpc) as client:
        yield client


def given(client: Any, name: str, array: Any, datatype: str, **more: Any) -> Any:
    made = client.InferInput(name, array.shape, datatype)
    made.set_data_from_numpy(array, **more)
    return made


def digit() -> Any:
    return np.random.default_rng(0).random((3, 1, 28, 28), np.float32)


def expected(image: Any) -> Any:
    return tl.onnx.load(running.MNIST).session("numpy").run({"image": image})["logits"]


def test_health_and_metadata(service: running.Service, http: Any, grpc: Any) -> None:
    assert http.is_server_live() and http.is_server_ready()
    assert grpc.is_server_live() and grpc.is_server_ready()
    assert http.is_model_ready("digits", headers=dict(TOKEN))
    assert grpc.is_model_ready("digits", headers=dict(TOKEN))
    described = http.get_model_metadata("digits", headers=dict(TOKEN))
    assert described["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 28, 28]}]
    same = grpc.get_model_metadata("digits", headers=dict(TOKEN), as_json=True)
    assert same["versions"] == described["versions"] == ["1"]
    assert http.get_server_metadata(headers=dict(TOKEN))["name"] == "tallow"
    assert json.loads(service.ask("/v2/models", **TOKEN)[1])["models"][0] == "digits"


def test_json_binary_and_grpc_give_the_same(http: Any, grpc: Any) -> None:
    image = digit()
    wanted = expected(image)
    for binary in (True, False):
        inputs = [given(tritonclient.http, "image", image, "FP32", binary_data=binary)]
        chosen = [tritonclient.http.InferRequestedOutput("logits", binary_data=binary)]
        found = http.infer("digits", inputs, outputs=chosen, headers=dict(TOKEN), request_id="7")
        assert np.allclose(found.as_numpy("logits"), wanted, atol=1e-5)
        assert found.get_response()["id"] == "7"
    inputs = [given(tritonclient.grpc, "image", image, "FP32")]
    found = grpc.infer("digits", inputs, headers=dict(TOKEN))
    assert np.allclose(found.as_numpy("logits"), wanted, atol=1e-5)


def test_several_inputs_and_outputs_of_several_types(http: Any, grpc: Any) -> None:
    arrays = {
        "h": (np.array([1, 2, 3], np.float16), "FP16"),
        "i": (np.array([-1, 0, 100], np.int8), "INT8"),
        "b": (np.array([True, False, True]), "BOOL"),
        "s": (np.array([b"a", b"", "\u00e9".encode()], object), "BYTES"),
    }
    for module, client in ((tritonclient.http, http), (tritonclient.grpc, grpc)):
        inputs = [given(module, name, array, kind) for name, (array, kind) in arrays.items()]
        found = client.infer("kinds", inputs, headers=dict(TOKEN))
        assert found.as_numpy("h2").tolist() == [2, 4, 6]
        assert found.as_numpy("i2").tolist() == [1, 0, -100]
        assert found.as_numpy("b2").tolist() == [False, True, False]
        assert found.as_numpy("s2").tolist() == arrays["s"][0].tolist()
        chosen = [module.InferRequestedOutput("i2")]
        found = client.infer("kinds", inputs, outputs=chosen, headers=dict(TOKEN))
        assert found.as_numpy("i2").tolist() == [1, 0, -100] and found.as_numpy("h2") is None


def test_requests_at_once_share_batches(service: running.Service) -> None:
    def ask(i: int) -> bool:
        row = np.full((1, 2), i, np.float32)
        text = json.dumps({"inputs": [
            {"name": "x", "datatype": "FP32", "shape": [1, 2], "data": row.tolist()}
        ]}).encode()  # fmt: skip
        status, answer = service.ask("/v2/models/versions/infer", text, **TOKEN)
        return status == 200 and json.loads(answer)["outputs"][0]["data"] == [2.0 * i] * 2

    with ThreadPoolExecutor(4) as pool:  # as many as may wait
        assert all(pool.map(ask, range(80)))
    assert service.figure("tallow_serve_batch_rows_sum", model="versions") >= 80
    answered = {"model": "versions", "version": "2", "outcome": "answered"}
    assert service.figure("tallow_serve_requests_total", **answered) >= 80


def test_versions_and_loading_again(service: running.Service, http: Any, folder: Path) -> None:
    def factor(version: str = "") -> float:
        inputs = [given(tritonclient.http, "x", ROW, "FP32")]
        found = http.infer("versions", inputs, version, headers=dict(TOKEN))
        return float(found.as_numpy("y")[0, 0])

    assert (factor(), factor("1"), factor("2")) == (2, 1, 2)
    running.scaled(folder / "versions" / "3" / "model.onnx", 3)
    http.load_model("versions", headers=dict(TOKEN))
    assert (factor(), factor("1"), factor("3")) == (3, 1, 3)
    http.unload_model("versions", headers=dict(TOKEN))
    assert not http.is_model_ready("versions", headers=dict(TOKEN))
    http.unload_model("versions", headers=dict(TOKEN))  # again, which changes nothing
    for version in ("", "1"):
        with pytest.raises(InferenceServerException, match="unloaded"):
            factor(version)
    assert http.is_server_ready()
    http.load_model("versions", headers=dict(TOKEN))
    assert factor() == 3
    index = {(row["name"], row["version"]): row["state"]
             for row in http.get_model_repository_index(headers=dict(TOKEN))}  # fmt: skip
    assert index["versions", "3"] == "READY" and index["broken", "1"] == "UNAVAILABLE"
    (folder / "versions" / "3" / "model.onnx").unlink()
    (folder / "versions" / "3").rmdir()
    http.load_model("versions", headers=dict(TOKEN))
    assert factor() == 2


def test_a_picture_and_a_list(service: running.Service) -> None:
    out = io.BytesIO()
    Image.fromarray((digit()[0, 0] * 255).astype(np.uint8)).save(out, "PNG")
    path = "/v2/models/digits/classify"
    status, answer = service.ask(f"{path}?top=3", out.getvalue(), content_type="image/png", **TOKEN)
    found = json.loads(answer)["predictions"]
    values = np.round(digit()[:1] * 255 - 0.5) / np.float32(255)
    assert status == 200 and len(found) == 3
    assert found[0]["index"] == expected(values).argmax() == int(found[0]["label"])
    numbers = json.dumps({"data": values.ravel().tolist()}).encode()
    assert json.loads(service.ask(path, numbers, **TOKEN)[1])["predictions"][:3] == found
    assert service.ask(path, b"hello", content_type="image/png", **TOKEN)[0] == 400
    assert service.ask(path, b"[1, 2]", **TOKEN)[0] == 400
    assert service.ask(f"{path}?top=0", numbers, **TOKEN)[0] == 400


def test_the_span_of_an_inference_is_the_callers_child(
    service: running.Service, collected: Any, http: Any, grpc: Any
) -> None:
    for module, client, trace in (
        (tritonclient.http, http, "1" * 32), (tritonclient.grpc, grpc, "2" * 32)
    ):  # fmt: skip
        headers = TOKEN | {"traceparent": f"00-{trace}-{'3' * 16}-01"}
        client.infer("digits", [given(module, "image", digit(), "FP32")], headers=headers)
        until = time.monotonic() + 30
        mine: dict[str, Any] = {}
        while len(mine) < 2:
            assert time.monotonic() < until, list(mine)
            time.sleep(0.05)
            mine = {each.name: each for each in collected.spans if each.trace_id.hex() == trace}
        assert mine["request"].parent_span_id.hex() == "3" * 16
        assert mine["inference"].parent_span_id == mine["request"].span_id


def test_a_wrong_token(service: running.Service, http: Any, grpc: Any) -> None:
    for wrong in ({}, {"authorization": "Bearer nonsense"}, {"authorization": "secret"}):
        assert service.ask("/v2/models/digits", **wrong)[0] == 401
        inputs = [given(tritonclient.grpc, "image", digit(), "FP32")]
        with pytest.raises(InferenceServerException, match="service's token") as error:
            grpc.infer("digits", inputs, headers=dict(wrong))
        assert error.value.status() == "StatusCode.UNAUTHENTICATED"
        with pytest.raises(InferenceServerException, match="service's token"):
            grpc.get_server_metadata(headers=dict(wrong))
    assert grpc.get_server_metadata(headers=dict(TOKEN), as_json=True)["name"] == "tallow"
    for path in ("/v2/health/live", "/v2/health/ready", "/metrics"):
        assert service.ask(path)[0] == 200


def posted(model: str, header: bytes) -> bytes:
    """The head of a request over HTTP."""
    head = b"POST /v2/models/%s/infer HTTP/1.1\r\nhost: x\r\nauthorization: Bearer secret\r\n"
    return head % model.encode() + header + b"\r\n\r\n"


def test_a_body_that_is_too_large(service: running.Service, grpc: Any) -> None:
    status, answer = service.ask("/v2/models/digits/infer", bytes(1_200_000), **TOKEN)
    assert status == 413 and b"1,000,000 are allowed" in answer
    host, _, port = service.http.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:  # in pieces
        connection.sendall(posted("digits", b"transfer-encoding: chunked"))
        for _ in range(21):
            connection.sendall(b"c350\r\n" + bytes(50_000) + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    huge = given(tritonclient.grpc, "image", np.zeros((400, 1, 28, 28), np.float32), "FP32")
    with pytest.raises(InferenceServerException) as error:
        grpc.infer("digits", [huge], headers=dict(TOKEN))
    assert error.value.status() == "StatusCode.RESOURCE_EXHAUSTED"


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v2/models/nothing/infer", b"{}", 400, "no list of inputs"),
        ("/v2/models/digits/infer", b"{", 400, "no JSON"),
        ("/v2/models/digits/infer", b'{"inputs": [{"name": NaN}]}', 400, "NaN"),
        ("/v2/repository/models/nothing/load", b"", 404, "no model 'nothing'"),
        ("/v2/repository/models/broken/load", b"", 503, "does not load"),
        ("/v2/models/digits/versions/9/infer", None, 404, "no version '9'; there are: 1"),
        ("/v2/models/nothing/infer", None, 404, "no model 'nothing'"),
        ("/v2/models/broken/infer", None, 503, "does not serve"),
        ("/v2/models/digits/classify?top=x", b"[]", 400, "top: "),
        ("/v2/models/digits/explain", b"", 404, "explain: Not Found"),
        ("/v2/models/kinds/infer", None, 400, "missing h, i, b, s; unknown image"),
    ],
)
def test_requests_over_http_that_are_wrong(
    service: running.Service, path: str, body: bytes | None, status: int, words: str
) -> None:
    if body is None:
        one = {"name": "image", "datatype": "FP32", "shape": [1], "data": [0]}
        body = json.dumps({"inputs": [one]}).encode()
    found, answer = service.ask(path, body, **TOKEN)
    line = json.loads(answer)["error"]
    assert found == status and words in line and "\n" not in line


def test_requests_over_grpc_that_are_wrong(grpc: Any) -> None:
    def refusal(name: str, array: Any, kind: str, version: str = "", outputs: Any = None) -> str:
        with pytest.raises(InferenceServerException) as error:
            inputs = [given(tritonclient.grpc, "image", array, kind)]
            grpc.infer(name, inputs, version, outputs=outputs, headers=dict(TOKEN))
        return f"{error.value.status()} {error.value.message()}".removeprefix("StatusCode.")

    image = digit()
    assert re.match("NOT_FOUND .*no model", refusal("nothing", image, "FP32"))
    assert re.match("NOT_FOUND .*no version", refusal("digits", image, "FP32", "9"))
    assert re.match("UNAVAILABLE .*does not serve", refusal("broken", image, "FP32"))
    assert re.match("INVALID_ARGUMENT .*is FP64", refusal("digits", image.astype("d"), "FP64"))
    assert re.match(r"INVALID_ARGUMENT .*\[3, 28\]", refusal("digits", image[:, 0, 0], "FP32"))
    wrong = [tritonclient.grpc.InferRequestedOutput("nothing")]
    assert "no output 'nothing'" in refusal("digits", image, "FP32", outputs=wrong)
    assert not grpc.is_model_ready("broken", headers=dict(TOKEN))
    with pytest.raises(InferenceServerException, match="over HTTP"):
        grpc.load_model("digits", headers=dict(TOKEN))


def turns(count: int) -> bytes:
    one = {"name": "turns", "datatype": "INT64", "shape": [], "data": [count]}
    return json.dumps({"inputs": [one]}).encode()


@pytest.fixture
def held(folder: Path) -> Iterator[Path]:
    """While this file is there, what computes waits."""
    path = folder / "held"
    path.touch()
    yield path
    path.unlink(missing_ok=True)


def until(is_so: Callable[[], bool]) -> None:
    """Waits for it."""
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def until_computing(service: running.Service, before: float) -> None:
    """Waits until the model that counts has begun another one."""
    name = "tallow_serve_batch_rows_count"
    until(lambda: service.figure(name, model="counted") > before)


def test_a_queue_that_is_full_a_deadline_and_clients_that_hang_up(
    service: running.Service, grpc: Any, held: Path
) -> None:
    def waiting() -> float:
        return service.figure("tallow_serve_waiting", model="counted")

    def refused() -> float:
        return service.figure(requests, **outcomes, outcome="busy")

    requests, outcomes = "tallow_serve_requests_total", {"model": "counted", "version": "1"}
    path, one = "/v2/models/counted/infer", turns(1)
    before = service.figure("tallow_serve_batch_rows_count", model="counted")
    host, _, port = service.http.partition(":")
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(service.ask, path, one, **TOKEN)
        until_computing(service, before)
        gone = []
        for _ in range(3):  # they wait, then their clients go
            gone.append(socket.create_connection((host, int(port)), timeout=30))
            gone[-1].sendall(posted("counted", b"content-length: %d" % len(one)) + one)
        until(lambda: waiting() == 3)
        for each in gone:
            each.close()
        count = given(tritonclient.grpc, "turns", np.array(1), "INT64")
        with pytest.raises(InferenceServerException) as error:
            grpc.infer("counted", [count], headers=dict(TOKEN), client_timeout=0.05)
        assert error.value.status() == "StatusCode.DEADLINE_EXCEEDED"
        until(lambda: waiting() == 0)
        late = json.loads(one) | {"parameters": {"timeout": 10_000}}
        status, answer = service.ask(path, json.dumps(late).encode(), **TOKEN)
        assert status == 504 and b"no answer within 0.01 s" in answer
        until(lambda: waiting() == 0)
        rest = [pool.submit(service.ask, path, one, **TOKEN) for _ in range(7)]
        until(lambda: waiting() == 4 and refused() == 3)
        held.unlink()
        statuses = sorted(each.result()[0] for each in rest)
        assert statuses == [200] * 4 + [503] * 3
        assert first.result()[0] == 200
    assert service.figure(requests, **outcomes, outcome="gone") >= 3
    assert service.figure(requests, **outcomes, outcome="late") >= 1
    ran = service.figure("tallow_serve_batch_rows_count", model="counted") - before
    assert ran == 5  # what its client left was not computed


def test_sigterm_ends_it_after_the_requests_in_hand(service: running.Service, held: Path) -> None:
    """The last test of this file: the service is gone then."""
    before = service.figure("tallow_serve_batch_rows_count", model="counted")
    with ThreadPoolExecutor(2) as pool:
        asked = pool.submit(service.ask, "/v2/models/counted/infer", turns(7), **TOKEN)
        until_computing(service, before)
        service.process.send_signal(signal.SIGTERM)
        service.line("ending")
        assert service.process.poll() is None
        held.unlink()
        assert service.process.wait(60) == 0
        status, answer = asked.result()
    assert status == 200 and json.loads(answer)["outputs"][0]["data"] == [7]
    assert service.line("ended") == "tallow: ended"
    assert not any("Traceback" in line for line in service.lines), service.lines
