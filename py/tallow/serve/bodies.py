"""Requests and answers of the protocol over HTTP: JSON, with binary data behind it.

Source: Open Inference Protocol, "Inference Request JSON Object", and Triton's "Binary Tensor Data
Extension": a header tells the length of the JSON, the bytes of tensors follow in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.packages import package
from ..errors import FeedError
from .datatypes import NAMES, from_bytes, from_list, to_bytes, to_list

LENGTH = "inference-header-content-length"
"""The header that says how many bytes of a body are JSON."""


@dataclass(frozen=True)
class Request:
    """A request for an inference.

    outputs: whether the output is to be binary, by name; empty for all outputs. binary: whether
    those that do not say are. timeout: seconds.
    """

    id: str
    feeds: dict[str, Any]
    outputs: dict[str, bool] = field(default_factory=dict)
    binary: bool = False
    timeout: float | None = None


def read(body: bytes, headers: Mapping[str, str]) -> Request:
    """The request in a body. Raises FeedError, with a line that says what is wrong."""
    text = headers.get(LENGTH)
    end: int | None = len(body)
    if text is not None:
        end = whole_number(text)
        if end is None or end > len(body):
            raise FeedError(f"{LENGTH} is {text!r:.40}; the body has {len(body):,} bytes")
    whole = _mapping(json_of(body[:end]), "the request")
    feeds: dict[str, Any] = {}
    rest = memoryview(body)[end:]
    for each in _records(whole, "inputs", least=1):
        name, array, rest = _input(each, rest)
        if name in feeds:
            raise FeedError(f"the input {name!r} is given twice")
        feeds[name] = array
    if len(rest):
        raise FeedError(f"{len(rest):,} bytes follow the last input; none should")
    own = _parameters(whole)
    binary = _flag(own, "binary_data_output", False)
    outputs = {}
    for each in _records(whole, "outputs"):
        name, parameters = _text(each, "name", "an output"), _parameters(each)
        if "classification" in parameters or "shared_memory_region" in parameters:
            raise FeedError(f"the output {name!r} asks for an extension that is not served")
        outputs[name] = _flag(parameters, "binary_data", binary)
    own_id = whole.get("id")
    if not isinstance(own_id, str | None):
        raise FeedError(f"the id is {own_id!r:.40}; give a string")
    return Request(own_id or "", feeds, outputs, binary, timeout_of(own))


def whole_number(text: str) -> int | None:
    """The number that decimal digits write; None for anything else, and for more than 18 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def json_of(text: bytes) -> Any:
    """What JSON says. Raises FeedError for what is none; NaN is none."""
    orjson = package("orjson", "tallow serve", "serve")
    try:
        return orjson.loads(text)
    except ValueError as error:
        why = "NaN and infinity are no numbers of JSON; send binary data"
        nan = any(word in text for word in (b"NaN", b"Infinity"))
        raise FeedError(f"the body is no JSON: {why if nan else error}") from error


def timeout_of(parameters: Mapping[str, Any]) -> float | None:
    """The seconds of the parameter `timeout`, which is in microseconds. Raises FeedError."""
    given = parameters.get("timeout")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise FeedError(f"the parameter timeout is {given!r}; give whole microseconds")
    return given / 1e6 if given else None  # 0 is none, as in Triton


def _input(record: Mapping[str, Any], rest: memoryview) -> tuple[str, Any, memoryview]:
    """Name and array of an input, and the bytes behind it."""
    name = _text(record, "name", "an input")
    datatype = _text(record, "datatype", f"the input {name!r}")
    shape = record.get("shape")
    if not isinstance(shape, list):
        raise FeedError(f"the input {name!r} has no shape")
    if "data" in record:
        return name, from_list(name, datatype, shape, record["data"]), rest
    size = _parameters(record).get("binary_data_size")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise FeedError(f"the input {name!r} has neither data nor binary_data_size")
    if size > len(rest):
        raise FeedError(f"the input {name!r} should have {size:,} bytes; the body is cut short, "
                        f"{len(rest):,} are left")  # fmt: skip
    return name, from_bytes(name, datatype, shape, rest[:size]), rest[size:]


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FeedError(f"{what} is not an object of JSON")
    return value


def _records(whole: Mapping[str, Any], key: str, least: int = 0) -> list[Mapping[str, Any]]:
    found = whole.get(key) or []
    if not isinstance(found, list) or len(found) < least:
        raise FeedError(f"the request has no list of {key}")
    return [_mapping(each, f"one of the {key}") for each in found]


def _parameters(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(record.get("parameters") or {}, "parameters")


def _text(record: Mapping[str, Any], key: str, what: str) -> str:
    found = record.get(key)
    if not isinstance(found, str):
        raise FeedError(f"{what} has no {key}")
    return found


def _flag(parameters: Mapping[str, Any], key: str, default: bool) -> bool:
    found = parameters.get(key, default)
    if not isinstance(found, bool):
        raise FeedError(f"the parameter {key} is {found!r}; give true or false")
    return found


def written(
    request: Request, model: str, version: int, outputs: Mapping[str, Any]
) -> tuple[bytes, int | None]:
    """The body of an answer, and the length of its JSON if binary data follow it."""
    orjson = package("orjson", "tallow serve", "serve")
    records, behind = [], []
    for name, array in outputs.items():
        record: dict[str, Any] = {
            "name": name,
            "datatype": NAMES[array.dtype.name],
            "shape": list(array.shape),
        }
        if request.outputs.get(name, request.binary):
            data = to_bytes(array)
            record["parameters"] = {"binary_data_size": len(data)}
            behind.append(data)
        else:
            record["data"] = to_list(name, array)
        records.append(record)
    head: dict[str, Any] = {"model_name": model, "model_version": str(version)}
    if request.id:
        head["id"] = request.id
    text = orjson.dumps(head | {"outputs": records})
    return (b"".join([text, *behind]), len(text)) if behind else (text, None)
