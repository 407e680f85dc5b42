"""What a checkpoint holds beside its tensors: dicts, lists, numbers and texts, as JSON.

{"tensor": "model.0.weight"}      a tensor of the file
{"dict": [[key, value], ...]}     keys are texts or whole numbers
{"list": [...]}, {"tuple": [...]}
{"value": 3}                      None, a truth value, a number, a text
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import FormatError, OptionError
from ..tensor import Tensor, asarray

KEY = "tallow.structure"
"""The name of the text in a file's metadata."""


def is_flat(state: Mapping[str, Any]) -> bool:
    """Whether every value is an array by itself, so that the file needs no structure."""
    return not any(
        value is None or isinstance(value, (Mapping, str))
        or (isinstance(value, (tuple, list)) and not _is_numbers(value))
        for value in state.values()
    )  # fmt: skip


def _is_numbers(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_numbers(each) for each in value)
    return isinstance(value, (int, float))


def taken_apart(state: object) -> tuple[dict[str, Tensor], str]:
    """The tensors of a state, by a name made of the way to them, and the structure that holds
    them. OptionError, with the way, for what is neither a tensor nor one of the above."""
    tensors: dict[str, Tensor] = {}

    def described(value: object, way: str) -> dict[str, Any]:
        if isinstance(value, Mapping):
            if not all(isinstance(key, (str, int)) for key in value):
                raise OptionError(f"save: {way or 'the dict'} has keys that are no texts or ints")
            parts = [[key, described(each, _inside(way, key))] for key, each in value.items()]
            return {"dict": parts}
        if isinstance(value, (tuple, list)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [described(each, _inside(way, n)) for n, each in enumerate(value)]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        if not isinstance(value, Tensor) and not hasattr(value, "__array_interface__"):
            hint = "; give its state_dict()" if hasattr(value, "state_dict") else ""
            raise OptionError(f"save: {way} is {type(value).__name__}, not a tensor{hint}")
        name = way
        while name in tensors:
            name += "_"
        tensors[name] = asarray(value)
        return {"tensor": name}

    return tensors, json.dumps(described(state, ""))


def _inside(way: str, key: str | int) -> str:
    return f"{way}.{key}" if way else str(key)


def put_together(tensors: Mapping[str, Tensor], text: str, source: str) -> Any:
    """The state of a file. FormatError if its structure does not fit its tensors."""
    rest = dict(tensors)

    def made(part: dict[str, Any]) -> Any:
        ((kind, value),) = part.items()
        if kind == "tensor":
            return rest.pop(value)
        if kind == "dict":
            found = {key: made(each) for key, each in value}
            if len(found) != len(value) or not all(isinstance(k, (str, int)) for k in found):
                raise ValueError("keys stand there twice, or are no keys")
            return found
        if kind in ("list", "tuple"):
            return (list if kind == "list" else tuple)(made(each) for each in value)
        if kind != "value" or isinstance(value, (dict, list)):
            raise ValueError(f"{kind!r:.40} is unknown")
        return value

    try:
        state = made(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{source}: {KEY} does not describe its tensors: {str(error)[:200]}"
        ) from error
    if rest:
        raise FormatError(f"{source}: {KEY} cannot hold {', '.join(sorted(rest))[:200]}")
    return state
