"""The Open view's Python: opens, summarizes, runs and compares the visitor's own model; one model
at a time.

Strings and buffers in, JSON out. The bytes of each output are fetched separately.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from array import array
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from tallow import onnx
from tallow.core.devices import EXACT
from tallow.core.hostarray import HostArray
from tallow.errors import (
    FeedError,
    OnnxAmbiguousDataError,
    OnnxFormatError,
    OnnxMissingDataError,
)
from tallow.formats.onnx.read.given import needed
from tallow.formats.onnx.run.model_session import ModelSession
from tallow.formats.onnx.values import Value
from tallow.runtime.device import devices

from .app import on_start
from .figures import difference_of, series_of, times_of
from .plan_registry import Find, ModelPlanCache
from .steps import Answer, streamed
from .values import Feeds, cut, feeds_of, flat, info_of, output_of

if TYPE_CHECKING:
    from .contract.devices import Runs
    from .contract.models import (
        Compared,
        Device,
        MissingFiles,
        ModelFile,
        ModelTimes,
        Place,
        Reason,
        RunAnswer,
        Survey,
        UnclearFiles,
    )

__all__ = [
    "close_model",
    "compare_model",
    "needed_files",
    "open_model",
    "output_bytes",
    "run_model",
    "survey_model",
    "time_model",
]

MAX_LINES = 1000  # unsupported features and properties that the page shows


@dataclass
class _Opened:
    """The model, its session on the current device, and its last results."""

    model: onnx.Model
    bytes: int
    plan_cache: ModelPlanCache
    session: ModelSession | None = None
    feeds: Feeds | None = None
    first: float | None = None  # seconds from the model to its first results on that device
    warm: list[float] = field(default_factory=list)  # seconds of each further run there
    results: dict[str, Value] = field(default_factory=dict)


_opened: _Opened | None = None


def close_model() -> None:
    """Closes the model and frees everything that belongs to it."""
    global _opened
    forget_session()
    _opened = None
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        sys.__dict__.pop(name, None)  # the frames of an error keep the invalid file alive
    gc.collect()


def forget_session() -> None:
    """Closes the session; the model stays open, for the device chosen next."""
    if _opened is None:
        return
    _opened.plan_cache.close()
    if _opened.session:
        _opened.session.close()
    _opened.session, _opened.first = None, None


on_start.append(forget_session)


async def needed_files(content: Any, names_json: str) -> str:
    """The names (JSON) of the given files that an ONNX file may need.

    Names are paths relative to the model's folder, or file names alone. Raises OnnxError in one
    line.
    """
    close_model()
    try:
        _load(content, {})
    except OnnxMissingDataError as error:
        return json.dumps(needed(json.loads(names_json), error.files))
    return "[]"


async def open_model(content: Any, names_json: str, *others: Any) -> str:
    """Opens an ONNX file together with external data files: see `needed_files`.

    Returns a `ModelFile`, or `MissingFiles`, or `UnclearFiles`. Closes the previous model. Raises
    OnnxError in one line.
    """
    global _opened
    close_model()
    names = json.loads(names_json)
    files = dict(zip(names, others, strict=True))
    if len(files) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OnnxFormatError(f"two of the given files have the same name, {cut(twice)!r}")
    try:
        model = _load(content, files)
    except OnnxMissingDataError as error:
        missing: MissingFiles = {"missing": [cut(name) for name in error.files[:MAX_LINES]]}
        return json.dumps(missing)
    except OnnxAmbiguousDataError as error:
        given = [cut(name) for name in error.given[:MAX_LINES]]
        unclear: UnclearFiles = {"unclear": [cut(name) for name in error.files], "given": given}
        return json.dumps(unclear)
    size = len(content) + sum(len(files[name]) for name in model.external)
    metadata, lines = model.metadata, model.unsupported
    _opened = _Opened(model, size, ModelPlanCache(model.constants))
    facts: ModelFile = {
        "name": cut(model.name),
        "producer": cut(" ".join(filter(None, (metadata.producer, metadata.producer_version)))),
        "doc": cut(metadata.doc),
        "properties": [
            (cut(key), cut(value)) for key, value in [*metadata.properties.items()][:MAX_LINES]
        ],
        "opsets": [(domain or "ai.onnx", version) for domain, version in model.opsets.items()],
        "ir": metadata.ir_version,
        "bytes": size,
        "unneeded": [name for name in files if name not in model.external],
        "inputs": [info_of(info) for info in model.inputs],
        "outputs": [info_of(info) for info in model.outputs],
        "unsupported": lines[:MAX_LINES],
        "left": max(0, len(lines) - MAX_LINES),
    }
    return json.dumps(facts)


def _load(content: Any, files: Mapping[str, Any]) -> onnx.Model:
    try:
        return onnx.load(memoryview(content), files)
    except (OnnxMissingDataError, OnnxAmbiguousDataError):
        raise
    except OnnxFormatError as error:
        raise OnnxFormatError(str(error).removeprefix("ONNX model: ")) from error


async def survey_model(shapes_json: str) -> str:
    """Size, arithmetic and operators of the model for given input shapes by name.

    Returns a `Survey`; "unsupported" has what is found to be unsupported for these shapes. Raises
    TallowError for shapes that do not fit.
    """
    found = _model().model.summary(json.loads(shapes_json) or None)
    facts: Survey = {
        "parameters": found.parameters,
        "weightBytes": found.bytes,
        "nodes": found.nodes,
        "multiplyAdds": found.multiply_adds,
        "whole": not found.at_least,
        "uses": [
            {
                "operator": use.operator,
                "place": cast("Place", use.place),
                "count": use.count,
                "reason": cast("Reason", asdict(use.reason)) if use.reason else None,
            }
            for use in found.uses
        ],
        "unsupported": list(found.unsupported[:MAX_LINES]),
    }
    return json.dumps(facts)


async def run_model(feeds_json: str, find: Find, *buffers: Any) -> str:
    """Runs the model once on the chosen device and keeps the results.

    find: returns the plan that an earlier visit cached for such inputs, if needed. feeds_json: a
    `Feed` for each input, with the buffers of their elements in the same order. Returns a
    `RunAnswer`. Raises TallowError.
    """
    opened = _model()
    opened.feeds = feeds_of(json.loads(feeds_json), buffers)
    opened.results, opened.warm = {}, []
    opened.plan_cache.reset(find)
    start_time = time.perf_counter()
    try:
        if opened.session is None:
            opened.session = await opened.model.session_async(
                shapes=_shapes(opened.feeds), plan_cache=opened.plan_cache
            )
        results = await opened.session.run_host_async(opened.feeds)
    except BaseException:
        forget_session()
        raise
    first = time.perf_counter() - start_time
    opened.first = opened.first or first
    opened.results = dict(flat(results))
    session = opened.session
    assert session is not None
    report = session.report()
    answer: RunAnswer = {
        "device": _kind(session.device),
        "adapter": session.adapter,
        "first": 1000 * first,
        "outputs": [output_of(name, value) for name, value in results.items()],
        "report": {
            "parts": report.parts,
            "nodes": report.nodes,
            "dispatches": session.stats["dispatches"],
            "moved": list(dict.fromkeys(report.moved)),
            "host": len(report.host),
            "bytes": report.bytes,
        },
        "planId": opened.plan_cache.number,
        "refused": opened.plan_cache.refused,
    }
    return json.dumps(answer)


def output_bytes(name: str) -> memoryview:
    """The elements of an output of the last run; coded types (core/dtype.py) as float32."""
    value = _model().results[name]
    assert isinstance(value, HostArray)
    if value.dtype.coded:
        return memoryview(array("f", value.flat())).cast("B")
    return value.data.cast("B")


@streamed
async def time_model(runs: int, seconds: float) -> AsyncGenerator[Any, None]:
    """Runs the model again on the last inputs, `runs` times, or fewer if `seconds` have passed.

    A step is a run. The answer is a `ModelTimes`. Raises FeedError if nothing has run yet, or if
    another run or model came between two steps.
    """
    opened = _model()
    session, feeds = _ran(opened)
    opened.warm = []
    async with aclosing(_again(opened, session, feeds, runs, seconds)) as spent:
        async for each in spent:
            opened.warm.append(each)
            yield _runs(opened.warm, runs)
    times: ModelTimes = {
        "device": _kind(session.device),
        "adapter": session.adapter,
        "series": series_of(opened.warm),
    }
    yield Answer(times)


@streamed
async def compare_model(warm: int, seconds: float) -> AsyncGenerator[Any, None]:
    """Compares the last run with the same run on NumPy or, if NumPy ran it, on the fastest device.

    warm, seconds: see `time_model`. A step is a run. The answer is a `Compared`; members of
    sequences count as outputs. Raises FeedError as `time_model`, TallowError.
    """
    opened = _model()
    previous, feeds = _ran(opened)
    device = previous.device
    other = EXACT if device != EXACT else devices()[0]
    start_time = time.perf_counter()
    session = await opened.model.session_async(other, _shapes(feeds))
    try:
        results = await session.run_host_async(feeds)
        first = time.perf_counter() - start_time
        again: list[float] = []
        yield _runs(again, warm)
        async with aclosing(_again(opened, session, feeds, warm, seconds)) as times:
            async for each in times:
                again.append(each)
                yield _runs(again, warm)
    finally:
        session.close()
    _same(opened, feeds)
    theirs = dict(flat(results))
    comparison: Compared = {
        "devices": {
            _kind(device): times_of(opened.first, opened.warm),
            _kind(other): times_of(first, again),
        },
        "outputs": [
            difference_of(name, value, theirs.get(name)) for name, value in opened.results.items()
        ],
    }
    yield Answer(comparison)


def _runs(times: Sequence[float], total: int) -> Runs:
    return {"stage": "runs", "done": len(times), "total": total}


def _kind(device: str) -> Device:
    """What the page calls a device: the address of another machine is left out."""
    return cast("Device", device.partition(":")[0])


def _ran(opened: _Opened) -> tuple[ModelSession, Feeds]:
    """The session of the last run, and its inputs."""
    if opened.session is None or opened.feeds is None:
        raise FeedError("the model has not been run yet")
    return opened.session, opened.feeds


async def _again(
    opened: _Opened, session: ModelSession, feeds: Feeds, runs: int, seconds: float
) -> AsyncGenerator[float, None]:
    """Runs the session again; yields the seconds of each run."""
    spent = 0.0
    for _ in range(runs):
        if spent >= seconds:
            break
        _same(opened, feeds)
        start_time = time.perf_counter()
        await session.run_host_async(feeds)
        took = time.perf_counter() - start_time
        spent += took
        yield took


def _same(opened: _Opened, feeds: Feeds) -> None:
    """Raises FeedError unless this is still the last run of the open model."""
    if opened is not _opened or opened.session is None or opened.feeds is not feeds:
        raise FeedError("another run, model or device was chosen meanwhile")


def _model() -> _Opened:
    if _opened is None:
        raise FeedError("no model is open")
    return _opened


def _shapes(feeds: Feeds) -> dict[str, tuple[int, ...]] | None:
    tensors = {info.name for info in _model().model.inputs if info.dtype}
    shapes = {
        name: x.shape for name, x in feeds.items() if isinstance(x, HostArray) and name in tensors
    }
    return shapes or None
