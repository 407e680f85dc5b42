"""The functions that the page calls, of all views: strings and buffers in, JSON or a buffer out.

The worker (web/worker/main.js) awaits these functions. A model is loaded as one graph together with
the preprocessing of pixels and the postprocessing of logits that its card describes, so that an
answer costs one upload, one submit and one map. The worker caches compiled plans
(compile/plan_serialization.py); the next visit loads them, and reads the model's file only if its
graph is needed. On WebGPU the worker answers with a cached plan before Python has started, and
hands it over afterwards.
"""

from __future__ import annotations

import json
import statistics
import time
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from tallow import Tuned, TuningStep, TuningWarning, functional, onnx, tuning_steps
from tallow.compile import Compiled, plan_serialization
from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.core.streamed_weights import StreamedFile
from tallow.errors import DataNotLoadedError, DeviceUnavailableError, OnnxFormatError
from tallow.functions import permute_dims, reshape
from tallow.graph import Graph, input_node
from tallow.runtime.base import Backend, DeviceInfo
from tallow.runtime.compiling import compile_for
from tallow.runtime.device import backend, open_device, set_default_device
from tallow.runtime.session import Session
from tallow.tensor import Tensor, asarray

from . import javascript
from .javascript import copied, view
from .plan_registry import clear, plan_weight, register, release_plan, serialized_plan
from .steps import Answer, streamed

if TYPE_CHECKING:
    from .contract import devices
    from .contract.devices import Chosen, LoadedModel, OneDevice, Runs, Warned, WarningKind

__all__ = [
    "connect",
    "load_kept",
    "load_model",
    "on_start",
    "plan_weight",
    "predict",
    "profile",
    "release_plan",
    "reserve",
    "run_on",
    "serialized_plan",
    "session_of",
    "start",
    "tune",
]

WARM_SECONDS = 2.0  # no further warm run starts after this time, because the page waits


@dataclass
class _Loaded:
    """A loaded model."""

    session: Session
    card: dict[str, Any]


class Files(Protocol):
    """A model's files (py/tallow_build/content/split_model.py): its graph as a JavaScript
    Uint8Array or any buffer, and the .onnx file with the large weights, a `StreamedFile` of
    web/site/streamed.js."""

    graph: Any
    weights: Any


Fetch = Callable[[], Awaitable[Files]]

_T = TypeVar("_T")

_Steps = AsyncGenerator[TuningStep, None]

_models: dict[str, _Loaded] = {}

_borrowed: dict[str, Any] = {}
"""The backends of other machines, by name; a connection is closed when another device is chosen."""

on_start: list[Callable[[], None]] = []
"""Called when a device is chosen: the views' modules close what they have on the one before."""

_usual_warning = warnings.showwarning
_warned: list[Warned] = []  # not yet reported to the page


def _show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """Replaces warnings.showwarning: collects warnings for the visitor."""
    if not isinstance(message, TuningWarning):
        _usual_warning(message, category, *where, **more)
        return
    kind = cast("WarningKind", message.kind)
    warning: Warned = {"kind": kind, "kernel": message.kernel, "why": message.why}
    if warning not in _warned:
        _warned.append(warning)


def _warnings() -> list[Warned]:
    """The new warnings, which the page shows in its own language."""
    warnings = _warned.copy()
    _warned.clear()
    return warnings


async def connect(device: str, token: str) -> str:
    """Opens the device of another machine, "remote:https://HOST"; the chosen one stays chosen.

    Returns a `Chosen`. Raises DeviceUnavailableError with the reason if that machine can't be
    reached or refuses.
    """
    try:
        info = await open_device(device, token=token)
    except DeviceUnavailableError as error:
        # The visitor has just written the address: the reason is enough.
        raise DeviceUnavailableError(str(error.__cause__ or error)) from error
    _borrowed[device] = backend(device)
    return _chosen(info)


def reserve(size: int) -> bytearray:
    """Memory in Python, which the worker fills directly, without a second copy."""
    return bytearray(size)


async def start(device: str, token: str | None = None) -> str:
    """Chooses the device by its name, and unloads all models except the visitor's own.

    token: of another machine, with which it is connected again if need be. Returns a `Chosen`.
    Raises DeviceUnavailableError with the reason if the device is unavailable.
    """
    for loaded in _models.values():
        loaded.session.close()
    _models.clear()
    clear()
    for forget in on_start:
        forget()
    warnings.simplefilter("always", TuningWarning)
    warnings.showwarning = _show_warning
    if token is not None:
        await connect(device, token)
    set_default_device(device)
    for other in _borrowed.keys() - {device}:
        _borrowed.pop(other).connection.close()
    return _chosen(backend().info)


def _chosen(info: DeviceInfo) -> str:
    chosen: Chosen = {"device": info.device, "adapter": info.adapter}
    return json.dumps(chosen)


async def load_model(name: str, fetch: Fetch, card_json: str) -> str:
    """Loads a model with its card.

    fetch: returns its files. Returns a `LoadedModel`. Replaces a model of the same name. The
    compiled plan is available from `serialized_plan` and `plan_weight`, by its planId, until
    `release_plan`. Raises OnnxError for a file that cannot be used, DeviceError if the device
    cannot run the model.
    """
    card = json.loads(card_json)
    used = backend()

    async def load(graph: Graph, nodes: int, building: float) -> str:
        made = await loaded_session(graph, used)
        compiling = 1000 * (building + made.compiling)
        number = register(made.compiled, {"nodes": nodes})
        facts = {"nodes": nodes, "kept": False, "planId": number, "compiling": compiling}
        return _enter(name, made.session, card, made.seconds, facts)

    return await with_graph(card, fetch, load)


async def load_kept(name: str, card_json: str, text: str, loaded: Any, weights: Any) -> str:
    """Loads a plan that `serialized_plan` returned on an earlier visit, without reading a file or
    building a graph.

    loaded: the parts of it that the worker already has on the GPU, or None; then `weights` is a
    buffer with all weights (`plan_serialization.restore`). Returns a `LoadedModel`. Raises
    PlanError for a text from another version, DeviceError if the device cannot run the model.
    """
    card = json.loads(card_json)
    used = backend()
    start_time = time.perf_counter()
    compiled, facts = plan_serialization.restore(text, view(weights) if weights else (), loaded)
    del weights
    session = await Session.load_async(compiled, used)
    seconds = time.perf_counter() - start_time
    return _enter(name, session, card, seconds, {**facts, "kept": True})


def _enter(
    name: str, session: Session, card: dict[str, Any], seconds: float, facts: dict[str, Any]
) -> str:
    """Adds a model, replacing any previous one of that name; returns facts about it."""
    previous = _models.pop(name, None)
    if previous:
        previous.session.close()
    _models[name] = _Loaded(session, card)
    told = {**facts, **session.stats, "name": name, "seconds": seconds, "warnings": _warnings()}
    return json.dumps(cast("LoadedModel", told))


async def predict(name: str, pixels: Any) -> memoryview:
    """The float32 probabilities that the model `name` computes for pixels (a JavaScript typed array
    or any buffer).

    Digits are 28 x 28 float32 from 0 to 1, white ink on black; photographs are RGBA bytes, size x
    size. Raises KeyError for a model that is not loaded, FeedError for pixels that do not fit.
    """
    (result,) = await _models[name].session.run_ordered([view(pixels)])
    return result.data


async def profile(name: str, pixels: Any) -> str:
    """Times each kernel of the model `name` on pixels, given as for `predict`.

    Returns a `Profiled`. Raises KeyError for a model that is not loaded, FeedError for pixels that
    do not fit.
    """
    loaded = _models[name]
    (port,) = loaded.session.plan.inputs
    image = HostArray(view(pixels), port.shape, dt.BY_NAME[port.dtype])
    found = await loaded.session.profile_async({"pixels": image})
    plan, trace = loaded.session.plan.to_json(host=False), found.to_trace()
    return f'{{"profile":{json.dumps(found.to_dict())},"plan":{plan},"trace":{trace}}}'


@streamed
async def run_on(
    name: str, device: str, warm: int, pixels: Any, fetch: Fetch
) -> AsyncGenerator[Any, None]:
    """The answer of the model `name` to pixels on a given device, which need not be the chosen one.

    fetch: returns the model's files, for another device than the chosen one. A step is a run, up to
    `warm` after the first, fewer if they are slow. The answer is a `OneDevice`. A session on
    another device is closed afterwards. Raises KeyError for a model that is not loaded, FeedError
    for pixels that do not fit, DeviceError.
    """
    image, loaded = view(pixels), _models[name]
    session, first = loaded.session, None
    seconds = 0.0
    if session.device != device:

        async def make(graph: Graph, *_: Any) -> Made:
            return await loaded_session(graph, backend(device))

        made = await with_graph(loaded.card, fetch, make)
        session, seconds = made.session, made.seconds
    try:
        start_time = time.perf_counter()
        (result,) = await session.run_ordered([image])
        if session is not loaded.session:
            first = 1000 * (seconds + time.perf_counter() - start_time)
        times: list[float] = []
        yield _runs(0, warm)
        while len(times) < warm and sum(times) < WARM_SECONDS:
            start_time = time.perf_counter()
            await session.run_ordered([image])
            times.append(time.perf_counter() - start_time)
            yield _runs(len(times), warm)
    finally:
        if session is not loaded.session:
            session.close()
    answer: OneDevice = {
        "probabilities": result.flat(),
        "first": first,
        "warm": 1000 * statistics.median(times) if times else None,
    }
    yield Answer(answer)


def _runs(done: int, total: int) -> Runs:
    return {"stage": "runs", "done": done, "total": total}


@streamed
async def tune(name: str, fetch: Fetch) -> AsyncGenerator[Any, None]:
    """Times alternative kernels for the model `name` on this device, and stores the fastest ones.

    fetch: returns the model's files. A step is an op; what was measured is stored wherever the
    steps end. The fastest kernels are used the next time the model is loaded; the loaded model
    stays unchanged and can answer meanwhile. The answer is a `devices.Tuned`; so is what each step
    yields. Raises KeyError for a model that is not loaded, DeviceLostError.
    """

    async def begun(graph: Graph, *_: Any) -> tuple[_Steps, TuningStep | None]:
        steps = tuning_steps(graph)
        return steps, await anext(steps, None)

    steps, step = await with_graph(_models[name].card, fetch, begun)
    ops, found = 0, []
    async with aclosing(steps):
        while step:
            ops = step.total
            if step.result:
                found.append(step.result)
            yield _summary(ops, found)
            step = await anext(steps, None)
    yield Answer(_summary(ops, found))


def _summary(ops: int, found: Sequence[Tuned]) -> devices.Tuned:
    replaced = [result for result in found if result.chosen != result.default]
    replaced.sort(key=lambda result: -result.gain)
    return {
        "stage": "tuning",
        "ops": ops,
        "measured": len(found),
        "replaced": [_described(result) for result in replaced],
        "clock": cast("devices.Clock", found[0].clock) if found else None,
        "warnings": _warnings(),
    }


def _described(result: Tuned) -> devices.Replaced:
    return {
        "op": result.op,
        "shape": result.shape,
        "kernel": result.chosen,
        "gain": result.gain,
    }


def session_of(name: str) -> Session:
    """The session of a loaded model; KeyError if it is not loaded."""
    return _models[name].session


@dataclass(frozen=True)
class Made:
    """A compiled and loaded plan. compiling, seconds: the time spent compiling, and until the
    session was ready, without waiting for weights."""

    compiled: Compiled
    session: Session
    compiling: float
    seconds: float


async def loaded_session(graph: Graph, used: Backend) -> Made:
    """A graph, compiled for a device and loaded on it."""
    start_time = time.perf_counter()
    compiled = compile_for(used, graph)
    compiling = time.perf_counter() - start_time
    if used.memory.is_host:
        await compiled.download()  # not a part of the time of loading
    start_time = time.perf_counter()
    session = await Session.load_async(compiled, used)
    loading = time.perf_counter() - start_time - session.stats.get("waited", 0) / 1000
    return Made(compiled, session, compiling, compiling + loading)


async def with_graph(
    card: dict[str, Any], fetch: Fetch, use: Callable[[Graph, int, float], Awaitable[_T]]
) -> _T:
    """Calls `use` with the graph from the page's pixels to the answer, the number of nodes in the
    file's network, and the seconds that building took.

    It starts before the weights are loaded; if a weight turns out to be needed, everything is
    downloaded and the step is retried.
    """
    files = await fetch()
    content = copied(files.graph)
    weights = StreamedFile(javascript.Source(files.weights))

    async def job() -> _T:
        start_time = time.perf_counter()
        network = onnx.load(content, {f"{card['name']}.onnx": weights}).graph()
        graph = _answer(card, network.after(_pixels(card, network)))
        return await use(graph, len(network.nodes()), time.perf_counter() - start_time)

    try:
        return await job()
    except DataNotLoadedError:
        await weights.arrive()
    return await job()


def _pixels(card: dict[str, Any], network: Graph) -> Graph:
    """The graph from the page's pixels to the network's input, by the card's "preprocess"."""
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
            f"{card['name']}: the card describes images of shape {(1, *normal.shape)}, "
            f"but the model expects {wanted.shape}"
        )
    return Graph((node,), {wanted.attrs["name"]: reshape(normal, wanted.shape).node}, "pixels")


def _answer(card: dict[str, Any], network: Graph) -> Graph:
    """The network with its single output as probabilities."""
    (node,) = network.outputs.values()
    output = reshape(Tensor(node), (-1,))
    if card["output"]["kind"] == "logits":
        output = functional.softmax(output)
    return Graph(network.inputs, {"probabilities": output.node}, card["name"])
