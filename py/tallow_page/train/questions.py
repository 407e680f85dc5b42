"""What the page asks about the run that is open: mistakes, filters, answers, labels in doubt."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING, Any

from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.errors import FeedError, OptionError
from tallow.graph import constant
from tallow.tensor import Tensor

from ..app import Fetch
from ..javascript import copied
from ..steps import Answer, streamed
from . import insight, review
from .learning import lesson

if TYPE_CHECKING:
    from ..contract.train import (
        Doubt,
        Duplicate,
        Insight,
        LessonAnswer,
        Mistakes,
        Reviewed,
        ReviewedPart,
        Reviewing,
        Written,
    )

__all__ = [
    "answer_lesson", "first_filters", "read_cell", "read_insight", "review_labels",
    "sample_pictures", "write_on",
]  # fmt: skip

_MISTAKES = 24
_DOUBTS = 2000
"""Doubts, and duplicates, of each part of the data that are listed, at most."""


async def read_insight(run: str) -> str:
    """What a run has learnt, an `Insight`. Raises OptionError for a run that is not open."""
    held = lesson(run)
    data = held.data
    answer: Insight = {
        "kind": data.kind,
        "shape": list(data.shape),
        "classes": list(data.classes) if held.insight.classifies else [],
        "confusion": [],
        "mistakes": [],
    }
    if held.insight.classifies and held.valid is not None:
        found = await held.insight.judgements(held.valid)
        answer["confusion"] = found.confusion(len(data.classes))
        answer["mistakes"] = found.worst(_MISTAKES)
    return json.dumps(answer)


async def read_cell(run: str, label: int, predicted: int, most: int) -> str:
    """The samples of a cell of the confusion matrix, the surest first: `Mistakes`. Raises
    OptionError for data without classes or without a validation."""
    held = lesson(run)
    if not held.insight.classifies or held.valid is None:
        raise OptionError("these data have no classes, or no samples that are kept to measure by")
    found = await held.insight.judgements(held.valid)
    answer: Mistakes = {"samples": found.cell(label, predicted, most)}
    return json.dumps(answer)


def sample_pictures(run: str, part: str, indices: str) -> bytes:
    """Samples of "train" or "valid" as pictures (`insight.packed`). indices: JSON, a list."""
    return insight.pictures(lesson(run).data, part, json.loads(indices))


async def first_filters(run: str) -> bytes:
    """The filters of the first layer as pictures (`insight.packed`)."""
    held = lesson(run)
    return insight.packed(await insight.filters(held.learner.model, held.data.shape))


async def answer_lesson(
    run: str, content: Any, card: str | None = None, fetch: Fetch | None = None
) -> str:
    """How probable each class is for one input: a `LessonAnswer`.

    content: pictures: their pixels as the data have them; features: a photograph as the network for
      photographs sees it, RGBA; sounds: one second, int16. A JavaScript typed array or any buffer.
    card, fetch: of the network for photographs; not used for other kinds.
    Raises: FeedError, DataError for another length.
    """
    held = lesson(run)
    data = held.data
    if data.kind == "features":
        if card is None or fetch is None:
            raise OptionError("a photograph needs the network that sees its features")
        from .features import opened_features

        found = await (await opened_features(card, fetch)).of(content)
    elif data.kind == "sounds":
        from .spectrograms import log_mel

        found = await log_mel(content)
    else:
        found = copied(content)
    (shares,) = await insight.probabilities(held.learner, input_of(data.shape, found))
    answer: LessonAnswer = {"classes": list(data.classes), "probabilities": shares}
    return json.dumps(answer)


@streamed
async def write_on(run: str, begin: str, count: int) -> AsyncGenerator[Any, None]:
    """Has a network of characters go on with a text: a `Written` now and then, and last.

    count: characters. Raises OptionError for a run that is not open, or whose data are no text.
    """
    writer = lesson(run).writer
    if writer is None:
        raise OptionError("this network knows no characters; train one on a text")
    written: Written = {"text": begin}
    async with aclosing(writer.write(begin, count, Random())) as texts:
        async for text in texts:
            written = {"text": text}
            yield written
    yield Answer(written)


def input_of(shape: Sequence[int], content: Any) -> Tensor:
    """A batch of one input, whose numbers are bytes or float32. Raises FeedError for a length that
    no such input has."""
    data = memoryview(content).cast("B")
    size = math.prod(shape)
    if len(data) not in (size, 4 * size):
        raise FeedError(f"{len(data):,} bytes; the network takes {size:,} numbers")
    dtype = dt.uint8 if len(data) == size else dt.float32
    return Tensor(constant(HostArray(memoryview(bytes(data)), (1, *shape), dtype)))


@streamed
async def review_labels(run: str, changes: str) -> AsyncGenerator[Any, None]:
    """Looks for labels in doubt and for duplicates: a `Reviewing` a step, last a `Reviewed`.

    changes: JSON, those of the visitor so far (`review.applied`). Raises OptionError for a run that
      is not open, has not learned, or has no classes.
    """
    held = lesson(run)
    data, learner = held.data, held.learner
    if not held.insight.classifies:
        raise OptionError("these data have no labels to review")
    if not learner.steps:
        raise OptionError("the network has learned nothing yet; train it first")
    decided = review.decided_of(data, json.loads(changes))
    datasets = {"train": data.train, "valid": data.valid}
    total = 2 * sum(len(each) for each in datasets.values() if each is not None)
    begun = 0

    def reviewing(done: int) -> Reviewing:
        return {"stage": "review", "done": begun + done, "total": total}

    counts = [0] * len(data.classes)
    parts: list[ReviewedPart] = []
    for part, dataset in datasets.items():
        if dataset is None:
            continue
        labels, numbers = data.labels[part], review.numbers_of(data, part)
        for number, label in zip(numbers, labels, strict=True):
            now = decided.get(number, label)
            if now is not None:
                counts[now] += 1
        doubts: list[Doubt] = []
        async with aclosing(review.scored(learner, dataset)) as steps:
            async for step in steps:
                if isinstance(step, int):
                    yield reviewing(step)
                else:
                    doubts = await review.doubts(step, labels, numbers, decided)
        begun += len(dataset)
        twins: list[Duplicate] = []
        async with aclosing(review.duplicates(dataset, labels, numbers, decided)) as looked:
            async for found in looked:
                if isinstance(found, int):
                    yield reviewing(found)
                else:
                    twins = found
        begun += len(dataset)
        reviewed: ReviewedPart = {
            "part": "train" if part == "train" else "valid",
            "doubted": len(doubts),
            "doubts": doubts[:_DOUBTS],
            "duplicated": len(twins),
            "duplicates": twins[:_DOUBTS],
            "near": len(dataset) <= review.NEAR_AT_MOST,
        }
        parts.append(reviewed)
    answer: Reviewed = {"classes": list(data.classes), "counts": counts, "parts": parts}
    yield Answer(answer)
