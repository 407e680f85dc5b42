"""Tools that a network may call: Python functions as JSON schemas, and calls in what it writes.

Schemas are those of Hugging Face's `transformers.utils.get_json_schema`. Calls are read in the
forms that published chat templates teach.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from ..errors import OptionError

Tool = Mapping[str, Any] | Callable[..., Any]
"""A function, or its JSON schema: {"type": "function", "function": {"name": ..., ...}}."""

_SIMPLE = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Examples?|Note):[ \t]*$", re.M)
_ARGUMENT = re.compile(r"^(\s*)(\w+)\s*(?:\([^()]*\))?:\s*(.*)$")
_CHOICES = re.compile(r"\(choices:\s*(\[.*\])\s*\)\s*$", re.I | re.S)


def json_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """A function as a tool: its name, its description, and a JSON Schema of its arguments.

    function: with a type for each argument, and a docstring in Google's style, whose "Args:" say
      what each is; "(choices: ["a", "b"])" at the end of one lists its values.
    Returns: {"type": "function", "function": {"name", "description", "parameters", "return"}}.
    Raises: OptionError for a function without these.
    Source: Hugging Face, `transformers.utils.get_json_schema`.
    """
    name = getattr(function, "__name__", "")
    if not callable(function) or not name:
        raise OptionError(f"a tool is a function or a JSON schema, not {function!r:.60}")
    said, described, returned = _docstring(inspect.getdoc(function) or "")
    if not said:
        raise OptionError(f"the tool {name} has no docstring that says what it does")
    hints = _hints(function, name)
    properties, required = {}, []
    for argument in inspect.signature(function).parameters.values():
        own = argument.name
        if own not in hints:
            raise OptionError(f"the tool {name} has no type for its argument {own}")
        if own not in described:
            raise OptionError(f"the docstring of the tool {name} has no {own} under Args:")
        properties[own] = _described(_type(hints[own], f"{name}, {own}"), described[own], name)
        if argument.default is inspect.Parameter.empty:
            required.append(own)
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    found: dict[str, Any] = {"name": name, "description": said, "parameters": parameters}
    if "return" in hints:
        found["return"] = _type(hints["return"], f"{name}, what it returns")
        if returned:
            found["return"]["description"] = returned
    return {"type": "function", "function": found}


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError) as error:
        raise OptionError(f"the types of the tool {name} can't be read: {error}") from error


def _described(schema: dict[str, Any], text: str, name: str) -> dict[str, Any]:
    found = _CHOICES.search(text)
    if found:
        try:
            values = json.loads(found[1])
        except ValueError as error:
            raise OptionError(f"the choices of the tool {name} are no JSON: {found[1]}") from error
        schema["enum"] = [each.strip() if isinstance(each, str) else each for each in values]
        text = text[: found.start()].strip()
    return schema | {"description": text}


def _type(hint: Any, what: str) -> dict[str, Any]:
    """A type as a JSON Schema. Raises OptionError."""
    if hint is Any:
        return {}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return _union([_type(each, what) for each in parts if each is not type(None)], parts)
    if kind is Literal:
        kinds = sorted({_SIMPLE.get(type(each), "") for each in parts if each is not None})
        found: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        found["enum"] = [each for each in parts if each is not None]
        return found | ({"nullable": True} if None in parts else {})
    if kind is list:
        return {"type": "array"} | ({"items": _type(parts[0], what)} if parts else {})
    if kind is tuple and ... not in parts:
        firsts = {"prefixItems": [_type(each, what) for each in parts]} if parts else {}
        return {"type": "array"} | firsts
    if kind is dict:
        values = {"additionalProperties": _type(parts[1], what)} if parts else {}
        return {"type": "object"} | values
    raise OptionError(f"the tool {what}: {hint} is no type that JSON Schema has")


def _union(options: list[dict[str, Any]], parts: Sequence[Any]) -> dict[str, Any]:
    if len(options) == 1:
        found = options[0]
    elif all(isinstance(each.get("type"), str) and len(each) == 1 for each in options):
        found = {"type": sorted(each["type"] for each in options)}
    else:
        found = {"anyOf": options}
    return found | ({"nullable": True} if type(None) in parts else {})


def _docstring(text: str) -> tuple[str, dict[str, str], str]:
    """What a function does, what each argument is, and what it returns."""
    first, *rest = _SECTION.split(text.strip())
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    described: dict[str, str] = {}
    indent, last = None, ""
    for line in sections.get("Args", "").splitlines():
        found = _ARGUMENT.match(line)
        if found and (indent is None or len(found[1]) <= indent):
            indent, last = len(found[1]), found[2]
            described[last] = found[3].strip()
        elif last and line.strip():
            described[last] = f"{described[last]} {line.strip()}".strip()
    return first.strip(), described, " ".join(sections.get("Returns", "").split())


def schemas(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Tools as JSON schemas: functions become theirs. Raises: OptionError."""
    if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
        raise OptionError(f"tools are a list of functions or JSON schemas, not {tools!r:.60}")
    return [dict(each) if isinstance(each, Mapping) else json_schema(each) for each in tools]


def names(tools: Iterable[Tool]) -> set[str]:
    """The names of tools."""
    inner = [each.get("function", each) for each in schemas(tools)]
    return {str(each.get("name")) for each in inner if isinstance(each, Mapping)}


# ---- calls -----------------------------------------------------------------------------------

_HERMES = re.compile(r"<tool_call>(.*?)</tool_call>", re.S)
_MISTRAL, _LLAMA = "[TOOL_CALLS]", "<|python_tag|>"
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*([\w-]+)\s*)?(?:\[ARGS\])?\s*(?=\{)")
_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>")
_READ = json.JSONDecoder().raw_decode


def message(text: str, tools: Iterable[Tool] = ()) -> dict[str, Any]:
    """What a network wrote as a message of a conversation.

    Calls of tools are read in the forms of Hermes and Qwen (<tool_call>JSON</tool_call>), Mistral
    ([TOOL_CALLS] and a list, or a name and its arguments), and Llama 3 (JSON alone, with one of the
    names of `tools`). What is none of these, or is damaged, stays text.

    text: with its special tokens, since some forms are marked by them. tools: those that the
      network was told of.
    Returns: {"role": "assistant", "content": ...}, and with calls "tool_calls", a list of
      {"type": "function", "function": {"name": ..., "arguments": {...}}}, with "id" where the text
      has one.
    """
    for end in _ENDS:
        text = text.strip().removesuffix(end)
    calls, rest = _hermes(text)
    if not calls:
        calls, rest = _mistral(text)
    if not calls:
        calls, rest = _llama(text, names(tools))
    found: dict[str, Any] = {"role": "assistant", "content": rest.strip()}
    return found | ({"tool_calls": calls} if calls else {})


def _call(value: object) -> dict[str, Any] | None:
    """A call from an object of JSON; None if it is none."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function", value)
    if not isinstance(inner, Mapping):
        return None
    arguments = inner.get("arguments", inner.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    name = inner.get("name")
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return None
    found = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return found | ({"id": value["id"]} if isinstance(value.get("id"), str) else {})


def _values(text: str, separators: str) -> list[Any] | None:
    """The values of JSON in a text, one or several; None if there is something else."""
    found, at = [], 0
    while text[at:].strip(separators):
        at += len(text) - at - len(text[at:].lstrip(separators))
        try:
            value, at = _READ(text, at)
        except (ValueError, RecursionError):
            return None
        found += value if isinstance(value, list) else [value]
    return found


def _calls(values: list[Any] | None) -> list[dict[str, Any]]:
    """Calls, if each value is one."""
    found = [_call(each) for each in values or ()]
    return [each for each in found if each is not None] if None not in found else []


def _hermes(text: str) -> tuple[list[dict[str, Any]], str]:
    calls: list[dict[str, Any]] = []

    def taken(match: re.Match[str]) -> str:
        found = _calls(_values(match[1], " \n\t\r"))
        calls.extend(found)
        return "" if found else match[0]

    return calls, _HERMES.sub(taken, text)


def _mistral(text: str) -> tuple[list[dict[str, Any]], str]:
    before, sign, after = text.partition(_MISTRAL)
    if not sign:
        return [], text
    calls = _calls(_values(after, " \n\t\r"))
    if calls:
        return calls, before
    for part in after.split(_MISTRAL):
        named = _NAMED.match(part)
        values = _values(part[named.end() :], " \n\t\r") if named else None
        if named is None or values is None or len(values) != 1:
            return [], text
        own: dict[str, Any] = {"name": named[1], "arguments": values[0]}
        found = _call(own | ({"id": named[2]} if named[2] else {}))
        if found is None:
            return [], text
        calls.append(found)
    return calls, before


def _llama(text: str, known: set[str]) -> tuple[list[dict[str, Any]], str]:
    calls = _calls(_values(text.strip().removeprefix(_LLAMA), " \n\t\r;"))
    named = all(each["function"]["name"] in known for each in calls)
    return (calls, "") if calls and named else ([], text)
