"""`build.py bench --cold` visits, counts and reports. Speed is not tested."""

import json
import subprocess
import sys

import pytest
from bench import cold_table
from bench.trace import COMPILE, blocks, compile_ms
from bench.wire import PIECE, Piece, Speed, Wire, by_path

from tallow_build.paths import ROOT


@pytest.fixture(scope="module")
def smoke(dist, tmp_path_factory):
    """The figures and the output of `bench --cold --smoke`."""
    figures = tmp_path_factory.mktemp("bench") / "figures.json"
    command = [sys.executable, str(ROOT / "bench" / "run.py"), "--cold", "--smoke"]
    done = subprocess.run(
        [*command, "--json", str(figures)], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(figures.read_text("utf-8")), done.stdout


@pytest.mark.browser
def test_both_pages_answer_at_both_visits(smoke):
    visits = smoke[0]["visits"]
    assert [(visit["engine"], visit["cache"]) for visit in visits] == [
        (engine, cache) for engine in ("tallow-numpy", "ort-wasm") for cache in ("empty", "warm")
    ]
    assert {visit["answer"] for visit in visits} == {"7"}
    for visit in visits:
        assert visit["marks"]["paint"] > 0
        longest = visit["blocks"][0]
        assert longest["ms"] >= visit["blocks"][-1]["ms"] > 0
        assert longest["what"]
        assert 0 <= longest["at_ms"] < visit["marks"]["answer"]


@pytest.mark.browser
def test_our_page_is_timed_step_by_step(smoke):
    for visit in smoke[0]["visits"][:2]:
        marks, stages = visit["marks"], visit["stages"]
        assert 0 < marks["started"] < marks["pen down"] < marks["answer"]
        assert marks["started"] < marks["ready"] <= marks["kept"]
        assert "numpySnapshot" in stages
        for stage in stages.values():
            assert 0 < stage["begun"] <= stage["done"]
            assert stage["ms"] > 0


@pytest.mark.browser
def test_only_the_first_visit_compiles(smoke):
    first, second = smoke[0]["visits"][:2]
    assert first["stages"]["kernels"]["ms"] > first["compile_ms"] > 0
    assert second["compile_ms"] == 0


@pytest.mark.browser
def test_what_a_visit_sends_is_counted(smoke):
    first, second, peer, peer_again = smoke[0]["visits"]
    sent = [path for path in first["files"] if first["files"][path]]
    assert any(path.endswith(".wasm") for path in sent)
    assert 1_000_000 < first["bytes"] < first["bytes_in_all"] - first["model_bytes"]
    assert first["model_bytes"] > 100_000
    assert sum(first["files"].values()) == first["bytes"] + first["model_bytes"]
    assert second["bytes"] + second["model_bytes"] < first["bytes"] / 10
    assert 1_000_000 < peer["bytes"] == peer["bytes_in_all"] - peer["model_bytes"]
    assert peer_again["bytes_in_all"] < 1000


@pytest.mark.browser
def test_the_tables(smoke):
    whole, printed = smoke
    assert "| mnist | full speed | warm  | ort-wasm " in printed
    assert "| kernels " in printed
    rows = {(row["cache"], row["engine"]): row for row in whole["rows"]}
    ours, peer = (rows["warm", engine] for engine in ("tallow-numpy", "ort-wasm"))
    assert ours["answer_of_peer"] == pytest.approx(ours["answer_ms"] / peer["answer_ms"])
    assert peer["answer_of_peer"] is None


def visit(engine, number, answer, digit="7", failed=None, cache="warm"):
    """A visit's figures, as far as the tables need them."""
    kind = {"model": "mnist", "speed": "full", "cache": cache, "engine": engine, "round": number}
    figures = {"bytes": 10, "model_bytes": 1, "bytes_in_all": 20, "stages": {}, "blocks": []}
    figures["compile_ms"] = 0.0
    return {**kind, **figures, "marks": {"answer": answer}, "answer": digit, "failed": failed}


def test_a_visit_is_compared_with_the_peer_of_its_round():
    ours = [visit("tallow-webgpu", number, ms) for number, ms in enumerate((300, 100, 80))]
    peer = [visit("ort-webgpu", number, ms) for number, ms in enumerate((600, 100, 400))]
    first, second = cold_table.rows([*ours, *peer])
    assert first["answer_ms"] == 100
    assert first["spread_ms"] == 110
    assert first["answer_of_peer_each"] == [0.5, 1, 0.2]
    assert first["answer_of_peer"] == 0.5
    assert second["answer_of_peer"] is None
    assert not cold_table.failures([*ours, *peer])


def test_failures_and_differences_are_reported():
    broken = visit("tallow-webgpu", 0, 1, failed="no answer")
    found = [broken, visit("ort-webgpu", 0, 1), visit("ort-wasm", 0, 1, digit="1")]
    assert len(cold_table.rows(found)) == 2
    lines = cold_table.failures(found).splitlines()
    assert lines == [
        "FAILED: no answer",
        "FAILED: answers of mnist differ: 7 by ort-webgpu, 1 by ort-wasm",
    ]


def test_a_first_visit_that_compiles_nothing_is_a_failure():
    found = [visit(engine, 0, 1, cache="empty") for engine in ("tallow-numpy", "ort-wasm")]
    (line,) = cold_table.failures(found).splitlines()
    assert line == "FAILED: mnist on tallow-numpy: no compilation was observed on a first visit"
    found[0]["compile_ms"] = 80.0
    assert not cold_table.failures(found)


def test_what_the_worker_measures_of_compiling():
    def measured(name, number, begin, end):
        event = {"name": name, "pid": 1, "tid": 9, "id2": {"local": number}}
        return [{**event, "ph": "b", "ts": begin}, {**event, "ph": "e", "ts": end}]

    one, other = measured(COMPILE, "0x1", 1_000, 4_000), measured(COMPILE, "0x2", 2_000, 9_000)
    trace = [one[0], other[0], *measured("tallow:else", "0x3", 0, 90_000), one[1], other[1]]
    assert compile_ms(trace) == 10
    assert compile_ms([]) == 0


async def two_pieces(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * (PIECE + 1), "more_body": True})
    await send({"type": "http.response.body", "body": b"y"})


def test_the_wire_counts_and_paces(run_async, monkeypatch):
    waits, got = [], []
    monkeypatch.setattr("bench.wire.time.monotonic", lambda: 100.0)

    async def sleep(seconds):
        waits.append(seconds)

    async def send(message):
        got.append(message)

    monkeypatch.setattr("bench.wire.asyncio.sleep", sleep)
    wire = Wire(two_pieces)
    with wire.watched(Speed("slow", bits=8 * PIECE, delay=0.5)) as sent:
        run_async(wire({"type": "http", "path": "/a"}, None, send))
    # At most 0.02 s worth of data is sent at once; each piece waits for those before it.
    assert waits == pytest.approx([0.5, 0.98, 0.98 + 1 / PIECE, 0.98 + 2 / PIECE])
    assert [(piece.path, piece.size) for piece in sent] == [("/a", PIECE), ("/a", 1), ("/a", 1)]
    assert b"".join(message.get("body", b"") for message in got) == b"x" * (PIECE + 1) + b"y"
    assert [message.get("more_body") for message in got] == [None, True, True, False]


def test_only_what_came_before_counts():
    sent = [Piece(10, "/a", 5), Piece(20, "/b", 7), Piece(30, "/a", 9)]
    assert by_path(sent, 20) == {"/b": 7, "/a": 5}
    assert by_path(sent) == {"/a": 14, "/b": 7}


def test_only_the_longest_block_of_the_page_counts():
    def event(name, begin, length=0, thread=1, **more):
        return {
            "name": name,
            "ph": "X",
            "pid": 1,
            "tid": thread,
            "ts": begin,
            "dur": length,
            **more,
        }

    trace = [
        event("RunTask", 0, 90_000),  # before the navigation
        event("RunTask", 2_000, 3_000, tdur=2_000),
        event("RunTask", 10_000, 7_000, tdur=1_000),
        event("Layout", 11_000, 4_000),
        event("RunTask", 11_000, 50_000, thread=2),  # another thread
        event("bench:answer", 20_000, args={"data": {"startTime": 19.0}}),
        event("RunTask", 21_000, 80_000),  # after the answer
    ]
    found = blocks(trace)
    assert [(each["at_ms"], each["ms"], each["cpu_ms"]) for each in found] == [
        (9, 7, 1),
        (1, 3, 2),
    ]
    assert found[0]["what"].startswith("Layout 4.0 ms")
    assert blocks(trace[:5]) == []
