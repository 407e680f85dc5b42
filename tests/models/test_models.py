"""Every shipped model agrees with onnxruntime on real pictures, on NumPy and on WebGPU."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.files import Files

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.streamed_weights import StreamedArray, StreamedFile
from tallow.devices.wasm import target as wasm
from tallow_page import javascript

from .subjects import NAMES, Subject, mnist

# Runs in the browser: every picture through one session; returns the logits and the device.
IN_BROWSER = """
import numpy as np, tallow as tl
pictures = np.load("pictures.npy")
model = tl.onnx.load("model.onnx")
name = model.inputs[0].name
logits = []
with await model.session_async("webgpu") as session:
    for picture in pictures:
        (row,) = (await session.run_async({name: picture[None]})).values()
        logits.append(row[0].tolist())
    outcome = {"device": session.device, "runs": session.stats["runs"],
               "dispatches": session.stats["dispatches"], "adapter": session.adapter}
outcome | {"logits": logits}
"""


@pytest.fixture(scope="module", params=NAMES)
def subject(request: pytest.FixtureRequest, dist: Path) -> Subject:
    """A model of dist/."""
    return Subject(request.param)


def test_numpy(subject: Subject) -> None:
    model = tl.onnx.load(subject.path)
    with model.session("numpy") as session:
        rows = [session.run({subject.input: x[None]})[subject.output] for x in subject.pictures]
        assert session.device == "numpy"
    subject.check(np.concatenate(rows))


def test_webgpu(subject: Subject, browser_python: Callable[[str], Any]) -> None:
    python = browser_python("webgpu")
    packed = io.BytesIO()
    np.save(packed, subject.pictures)
    python.write("pictures.npy", packed.getvalue())
    python.write("model.onnx", subject.path.read_bytes())
    outcome = python.run(IN_BROWSER)
    assert outcome["device"] == "webgpu"
    assert outcome["adapter"]
    assert outcome["runs"] == len(subject.pictures)
    assert outcome["dispatches"] > 3
    subject.check(np.array(outcome["logits"], np.float32))


def test_what_the_card_says(subject: Subject) -> None:
    model = tl.onnx.load(subject.path)
    assert model.unsupported == []
    assert model.opset == subject.card["opset"]
    (image,), (logits,) = model.inputs, model.outputs
    assert (image.name, list(image.shape)) == (subject.input, subject.card["input"]["shape"])
    assert (logits.name, list(logits.shape)) == (subject.output, subject.card["output"]["shape"])


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
def test_it_is_compiled_before_its_weights_have_arrived(subject: Subject, device: str) -> None:
    """Like the page: no pass reads a weight that may not be loaded yet."""
    arriving = StreamedFile(javascript.Source(Files(subject.path).weights))
    graph = tl.onnx.load(Files(subject.path).graph, {subject.path.name: arriving}).graph()
    compiled = compile_graph(graph, device)
    weights = [data for _, data in compiled.weights]
    away = sum(data.nbytes for data in weights if isinstance(data, StreamedArray) and data.part)
    assert away > 0.98 * sum(data.nbytes for data in weights)
    assert compiled.plan == compile_graph(tl.onnx.load(subject.path).graph(), device).plan


def test_digits_of_the_standard_test_set(dist: Path) -> None:
    """At least 99.2 % of the 10,000, as documented for the model."""
    subject = Subject("mnist")
    images, labels = mnist("t10k-images"), mnist("t10k-labels")
    batch = 500
    right = 0
    with tl.onnx.load(subject.path).session("numpy", {"N": batch}) as session:
        for start in range(0, len(images), batch):
            pixels = subject.normalised(images[start : start + batch, :, :, None])
            logits = session.run({subject.input: pixels})[subject.output]
            right += int((logits.argmax(1) == labels[start : start + batch]).sum())
    assert len(images) == 10_000
    assert right >= 9920
    assert right / 10_000 == pytest.approx(
        subject.card["accuracy"]["measured"]["mnist_test"], abs=2e-4
    )


def test_threads_of_webassembly_agree_to_the_bit(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in steps that are too short to be worth it, as all of the digits' are."""
    monkeypatch.setattr(wasm, "_WORTH_SHARING", 0)
    before = tl.get_num_threads()
    answers = []
    try:
        for count in (1, 2, 3):
            tl.set_num_threads(count)
            with tl.onnx.load(subject.path).session("wasm") as session:
                assert any("units" in step.kernel for step in session.plan.run)
                rows = [session.run({subject.input: x[None]}) for x in subject.pictures[:2]]
            answers.append(np.concatenate([row[subject.output] for row in rows]))
    finally:
        tl.set_num_threads(before)
    np.testing.assert_allclose(
        answers[0], subject.wanted[:2], atol=1e-3 * np.abs(subject.wanted).max(), rtol=0
    )
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0].view(np.uint32), other.view(np.uint32))
