"""Inputs and outputs of the visitor's model: to values from JSON and buffers, and back to JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallow import onnx
from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray, StringArray, elements, from_values
from tallow.core.shape import size_of
from tallow.errors import FeedError, TallowError
from tallow.formats.onnx.values import Value

from .javascript import view

if TYPE_CHECKING:
    from .contract.models import Feed, Output, ValueInfo

MAX_TEXT = 4000  # characters of a string from the file that the page shows

Feeds = dict[str, Value]


def cut(text: str) -> str:
    """The beginning of a text that may be long."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


def info_of(info: onnx.ValueInfo) -> ValueInfo:
    """What an input or output is declared to be."""
    return {
        "name": info.name,
        "shape": None if info.shape is None else list(info.shape),
        "dtype": info.dtype.name if info.dtype else None,
        "type": info.type,
        "kind": info.kind,
        "element": info_of(info.element) if info.element else None,
    }


def feeds_of(infos: Sequence[Feed], buffers: Sequence[Any]) -> Feeds:
    """The values of the inputs by name. buffers: of their elements, in the same order."""
    rest = iter(buffers)
    return {feed["name"]: _feed(feed, rest) for feed in infos}


def _feed(feed: Feed, rest: Iterator[Any]) -> Value:
    name = feed["name"]
    if "members" in feed:
        return [_feed({**member, "name": name}, rest) for member in feed["members"]]
    shape = tuple(feed["shape"])
    if "texts" in feed:
        texts = tuple(feed["texts"])
        if len(texts) != size_of(shape):
            raise FeedError(f"the input {name!r} needs {size_of(shape)} strings for {shape}")
        return StringArray(texts, shape)
    content = view(next(rest))
    dtype = dt.BY_NAME[feed["dtype"]]
    try:
        if not feed.get("wide"):
            return HostArray(content, shape, dtype)
        values = elements(content, dt.float64).tolist()
        numbers = values if dtype.is_floating else [int(value) for value in values]
        return from_values(numbers, shape, dtype)
    except TallowError as error:
        raise FeedError(f"the input {name!r}: {error}") from error


def flat(results: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Outputs by name, with the members of sequences and maps as separate outputs."""
    found: list[tuple[str, Value]] = []
    for name, value in results.items():
        if isinstance(value, (list, dict)):
            found += flat(dict(_members(name, value)))
        else:
            found.append((name, value))
    return found


def _members(
    name: str, value: Sequence[Value] | Mapping[int | str, Value]
) -> list[tuple[str, Value]]:
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    return [(f"{name}[{key}]", item) for key, item in pairs]


def output_of(name: str, value: Value) -> Output:
    """What an output is, without the elements of arrays."""
    if isinstance(value, StringArray):
        return {"name": name, "kind": "texts", "shape": value.shape, "texts": value.values}
    if isinstance(value, (list, dict)):
        members = [output_of(member, item) for member, item in _members(name, value)]
        return {"name": name, "kind": "sequence", "shape": [len(value)], "members": members}
    if not isinstance(value, HostArray):
        return {"name": name, "kind": "none", "shape": []}
    return {"name": name, "kind": "tensor", "shape": value.shape, "dtype": value.dtype.name}
