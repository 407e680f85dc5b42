"""All that the page may call: strings and buffers in, JSON out.

The worker (web/worker/main.js) awaits these functions. A model is loaded together with what its
card says must happen to the pixels before it and to the logits after it, as one graph, so that an
answer costs one upload, one submit and one map.
"""

from __future__ import annotations

import json
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import dtype as dt
from . import functional, onnx, opened
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
from .tuning import Tuned, TuningWarning
from .tuning import tune as tune_graph

__all__ = [
    "close_model",
    "compare_model",
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
    graph: Graph
    best_only: bool
    opening: float  # seconds from the graph to the session
    first: float | None = None  # seconds from the graph to the first answer, once it was given
    asked: memoryview | None = None  # the pixels of its last answer that are to be kept


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
    opened.forget_session()
    warnings.simplefilter("always", TuningWarning)
    warnings.showwarning = _show_warning
    set_default_device(device)
    info = backend().info
    return json.dumps({"device": info.device, "adapter": info.adapter, "reason": None})


async def load_model(name: str, content: Any, card_json: str) -> str:
    """Loads an ONNX file (a JavaScript Uint8Array or any buffer) with its card.

    Returns facts about it, "warnings" among them. A model of the same name is replaced. Raises
    OnnxError for a file that cannot be used, DeviceError if the device cannot have it.
    """
    card = json.loads(card_json)
    data = content.to_bytes() if hasattr(content, "to_bytes") else content
    network = onnx.load(data).graph()
    pixels = _pixels(card, network)
    graph = _answer(card, network.after(pixels))
    began = time.perf_counter()
    session = await compile_session_async(graph)
    opening = time.perf_counter() - began
    previous = _models.pop(name, None)
    if previous:
        previous.session.close()
    _models[name] = _Loaded(session, graph, card["task"] == "image", opening)
    facts = {"name": name, "nodes": len(network.nodes()), **session.stats}
    facts["warnings"] = _warnings()
    return json.dumps(facts)


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
    if not loaded.best_only:
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


async def run_on(name: str, device: str, warm: int) -> str:
    """The last answer of the model `name`, given once more by a device, the chosen one or not.

    Returns {"probabilities": [...], "first", "warm"}: milliseconds from the graph to the first
    answer, compiling included, as it was on the chosen device; and of one more run, the median of
    `warm` of them or fewer slow ones (None where that is 0). A session on another device is closed
    again. Raises KeyError for a model that is not loaded, FeedError if it has answered nothing yet,
    DeviceError.
    """
    pixels, loaded = _asked(name), _models[name]
    if loaded.session.device == device:
        session, first = loaded.session, loaded.first
    else:
        began = time.perf_counter()
        session, first = await compile_session_async(loaded.graph, device), None
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


async def tune(name: str, progress: Callable[[int, int], object]) -> str:
    """Times the kernels that could serve the model `name` here, and keeps what won.

    progress: called with (ops done, ops in all); if it returns False, no further op is measured.
    Whoever loads the model again has it with what won; the one that is loaded stays as it is, and
    may answer meanwhile. Returns {"ops", "measured", "replaced": [{"op", "shape", "kernel",
    "gain"}, ...], "clock", "warnings"}: the ops that have a choice, how many of them were
    measured, those for which another kernel than the rule's won, the largest gain first, and by
    whose clock (tuning.Tuned). Raises KeyError for a model that is not loaded, DeviceLostError.
    """
    ops = 0

    def count(done: int, total: int) -> object:
        nonlocal ops
        ops = total
        return progress(done, total)

    found = await tune_graph(_models[name].graph, None, count)
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
