"""All that the page may call: strings and buffers in, JSON or a buffer out.

The worker (web/worker/main.js) awaits these functions. A model is loaded together with what its
card says must happen to the pixels before it and to the logits after it, as one graph, so that an
answer costs one upload, one submit and one map. What was compiled is lent to the worker, which
keeps it (compile/plan_serialization.py); the next visit loads that, and reads the model's file only
when its graph is wanted. On WebGPU the worker has it answer before Python is there, and hands it
over then.
"""

from __future__ import annotations

import json
import statistics
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tallow import dtype as dt
from tallow import functional, onnx
from tallow.compile import Compiled, plan_serialization
from tallow.errors import DataNotLoadedError, OnnxFormatError
from tallow.functions import permute_dims, reshape
from tallow.graph import Graph, input_node
from tallow.hostarray import HostArray
from tallow.runtime.base import Backend
from tallow.runtime.device import backend, set_default_device
from tallow.runtime.session import Session
from tallow.runtime.tuning import Tuned, TuningWarning, compile_for
from tallow.runtime.tuning import tune as tune_graph
from tallow.streamed_weights import StreamedFile
from tallow.tensor import Tensor, asarray

from . import javascript, user_model
from .javascript import copied, view
from .plan_registry import kept_text, kept_weight, lend, let_all_go, let_go
from .user_model import (
    close_model,
    compare_model,
    needed_files,
    open_model,
    output_bytes,
    reserve,
    run_model,
    survey_model,
    time_model,
)

__all__ = [
    "close_model",
    "compare_model",
    "kept_text",
    "kept_weight",
    "let_go",
    "load_kept",
    "load_model",
    "needed_files",
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

WARM_SECONDS = 2.0  # of warm runs, after which no further one is begun: the page waits


@dataclass
class _Loaded:
    """A model, ready."""

    session: Session
    card: dict[str, Any]


class Files(Protocol):
    """A model: its graph as a JavaScript Uint8Array or any buffer, and the .onnx file that has the
    large weights, an `ArrivingFile` of web/arriving.js (py/tallow_build/split_model.py)."""

    graph: Any
    weights: Any


Fetch = Callable[[], Awaitable[Files]]

_T = TypeVar("_T")

_models: dict[str, _Loaded] = {}

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
    let_all_go()
    user_model.forget_session()
    warnings.simplefilter("always", TuningWarning)
    warnings.showwarning = _show_warning
    set_default_device(device)
    info = backend().info
    return json.dumps({"device": info.device, "adapter": info.adapter, "reason": None})


async def load_model(name: str, fetch: Fetch, card_json: str) -> str:
    """Loads a model with its card.

    fetch: gives its files. Returns facts about it: "warnings", "seconds" from the graph to the
    session, and as "compiling" the milliseconds that its graph, the passes and the WGSL took, among
    them. A model of the same name is replaced. What was compiled can be had by `kept_text` and
    `kept_weight`, under the number "lent", until `let_go`. Raises OnnxError for a file that cannot
    be used, DeviceError if the device cannot have it.
    """
    card = json.loads(card_json)
    used = backend()

    async def load(graph: Graph, nodes: int, building: float) -> str:
        made = await _make(graph, used)
        compiling = 1000 * (building + made.compiling)
        lent = lend(made.compiled, {"nodes": nodes})
        told = {"nodes": nodes, "kept": False, "lent": lent, "compiling": compiling}
        return _loaded(name, made.session, card, made.seconds, told)

    return await _with_graph(card, fetch, load)


async def load_kept(name: str, card_json: str, text: str, loaded: Any, weights: Any) -> str:
    """Loads what `kept_text` gave on an earlier visit: no file is read, no graph built.

    loaded: what the worker has of it on the GPU, or None; then `weights` is a buffer with all of
    them (`plan_serialization.restore`). Returns what `load_model` does, but for "compiling" and
    "lent". Raises PlanError for a text that is not of this version, DeviceError if the device
    cannot have it.
    """
    card = json.loads(card_json)
    used = backend()
    began = time.perf_counter()
    compiled, facts = plan_serialization.restore(text, view(weights) if weights else (), loaded)
    del weights
    session = await Session.load_async(compiled, used)
    return _loaded(name, session, card, time.perf_counter() - began, {**facts, "kept": True})


def _loaded(
    name: str, session: Session, card: dict[str, Any], seconds: float, told: dict[str, Any]
) -> str:
    """The model takes the place of the one before it; facts about it."""
    previous = _models.pop(name, None)
    if previous:
        previous.session.close()
    _models[name] = _Loaded(session, card)
    facts = {**told, **session.stats, "seconds": seconds, "warnings": _warnings()}
    return json.dumps({"name": name, **facts})


async def predict(name: str, pixels: Any) -> memoryview:
    """The probabilities, float32, that the model `name` gives pixels (a JavaScript typed array or
    any buffer).

    For digits: 28 x 28 float32 from 0 to 1, white ink on black. For photographs: RGBA bytes,
    size x size. Raises KeyError for a model that is not loaded, FeedError for pixels that do not
    fit.
    """
    (result,) = await _models[name].session.run_ordered([view(pixels)])
    return result.data


async def profile(name: str, pixels: Any) -> str:
    """How long each kernel of the model `name` takes on pixels, as `predict` takes them.

    Returns {"profile": {... see profile.py}, "plan": {...}, "trace": {...}}: the plan holds the
    text of the kernels, the trace is for Perfetto. Raises KeyError for a model that is not loaded,
    FeedError for pixels that do not fit.
    """
    loaded = _models[name]
    (port,) = loaded.session.plan.inputs
    image = HostArray(view(pixels), port.shape, dt.BY_NAME[port.dtype])
    found = await loaded.session.profile_async({"pixels": image})
    plan, trace = loaded.session.plan.to_json(host=False), found.to_trace()
    return f'{{"profile":{json.dumps(found.to_dict())},"plan":{plan},"trace":{trace}}}'


async def run_on(name: str, device: str, warm: int, pixels: Any, fetch: Fetch) -> str:
    """The answer of the model `name` to pixels, given by a device, the chosen one or not.

    fetch: gives the model's files, for a device that is not the chosen one. Returns
    {"probabilities": [...], "first", "warm"}: milliseconds from the graph to the first answer,
    compiling included (None on the chosen device, where the model was loaded before); and of one
    more run, the median of `warm` of them or fewer slow ones (None where that is 0). A session on
    another device is closed again. Raises KeyError for a model that is not loaded, FeedError for
    pixels that do not fit, DeviceError.
    """
    image, loaded = view(pixels), _models[name]
    session, first = loaded.session, None
    seconds = 0.0
    if session.device != device:

        async def make(graph: Graph, *_: Any) -> _Made:
            return await _make(graph, backend(device))

        made = await _with_graph(loaded.card, fetch, make)
        session, seconds = made.session, made.seconds
    try:
        began = time.perf_counter()
        (result,) = await session.run_ordered([image])
        if session is not loaded.session:
            first = 1000 * (seconds + time.perf_counter() - began)
        times: list[float] = []
        while len(times) < warm and sum(times) < WARM_SECONDS:
            began = time.perf_counter()
            await session.run_ordered([image])
            times.append(time.perf_counter() - began)
    finally:
        if session is not loaded.session:
            session.close()
    told = {
        "probabilities": result.flat(),
        "first": first,
        "warm": 1000 * statistics.median(times) if times else None,
    }
    return json.dumps(told)


async def tune(name: str, progress: Callable[[int, int], object], fetch: Fetch) -> str:
    """Times the kernels that could serve the model `name` here, and keeps what won.

    progress: called with (ops done, ops in all); if it returns False, no further op is measured.
    fetch: gives the model's files. Whoever loads the model again has it with what won; the one that
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

    async def tuned(graph: Graph, *_: Any) -> list[Tuned]:
        return await tune_graph(graph, None, count)

    found = await _with_graph(_models[name].card, fetch, tuned)
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


@dataclass(frozen=True)
class _Made:
    """What was compiled, and loaded. Seconds: compiling, and until the session could answer, but
    for waits for weights."""

    compiled: Compiled
    session: Session
    compiling: float
    seconds: float


async def _make(graph: Graph, used: Backend) -> _Made:
    began = time.perf_counter()
    compiled = compile_for(used, graph)
    compiling = time.perf_counter() - began
    if used.memory.is_host:
        await compiled.arrive()
    began = time.perf_counter()
    session = await Session.load_async(compiled, used)
    loading = time.perf_counter() - began - session.stats.get("waited", 0) / 1000
    return _Made(compiled, session, compiling, compiling + loading)


async def _with_graph(
    card: dict[str, Any], fetch: Fetch, use: Callable[[Graph, int, float], Awaitable[_T]]
) -> _T:
    """What `use` makes of the graph from what the page sends to the answer, of the number of nodes
    in it that are the file's network, and of the seconds that it took to build.

    It begins before the weights are here; if it asks for one, it begins again when they are.
    """
    files = await fetch()
    content = copied(files.graph)
    weights = StreamedFile(javascript.Source(files.weights))

    async def job() -> _T:
        began = time.perf_counter()
        network = onnx.load(content, {f"{card['name']}.onnx": weights}).graph()
        graph = _answer(card, network.after(_pixels(card, network)))
        return await use(graph, len(network.nodes()), time.perf_counter() - began)

    try:
        return await job()
    except DataNotLoadedError:
        await weights.arrive()
    return await job()


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
