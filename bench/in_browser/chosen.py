"""The likeliest next tokens, as a device finds them; bench/truth.py says what they are for.

It runs in Pyodide, and on CPython for the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tallow as tl
from tallow.core.drivers import Steps, run_async
from tallow.generation import LanguageModel, Request


def written(model: LanguageModel, tokens: Sequence[int]) -> Steps[list[int]]:
    """The likeliest token behind each of some tokens, which are written one after the other."""
    following = [*tokens[1:], tokens[0]]
    request = Request(
        tokens[:1],
        len(tokens),
        allowed=lambda text: [following[len(text)]],
        considered=True,
    )
    text = yield from model.writer.begin(request)
    while text.end is None:
        yield from model.writer.step()
    return [places[0][0] for places in text.considered]


async def chosen(source: Any, device: str, tokens: Sequence[int], one_by_one: int) -> list[Any]:
    """What a device chooses behind each token where all are read at once, and behind so many of the
    first ones, one by one. source: of a model, as for `tl.zoo.load`."""
    model = await tl.zoo.load_async(source, device=device)
    scores = await model.scores(tokens).numpy_async()
    several = await run_async(written(model, tokens[:one_by_one]))
    return [scores.argmax(-1).tolist(), several]
