"""All that the page may call: strings and buffers in, JSON or a buffer out.

The worker (web/worker/main.js) awaits these functions. A model is loaded together with what its
card says must happen to the pixels before it and to the logits after it, as one graph, so that an
answer costs one upload, one submit and one map. What was compiled is lent to the worker, which
keeps it (compile/kept.py); the next visit loads that, and reads the model's file only when its
graph is wanted. On WebGPU the worker has it answer before Python is there, and hands it over then.
"""

from __future__ import annotations

import json
import statistics
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from . import dtype as dt
from . import functional, onnx, opened
from .compile import compile_graph, kept
from .device import backend, set_default_device
from .errors import OnnxFormatError
from .functions import permute_dims, reshape
from .graph import Graph, input_node
from .hostarray import HostArray
from .lent import kept_text, kept_weight, lend, let_all_go, let_go
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

WARM_SECONDS = 2.0  # of warm runs, after which no further one is begun: the page waits


@dataclass
class _Loaded:
    """A model, ready."""

    session: Session
    card: dict[str, Any]


# Gives the bytes of a model's file: a JavaScript Uint8Array or any buffer.
Fetch = Callable[[], Awaitable[Any]]

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
    opened.forget_session()
    warnings.simplefilter("always", TuningWarning)
    warnings.showwarning = _show_warning
    set_default_device(device)
    info = backend().info
    return json.dumps({"device": info.device, "adapter": info.adapter, "reason": None})


async def load_model(name: str, fetch: Fetch, card_json: str) -> str:
    """Loads an ONNX file with its card.

    fetch: gives the file. Returns facts about it: "warnings", "seconds" from the graph to the
    session, and as "compiling" the milliseconds that its graph, the passes and the WGSL took, among
    them. A model of the same name is replaced. What was compiled can be had by `kept_text` and
    `kept_weight`, under the number "lent", until `let_go`. Raises OnnxError for a file that cannot
    be used, DeviceError if the device cannot have it.
    """
    card = json.loads(card_json)
    graph, nodes, building = await _graph(card, fetch)
    used = backend()
    began = time.perf_counter()
    compiled = compile_graph(graph, used.info.device, limits_of(used))
    compiling = building + time.perf_counter() - began
    del graph
    session = Session(compiled, await used.load_async(compiled), used)
    lent = lend(compiled, {"nodes": nodes})
    told = {"nodes": nodes, "kept": False, "lent": lent, "compiling": 1000 * compiling}
    return _loaded(name, session, card, time.perf_counter() - began, told)


async def load_kept(name: str, card_json: str, text: str, loaded: Any, *weights: Any) -> str:
    """Loads what `kept_text` gave on an earlier visit: no file is read, no graph built.

    loaded: what the worker has of it on the GPU, or None; then the weights are given. Returns what
    `load_model` does, but for "compiling" and "lent". Raises PlanError for a text that is not of
    this version, DeviceError if the device cannot have it.
    """
    card = json.loads(card_json)
    used = backend()
    began = time.perf_counter()
    views = [memoryview(content).cast("B") for content in weights]
    compiled, facts = kept.restore(text, views, loaded)
    del weights, views
    session = Session(compiled, await used.load_async(compiled), used)
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
    (result,) = await _models[name].session.run_ordered([_bytes(pixels)])
    return result.data


def _bytes(pixels: Any) -> memoryview:
    view = pixels.to_memoryview() if hasattr(pixels, "to_memoryview") else memoryview(pixels)
    return view.cast("B")


async def profile(name: str, pixels: Any) -> str:
    """How long each kernel of the model `name` takes on pixels, as `predict` takes them.

    Returns {"profile": {... see profile.py}, "plan": {...}, "trace": {...}}: the plan holds the
    text of the kernels, the trace is for Perfetto. Raises KeyError for a model that is not loaded,
    FeedError for pixels that do not fit.
    """
    loaded = _models[name]
    (port,) = loaded.session.plan.inputs
    image = HostArray(_bytes(pixels), port.shape, dt.BY_NAME[port.dtype])
    found = await loaded.session.profile_async({"pixels": image})
    plan, trace = loaded.session.plan.to_json(host=False), found.to_trace()
    return f'{{"profile":{json.dumps(found.to_dict())},"plan":{plan},"trace":{trace}}}'


async def run_on(name: str, device: str, warm: int, pixels: Any, fetch: Fetch) -> str:
    """The answer of the model `name` to pixels, given by a device, the chosen one or not.

    fetch: gives the model's file, for a device that is not the chosen one. Returns
    {"probabilities": [...], "first", "warm"}: milliseconds from the graph to the first answer,
    compiling included (None on the chosen device, where the model was loaded before); and of one
    more run, the median of `warm` of them or fewer slow ones (None where that is 0). A session on
    another device is closed again. Raises KeyError for a model that is not loaded, FeedError for
    pixels that do not fit, DeviceError.
    """
    image, loaded = _bytes(pixels), _models[name]
    session, first = loaded.session, None
    if session.device != device:
        graph, *_ = await _graph(loaded.card, fetch)
        began = time.perf_counter()
        session = await compile_session_async(graph, device)
    try:
        (result,) = await session.run_ordered([image])
        if session is not loaded.session:
            first = 1000 * (time.perf_counter() - began)
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

    graph, *_ = await _graph(_models[name].card, fetch)
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


async def _graph(card: dict[str, Any], fetch: Fetch) -> tuple[Graph, int, float]:
    """From what the page sends to the answer; how many nodes of it are the file's network; and the
    seconds that it took to build from the file's bytes."""
    content = await fetch()
    if hasattr(content, "to_bytes"):
        content = content.to_bytes()  # with which JavaScript's own is let go
    began = time.perf_counter()
    network = onnx.load(content).graph()
    del content  # the weights are in the graph by now, and files are large
    graph = _answer(card, network.after(_pixels(card, network)))
    return graph, len(network.nodes()), time.perf_counter() - began


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
