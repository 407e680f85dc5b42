"""The Write view's Python: one language model, and what it writes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter
from typing import TYPE_CHECKING, Any

import tallow as tl
from tallow.errors import OptionError
from tallow.generation import LanguageModel

from .app import on_start
from .published import opened
from .steps import Answer, streamed

if TYPE_CHECKING:
    from .contract.texts import TextModel, Wrote, WroteAnswer

__all__ = ["close_text_model", "open_text_model", "write_text"]

_model: LanguageModel | None = None


def close_text_model() -> None:
    """Frees the model, if one is open."""
    global _model
    _model = None


on_start.append(close_text_model)


@streamed
async def open_text_model(source: Any) -> AsyncGenerator[Any, None]:
    """Opens a language model; the one before is closed. A step is a `Fetching`, while it is
    fetched; the answer is a `TextModel`.

    source: what `opened` takes, as JavaScript gives it. Raises TallowError in one line.
    """
    global _model
    close_text_model()
    model: Any = None
    async with aclosing(opened(source.to_py())) as steps:
        async for step in steps:
            if isinstance(step, dict):
                yield step
            else:
                model = step
    if not isinstance(model, LanguageModel):
        raise OptionError("this network writes no texts")
    _model = model
    network: Any = model.network
    tokenizer: Any = model.tokenizer
    values = (each for module in network.modules() for each in vars(module).values())
    facts: TextModel = {
        "family": type(network).__name__,
        "parameters": sum(each.size for each in values if isinstance(each, tl.Tensor)),
        "context": model.writer.context,
        "converses": tokenizer is not None and tokenizer.chat is not None,
    }
    yield Answer(facts)


def _shown(model: LanguageModel, token: int) -> str:
    """A token as a text of its own."""
    return model.tokenizer.decode([token]) if model.tokenizer else str(token)


@streamed
async def write_text(messages: str, options: str) -> AsyncGenerator[Any, None]:
    """Writes an answer, a piece a step: a `Wrote`; last a `WroteAnswer`.

    messages: JSON, a text or a list of {"role", "content"}. options: JSON, those of `generate`.
    """
    model = _model
    if model is None:
        raise OptionError("no language model is open")
    given = json.loads(options)
    stream = model.stream(json.loads(messages), considered=True, **given)
    began = first = perf_counter()
    shown = 0
    with stream:
        async for piece in stream:
            written = stream.written
            assert written is not None
            if not shown:
                first = perf_counter()
            count = len(written.tokens)
            step: Wrote = {
                "stage": "write",
                "piece": piece,
                "tokens": count,
                "considered": [
                    [(_shown(model, token), share) for token, share in each]
                    for each in written.considered[shown:count]
                ],
            }
            shown = count
            yield step
        written = stream.written
    now = perf_counter()
    count = len(written.tokens) if written else 0
    answer: WroteAnswer = {
        "tokens": count,
        "first": first - began,
        "rate": (count - 1) / (now - first) if count > 1 and now > first else None,
        "end": written.end if written else None,
    }
    yield Answer(answer)
