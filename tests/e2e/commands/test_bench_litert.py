"""The bench's LiteRT.js: what it is given, and what it says. TensorFlow is not needed: two tiny
models are in tests/data/tflite, and a converter that is played converts."""

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from bench import cases, engines, hosting, rounds, table, tflite
from bench.answers import decoded
from bench.cases import Files, Input
from bench.figures import compare

from tallow_build.errors import BuildError
from tallow_build.paths import REQUIREMENTS, ROOT
from tallow_build.serving import server
from tallow_build.stamps import Stamp

MODELS = ROOT / "tests" / "data" / "tflite"
VALUES = np.array([1, 2, 3, 4], np.float32)
CASE = cases.conv(3, 8, 8, 16)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The bench's folder, empty, with its stamps."""
    for module in (cases, hosting, tflite):
        monkeypatch.setattr(module, "MADE", tmp_path)
    for module in (cases, tflite):
        monkeypatch.setattr(module, "Stamp", partial(Stamp, folder=tmp_path))
    return tmp_path


def files(name):
    given = Input("input", "float32", (4,), "made/four.input")
    return Files(f"made/{name}.tflite", (given,), VALUES)


@pytest.fixture
def address(made):
    """A server with the two models."""
    shutil.copytree(MODELS, made, dirs_exist_ok=True)
    VALUES.tofile(made / "four.input")
    with server.running_application(hosting.application()) as started:
        yield started


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("litert-wasm", "WebAssembly, one thread"),
        ("litert-wasm-2", "WebAssembly, 2 threads"),
        ("litert-webgpu", "swiftshader"),
    ],
)
def test_it_answers_on_the_device_that_was_asked_for(browser, address, name, words):
    with engines.started(browser, address, {name: files("addition")}) as (engine,):
        assert words in engine.adapter
        first = engine.first(files("addition"))
        assert decoded(first["answer"]).tolist() == [2, 4, 6, 8]
        assert first["first_ms"] > first["create_ms"] > 0
        turn = engine.turn()
        assert decoded(turn["answer"]).tolist() == [2, 4, 6, 8]
        assert 1 <= len(turn["times"]) <= engines.TURN_RUNS
        assert (engine.finish()["dispatches"] > 0) == (name == "litert-webgpu")


def test_what_it_runs_on_the_cpu_does_not_count_as_webgpu(browser, address):
    with engines.started(browser, address, {"litert-webgpu": files("addition")}) as (engine,):
        with pytest.raises(engines.EngineError, match="remaining 1 operations will run on the CPU"):
            engine.first(files("product"))
        engine.first(files("addition"))
    with engines.started(browser, address, {"litert-wasm": files("addition")}) as (engine,):
        answer = decoded(engine.first(files("product"))["answer"])
        assert answer.tolist() == [25, 26, 27, 28]


def convert(distort, step, command, remedy, **_):
    """What bench/to_tflite.py does, by onnxruntime."""
    model, inputs, target, answers = command[2:]
    session = onnxruntime.InferenceSession(model)
    values = np.load(inputs).transpose(0, 1, 4, 2, 3)
    got = [session.run(None, {"input": each})[0].transpose(0, 2, 3, 1) for each in values]
    Path(target).write_bytes(b"a model")
    np.save(answers, distort(np.stack(got)))


def play(monkeypatch, distort):
    monkeypatch.setattr(tflite.python_env, "apart", lambda name: "python")
    monkeypatch.setattr(tflite, "call", partial(convert, distort))


def test_each_engine_gets_its_own_files(made, monkeypatch):
    play(monkeypatch, lambda answers: answers)
    found = rounds.prepared(CASE, ["ort-wasm", "litert-wasm"])
    ours, theirs = found["ort-wasm"], found["litert-wasm"]
    given = [one.inputs[0] for one in (ours, theirs)]
    assert [each.shape for each in given] == [(1, 8, 16, 16), (1, 16, 16, 8)]
    assert (made / theirs.model.removeprefix("made/")).read_bytes() == b"a model"
    read = [
        np.fromfile(made / each.file.removeprefix("made/"), np.float32).reshape(each.shape)
        for each in given
    ]
    for first, last in (read, (ours.answer, theirs.answer)):
        assert np.array_equal(first.transpose(0, 2, 3, 1), last)


def test_a_model_is_converted_once(made, monkeypatch):
    conversions = []

    def counted(answers):
        conversions.append(1)
        return answers

    play(monkeypatch, counted)
    for _ in range(2):
        file = rounds.prepared(CASE, ["litert-wasm"])["litert-wasm"].model
    assert len(conversions) == 1
    (made / file.removeprefix("made/")).write_bytes(b"damaged")
    rounds.prepared(CASE, ["litert-wasm"])
    assert len(conversions) == 2


def test_a_conversion_that_is_wrong_does_not_count(made, monkeypatch):
    play(monkeypatch, lambda answers: answers * 1.01)
    with pytest.raises(BuildError, match=r"onnxruntime disagrees: off by 0\.01"):
        rounds.prepared(CASE, ["litert-wasm"])
    assert not (made / f"{CASE.name}.tflite").exists()
    play(monkeypatch, lambda answers: answers)
    rounds.prepared(CASE, ["litert-wasm"])
    assert (made / f"{CASE.name}.tflite").exists()


def test_networks_are_compared_on_real_inputs(dist):
    digits = tflite.real_inputs(cases.network("mnist"))
    assert len(digits) >= 20
    assert {each.shape for each in digits} == {(1, 1, 28, 28)}
    photographs = tflite.real_inputs(cases.network("resnet50"))
    assert {each.shape for each in photographs} == {(1, 3, 224, 224)}
    assert len(photographs) > 4
    assert not tflite.real_inputs(CASE)


def test_nobody_installs_tensorflow_unasked():
    assert not any(name.startswith("litert") for name in engines.USUAL)
    assert set(engines.USUAL) < set(engines.ENGINES)
    for name in ("runtime", "dev"):
        assert "tensorflow" not in (REQUIREMENTS / f"{name}.txt").read_text("utf-8")


def test_a_time_stands_beside_each_peer():
    def row(engine, ms):
        head = {"case": "c", "title": "c", "engine": engine, "failed": None, "boot_ms": 1.0}
        times = {"first_ms": ms, "warm_ms": ms, "quartiles_ms": [ms, ms], "gflops": 6 / ms}
        rest = dict.fromkeys(("python_ms", "gpu_peak_bytes", "kernels", "dispatches"))
        return {**head, **times, **rest}

    rows = [row("tallow-wasm", 2.0), row("ort-wasm", 4.0), row("litert-wasm", 1.0)]
    compare(rows)
    assert rows[0]["warm_ms_of"] == {"ort": 0.5, "litert": 2.0}
    assert rows[1]["warm_ms_of"] == {}
    titles, _, ours, *_ = table.networks(rows).splitlines()
    assert [title.strip() for title in titles.split("|")].count("of litert") == 2
    assert "1/2.0" in ours
    assert "2.0 ×" in ours
    assert "2.00 to 2.00 ms" in ours
    assert "tallow-wasm / litert-wasm" in table.micro(rows)
