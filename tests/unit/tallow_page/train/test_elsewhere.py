"""A trained network as one of the page's models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession
from tests.unit.tallow_page.train.lessons import Page, contents

import tallow as tl
from tallow.data import TensorDataset
from tallow.errors import OptionError
from tallow.runtime.compiling import compile_for
from tallow.runtime.device import backend
from tallow.runtime.session import Session
from tallow_build.paths import ROOT
from tallow_page import app
from tallow_page.train import elsewhere, learning, questions
from tallow_page.train.data import Data
from tallow_page.train.data_idx import data_of
from tallow_page.train.features import features_graph

MODEL = ROOT / "models" / "mnist" / "mnist.onnx"
"""Stands for the network for photographs: it, too, ends with a matrix product."""
DRAWN = {"size": 28, "crop": 1, "channels": "L", "mean": [0], "std": [1]}
"""As in web/views/train/worker.js."""
LINEAR = [{"kind": "flatten"}, {"kind": "linear", "out": 10}]


@pytest.fixture
def page(run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    tl.set_default_device("numpy")
    made = Page(run_async, monkeypatch)
    yield made
    made.reload()
    tl.set_default_device(None)


def learn_from(page: Page, monkeypatch: pytest.MonkeyPatch, data: Data, **settings: Any) -> Data:
    async def opened(_: Any) -> Any:
        yield data

    monkeypatch.setattr(learning, "opened_data", opened)
    assert page.run(**settings)[1]["state"] == "done"
    return data


async def fetched(content: bytes = b"") -> Any:
    """The files of a model without large weights."""
    return SimpleNamespace(graph=content, weights=SimpleNamespace(size=0))


def test_a_network_of_drawings_is_a_model_of_the_page(
    page: Page, run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = learn_from(
        page, monkeypatch, data_of("mnist", contents(side=28)), layers=LINEAR, epochs=1
    )
    facts = json.loads(run_async(elsewhere.model_facts("r")))
    assert facts == {"step": 10, "classes": list(data.classes)}
    content = run_async(elsewhere.model_file("r", "{}", fetched))
    card = {"name": "r-10", "preprocess": DRAWN, "output": {"kind": "logits"}}
    answer = json.loads(
        run_async(app.load_model("r-10", lambda: fetched(content), json.dumps(card)))
    )
    assert answer["name"] == "r-10"
    pixels = bytes(data.pixels["valid"][: 28 * 28])
    shown = np.frombuffer(pixels, np.uint8).astype(np.float32) / 255
    found = np.frombuffer(run_async(app.predict("r-10", shown)), np.float32)
    expected = json.loads(run_async(questions.answer_lesson("r", pixels)))["probabilities"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    app._models.pop("r-10").session.close()


def test_a_head_gets_the_network_whose_features_it_learned_from(
    page: Page, run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = np.random.default_rng(1).random((1, 1, 28, 28), np.float32)
    cut = features_graph(tl.onnx.load(MODEL).graph())
    used = backend("numpy")
    with Session.load(compile_for(used, cut), used) as session:
        (features,) = session.run({cut.inputs[0].attrs["name"]: picture}).values()
    random = np.random.default_rng(0)
    x = tl.asarray(random.normal(size=(24, len(features))).astype(np.float32))
    y = tl.asarray(np.arange(24, dtype=np.int32) % 3)
    data = Data(
        "things", "features", ["a", "b", "c"], TensorDataset(x, y), None, (len(features),), 0.5, 2.0
    )
    learn_from(page, monkeypatch, data, layers=[{"kind": "linear", "out": 3}])
    card = json.dumps({"name": "mnist"})
    content = run_async(elsewhere.model_file("r", card, lambda: fetched(MODEL.read_bytes())))
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    network = InferenceSession(content)
    (input,) = network.get_inputs()
    (found,) = network.run(["logits"], {input.name: picture})
    model = learning.lesson("r").learner.model.eval()
    np.testing.assert_allclose(found, model(tl.asarray(features[None])).numpy(), 1e-3, 1e-3)


def test_what_no_other_view_asks(page: Page, run_async: Callable[..., Any]) -> None:
    page.run(epochs=1)  # pictures of 8 x 8
    with pytest.raises(
        OptionError, match=r"learned from pictures of shape \(1, 8, 8\); Draw takes"
    ):
        run_async(elsewhere.model_file("r", "{}", fetched))
    with pytest.raises(OptionError, match="resume it first"):
        run_async(elsewhere.model_file("other", "{}", fetched))
