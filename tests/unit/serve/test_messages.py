"""What travels between a borrower and a lender, and what a lender answers to nonsense."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.request import urlopen

import pytest
from tests.unit.serve.lender import TOKEN, LenderThread, lending
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import tallow as tl
from tallow.compile import Plan, compile_graph
from tallow.devices.remote import wire
from tallow.devices.remote.backend import limits_as_json, limits_of_json
from tallow.devices.remote.wire import FRAME, Assembler, error_as_json, error_of_json, frames
from tallow.errors import DeviceError, KernelError, PlanError
from tallow.graph import Graph
from tallow.runtime.device import backend
from tallow.serve import compute
from tallow.serve.lending import Visit
from tallow.version import __version__


@pytest.mark.parametrize(
    "sizes", [[], [0], [3], [0, 3, 0, 0], [FRAME], [FRAME + 1, 0, 2 * FRAME, 5]], ids=str
)
def test_a_message_arrives_as_it_was_sent(sizes: list[int]) -> None:
    parts = [bytes([number % 251]) * size for number, size in enumerate(sizes, 1)]
    sent = [each if isinstance(each, str) else bytes(each) for each in frames({"do": "x"}, parts)]
    assert all(len(each) <= FRAME for each in sent)
    assembler = Assembler()
    for _ in range(2):
        *others, last = [assembler.add(each) for each in sent]
        assert others == [None] * len(others)
        assert last is not None
        assert last.header == {"do": "x"}
        assert [bytes(part) for part in last.parts] == parts


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (["no JSON"], "not a message of this protocol: 'no JSON'"),
        (["[1]"], "not a message"),
        (['{"do": "x"}'], "not a message"),
        (['{"sizes": 3}'], "whole numbers"),
        (['{"sizes": [-1]}'], "whole numbers"),
        (['{"sizes": [true]}'], "whole numbers"),
        (['{"sizes": [60, 60]}'], "a message of 120 bytes; 100 are allowed"),
        (['{"sizes": [3]}', "{}"], "before the one before it has all its parts"),
        (['{"sizes": [3]}', b"1234"], "more than the 3 bytes"),
        ([b"123"], "no header has announced"),
        (["[" * 100_000], "not a message"),
        ([" " * (wire.MOST_HEADER + 1)], "1,048,576 are allowed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_message(sent: list[Any], words: str) -> None:
    assembler = Assembler(100)
    with pytest.raises(PlanError, match=words):
        for each in sent:
            assembler.add(each)


def test_errors_arrive_as_what_they_were() -> None:
    original = KernelError("line 3: no", "my_op", 3)
    found = error_of_json(json.loads(json.dumps(error_as_json(original))))
    assert (type(found), str(found)) == (KernelError, "line 3: no")
    assert (found.op, found.line) == ("my_op", 3)
    assert type(error_of_json(error_as_json(ZeroDivisionError("x")))) is DeviceError
    assert type(error_of_json({"type": "os", "message": ""})) is DeviceError


@pytest.mark.parametrize("name", ["numpy", "wasm"])
def test_limits_arrive_as_they_were(name: str) -> None:
    used = backend(name)
    given = json.loads(json.dumps(limits_as_json(used.limits)))
    assert limits_of_json(given, used.target) == used.limits


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({}, "None is nothing that a borrower may do"),
        ({"do": "format"}, "'format' is nothing that a borrower may do"),
        ({"do": "_load"}, "'_load' is nothing"),
        ({"do": "read"}, "incomplete or wrong: KeyError"),
        ({"do": "read", "buffers": [7]}, "incomplete or wrong: KeyError"),
        ({"do": "read", "buffers": 7}, "incomplete or wrong: TypeError"),
        ({"do": "upload", "buffer": 1, "array": ["float32", [2]]}, "incomplete or wrong"),
        ({"do": "load", "program": 1, "weights": []}, "incomplete or wrong"),
        ({"do": "run", "program": 1, "inputs": [], "keep": []}, "incomplete or wrong"),
        ({"do": "clone", "of": 3, "buffer": 4}, "incomplete or wrong"),
        ({"do": "states", "program": 3, "states": [[1]]}, "incomplete or wrong"),
    ],
    ids=str,
)
def test_a_lender_answers_nonsense_with_a_line(header: dict[str, Any], words: str) -> None:
    visit = Visit(backend("numpy"), 1000)
    reply = visit.answer(wire.Message({**header, "id": 5}, []))
    assert reply is not None
    answer, parts = reply
    assert answer["id"] == 5
    assert parts == []
    assert words in answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]
    assert visit.nbytes == 0


def test_a_plan_for_another_device_is_refused() -> None:
    plan = compile_graph(Graph((), {"y": tl.ones(3).node}, "p"), "wasm").plan
    message = {"do": "load", "program": 1, "weights": [], "id": 1}
    text = memoryview(plan.to_json().encode())
    reply = Visit(backend("numpy"), 1000).answer(wire.Message(message, [text]))
    assert reply is not None
    assert "was made for 'wasm', not 'numpy'" in reply[0]["error"]["message"]


def test_a_program_of_the_same_number_takes_the_place_of_the_first() -> None:
    device = backend("numpy")
    visit = Visit(device, 1000)
    plan = compile_graph(Graph((), {"y": tl.ones(3).node}, "p"), "numpy").plan
    loading = {"do": "load", "program": 1, "weights": []}
    for _ in range(2):
        assert visit.answer(wire.Message(loading, [memoryview(plan.to_json().encode())])) is None
        first = visit.nbytes
    assert visit.nbytes == first
    reply = visit.answer(wire.Message({**loading, "id": 1}, [memoryview(b"{}")]))
    assert reply is not None and "error" in reply[0]
    assert visit.nbytes == 0


def test_an_error_of_any_kind_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    visit = Visit(backend("numpy"), 1000)

    def fails(*given: Any) -> Any:
        raise RecursionError("too deep")

    monkeypatch.setattr(Plan, "from_json", fails)
    message = {"do": "load", "program": 1, "weights": [], "id": 1}
    reply = visit.answer(wire.Message(message, [memoryview(b"{}")]))
    assert reply is not None
    assert "incomplete or wrong: RecursionError('too deep')" in reply[0]["error"]["message"]


def greeted(lender: LenderThread, socket: Any) -> dict[str, Any]:
    for frame in frames({"do": "hello", "id": 1, "token": TOKEN, "version": __version__}):
        socket.send(frame)
    return dict(json.loads(socket.recv()))


def test_nonsense_ends_the_connection_of_its_sender_alone() -> None:
    with lending("numpy") as lender:
        url = lender.name.replace("remote:http", "ws") + "/compute"
        with connect(url) as stranger:
            stranger.send(b"x" * 100)
            assert "no header has announced" in stranger.recv()
            with pytest.raises(ConnectionClosed):
                stranger.recv()
        with connect(url) as stranger:
            stranger.send('{"do": "upload", "sizes": [4]}')
            assert "0 are allowed" in stranger.recv()
        for token in ('"\\ud800"', "7", "[]"):
            with connect(url) as stranger:
                stranger.send(f'{{"do": "hello", "token": {token}, "sizes": []}}')
                assert "the token is wrong" in stranger.recv()
        with connect(url) as stranger:
            version = "\\n\U0001f600" * 40
            stranger.send(
                f'{{"do": "hello", "token": "{TOKEN}", "version": "{version}", "sizes": []}}'
            )
            assert "install the same one" in stranger.recv()
            with pytest.raises(ConnectionClosed) as closed:
                stranger.recv()
            assert closed.value.rcvd is not None and closed.value.rcvd.code == compute.REFUSED
        with connect(url) as borrower, connect(url) as other:
            assert greeted(lender, borrower)["device"] == "numpy"
            assert greeted(lender, other)["device"] == "numpy"
            other.send("{")
            assert "not a message" in other.recv()
            borrower.send('{"do": "read", "buffers": [], "id": 2, "sizes": []}')
            assert json.loads(borrower.recv()) == {"arrays": [], "id": 2, "sizes": []}
        with connect(url) as borrower:  # which leaves in the middle of a part
            greeted(lender, borrower)
            borrower.send('{"do": "upload", "sizes": [400]}')
            borrower.send(b"12")
        asyncio.run(tl.open_device(lender.name, token=TOKEN))
        assert tl.ones(2, device=lender.name).numpy().tolist() == [1, 1]


def test_probes_are_answered() -> None:
    with lending("numpy") as lender:
        address = lender.name.removeprefix("remote:")
        for path in ("/v2/health/live", "/v2/health/ready"):
            with urlopen(address + path) as found:
                assert found.status == 200
