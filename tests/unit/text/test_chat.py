"""Chat templates: published ones, and ones that must not do what they try."""

from __future__ import annotations

import json
import time

import pytest

import tallow as tl
from tallow.errors import OptionError, PackageError, TextError
from tallow.text import ChatTemplate
from tallow_build.content import networks

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Köln?"},
]
TOOL = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {}}}},
}


def published() -> ChatTemplate:
    """MiniMind2's, which is Qwen3's: tools, calls of them, thinking."""
    config = networks.ensure("tokenizers")["minimind2.tokenizer_config.json"].read_text("utf-8")
    template = ChatTemplate.from_config(json.loads(config))
    assert template is not None
    return template


def test_a_published_template() -> None:
    template = published()
    system = "<|im_start|>system\nBe brief.<|im_end|>\n"
    user = "<|im_start|>user\nWeather in Köln?<|im_end|>\n"
    assert template.render(MESSAGES, add_generation_prompt=False) == system + user
    assert template.render(MESSAGES) == system + user + "<|im_start|>assistant\n"
    thinking = template.render(MESSAGES, enable_thinking=False)
    assert thinking.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert template.render(MESSAGES[1:]).startswith(
        "<|im_start|>system\nYou are a helpful assistant<|im_end|>\n"
    )


def test_tool_calls_in_the_template_s_own_form() -> None:
    call = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Köln"}}}
    messages = [
        *MESSAGES,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "rain"},
        {"role": "tool", "content": "wind"},
    ]
    text = published().render(messages, tools=[TOOL])
    assert "<tools>\n" + json.dumps(TOOL) + "\n</tools>" in text
    assert (
        "<|im_start|>assistant\n"
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Köln"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\nrain\n</tool_response>\n"
        "<tool_response>\nwind\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    ) in text


def test_what_templates_use() -> None:
    source = """
    {%- set ns = namespace(n=0) %}
    {%- for m in messages %}{% if m.role == 'skip' %}{% continue %}{% endif %}
    {%- set ns.n = ns.n + 1 %}
    {%- generation %}{{ bos_token ~ m['content'] | trim }}{% endgeneration %}
    {%- endfor %}
    {%- macro twice(x) %}{{ x * 2 }}{% endmacro %}
    {{- twice('ab') + ns.n|string + '%s' % 'z' + "{:>3}".format(7) }}
    {{- [1, 2]|map('string')|join('-') }}{{ {'b': 1, 'a': [2]}|tojson(indent=None) }}
    {{- messages|selectattr('role', 'equalto', 'skip')|list|length }}
    {{- 'a,b'.split(',')[-1] }}{{ strftime_now('%Y')|length }}{{ range(3)|list }}"""
    messages = [{"role": "a", "content": " x "}, {"role": "skip"}, {"role": "b", "content": "<&>"}]
    text = ChatTemplate(source, {"bos_token": "^"}).render(messages)
    assert text == '^x^<&>abab2z  71-2{"b": 1, "a": [2]}1b4[0, 1, 2]'


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}"
        "{{ f(60) }}",
        "{% for a in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
        "{{ 'a' * 10**9 }}",
        "{{ [0] * 10**9 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{% set ns = namespace(n=3) %}"
        "{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x' * 1000000000 }}",
        "{% set ns = namespace(s='ab') %}"
        "{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}"
        "{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}"
        "{% for i in range(60) %}{% set ns.s = ns.s.replace('a', ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}"
        "{% for i in range(60) %}{% set ns.s = ns.s|replace('a', ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}"
        "{% for i in range(60) %}{% set ns.s = ns.s.join([ns.s, ns.s]) %}{% endfor %}",
        "{% set ns = namespace(s=[1]) %}"
        "{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s=[1]) %}"
        "{% for i in range(60) %}{% set ns.s = {'a': ns.s, 'b': ns.s} %}{% endfor %}{{ ns.s }}",
        "{% set ns = namespace(s=[1]) %}"
        "{% for i in range(60) %}{% set ns.s = (ns.s, ns.s) %}{% endfor %}{{ ns.s|tojson }}",
        "{% set ns = namespace(s=[1]) %}"
        "{% for i in range(9999) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}",
        "{{ 'x'.center(10**9) }}",
        "{{ 'x'|center(10**9) }}",
        "{{ 'a\nb'|indent(10**9) }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ '{:>{w}}'.format(1, w=10**9) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (10**9, 1) }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ [1]|batch(10**9, 0)|list }}",
        "{{ 'ab'|list * 10**9 }}",
        "{{ messages[0].content * 20000000 }}",
    ],
)
def test_templates_without_an_end(source: str) -> None:
    begun = time.process_time()
    with pytest.raises(TextError, match=r"does not end|more than|too wide") as error:
        ChatTemplate(source).render(MESSAGES)
    assert "\n" not in str(error.value)
    assert time.process_time() - begun < 60  # they would take hours, or all memory


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.__class__ }}",
        "{{ messages|attr('__class__') }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ namespace.__init__ }}",
        "{{ self.__init__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'a': 1}) }}",
        "{{ '{0.__class__}'.format(messages) }}",
        "{% include 'x' %}",
        "{% import 'os' as os %}",
        "{{ lipsum() }}",
    ],
)
def test_templates_that_reach_for_python(source: str) -> None:
    messages = [{"role": "user", "content": "hi"}]
    with pytest.raises(TextError) as error:
        print(ChatTemplate(source).render(messages))
    assert "\n" not in str(error.value)
    assert messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{% for %}", "damaged in line 1"),
        ("{{ x", "damaged"),
        ("{{ x|nothing }}", "damaged"),
        ("{{ raise_exception('roles must alternate') }}", "refuses the messages: roles must"),
        ("{{ nothing.at.all }}", "can't be filled"),
        ("{{ messages + 1 }}", "can't be filled: TypeError"),
        ("{{ 1 / 0 }}", "can't be filled: ZeroDivisionError"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "damaged|deep"),
        ("{% if a %}" * 300 + "{% endif %}" * 300, "damaged|deep"),
    ],
)
def test_damaged_templates(source: str, message: str) -> None:
    with pytest.raises(TextError, match=message):
        ChatTemplate(source).render(MESSAGES)


def test_a_template_can_be_filled_again_and_again() -> None:
    template = ChatTemplate("{% for i in range(600) %}{{ 'y' * 20000 }}{% endfor %}")
    assert [len(template.render(MESSAGES)) for _ in range(3)] == [12_000_000] * 3


@pytest.mark.parametrize("messages", ["hi", {"role": "user"}, ["hi"], [{"content": "hi"}], None])
def test_messages_of_another_kind(messages: object) -> None:
    with pytest.raises(TextError, match="messages"):
        ChatTemplate("x").render(messages)


def test_without_a_template() -> None:
    made = tl.text.Tokenizer.from_str('{"model": {"type": "WordLevel", "vocab": {"a": 0}}}')
    with pytest.raises(OptionError, match="no chat template"):
        made.apply_chat_template(MESSAGES)


def test_configs() -> None:
    several = [
        {"name": "tool_use", "template": "t"},
        {"name": "default", "template": "{{ bos_token }}"},
    ]
    template = ChatTemplate.from_config({"chat_template": several, "bos_token": {"content": "<s>"}})
    assert template is not None and template.render([]) == "<s>"
    assert ChatTemplate.from_config({}) is None
    with pytest.raises(TextError, match="not an object"):
        ChatTemplate.from_config([])


def test_without_jinja(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, "tallow.text.sandbox", raising=False)
    with pytest.raises(PackageError, match=r"pip install tallow\[text\]"):
        ChatTemplate("x").render([])
