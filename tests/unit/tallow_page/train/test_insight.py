"""What a network in training has learnt: mistakes, filters, gradients by layer, answers."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.tallow_page.train.shapes import CLASSES, SIDE, shapes

import tallow as tl
from tallow import nn, optim
from tallow.errors import FeedError, IndexRangeError, OptionError
from tallow.train import Callback, Learner
from tallow_page.train import insight, learning, questions
from tallow_page.train.learning import Lesson
from tallow_page.train.runs import Working

LAYERS = [
    {"kind": "conv2d", "out": 8, "kernel": 3, "padding": 1},
    {"kind": "relu"},
    {"kind": "maxpool2d", "size": 4},
    {"kind": "flatten"},
    {"kind": "linear", "out": 3},
]
SETTINGS: dict[str, Any] = {
    "data": {"name": "shapes"}, "layers": LAYERS, "batch": 30, "epochs": 4, "schedule": "constant",
    "optimizer": {"name": "adam", "lr": 0.01}, "seed": 1,
}  # fmt: skip


@pytest.fixture
def held(monkeypatch: Any) -> Lesson:
    """A lesson that nobody has begun, as the one that is open."""
    found = Lesson(SETTINGS, shapes(), Working(SimpleNamespace(), "one"))  # type: ignore[arg-type]
    monkeypatch.setattr(learning, "_lesson", found)
    return found


def learn(held: Lesson, epochs: int = 4) -> None:
    """Trains it."""
    held.learner.fit(held.train, held.valid, epochs)


def asked(run_async: Callable[..., Any], question: Any) -> Any:
    """What a question answers."""
    return json.loads(run_async(question))


def scores_of(held: Lesson) -> Any:
    """The scores of the validation, computed on their own."""
    held.learner.model.eval()
    x = held.data.valid.tensors[0]
    with tl.no_grad():
        return held.learner.model(x).numpy()


def unpacked(data: bytes) -> list[tuple[int, int, int, bytes]]:
    """What `packed` packed, as web/views/train/seen/thumbs.js reads it."""
    (count,) = struct.unpack_from("<I", data)
    at = 4 + 12 * count
    found = []
    for number in range(count):
        height, width, channels = struct.unpack_from("<3I", data, 4 + 12 * number)
        size = height * width * channels
        found.append((height, width, channels, data[at : at + size]))
        at += size
    assert at == len(data)
    return found


# ---- the validation ---------------------------------------------------------------------------


def test_the_confusion_matrix_and_the_accuracy_are_those_of_the_network(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    learn(held)
    found = asked(run_async, questions.read_insight("one"))
    predicted = scores_of(held).argmax(1)
    expected = np.zeros((3, 3), int)
    for label, guess in zip(held.data.labels["valid"], predicted, strict=True):
        expected[label, guess] += 1
    assert found["classes"] == CLASSES
    assert found["confusion"] == expected.tolist()
    share = np.trace(expected) / 90
    assert held.learner.history[-1]["valid_accuracy"] == pytest.approx(share)
    assert share > 0.8


def test_the_worst_mistakes_are_wrong_and_in_the_order_of_their_losses(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    learn(held, 1)
    found = asked(run_async, questions.read_insight("one"))["mistakes"]
    scores = scores_of(held).astype(np.float64)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    labels = np.array(held.data.labels["valid"])
    losses = -np.log(shares[np.arange(90), labels])
    wrong = [i for i in np.argsort(-losses) if shares[i].argmax() != labels[i]]
    assert wrong
    assert [each["index"] for each in found] == wrong[: len(found)]
    for each in found:
        i = each["index"]
        assert each["label"] == labels[i]
        assert each["predicted"] == shares[i].argmax()
        assert each["probability"] == pytest.approx(shares[i].max(), rel=1e-4)
        assert each["loss"] == pytest.approx(losses[i], rel=1e-4)


def test_a_cell_has_its_samples_and_no_others(held: Lesson, run_async: Callable[..., Any]) -> None:
    learn(held, 1)
    matrix = asked(run_async, questions.read_insight("one"))["confusion"]
    labels, predicted = held.data.labels["valid"], scores_of(held).argmax(1)
    for label in range(3):
        for guess in range(3):
            found = asked(run_async, questions.read_cell("one", label, guess, 90))["samples"]
            wanted = [i for i in range(90) if (labels[i], predicted[i]) == (label, guess)]
            assert sorted(each["index"] for each in found) == wanted
            assert len(found) == matrix[label][guess]
            shares = [each["probability"] for each in found]
            assert shares == sorted(shares, reverse=True)
    assert len(asked(run_async, questions.read_cell("one", 0, 0, 2))["samples"]) == 2


def test_without_a_validation_yet_there_is_one(held: Lesson, run_async: Callable[..., Any]) -> None:
    found = asked(run_async, questions.read_insight("one"))
    assert sum(map(sum, found["confusion"])) == 90


def test_losses_that_are_not_finite_are_the_worst_and_json_all_the_same() -> None:
    found = insight.Judgements([0.1, math.nan, 5.0], [0, 1, 1], [0.9, math.nan, 0.8], [0, 0, 0])
    worst = found.worst(5)
    assert [each["index"] for each in worst] == [1, 2]
    assert worst[0]["loss"] is None
    assert json.dumps(worst, allow_nan=False)


def test_a_run_that_is_not_open_has_no_mistakes(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    with pytest.raises(OptionError, match="not open"):
        run_async(questions.read_insight("two"))


# ---- pictures ---------------------------------------------------------------------------------


def test_samples_are_pictures_of_their_pixels(held: Lesson) -> None:
    found = unpacked(questions.sample_pictures("one", "valid", "[4, 0]"))
    size = SIDE * SIDE
    pixels = held.data.pixels["valid"]
    assert found == [
        (SIDE, SIDE, 1, bytes(pixels[4 * size : 5 * size])),
        (SIDE, SIDE, 1, bytes(pixels[:size])),
    ]


@pytest.mark.parametrize("index", [-1, 90])
def test_there_is_no_picture_of_a_sample_that_is_not_there(held: Lesson, index: int) -> None:
    with pytest.raises(IndexRangeError, match=f"{index}.*90"):
        questions.sample_pictures("one", "valid", f"[{index}]")


def test_filters_of_a_convolution_are_grey_around_zero(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    found = unpacked(run_async(questions.first_filters("one")))
    weight = next(held.learner.model.parameters()).numpy()
    assert len(found) == 8
    for (height, width, channels, pixels), own in zip(found, weight[:, 0], strict=True):
        assert (height, width, channels) == (3, 3, 1)
        expected = 127.5 + 127.5 * own / np.abs(own).max()
        assert np.abs(np.frombuffer(pixels, np.uint8).reshape(3, 3) - expected).max() <= 0.51


def test_a_linear_layer_on_pictures_has_filters_and_a_head_has_none(
    run_async: Callable[..., Any],
) -> None:
    linear = nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 5, 7))
    found = run_async(insight.filters(linear, (3, 4, 5)))
    assert [each[:3] for each in found] == [(4, 5, 3)] * 7
    assert run_async(insight.filters(nn.Linear(1280, 3), (1280,))) == []
    assert run_async(insight.filters(nn.ReLU(), (3, 4, 5))) == []


def test_a_filter_of_zeros_is_grey(run_async: Callable[..., Any]) -> None:
    conv = nn.Conv2d(2, 1, 3)
    with tl.no_grad():
        conv.weight.assign(tl.zeros((1, 2, 3, 3)))
    ((height, width, channels, pixels),) = run_async(insight.filters(conv, (2, 8, 8)))
    assert (height, width, channels) == (3, 3, 1)
    assert set(pixels) == {128}


# ---- gradients --------------------------------------------------------------------------------


def test_norms_are_those_of_each_layers_gradients_over_the_steps_since(
    run_async: Callable[..., Any],
) -> None:
    tl.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1))
    norms = insight.GradientNorms(model)
    expected: list[list[float]] = []

    class Checks(Callback):
        def on_step_end(self, learner: Any) -> None:
            x, y = batches[len(expected)]
            loss = ((twin(x) - y) ** 2).mean()
            loss.backward()
            layers = (twin[0], twin[2])
            expected.append(
                [
                    float(np.sqrt(sum((p.grad.numpy() ** 2).sum() for p in each.parameters())))
                    for each in layers
                ]
            )
            for p in twin.parameters():
                p.grad = None

    twin = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1))
    twin.load_state_dict(model.state_dict())
    rng = np.random.default_rng(0)
    batches = [
        tuple(tl.asarray(rng.normal(size=(8, width)).astype("f")) for width in (4, 1))
        for _ in range(6)
    ]
    still = optim.SGD(model.parameters(), 0.0)  # so that the twin stays the same
    learner = Learner(
        model, still, nn.functional.mse_loss, callbacks=[norms, Checks()], progress=False
    )
    assert run_async(norms.read()) == {}
    learner.fit(batches[:4])
    found = run_async(norms.read())
    assert list(found) == ["0 Linear", "2 Linear"]
    assert list(found.values()) == pytest.approx(np.mean(expected, 0).tolist(), rel=1e-4)
    assert run_async(norms.read()) == {}
    before = len(expected)
    batches[:] = batches[before:] + batches[:before]
    del expected[:]
    learner.fit(batches[:2])
    found = run_async(norms.read())
    assert list(found.values()) == pytest.approx(np.mean(expected, 0).tolist(), rel=1e-4)


def test_a_frozen_layer_has_a_norm_of_0_and_one_that_overflows_none(
    run_async: Callable[..., Any],
) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].requires_grad_(False)
    norms = insight.GradientNorms(model)
    optimizer = optim.SGD(model.parameters(), 0.0)
    norms.on_fit_start(SimpleNamespace(optimizers=[optimizer]))  # type: ignore[arg-type]
    (model(tl.full((1, 2), 1e30)) * 1e20).sum().backward()
    optimizer.step()
    assert run_async(norms.read()) == {"0 Linear": 0.0, "1 Linear": None}


def test_norms_add_no_plan_and_read_nothing_within_a_step(held: Lesson) -> None:
    learn(held)
    assert held.learner.plans == 1


# ---- answers ----------------------------------------------------------------------------------


def test_an_answer_is_the_networks_for_these_pixels(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    learn(held)
    scores = scores_of(held)[5].astype(np.float64)
    size = SIDE * SIDE
    pixels = bytes(held.data.pixels["valid"][5 * size : 6 * size])
    found = asked(run_async, questions.answer_lesson("one", pixels))
    assert found["classes"] == CLASSES
    shares = np.exp(scores) / np.exp(scores).sum()
    assert found["probabilities"] == pytest.approx(shares.tolist(), abs=1e-5)


def test_an_input_of_another_length_is_refused(held: Lesson, run_async: Callable[..., Any]) -> None:
    with pytest.raises(FeedError, match=r"10 bytes.*144"):
        run_async(questions.answer_lesson("one", bytes(10)))


def test_answers_that_are_not_finite_are_refused(
    held: Lesson, run_async: Callable[..., Any]
) -> None:
    for p in held.learner.model.parameters():
        p.assign(tl.full(p.shape, math.inf))
    with pytest.raises(OptionError, match="not finite"):
        run_async(questions.answer_lesson("one", bytes(SIDE * SIDE)))
