"""The one way from a graph to a device's plan: for sessions, `@tl.jit` and eager reads."""

from __future__ import annotations

from ..compile import Begin, Compiled, compile_graph
from ..compile.limits import Limits, host_limits
from ..core import watching
from ..core.devices import EXACT
from ..core.dtype import in_pytorch
from ..errors import WideIntegerError
from ..graph import Graph
from .base import Backend
from .hosted import has_code, warn_of_float64, warn_of_wide


def compile_for(used: Backend, graph: Graph, begin: Begin | None = None) -> Compiled:
    """The plan of a graph for a device, with the kernels that were tuned for it; see
    `compile_graph`. A plan for NumPy, if the device has no code for an op (hosted.py), and with
    PyTorch's habits, by which integers have 64 bits, if 32 might not hold one."""
    if watching.watcher is None:
        return _compiled(used, graph, begin)
    with watching.watcher.span("compile", {"model.type": graph.name, "device": used.info.device}):
        return _compiled(used, graph, begin)


def _compiled(used: Backend, graph: Graph, begin: Begin | None) -> Compiled:
    if not has_code(used, graph):
        return compile_graph(graph, EXACT, host_limits())
    if in_pytorch() and not used.target.computes_64_bits:
        warn_of_float64(used, graph)
    try:
        return compile_graph(graph, used.target.name, limits_of(used), begin)
    except WideIntegerError as error:
        if not in_pytorch():
            raise
        warn_of_wide(graph, error)
    return compile_graph(graph, EXACT, host_limits())


def limits_of(used: Backend) -> Limits:
    """What a device can hold and do, by the settings that hold now."""
    return used.target.settled(used)
