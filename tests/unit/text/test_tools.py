"""Tools: functions as JSON schemas, and calls in what a network writes."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pytest

from tallow.errors import OptionError
from tallow.text import ChatTemplate, json_schema, message

HERMES = (
    "{% if tools %}<tools>{% for t in tools %}{{ t | tojson }}{% endfor %}</tools>{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}\n<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = (
    "{% if tools %}{{ tools | tojson(indent=4) }}{% endif %}{% for m in messages %}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{% if m.tool_calls %}"
    '{"name": "{{ m.tool_calls[0].function.name }}", "parameters": '
    "{{ m.tool_calls[0].function.arguments | tojson }}}{% else %}{{ m.content }}{% endif %}"
    "<|eot_id|>{% endfor %}"
)
MISTRAL = (
    "{% if tools %}[AVAILABLE_TOOLS] {{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}"
    "{% for m in messages %}{% if m.tool_calls %}[TOOL_CALLS] ["
    "{% for c in m.tool_calls %}{{ c.function | tojson }}{{ ', ' if not loop.last }}{% endfor %}]"
    "{% else %}[INST] {{ m.content }}[/INST]{% endif %}{% endfor %}</s>"
)
STARTS = {HERMES: "<|im_start|>assistant\n", LLAMA: "assistant<|end_header_id|>\n\n", MISTRAL: ""}


def weather(city: str, unit: str = "C", days: int | None = None) -> str:
    """The weather in a city.

    Args:
        city: Its name,
            as people there write it.
        unit: Of temperatures. (choices: ["C", "F"])
        days (int): How many days ahead.

    Returns:
        What it will be.
    """
    return f"{city}{unit}{days}"


SCHEMA = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its name, as people there write it."},
                "unit": {"type": "string", "enum": ["C", "F"], "description": "Of temperatures."},
                "days": {
                    "type": "integer",
                    "nullable": True,
                    "description": "How many days ahead.",
                },
            },
            "required": ["city"],
        },
        "return": {"type": "string", "description": "What it will be."},
    },
}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_function_is_what_transformers_makes_of_it() -> None:
    """As its documentation shows: huggingface.co/docs/transformers/chat_extras, "Schema"."""
    assert json_schema(weather) == SCHEMA
    assert list(json_schema(weather)["function"]) == list(SCHEMA["function"])  # type: ignore[call-overload]

    def multiply(x: float, y: float):  # type: ignore[no-untyped-def]
        """
        A function that multiplies two numbers

        Args:
            x: The first number to multiply
            y: The second number to multiply
        """

    assert json.dumps(json_schema(multiply)) == (
        '{"type": "function", "function": {"name": "multiply", "description": '
        '"A function that multiplies two numbers", "parameters": {"type": "object", "properties": '
        '{"x": {"type": "number", "description": "The first number to multiply"}, '
        '"y": {"type": "number", "description": "The second number to multiply"}}, '
        '"required": ["x", "y"]}}}'
    )


@pytest.mark.parametrize(
    "hint, schema",
    [
        (list[int], {"type": "array", "items": {"type": "integer"}}), (list, {"type": "array"}),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (dict, {"type": "object"}), (int | str, {"type": ["integer", "string"]}), (Any, {}),
        (tuple[int, str], {"type": "array",
                           "prefixItems": [{"type": "integer"}, {"type": "string"}]}),
        (list[int] | None, {"type": "array", "items": {"type": "integer"}, "nullable": True}),
        (list[int] | str, {"anyOf": [{"type": "array", "items": {"type": "integer"}},
                                     {"type": "string"}]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}), (tuple, {"type": "array"}),
        (Literal["a"] | None, {"type": "string", "enum": ["a"], "nullable": True}),
    ],
    ids=str,
)  # fmt: skip
def test_types(hint: Any, schema: dict[str, Any]) -> None:
    def tool(x: Any) -> None:
        """Does it.

        Args:
            x: this
        """

    tool.__annotations__ = {"x": hint}
    found = json_schema(tool)["function"]["parameters"]["properties"]["x"]
    assert found == schema | {"description": "this"}


def test_functions_that_are_no_tools() -> None:
    def silent(x: int) -> None: ...

    def untyped(x) -> None:  # type: ignore[no-untyped-def]
        """Does.

        Args:
            x: a
        """

    def undescribed(x: int) -> None:
        """Does."""

    def strange(x: bytes) -> None:
        """Does.

        Args:
            x: a
        """

    def unknown(x: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Does."""

    def chosen(x: str) -> None:
        """Does.

        Args:
            x: a (choices: ["a)])
        """

    wrong = {
        silent: "no docstring", untyped: "no type for its argument x", 3: "a tool is a function",
        undescribed: "no x under Args:", strange: "no type that JSON Schema has",
        unknown: "can't be read", chosen: "are no JSON",
    }  # fmt: skip
    for tool, said in wrong.items():
        with pytest.raises(OptionError, match=re.escape(said)) as caught:
            json_schema(tool)  # type: ignore[arg-type]
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("source", [HERMES, LLAMA, MISTRAL], ids=["hermes", "llama", "mistral"])
def test_what_a_template_writes_is_what_is_read(source: str) -> None:
    template = ChatTemplate(source)
    asked: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [
        call("weather", city="Köln", days=2)]}  # fmt: skip
    for tools in ([weather], [SCHEMA]):
        text = template.render([asked], tools=tools, add_generation_prompt=False)
        assert '"description": "The weather in a city."' in text
        start = text.index(STARTS[source]) + len(STARTS[source])
        assert message(text[start:] if source != MISTRAL else text, [weather]) == asked | (
            {} if source != MISTRAL else {"content": text.partition("[TOOL_CALLS]")[0].strip()}
        )
    assert "tools" not in template.render([{"role": "user", "content": "a"}])


TWO = [call("a", x=1), call("b")]


@pytest.mark.parametrize(
    "text, calls, content",
    [
        ('Wait.<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>\n<tool_call>\n'
         '{"name": "b", "arguments": {}}\n</tool_call><|im_end|>', TWO, "Wait."),
        ('[TOOL_CALLS][{"name": "a", "arguments": {"x": 1}}, {"name": "b"}]</s>', TWO, ""),
        ('[TOOL_CALLS]a[ARGS]{"x": 1}[TOOL_CALLS]b[ARGS]{}', TWO, ""),
        ('[TOOL_CALLS]a[CALL_ID]q1[ARGS]{"x": 1}', [TWO[0] | {"id": "q1"}], ""),
        ('[TOOL_CALLS] [{"name": "a", "arguments": "{\\"x\\": 1}", "id": "q"}]',
         [TWO[0] | {"id": "q"}], ""),
        ('<|python_tag|>{"name": "a", "parameters": {"x": 1}}; {"name": "b", "parameters": {}}',
         TWO, ""),
        ('{"type": "function", "function": {"name": "a", "arguments": {"x": 1}}}', TWO[:1], ""),
        ('{"name": "other", "parameters": {}}', None, '{"name": "other", "parameters": {}}'),
        ('{"name": "a", "parameters": {', None, '{"name": "a", "parameters": {'),
        ('<tool_call>{"name": "a"</tool_call>', None, '<tool_call>{"name": "a"</tool_call>'),
        ('<tool_call>{"name": "a", "arg', None, '<tool_call>{"name": "a", "arg'),
        ("<tool_call>[3]</tool_call>", None, "<tool_call>[3]</tool_call>"),
        ("<tool_call></tool_call>", None, "<tool_call></tool_call>"),
        ('[TOOL_CALLS]a[ARGS]{"x"', None, '[TOOL_CALLS]a[ARGS]{"x"'),
        ("[TOOL_CALLS]a[ARGS]{}}", None, "[TOOL_CALLS]a[ARGS]{}}"),
        ('<tool_call>{"name": 3}</tool_call>', None, '<tool_call>{"name": 3}</tool_call>'),
        ("[" * 100_000, None, "[" * 100_000), (" hello ", None, "hello"), ("", None, ""),
    ],
    ids=range(19),
)  # fmt: skip
def test_calls(text: str, calls: Any, content: str) -> None:
    tools = [{"function": {"name": "a"}}, {"name": "b"}]
    found = message(text, tools)
    assert found == {"role": "assistant", "content": content} | (
        {} if calls is None else {"tool_calls": calls}
    )


def test_a_template_that_knows_no_tools() -> None:
    plain = ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}")
    messages = [{"role": "user", "content": "a"}]
    assert plain.render(messages, tools=[]) == plain.render(messages) == "a"
    with pytest.raises(OptionError, match="knows no tools"):
        plain.render(messages, tools=[weather])
    for wrong in ("weather", SCHEMA, 3, [3]):
        with pytest.raises(OptionError, match="tool"):
            ChatTemplate(HERMES).render(messages, tools=wrong)
