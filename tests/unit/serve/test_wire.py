"""What a stranger may send to a real service's port: byte by byte, without a client's help."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from . import running

ONE = json.dumps(
    {"inputs": [{"name": "image", "datatype": "FP32", "shape": [1], "data": [0]}]}
).encode()


@pytest.fixture(scope="module")
def service() -> Iterator[running.Service]:
    beyond_grpc = ("--max-body-mb", 3000)
    with running.Service(running.MNIST, "--device", "numpy", "--timeout", 2, *beyond_grpc) as found:
        found.line("mnist: version 1 serves")
        yield found
        assert found.end() == 0
        assert not any("Traceback" in line for line in found.lines), found.lines


def answered(service: running.Service, sent: bytes) -> bytes:
    """All that comes back before the service closes the connection."""
    host, _, port = service.http.partition(":")
    got = b""
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(sent)
        while more := connection.recv(1 << 16):
            got += more
    return got


@pytest.mark.parametrize(
    "headers",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked",
        b"content-length: 5\r\ncontent-length: 6",
        b"content-length: +5",
        b"content-length: " + b"9" * 5000,
        b"transfer-encoding: xchunked",
    ],
)
def test_a_body_has_one_length(service: running.Service, headers: bytes) -> None:
    """Two would let a proxy and the service see different requests; nothing behind it is read."""
    behind = b"0\r\n\r\nGET /v2/models HTTP/1.1\r\nhost: x\r\n\r\n"
    start = b"POST /v2/models/mnist/infer HTTP/1.1\r\nhost: x\r\n"
    found = answered(service, start + headers + b"\r\n\r\n" + behind)
    assert found.startswith(b"HTTP/1.1 400") and found.count(b"HTTP/1.1") == 1


def test_a_body_that_does_not_come_is_refused(service: running.Service) -> None:
    head = b"POST /v2/models/mnist/%s HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    for route in (b"infer", b"classify"):
        found = answered(service, head % route + b"content-length: 500\r\n\r\n{")
        assert found.startswith(b"HTTP/1.1 504")
        assert b"the body has not arrived within 2 s" in found


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/v2/models/mnist/versions/{'9' * 5000}/infer", 404),
        ("/v2/models/mnist/versions/-1/infer", 404),
        ("/v2/models/mnist/versions/%D9%A1/infer", 404),  # a digit, but not an ASCII one
        ("/v2/models/%2e%2e/infer", 404),
        ("/v2/models/mnist%00/infer", 404),
        ("/v2/models/a%0d%0ax-new:%20header/infer", 404),
        ("/v2/models/mnist/../../repository/index", 404),
    ],
)
def test_names_and_versions_that_are_none(service: running.Service, path: str, status: int) -> None:
    found, answer = service.ask(path, ONE)
    line = json.loads(answer)["error"]
    assert found == status and "\n" not in line and len(line) < 200


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "has 0 values"),
        ({"datatype": "FP16"}, "FP16, needs raw contents"),
        ({"datatype": "FP31"}, "'FP31', which is none"),
        ({"shape": [-1]}, "which is none"),
        ({"shape": [1 << 62, 1 << 62]}, "too large for any array"),
        ({"timeout": {"string_param": "soon"}, "raw": [bytes(3136)]}, "timeout is 'soon'"),
        ({"timeout": {"bool_param": True}, "raw": [bytes(3136)]}, "give whole microseconds"),
        ({"raw": [b"", b""]}, "1 inputs have 2 raw contents"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_messages_that_no_client_writes(
    service: running.Service, changes: dict[str, Any], words: str
) -> None:
    one = {"name": "image", "datatype": "FP32", "shape": [1, 1, 28, 28]} | changes
    timeout, raw = one.pop("timeout", {"int64_param": 10**6}), one.pop("raw", [])
    request = service_pb2.ModelInferRequest(
        model_name="mnist", inputs=[one], raw_input_contents=raw,
        parameters={"timeout": service_pb2.InferParameter(**timeout)},
    )  # fmt: skip
    with grpc.insecure_channel(service.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError, match=words) as error:
            stub.ModelInfer(request, timeout=30)
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
