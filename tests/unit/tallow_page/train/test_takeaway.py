"""What is taken home of a run: files that others read, and a program that has the same curve."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession
from tests.unit.tallow_page.train.lessons import SETTINGS, Page, contents

import tallow as tl
from tallow.data import CharDataset, TensorDataset
from tallow.errors import OptionError
from tallow_build.paths import ROOT
from tallow_page.train import learning, takeaway
from tallow_page.train.data import Data

TEXT = "the cat sat on the mat and the dog sat on the log. " * 12


@pytest.fixture
def page(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    made = Page(run_async, monkeypatch)
    yield made
    made.reload()


def _own(kind: str) -> Data:
    """Data that nobody else has."""
    random = np.random.default_rng(0)
    if kind == "text":
        vocabulary, end = sorted(set(TEXT)), len(TEXT) - len(TEXT) // 10
        train = CharDataset(TEXT[:end], 16, 5, vocabulary)
        valid = CharDataset(TEXT[end:], 16, 16, vocabulary)
        return Data("cats", kind, vocabulary, train, valid, (16,))
    shape = {"features": (6,), "pictures": (3, 8, 8), "sounds": (1, 8, 8)}[kind]
    sets = []
    for count in (24, 9):
        y = np.arange(count, dtype=np.int32) % 3
        x = random.normal(size=(count, *shape)) * 9 + 40 * y.reshape(-1, *[1] * len(shape))
        dtype = np.uint8 if kind == "pictures" else np.float32
        x = np.clip(x, 0, 255).astype(dtype)
        sets.append(TensorDataset(tl.asarray(x), tl.asarray(y)))
    return Data("things", kind, ["a", "b|c", "d"], sets[0], sets[1], shape, 41.5, 38.25)


HEAD = [{"kind": "dropout", "p": 0.25}, {"kind": "linear", "out": 3}]
RESIDUAL = [
    {"kind": "conv2d", "out": 4, "kernel": 3, "padding": 1}, {"kind": "batchnorm"},
    {"kind": "residual", "out": 4}, {"kind": "residual", "out": 6, "stride": 2},
    {"kind": "globalpool"}, {"kind": "flatten"}, {"kind": "linear", "out": 3},
]  # fmt: skip
GPT = [
    {"kind": "embedding", "width": 8}, {"kind": "transformer", "heads": 2}, {"kind": "layernorm"},
    {"kind": "linear", "out": len(set(TEXT))},
]  # fmt: skip
ADAMW = {"name": "adamw", "lr": 0.01, "momentum": 0, "nesterov": False, "weight_decay": 0.01}

RUNS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "published": (None, {}),
    "changed": (None, {"augment": ["mirror", "shift"], "data": {"name": "mnist", "count": 40}}),
    "reviewed": (
        None,
        {
            "data": {
                "name": "mnist",
                "count": None,
                "changes": [
                    {"number": 3, "label": None},
                    {"number": 4, "label": "7"},
                    {"number": 81, "label": "2"},
                    {"number": 82, "label": None},
                    {"number": 4, "label": "8"},
                ],
            }
        },
    ),
    "features": ("features", {"layers": HEAD, "optimizer": ADAMW, "schedule": "cosine"}),
    "pictures": ("pictures", {"layers": RESIDUAL, "schedule": "constant"}),
    "sounds": ("sounds", {"layers": RESIDUAL, "optimizer": ADAMW}),
    "text": ("text", {"layers": GPT, "optimizer": ADAMW}),
}


@pytest.fixture(params=RUNS)
def learnt(page: Page, monkeypatch: pytest.MonkeyPatch, request: Any) -> tuple[Page, Any]:
    """A page whose run has ended, and the run."""
    kind, settings = RUNS[request.param]
    if kind is not None:

        async def opened(_: Any) -> Any:
            yield _own(kind)

        monkeypatch.setattr(learning, "opened_data", opened)
    _, answer = page.run(**settings)
    assert answer["state"] == "done"
    return page, learning.lesson("r")


def test_onnx_gives_the_same_answers(learnt: tuple[Page, Any], run_async: Any) -> None:
    _, held = learnt
    content = run_async(takeaway.take_home("r", "onnx"))
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    session = InferenceSession(content)
    (input,) = session.get_inputs()
    assert input.name == "input"
    assert input.shape == ["N", *held.data.shape]
    x = np.stack([held.data.valid[at][0].numpy() for at in range(3)])
    (found,) = session.run(["scores"], {"input": x})
    held.learner.model.eval()
    np.testing.assert_allclose(found, held.learner.model(tl.asarray(x)).numpy(), 1e-4, 1e-5)


def test_the_program_has_the_same_curve(
    learnt: tuple[Page, Any], run_async: Any, tmp_path: Path
) -> None:
    _, held = learnt
    program = run_async(takeaway.take_home("r", "python"))
    (tmp_path / "train.py").write_bytes(program)
    if held.data.name == "mnist":
        raw = tmp_path / "MNIST" / "raw"
        raw.mkdir(parents=True)
        for name, content in contents().items():
            (raw / name).write_bytes(content)
    else:
        name = "text.txt" if held.data.kind == "text" else "data.safetensors"
        (tmp_path / name).write_bytes(run_async(takeaway.take_home("r", "data")))
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "py")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    history = held.learner.history
    assert len(rows) == len(history) == 2
    for row, record in zip(rows, history, strict=True):
        for name in ("train_loss", "train_accuracy", "valid_loss", "valid_accuracy"):
            assert float(row[name]) == pytest.approx(record[name], rel=1e-6), name
    weights = tl.load(tmp_path / "network.safetensors")
    (tmp_path / "taken.safetensors").write_bytes(run_async(takeaway.take_home("r", "safetensors")))
    taken = tl.load(tmp_path / "taken.safetensors")
    assert list(weights) == list(taken)
    for name, value in weights.items():
        np.testing.assert_allclose(value.numpy(), taken[name].numpy(), 1e-6, err_msg=name)


def test_a_card(learnt: tuple[Page, Any], run_async: Any) -> None:
    _, held = learnt
    said = run_async(takeaway.take_home("r", "card")).decode()
    last = held.learner.history[-1]
    assert f"| others | {last['valid_loss']:.4f} | {last['valid_accuracy']:.2%} |" in said
    assert "seed: 3" in said
    assert said.startswith(f"# A network for {held.data.name}\n")
    if held.data.kind == "text":
        assert "| class |" not in said
        return
    labels = held.data.valid.tensors[1].numpy()
    counts = np.bincount(labels, minlength=len(held.data.classes))
    rows = [row.split(" | ") for row in said[said.index("| class |") :].splitlines()[2:]]
    assert [row[0] for row in rows] == [f"| {x}".replace("b|c", r"b\|c") for x in held.data.classes]
    assert [row[2] for row in rows] == [f"{count} |" for count in counts]
    right = sum(float(row[1].rstrip("%")) * n for row, n in zip(rows, counts, strict=True) if n)
    assert right / len(labels) / 100 == pytest.approx(last["valid_accuracy"], abs=0.01)


def test_a_card_of_a_run_that_was_not_measured(page: Page, run_async: Any) -> None:
    page.run(one=True)
    said = run_async(takeaway.take_home("r", "card")).decode()
    assert "It was not measured: no epoch has ended." in said


def test_what_cannot_be_taken(page: Page, run_async: Any) -> None:
    with pytest.raises(OptionError, match="resume it"):
        run_async(takeaway.take_home("r", "onnx"))
    page.run(one=True)
    with pytest.raises(OptionError, match="'pickle' is none of onnx, safetensors"):
        run_async(takeaway.take_home("r", "pickle"))
    with pytest.raises(OptionError, match="mnist is published; the program fetches it"):
        run_async(takeaway.take_home("r", "data"))


def test_names_of_classes_cannot_become_code() -> None:
    data = _own("features")
    names = ['"]; import os  # ', "'''", "\n\\", "{seed}", "中"]
    name = 'a"""\nimport os\n{seed}\\'
    odd = Data(name, data.kind, names, data.train, data.valid, data.shape)
    settings = {**SETTINGS, "layers": [{"kind": "linear", "out": 5}]}
    code = compile(takeaway.program(settings, odd), "train.py", "exec")
    assert "os" not in code.co_names
    (said,) = [each for each in code.co_consts if isinstance(each, str) and "learned by" in each]
    assert said.startswith("a    import os {seed} , learned by Tallow.")
