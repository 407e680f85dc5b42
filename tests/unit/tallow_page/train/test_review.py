"""Labels in doubt, duplicates, and changes to the labels of the Train view's data."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.tallow_page.train.shapes import CLASSES, SIDE, data_of, picture, shapes

import tallow as tl
from tallow.errors import OptionError
from tallow_page.train import learning, questions, review
from tallow_page.train.data import Data
from tallow_page.train.learning import Lesson
from tallow_page.train.runs import Working

SIZE = SIDE * SIDE


def lesson(data: Data, monkeypatch: Any, settings: Mapping[str, Any] | None = None) -> Lesson:
    """A lesson on these data, as the one that is open."""
    given: dict[str, Any] = {
        "data": {"name": "shapes"},
        "layers": [
            {"kind": "conv2d", "out": 8, "kernel": 3, "padding": 1},
            {"kind": "relu"},
            {"kind": "maxpool2d", "size": 4},
            {"kind": "flatten"},
            {"kind": "linear", "out": 3},
        ],
        "batch": 30,
        "epochs": 4,
        "schedule": "constant",
        "optimizer": {"name": "adam", "lr": 0.01},
        "seed": 1,
    }
    working = Working(SimpleNamespace(), "one")  # type: ignore[arg-type]
    found = Lesson(given | dict(settings or {}), data, working)
    monkeypatch.setattr(learning, "_lesson", found)
    return found


def reviewed(run_async: Callable[..., Any], changes: Any = ()) -> Any:
    """The steps of a review, and its answer."""

    async def steps() -> list[Any]:
        action = questions.review_labels("one", json.dumps(list(changes)))
        return [json.loads(each) async for each in action]

    *found, answer = run_async(steps())
    return [each["progress"] for each in found], answer["answer"]


def mislabelled(data: Data, every: int = 20) -> tuple[Data, dict[str, set[int]]]:
    """The data with each so-manieth label wrong, and which ones."""
    labels: dict[str, Any] = {}
    wrong: dict[str, set[int]] = {}
    for part in ("train", "valid"):
        own = list(data.labels[part])
        wrong[part] = set(range(7, len(own), every))
        for index in wrong[part]:
            own[index] = (own[index] + 1) % 3
        labels[part] = own
    return data_of(dict(data.pixels), labels), wrong


# ---- labels in doubt --------------------------------------------------------------------------


def test_doubts_are_pruned_by_the_noise_rates_of_the_confident_joint(
    run_async: Callable[..., Any],
) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 400)
    labels = np.where(rng.random(400) < 0.15, (truth + 1) % 4, truth)
    shares = rng.dirichlet(np.ones(4) * 0.5, 400).astype("f")
    shares[np.arange(400), truth] += 0.7
    shares /= shares.sum(1, keepdims=True)
    means = np.array([shares[labels == each, each].mean() for each in range(4)])
    joint = np.zeros((4, 4))
    for row, label in zip(shares, labels, strict=True):
        if (row >= means).any():
            joint[label, np.where(row >= means, row, -1).argmax()] += 1
    expected = set()
    for i in range(4):
        for j in set(range(4)) - {i}:
            wrong = round((labels == i).sum() * joint[i, j] / joint[i].sum())
            those = np.flatnonzero((labels == i) & (shares.argmax(1) == j))
            margins = shares[those, j] - shares[those, i]
            expected |= set(those[np.argsort(-margins)][:wrong].tolist())
    assert len(expected) > 20
    found = run_async(review.doubts(tl.asarray(shares), labels.tolist(), range(400), ()))
    assert {each["index"] for each in found} == expected
    for each in found:
        row = shares[each["index"]]
        assert (each["label"], each["guess"]) == (labels[each["index"]], row.argmax())
        assert each["probability"] == pytest.approx(row.max())
        assert each["own"] == pytest.approx(row[each["label"]])
    margins = [each["probability"] - each["own"] for each in found]
    assert margins == sorted(margins, reverse=True)


def test_a_class_without_samples_claims_none(run_async: Callable[..., Any]) -> None:
    shares = tl.asarray([[0.1, 0.1, 0.8], [0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])
    assert run_async(review.doubts(shares, [0, 0, 1], range(3), ())) == []


def test_probabilities_that_are_not_finite_are_said(run_async: Callable[..., Any]) -> None:
    shares = tl.asarray([[math.nan, math.nan], [0.5, 0.5]])
    with pytest.raises(OptionError, match="not finite"):
        run_async(review.doubts(shares, [0, 1], range(2), ()))


def test_wrong_labels_are_found_and_few_others(
    monkeypatch: Any, run_async: Callable[..., Any]
) -> None:
    data, wrong = mislabelled(shapes(600, 300))
    tl.manual_seed(0)
    held = lesson(data, monkeypatch)
    held.learner.fit(held.train, held.valid, 4)
    steps, answer = reviewed(run_async)
    assert steps[-1]["done"] <= steps[-1]["total"] == 2 * 900
    assert [each["done"] for each in steps] == sorted(each["done"] for each in steps)
    for part in answer["parts"]:
        found = {each["index"] for each in part["doubts"]}
        truth = wrong[part["part"]]
        assert len(found & truth) >= 0.6 * len(truth)
        assert len(found - truth) <= 0.1 * len(found)
        assert part["doubted"] == len(found)
        for each in part["doubts"]:
            assert each["label"] == data.labels[part["part"]][each["index"]]
            if each["index"] in truth:
                assert each["guess"] == (each["label"] + 2) % 3
    assert sum(answer["counts"]) == 900


def test_what_was_decided_about_is_not_asked_again(
    monkeypatch: Any, run_async: Callable[..., Any]
) -> None:
    data, _ = mislabelled(shapes(600, 300))
    held = lesson(data, monkeypatch)
    held.learner.fit(held.train, held.valid, 4)
    _, answer = reviewed(run_async)
    first, second, third = answer["parts"][0]["doubts"][:3]
    changes = [
        {"number": first["number"], "label": CLASSES[first["guess"]]},
        {"number": second["number"], "label": None},
        {"number": third["number"], "label": CLASSES[third["label"]]},
    ]
    _, again = reviewed(run_async, changes)
    left = [each["index"] for each in again["parts"][0]["doubts"]]
    before = [each["index"] for each in answer["parts"][0]["doubts"]]
    assert left == before[3:]
    counts = list(answer["counts"])
    counts[first["label"]] -= 1
    counts[first["guess"]] += 1
    counts[second["label"]] -= 1
    assert again["counts"] == counts


def test_a_network_that_has_not_learned_reviews_nothing(
    monkeypatch: Any, run_async: Callable[..., Any]
) -> None:
    lesson(shapes(), monkeypatch)
    with pytest.raises(OptionError, match="train it first"):
        reviewed(run_async)


# ---- duplicates -------------------------------------------------------------------------------


def twins_of(run_async: Callable[..., Any], data: Data, part: str = "train") -> list[Any]:
    """The duplicates of a part."""

    async def last() -> Any:
        found: Any = None
        labels = data.labels[part]
        async for each in review.duplicates(
            getattr(data, part), labels, review.numbers_of(data, part), ()
        ):
            found = each
        return found

    result: list[Any] = run_async(last())
    return result


def test_the_same_and_nearly_the_same_are_found_and_no_others(
    run_async: Callable[..., Any],
) -> None:
    draw = random.Random(3)
    rng = np.random.default_rng(3)
    found = [rng.integers(0, 256, SIZE, np.uint8).tobytes() for _ in range(1100)]
    found[700] = found[30]
    found[1099] = bytes(min(255, value + draw.randrange(3)) for value in found[600])
    labels = [number % 3 for number in range(1100)]
    pixels = memoryview(b"".join(found))
    data = data_of({"train": pixels, "valid": pixels[:SIZE]}, {"train": labels, "valid": [0]})
    same, near = twins_of(run_async, data)
    assert (same["index"], same["of"], same["same"], same["alike"]) == (700, 30, True, 1.0)
    assert (same["label"], same["other"]) == (700 % 3, 0)
    assert (near["index"], near["of"], near["same"]) == (1099, 600, False)
    assert review.ALIKE <= near["alike"] <= 1.0


def test_pictures_that_are_blank_are_the_same_but_not_near(run_async: Callable[..., Any]) -> None:
    pixels = memoryview(bytes(SIZE) + bytes([9]) * SIZE + bytes([9]) * SIZE)
    data = data_of({"train": pixels, "valid": pixels}, {"train": [0, 1, 2], "valid": [0, 1, 2]})
    (only,) = twins_of(run_async, data)
    assert (only["index"], only["of"], only["same"]) == (2, 1, True)


def test_more_pictures_than_can_be_compared_have_the_same_ones_alone(
    monkeypatch: Any, run_async: Callable[..., Any]
) -> None:
    monkeypatch.setattr(review, "NEAR_AT_MOST", 2)
    near = bytearray(picture(0, random.Random(1)))
    base = bytes(near)
    near[0] += 1
    pixels = memoryview(base + base + bytes(near))
    data = data_of({"train": pixels, "valid": pixels}, {"train": [0, 0, 0], "valid": [0, 0, 0]})
    assert [each["index"] for each in twins_of(run_async, data)] == [1]


def test_5000_pictures_are_looked_through_without_a_long_step(
    run_async: Callable[..., Any],
) -> None:
    rng = np.random.default_rng(0)
    pixels = memoryview(rng.integers(0, 256, 5000 * SIZE, np.uint8).tobytes())
    labels = [0] * 5000
    data = data_of({"train": pixels, "valid": pixels[:SIZE]}, {"train": labels, "valid": [0]})

    async def longest() -> float:
        most, began = 0.0, time.perf_counter()
        async for _ in review.duplicates(data.train, labels, range(5000), ()):
            now = time.perf_counter()
            most, began = max(most, now - began), now
        return most

    run_async(longest())  # compiles
    assert run_async(longest()) < 1.0


# ---- changes ----------------------------------------------------------------------------------


def change(number: int, label: str | None) -> dict[str, Any]:
    return {"number": number, "label": label}


def content(data: Data, part: str) -> list[tuple[bytes, int]]:
    """Each sample of a part's dataset: its pixels and its label."""
    dataset = getattr(data, part)
    x, y = (tensor.numpy() for tensor in dataset.tensors)
    return [(row.tobytes(), int(label)) for row, label in zip(x, y, strict=True)]


def test_samples_are_relabelled_and_thrown_out(run_async: Callable[..., Any]) -> None:
    data = shapes(9, 6)
    before = {part: content(data, part) for part in ("train", "valid")}
    changes = [
        change(2, "bar"), change(4, None), change(9 + 1, None), change(9 + 2, "beam"),
        change(0, None), change(0, "square"),
    ]  # fmt: skip
    after = review.applied(data, changes)
    train = [(pixels, label) for at, (pixels, label) in enumerate(before["train"]) if at != 4]
    train[2] = train[2][0], 0
    train[0] = train[0][0], 2
    valid = [each for at, each in enumerate(before["valid"]) if at != 1]
    valid[1] = valid[1][0], 1
    assert content(after, "train") == train
    assert content(after, "valid") == valid
    for part, samples in (("train", train), ("valid", valid)):
        assert list(after.labels[part]) == [label for _, label in samples]
        for index, (pixels, _) in enumerate(samples):
            assert after.picture(part, index) == (SIDE, SIDE, 1, pixels)  # type: ignore[arg-type]
    assert list(review.numbers_of(after, "train")) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert list(review.numbers_of(after, "valid")) == [9, 11, 12, 13, 14]
    assert content(data, "train") == before["train"]


def test_changes_of_changed_data_are_of_the_same_samples() -> None:
    data = shapes(9, 6)
    once = review.applied(data, [change(4, None)])
    twice = review.applied(once, [change(5, "bar")])
    assert content(twice, "train") == content(
        review.applied(data, [change(4, None), change(5, "bar")]), "train"
    )


def test_examples_of_the_visitors_are_known_by_their_own_numbers() -> None:
    data = replace(shapes(3, 3), numbers={"train": [40, 50, 60], "valid": [45, 55, 65]})
    after = review.applied(data, [change(55, None), change(60, "bar"), change(2, None)])
    assert list(after.labels["train"]) == [0, 1, 0]
    assert list(review.numbers_of(after, "valid")) == [45, 65]


@pytest.mark.parametrize("changes", [(), [change(0, "bar")], [change(0, None), change(0, "bar")]])
def test_data_that_do_not_change_are_the_same(changes: Any) -> None:
    data = shapes(9, 6)
    assert review.applied(data, changes) is data


def test_what_the_data_no_longer_have_is_left_out() -> None:
    data = shapes(9, 6)
    assert review.applied(data, [change(999, None), change(1, "a class that was removed")]) is data


@pytest.mark.parametrize(
    "wrong", [{}, {"number": "1", "label": None}, {"number": 1, "label": 2}, {"label": "bar"}]
)
def test_a_change_that_is_none_is_said(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(OptionError, match="a change has"):
        review.applied(shapes(9, 6), [wrong])


def test_without_any_sample_to_learn_from_that_is_said() -> None:
    with pytest.raises(OptionError, match="all 3 samples"):
        review.applied(shapes(3, 6), [change(number, None) for number in range(3)])


def test_without_any_sample_to_measure_by_there_is_no_validation() -> None:
    assert review.applied(shapes(3, 2), [change(3, None), change(4, None)]).valid is None


def test_a_run_learns_from_the_changed_data(monkeypatch: Any) -> None:
    changes = [change(number, None) for number in range(0, 60, 2)] + [change(60, "square")]
    chosen = {"data": {"name": "shapes", "changes": changes}, "batch": 20}
    held = lesson(shapes(90, 9), monkeypatch, chosen)
    assert len(held.train.dataset) == 60  # type: ignore[arg-type]
    held.learner.fit(held.train, held.valid, 1)
    assert held.learner.steps == 3
    assert held.data.labels["train"][30] == 2
