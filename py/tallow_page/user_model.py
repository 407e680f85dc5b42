"""A model of the visitor's own: opened, surveyed, run, compared; one at a time.

The page calls these functions through app.py: strings and buffers in, JSON out. An output's bytes
are fetched one by one.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallow import dtype as dt
from tallow import onnx
from tallow.errors import (
    FeedError,
    OnnxAmbiguousDataError,
    OnnxFormatError,
    OnnxMissingDataError,
    TallowError,
)
from tallow.formats.onnx.read.given import needed
from tallow.formats.onnx.run.model_session import ModelSession
from tallow.formats.onnx.values import Value
from tallow.hostarray import HostArray, StringArray, elements, from_values
from tallow.runtime.device import DEVICES
from tallow.shape import size_of

from .javascript import view
from .plan_registry import Find, PlanKeeper

MOST_LINES = 1000  # of what is unsupported, and of properties: a page does not show more
MOST_TEXT = 4000  # characters of a text of the file, likewise

Feeds = dict[str, Value]


@dataclass
class _Opened:
    """The model, its session on the device of now, and its last answer."""

    model: onnx.Model
    bytes: int
    keeper: PlanKeeper
    session: ModelSession | None = None
    feeds: Feeds | None = None
    first: float | None = None  # seconds from the model to its first answer on that device
    warm: list[float] = field(default_factory=list)  # seconds of each further run there
    results: dict[str, Value] = field(default_factory=dict)


_opened: _Opened | None = None


def reserve(size: int) -> bytearray:
    """Memory for a file, which the worker fills: so it is there once, and in Python."""
    return bytearray(size)


def close_model() -> None:
    """Forgets the model, with all that belongs to it."""
    global _opened
    forget_session()
    _opened = None
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        sys.__dict__.pop(name, None)  # the frames of an error hold the file that was at fault
    gc.collect()


def forget_session() -> None:
    """Frees the device; the model stays, and is run on the device of then."""
    if _opened is None:
        return
    _opened.keeper.close()
    if _opened.session:
        _opened.session.close()
    _opened.session, _opened.first = None, None


async def needed_files(content: Any, names_json: str) -> str:
    """The names (JSON) of those files that an ONNX file may need of the ones beside it.

    They are paths from the model's folder, or names alone. Raises OnnxError in one line.
    """
    close_model()
    try:
        _load(content, {})
    except OnnxMissingDataError as error:
        return json.dumps(needed(json.loads(names_json), error.files))
    return "[]"


async def open_model(content: Any, names_json: str, *others: Any) -> str:
    """Reads an ONNX file, with the files of external data that are given: see `needed_files`.

    Returns what the file says, with the names of the files that it does not need; or {"missing":
    [locations]} of files that it needs and lacks; or {"unclear": [locations], "given": [names]}
    where the names do not say which file is which. Raises OnnxError in one line. The model before
    it is forgotten.
    """
    global _opened
    close_model()
    names = json.loads(names_json)
    files = dict(zip(names, others, strict=True))
    if len(files) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OnnxFormatError(f"two files of the same name were given, {_cut(twice)!r}")
    try:
        model = _load(content, files)
    except OnnxMissingDataError as error:
        return json.dumps({"missing": [_cut(name) for name in error.files[:MOST_LINES]]})
    except OnnxAmbiguousDataError as error:
        given = [_cut(name) for name in error.given[:MOST_LINES]]
        return json.dumps({"unclear": [_cut(name) for name in error.files], "given": given})
    size = len(content) + sum(len(files[name]) for name in model.external)
    metadata, lines = model.metadata, model.unsupported
    _opened = _Opened(model, size, PlanKeeper(model.constants))
    told = {
        "name": _cut(model.name),
        "producer": _cut(" ".join(filter(None, (metadata.producer, metadata.producer_version)))),
        "doc": _cut(metadata.doc),
        "properties": [
            [_cut(key), _cut(value)] for key, value in [*metadata.properties.items()][:MOST_LINES]
        ],
        "opsets": [[domain or "ai.onnx", version] for domain, version in model.opsets.items()],
        "ir": metadata.ir_version,
        "bytes": size,
        "unneeded": [name for name in files if name not in model.external],
        "inputs": [_info(info) for info in model.inputs],
        "outputs": [_info(info) for info in model.outputs],
        "unsupported": lines[:MOST_LINES],
        "left": max(0, len(lines) - MOST_LINES),
    }
    return json.dumps(told)


def _load(content: Any, files: Mapping[str, Any]) -> onnx.Model:
    try:
        return onnx.load(memoryview(content), files)
    except (OnnxMissingDataError, OnnxAmbiguousDataError):
        raise
    except OnnxFormatError as error:
        raise OnnxFormatError(str(error).removeprefix("ONNX model: ")) from error


async def survey_model(shapes_json: str) -> str:
    """Size, arithmetic and operators for shapes of the inputs by name.

    Returns {"parameters", "weightBytes", "nodes", "multiplyAdds", "whole", "uses": [{"operator",
    "place", "count", "reason"}, ...], "unsupported": what now shows to be so}
    (formats/onnx/run/summary.py). Raises TallowError for what does not fit.
    """
    found = _model().model.summary(json.loads(shapes_json) or None)
    told = {
        "parameters": found.parameters,
        "weightBytes": found.bytes,
        "nodes": found.nodes,
        "multiplyAdds": found.multiply_adds,
        "whole": not found.at_least,
        "uses": [
            {"operator": use.operator, "place": use.place, "count": use.count, "reason": use.reason}
            for use in found.uses
        ],
        "unsupported": list(found.unsupported[:MOST_LINES]),
    }
    return json.dumps(told)


async def run_model(feeds_json: str, find: Find, *buffers: Any) -> str:
    """Runs the model once on the chosen device; the answer is kept.

    find: gives what an earlier visit has kept of the plan for such feeds, if that is needed.
    feeds_json: for each input {"name", "shape", "dtype"}, with the buffer of its elements in order;
    "texts" has those of an input of texts, and no buffer is for it; "members" those of a sequence;
    "wide" says that the elements are float64 that stand for those of a type that JavaScript lacks.
    Returns {"device", "adapter", "first": milliseconds, "outputs": [{"name", "kind", "shape",
    "dtype", "texts", "members"}, ...], "report", "lent", "refused"}: under that number there is a
    plan to be kept (plan_registry.py), null where there is none; and why what was found was of no
    use, or "". Raises TallowError.
    """
    opened = _model()
    opened.feeds = _feeds(json.loads(feeds_json), buffers)
    opened.results, opened.warm = {}, []
    opened.keeper.begin(find)
    began = time.perf_counter()
    try:
        if opened.session is None:
            opened.session = await opened.model.session_async(
                shapes=_shapes(opened.feeds), plan_cache=opened.keeper
            )
        results = await opened.session.run_host_async(opened.feeds)
    except BaseException:
        forget_session()
        raise
    first = time.perf_counter() - began
    opened.first = opened.first or first
    opened.results = dict(_flat(results))
    session = opened.session
    assert session is not None
    report = session.report()
    told = {
        "device": session.device,
        "adapter": session.adapter,
        "first": 1000 * first,
        "outputs": [_output(name, value) for name, value in results.items()],
        "report": {
            "parts": report.parts,
            "nodes": report.nodes,
            "dispatches": session.stats["dispatches"],
            "moved": list(dict.fromkeys(report.moved)),
            "host": len(report.host),
            "bytes": report.bytes,
        },
        "lent": opened.keeper.lent,
        "refused": opened.keeper.refused,
    }
    return json.dumps(told)


def output_bytes(name: str) -> memoryview:
    """The elements of an output of the last run: of a coded type (dtype.py) as float32."""
    value = _model().results[name]
    assert isinstance(value, HostArray)
    if value.dtype.coded:
        return memoryview(array("f", value.flat())).cast("B")
    return value.data.cast("B")


async def time_model(runs: int, seconds: float, alive: Callable[[], Any]) -> str:
    """Runs the model again with what it was fed last, `runs` times, or fewer in that many seconds.

    alive: is called after each run. Returns {"device", "adapter", "series"}; see `_series`.
    """
    opened = _model()
    session, feeds = _ran(opened)
    opened.warm = await _again(session, feeds, runs, seconds, alive)
    told = {
        "device": session.device,
        "adapter": session.adapter,
        "series": _series(opened.warm),
    }
    return json.dumps(told)


async def compare_model(warm: int, seconds: float, alive: Callable[[], Any]) -> str:
    """The last run once more, on both devices.

    warm, seconds, alive: see `time_model`. Returns {"webgpu", "numpy": {"first", "series"},
    "outputs": [{"name", "difference", "largest"}, ...]}: the largest difference of two elements,
    null where one of them is no number and the other is; and the largest element, for scale.
    Members of sequences are outputs of their own. Raises FeedError if nothing has run yet,
    TallowError.
    """
    opened = _model()
    ran, feeds = _ran(opened)
    here = ran.device
    other = next(name for name in DEVICES if name != here)
    began = time.perf_counter()
    session = await opened.model.session_async(other, _shapes(feeds))
    try:
        results = await session.run_host_async(feeds)
        first = time.perf_counter() - began
        again = await _again(session, feeds, warm, seconds, alive)
    finally:
        session.close()
    theirs = dict(_flat(results))
    told = {
        here: _times(opened.first, opened.warm),
        other: _times(first, again),
        "outputs": [
            {"name": name, **_difference(value, theirs.get(name))}
            for name, value in opened.results.items()
        ],
    }
    return json.dumps(told)


def _ran(opened: _Opened) -> tuple[ModelSession, Feeds]:
    """The session that gave the last answer, and what it was fed."""
    if opened.session is None or opened.feeds is None:
        raise FeedError("there is no answer yet that could be computed again")
    return opened.session, opened.feeds


async def _again(
    session: ModelSession, feeds: Feeds, runs: int, seconds: float, alive: Callable[[], Any]
) -> list[float]:
    """The seconds of each of some more runs."""
    times: list[float] = []
    while len(times) < runs and sum(times) < seconds:
        began = time.perf_counter()
        await session.run_host_async(feeds)
        times.append(time.perf_counter() - began)
        alive()
    return times


def _times(first: float | None, warm: Sequence[float]) -> dict[str, Any]:
    return {"first": None if first is None else 1000 * first, "series": _series(warm)}


def _series(seconds: Sequence[float]) -> dict[str, float] | None:
    """What there is to say of some runs, in milliseconds: "low" and "high" are the quartiles."""
    if not seconds:
        return None
    times = sorted(1000 * each for each in seconds)
    low, _, high = (
        statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else 3 * times
    )
    return {
        "count": len(times),
        "median": statistics.median(times),
        "low": low,
        "high": high,
        "least": times[0],
        "most": times[-1],
    }


def _difference(ours: Value, theirs: Value) -> dict[str, float | None]:
    import numpy as np

    if isinstance(ours, StringArray):
        return {"difference": float(ours != theirs), "largest": None}
    if not isinstance(ours, HostArray):
        return {"difference": 0.0, "largest": None}
    if not isinstance(theirs, HostArray) or ours.shape != theirs.shape:
        return {"difference": None, "largest": None}
    a, b = (np.asarray(x.numpy(), np.float64) for x in (ours, theirs))
    if ours.dtype.coded:
        a, b = np.array(ours.flat()), np.array(theirs.flat())
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    most = float(np.max(apart, initial=0.0))
    return {
        "difference": most if np.isfinite(most) else None,
        "largest": float(np.max(finite, initial=0.0)),
    }


def _model() -> _Opened:
    if _opened is None:
        raise FeedError("no model is open")
    return _opened


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…"


def _info(info: onnx.ValueInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "shape": None if info.shape is None else list(info.shape),
        "dtype": info.dtype.name if info.dtype else None,
        "type": info.type,
        "kind": info.kind,
        "element": info.element and _info(info.element),
    }


def _feeds(told: Sequence[Mapping[str, Any]], buffers: Sequence[Any]) -> Feeds:
    rest = iter(buffers)
    return {feed["name"]: _feed(feed, rest) for feed in told}


def _feed(feed: Mapping[str, Any], rest: Iterator[Any]) -> Value:
    name = feed["name"]
    if "members" in feed:
        return [_feed({**member, "name": name}, rest) for member in feed["members"]]
    shape = tuple(feed["shape"])
    if "texts" in feed:
        texts = tuple(feed["texts"])
        if len(texts) != size_of(shape):
            raise FeedError(f"the input {name!r} needs {size_of(shape)} texts for {shape}")
        return StringArray(texts, shape)
    content = view(next(rest))
    dtype = dt.BY_NAME[feed["dtype"]]
    try:
        if not feed.get("wide"):
            return HostArray(content, shape, dtype)
        values = elements(content, dt.float64).tolist()
        exact = values if dtype.is_floating else [int(value) for value in values]
        return from_values(exact, shape, dtype)
    except TallowError as error:
        raise FeedError(f"the input {name!r}: {error}") from error


def _shapes(feeds: Feeds) -> dict[str, tuple[int, ...]] | None:
    tensors = {info.name for info in _model().model.inputs if info.dtype}
    shapes = {
        name: x.shape for name, x in feeds.items() if isinstance(x, HostArray) and name in tensors
    }
    return shapes or None


def _flat(results: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Outputs by name, with the members of sequences as outputs of their own."""
    found: list[tuple[str, Value]] = []
    for name, value in results.items():
        if isinstance(value, list):
            found += _flat(dict(_members(name, value)))
        else:
            found.append((name, value))
    return found


def _members(name: str, value: Sequence[Value]) -> list[tuple[str, Value]]:
    return [(f"{name}[{i}]", item) for i, item in enumerate(value)]


def _output(name: str, value: Value) -> dict[str, Any]:
    if isinstance(value, StringArray):
        return {"name": name, "kind": "texts", "shape": value.shape, "texts": value.values}
    if isinstance(value, list):
        members = [_output(member, item) for member, item in _members(name, value)]
        return {"name": name, "kind": "sequence", "shape": [len(value)], "members": members}
    if not isinstance(value, HostArray):
        return {"name": name, "kind": "none", "shape": []}
    return {"name": name, "kind": "tensor", "shape": value.shape, "dtype": value.dtype.name}
