"""Conversations with tools: prompts, and answers as messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.hub import tiny
from tests.unit.text.test_tools import HERMES, MISTRAL, call, weather

import tallow as tl
from tallow.errors import OptionError

pytestmark = pytest.mark.usefixtures("on_numpy")

MESSAGES = [{"role": "user", "content": "Hi"}]
ASKED = '<tool_call>\n{"name": "weather", "arguments": {"city": "Köln"}}\n</tool_call>'


def taught(template: str) -> Any:
    """The tiny network with a template that knows tools."""
    said = {"tokenizer.chat_template": template, "llama.context_length": 2048}
    return tl.zoo.load(tiny.gguf_file(**said), device="numpy")


def test_a_prompt_has_the_tools_and_an_answer_its_calls(run_async: Callable[..., Any]) -> None:
    model = taught(HERMES)
    prompt = model.tokenizer.decode(model.tokens_of(MESSAGES, [weather]))
    assert prompt.startswith('<tools>{"type": "function"') and '"name": "weather"' in prompt
    assert prompt.endswith("<|im_start|>assistant\n")
    options = {"tools": [weather], "regex": re.escape(ASKED)}
    answer = model.reply(MESSAGES, **options)
    assert answer == {
        "role": "assistant",
        "content": "",
        "tool_calls": [call("weather", city="Köln")],
    }
    assert model.generate(MESSAGES, 90, **options) == ASKED
    assert ASKED in model.tokenizer.decode(model.tokens_of([*MESSAGES, answer], [weather]))
    assert model.reply(MESSAGES, max_tokens=20, **options)["content"] == ASKED[:20]
    assert model.reply(MESSAGES, stop="}}", **options)["content"] == ASKED[: ASKED.index("}}")]

    async def awaited() -> Any:
        return await model.reply_async(MESSAGES, **options)

    assert run_async(awaited()) == answer


def test_marks_that_are_special_tokens_are_read() -> None:
    model = taught(MISTRAL)
    wanted = model.tokenizer.encode('[{"name": "weather", "arguments": {}}]').ids
    model.tokenizer.added = type(model.tokenizer.added)(
        {0: tl.text.AddedToken("[TOOL_CALLS]", special=True)}, None
    )
    tokens = [0, *wanted]

    def allowed(written: Any) -> Any:
        return tokens[len(written) : len(written) + 1]

    answer = model.reply(MESSAGES, tools=[weather], allowed=allowed)
    assert answer["tool_calls"] == [call("weather")] and answer["content"] == ""


def test_an_answer_without_calls() -> None:
    assert taught(tiny.TEMPLATE).reply(MESSAGES, regex="Hello") == {
        "role": "assistant", "content": "Hello"}  # fmt: skip


def test_tools_that_do_not_fit() -> None:
    with pytest.raises(OptionError, match="knows no tools"):
        taught(tiny.TEMPLATE).reply(MESSAGES, tools=[weather])
    model = taught(HERMES)
    for prompt in ("text", [1, 2]):
        with pytest.raises(OptionError, match="tools go with messages"):
            model.generate(prompt, tools=[weather])
    with pytest.raises(OptionError, match="a tool is a function"):
        model.reply(MESSAGES, tools=[3])
    assert not model.writer.open
