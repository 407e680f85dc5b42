"""All that the page may call: strings and buffers in, JSON out.

The worker (web/worker/main.js) awaits these functions. A model is loaded together with what its
card says must happen to the pixels before it and to the logits after it, as one graph, so that an
answer costs one upload, one submit and one map. What was compiled is lent to the worker, which
keeps it (compile/kept.py); the next visit loads that, and reads the model's file only when its
graph is wanted.
"""

from __future__ import annotations

import itertools
import json
import statistics
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from . import dtype as dt
from . import functional, onnx, opened
from .compile import Compiled, compile_graph, kept
from .device import backend, set_default_device
from .errors import FeedError, OnnxFormatError
from .functions import permute_dims, reshape
from .graph import Graph, input_node
from .hostarray import HostArray
from .opened import (
    close_model,
    compare_model,
    open_model,
    output_bytes,
    reserve,
    run_model,
    survey_model,
    time_model,
)
from .session import Session, compile_session_async
from .tensor import Tensor, asarray
from .tuning import Tuned, TuningWarning, limits_of
from .tuning import tune as tune_graph

__all__ = [
    "close_model",
    "compare_model",
    "kept_text",
    "kept_weight",
    "let_go",
    "load_kept",
    "load_model",
    "open_model",
    "output_bytes",
    "predict",
    "profile",
    "reserve",
    "run_model",
    "run_on",
    "session_of",
    "start",
    "survey_model",
    "time_model",
    "tune",
]

BEST = 5  # classes that an answer about a photograph names
WARM_SECONDS = 2.0  # of warm runs, after which no further one is begun: the page waits


@dataclass
class _Loaded:
    """A model, ready, and whether its answer is a few best classes."""

    session: Session
    card: dict[str, Any]
    opening: float  # seconds from the graph, or from the plan that was kept, to the session
    first: float | None = None  # seconds from the graph to the first answer, once it was given
    asked: memoryview | None = None  # the pixels of its last answer that are to be kept


# Gives the bytes of a model's file: a JavaScript Uint8Array or any buffer.
Fetch = Callable[[], Awaitable[Any]]

_models: dict[str, _Loaded] = {}
_lent: dict[int, tuple[Compiled, dict[str, Any]]] = {}  # what the worker may keep, with its facts
_numbers = itertools.count(1)


class _Stopwatch:
    """Adds up the seconds of what it is around."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.perf_counter() - self._began


_compiling = _Stopwatch()  # building graphs, the passes and WGSL

_usual_warning = warnings.showwarning
_warned: list[dict[str, str]] = []  # what the page has not been told yet


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """In place of warnings.showwarning: keeps what the visitor must be told."""
    if not isinstance(message, TuningWarning):
        _usual_warning(message, category, *where, **more)
        return
    told = {"kind": message.kind, "kernel": message.kernel, "why": message.why}
    if told not in _warned:
        _warned.append(told)


def _warnings() -> list[dict[str, str]]:
    """The page says them in its own language."""
    told = _warned.copy()
    _warned.clear()
    return told


async def start(device: str) -> str:
    """Chooses the device, "webgpu" or "numpy", and forgets the models that were loaded; one that
    the visitor opened stays.

    Returns {"device", "adapter", "reason"}. Raises DeviceUnavailableError with the reason if the
    device cannot be had.
    """
    for loaded in _models.values():
        loaded.session.close()
    _models.clear()
    _lent.clear()
    opened.forget_session()
    warnings.simplefilter("always", TuningWarning)
    warnings.showwarning = _show_warning
    set_default_device(device)
    info = backend().info
    return json.dumps({"device": info.device, "adapter": info.adapter, "reason": None})


async def load_model(name: str, fetch: Fetch, card_json: str) -> str:
    """Loads an ONNX file with its card.

    fetch: gives the file. Returns facts about it: "warnings", and as "compiling" the milliseconds
    that its graph, the passes and the WGSL took, among them. A model of the same name is replaced.
    What was compiled can be had by `kept_text` and `kept_weight`, under the number "lent", until
    `let_go`. Raises OnnxError for a file that cannot be used, DeviceError if the device cannot have
    it.
    """
    card = json.loads(card_json)
    _compiling.seconds = 0.0
    graph, nodes = await _graph(card, fetch)
    used = backend()
    began = time.perf_counter()
    with _compiling:
        compiled = compile_graph(graph, used.info.device, limits_of(used))
    del graph
    session = Session(compiled, await used.load_async(compiled), used)
    number = next(_numbers)
    _lent[number] = compiled, {"nodes": nodes}
    compiling = 1000 * _compiling.seconds
    told = {"nodes": nodes, "kept": False, "lent": number, "compiling": compiling}
    return _loaded(name, session, card, time.perf_counter() - began, told)


async def load_kept(
    name: str, card_json: str, text: str, seconds: float, loaded: Any, *weights: Any
) -> str:
    """Loads what `kept_text` gave on an earlier visit: no file is read, no graph built.

    loaded: what the worker has of it on the GPU after so many seconds, or None; then the weights
    are given. Returns what `load_model` does, but for "compiling" and "lent". Raises PlanError for
    a text that is not of this version, DeviceError if the device cannot have it.
    """
    card = json.loads(card_json)
    used = backend()
    began = time.perf_counter()
    views = [memoryview(content).cast("B") for content in weights]
    compiled, facts = kept.restore(text, views, loaded)
    del weights, views
    session = Session(compiled, await used.load_async(compiled), used)
    seconds += time.perf_counter() - began
    return _loaded(name, session, card, seconds, {**facts, "kept": True})


def _loaded(
    name: str, session: Session, card: dict[str, Any], seconds: float, told: dict[str, Any]
) -> str:
    """The model takes the place of the one before it; facts about it."""
    previous = _models.pop(name, None)
    if previous:
        previous.session.close()
    _models[name] = _Loaded(session, card, seconds)
    return json.dumps({"name": name, **told, **session.stats, "warnings": _warnings()})


def kept_text(number: int) -> str:
    """What `load_kept` needs to load a model another time, but for its weights.

    Raises KeyError for what is not lent any more.
    """
    compiled, facts = _lent[number]
    return kept.keep(compiled, facts)


def kept_weight(number: int, place: int) -> memoryview:
    """The bytes of one weight of what `kept_text` describes. Raises KeyError, IndexError."""
    return kept.buffer(_lent[number][0], place)


def let_go(number: int) -> None:
    """What was compiled has been kept, or cannot be: frees its weights."""
    _lent.pop(number, None)


async def predict(name: str, pixels: Any, watched: int = 0, keep: bool = True) -> str:
    """An answer of the model `name` for pixels (a JavaScript typed array or any buffer).

    A digit: 28 x 28 float32 from 0 to 1, white ink on black; returns {"probabilities": [...]}.
    A photograph: RGBA bytes, size x size; returns {"top": [[class, probability], ...], "watched":
    probability}, the five best first, and the class `watched`, which need not be among them.
    keep: whether `profile` and `run_on` are to use these pixels from now on.
    Raises KeyError for a model that is not loaded, FeedError for pixels that do not fit.
    """
    loaded = _models[name]
    view = pixels.to_memoryview() if hasattr(pixels, "to_memoryview") else memoryview(pixels)
    content = view.cast("B")
    began = time.perf_counter()
    (result,) = await loaded.session.run_ordered([content])
    if loaded.first is None:
        loaded.first = loaded.opening + time.perf_counter() - began
    if keep:
        loaded.asked = content
    probabilities = result.flat()
    if loaded.card["task"] != "image":
        return json.dumps({"probabilities": probabilities})
    watched_share = probabilities[watched]
    top = []
    for _ in range(min(BEST, len(probabilities))):  # a few passes in C are faster than sorting
        most = max(probabilities)
        index = probabilities.index(most)
        probabilities[index] = -1.0
        top.append([index, most])
    return json.dumps({"top": top, "watched": watched_share})


async def profile(name: str) -> str:
    """How long each kernel of the model `name` takes on the last pixels that it answered.

    Returns {"profile": {... see profile.py}, "plan": {...}, "trace": {...}}: the plan holds the
    text of the kernels, the trace is for Perfetto. Raises KeyError for a model that is not loaded,
    FeedError if it has answered nothing yet.
    """
    loaded = _models[name]
    (port,) = loaded.session.plan.inputs
    pixels = HostArray(_asked(name), port.shape, dt.BY_NAME[port.dtype])
    found = await loaded.session.profile_async({"pixels": pixels})
    plan, trace = loaded.session.plan.to_json(host=False), found.to_trace()
    return f'{{"profile":{json.dumps(found.to_dict())},"plan":{plan},"trace":{trace}}}'


async def run_on(name: str, device: str, warm: int, fetch: Fetch) -> str:
    """The last answer of the model `name`, given once more by a device, the chosen one or not.

    fetch: gives the model's file, for a device that is not the chosen one. Returns
    {"probabilities": [...], "first", "warm"}: milliseconds from the graph, or from the plan that
    was kept, to the first answer, compiling included, as it was on the chosen device; and of one
    more run, the median of `warm` of them or fewer slow ones (None where that is 0). A session on
    another device is closed again. Raises KeyError for a model that is not loaded, FeedError if it
    has answered nothing yet, DeviceError.
    """
    pixels, loaded = _asked(name), _models[name]
    if loaded.session.device == device:
        session, first = loaded.session, loaded.first
    else:
        graph, _ = await _graph(loaded.card, fetch)
        began = time.perf_counter()
        session, first = await compile_session_async(graph, device), None
    try:
        (result,) = await session.run_ordered([pixels])
        if first is None:
            first = time.perf_counter() - began
        times: list[float] = []
        while len(times) < warm and sum(times) < WARM_SECONDS:
            began = time.perf_counter()
            await session.run_ordered([pixels])
            times.append(time.perf_counter() - began)
    finally:
        if session is not loaded.session:
            session.close()
    told = {
        "probabilities": result.flat(),
        "first": 1000 * first,
        "warm": 1000 * statistics.median(times) if times else None,
    }
    return json.dumps(told)


def _asked(name: str) -> memoryview:
    """The last pixels that the model `name` answered."""
    pixels = _models[name].asked
    if pixels is None:
        raise FeedError(f"{name} has answered nothing yet that could be computed again")
    return pixels


async def tune(name: str, progress: Callable[[int, int], object], fetch: Fetch) -> str:
    """Times the kernels that could serve the model `name` here, and keeps what won.

    progress: called with (ops done, ops in all); if it returns False, no further op is measured.
    fetch: gives the model's file. Whoever loads the model again has it with what won; the one that
    is loaded stays as it is, and may answer meanwhile. Returns {"ops", "measured", "replaced":
    [{"op", "shape", "kernel", "gain"}, ...], "clock", "warnings"}: the ops that have a choice, how
    many of them were measured, those for which another kernel than the rule's won, the largest gain
    first, and by whose clock (tuning.Tuned). Raises KeyError for a model that is not loaded,
    DeviceLostError.
    """
    ops = 0

    def count(done: int, total: int) -> object:
        nonlocal ops
        ops = total
        return progress(done, total)

    graph, _ = await _graph(_models[name].card, fetch)
    found = await tune_graph(graph, None, count)
    replaced = [result for result in found if result.chosen != result.default]
    replaced.sort(key=lambda result: -result.gain)
    told = {
        "ops": ops,
        "measured": len(found),
        "replaced": [_told(result) for result in replaced],
        "clock": found[0].clock if found else None,
        "warnings": _warnings(),
    }
    return json.dumps(told)


def _told(result: Tuned) -> dict[str, Any]:
    return {
        "op": result.op,
        "shape": result.shape,
        "kernel": result.chosen,
        "gain": result.gain,
    }


def session_of(name: str) -> Session:
    """The session of a model that is loaded; KeyError if there is none."""
    return _models[name].session


async def _graph(card: dict[str, Any], fetch: Fetch) -> tuple[Graph, int]:
    """From what the page sends to the answer, and how many nodes of it are the file's network."""
    content = await fetch()
    if hasattr(content, "to_bytes"):
        content = content.to_bytes()  # with which JavaScript's own is let go
    with _compiling:
        network = onnx.load(content).graph()
        del content  # the weights are in the graph by now, and files are large
        return _answer(card, network.after(_pixels(card, network))), len(network.nodes())


def _pixels(card: dict[str, Any], network: Graph) -> Graph:
    """From what the page sends to what the network takes, as the card's "preprocess" says."""
    (wanted,) = network.inputs
    rules = card["preprocess"]
    size, channels = rules["size"], rules["channels"]
    mean, std = (asarray([float(v) for v in rules[key]]) for key in ("mean", "std"))
    if channels == "L":
        node = input_node("pixels", (size, size), dt.float32)
        image = reshape(Tensor(node), (size, size, 1)) * 255.0
    else:
        # A pixel is one word, red in its lowest byte: bytes in memory are R, G, B, A.
        node = input_node("pixels", (size, size), dt.uint32)
        shifts = asarray([8 * "RGB".index(channel) for channel in channels], dt.uint32)
        words = reshape(Tensor(node), (size, size, 1))
        image = ((words >> shifts) & 255).astype(dt.float32)
    normal = permute_dims((image - mean) / std, (2, 0, 1))
    if (1, *normal.shape) != wanted.shape:
        raise OnnxFormatError(
            f"{card['name']}: the card makes images of shape {(1, *normal.shape)}, "
            f"the model takes {wanted.shape}"
        )
    return Graph((node,), {wanted.attrs["name"]: reshape(normal, wanted.shape).node}, "pixels")


def _answer(card: dict[str, Any], network: Graph) -> Graph:
    """The network with its one output as probabilities."""
    (node,) = network.outputs.values()
    output = reshape(Tensor(node), (-1,))
    if card["output"]["kind"] == "logits":
        output = functional.softmax(output)
    return Graph(network.inputs, {"probabilities": output.node}, card["name"])
