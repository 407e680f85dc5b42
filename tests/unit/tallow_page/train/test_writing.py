"""What a network of characters writes: while it learns, and when it is asked to go on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from random import Random
from typing import Any

import pytest
from tests.unit.tallow_page.train.lessons import Page, at

import tallow as tl
from tallow import nn
from tallow.errors import OptionError
from tallow_page.train import learning, questions
from tallow_page.train.texts import text_data
from tallow_page.train.writing import Samples, Writer, drawn

LETTERS = "abcdef"
TEXT = LETTERS * 250
LAYERS = [
    {"kind": "embedding", "width": 8}, {"kind": "transformer", "heads": 2},
    {"kind": "linear", "out": len(LETTERS)},
]  # fmt: skip
OPTIMIZER = {"name": "adamw", "lr": 0.01, "momentum": 0, "nesterov": False, "weight_decay": 0}
SETTINGS: dict[str, Any] = {
    "layers": LAYERS, "optimizer": OPTIMIZER, "schedule": "constant", "batch": 8, "epochs": 1,
}  # fmt: skip


class Alphabet(nn.Module):
    """Scores that leave no doubt: the letter behind each one, and at the wrong places none."""

    def forward(self, window: tl.Tensor) -> tl.Tensor:
        following = tl.expand_dims((window + 1) % len(LETTERS), -1)
        return (following == tl.arange(len(LETTERS))).astype("float32") * 100


async def last(texts: Any) -> list[str]:
    return [text async for text in texts]


@pytest.mark.parametrize("context", [4, 32])
def test_a_text_goes_on_also_beyond_what_the_network_sees(
    run_async: Callable[..., Any], context: int
) -> None:
    writer = Writer(Alphabet(), LETTERS, context)
    found = run_async(last(writer.write("?de!", 20, Random(0))))
    assert found[-1] == (LETTERS * 5)[3 : 3 + 22]
    assert [len(text) for text in found] == [10, 18, 22]
    assert run_async(last(writer.write("", 6, Random(0)))) == ["bcdefa"]


def test_training_goes_on_as_it_was(run_async: Callable[..., Any]) -> None:
    model = Alphabet().train()
    texts = Writer(model, LETTERS, 4).write("a", 20, Random(0))

    async def some() -> bool:
        await anext(texts)
        between = model.training
        await texts.aclose()
        return between

    assert run_async(some()) and model.training


def test_a_class_is_drawn_by_its_share() -> None:
    random = Random(1)
    found = [drawn([0.0, 0.8 * math.log(3), -math.inf], random) for _ in range(4000)]
    assert found.count(2) == 0
    assert found.count(1) / len(found) == pytest.approx(0.75, abs=0.03)
    assert {drawn([math.nan, math.nan], random) for _ in range(50)} == {0, 1}


def test_samples_take_a_small_share_of_the_time(run_async: Callable[..., Any]) -> None:
    now = 0.0

    def clock() -> float:
        return now

    samples = Samples(Writer(Alphabet(), LETTERS, 4), clock)
    assert not samples.due
    now = 5.0
    assert samples.due

    async def written() -> None:
        nonlocal now
        async for _ in samples.write():
            now += 0.1  # 20 reports of 8 characters

    run_async(written())
    assert now == pytest.approx(7.0) and not samples.due
    now = 7.0 + 2.0 * 97 / 3 - 1
    assert not samples.due
    now += 2
    assert samples.due


@pytest.fixture
def page(run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    made = Page(run_async, monkeypatch)

    async def opened(source: Any) -> Any:
        yield text_data("t", TEXT)

    monkeypatch.setattr(learning, "opened_data", opened)
    yield made
    made.reload()


def test_a_network_writes_while_it_learns_and_learns_the_same(
    page: Page, monkeypatch: pytest.MonkeyPatch, run_async: Callable[..., Any]
) -> None:
    _, quiet = page.run(**SETTINGS)
    losses = page.kept.about()["records"]
    page.reload()
    monkeypatch.setattr(learning, "Samples", partial(Samples, clock=count(step=60).__next__))
    reports, answer = page.run(run="s", **SETTINGS)
    texts = [each["text"] for each in reports if each["stage"] == "sample"]
    assert texts and set("".join(texts)) <= set(LETTERS)
    assert max(map(len, texts)) == 160
    assert (quiet["state"], answer["state"]) == ("done", "done")
    for one, other in zip(losses, page.kept.about("s")["records"], strict=True):
        assert (one["train_loss"], one["valid_loss"]) == (other["train_loss"], other["valid_loss"])

    found = run_async(last(questions.write_on("s", "abc", 30)))
    *steps, answered = map(json.loads, found)
    assert answered["answer"] == steps[-1]["progress"]
    assert answered["answer"]["text"].startswith("abc") and len(answered["answer"]["text"]) == 33


def test_a_network_without_characters_writes_nothing(
    run_async: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = Page(run_async, monkeypatch)
    pictures.run(until=at("look"))
    with pytest.raises(OptionError, match="knows no characters"):
        run_async(last(questions.write_on("r", "a", 5)))
    pictures.reload()
