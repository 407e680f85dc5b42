"""Capturing: buffers that a graph reads become inputs, which Tallow feeds itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..core.drivers import run_sync
from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..errors import DeviceError, DeviceLostError
from ..graph import Graph, Node, constant, input_node, make, rebuild, topological
from ..ops.elementwise import cast
from .buffer import Buffer, Memory


def held_input(name: str, shape: Shape, dtype: DType, memory: Memory) -> tuple[Node, Node]:
    """An input in the type in which a device holds a type, and the same in the type itself."""
    held = memory.held_type(dtype)
    given = input_node(name, shape, held)
    return given, given if held == dtype else make(cast, given, dtype=dtype)


def replaced(outputs: Mapping[str, Node], new: Mapping[Node, Node]) -> dict[str, Node]:
    """The outputs of a graph in which nodes are replaced by others."""
    found = dict(new)
    for node in topological(outputs.values()):
        if node not in found:
            found[node] = rebuild(node, tuple(found[child] for child in node.inputs))
    return {name: found[node] for name, node in outputs.items()}


def capture(graph: Graph, memory: Memory) -> tuple[Graph, list[Node]]:
    """The graph with an input behind its others for each buffer that it reads, and the nodes of
    these: a state that is overwritten leaves its old value to its nodes, in another buffer.

    Raises DeviceError for a buffer of another device.
    """
    nodes = [node for node in graph.nodes() if node.is_buffer]
    if not nodes:
        return graph, []
    new, inputs = {}, []
    for number, node in enumerate(nodes):
        given, new[node] = held_input(f"buffer {number}", node.shape, node.dtype, memory)
        inputs.append(given)
        own(node.attrs["buffer"], memory)
    outputs = replaced(graph.outputs, new)
    return replace(graph, inputs=(*graph.inputs, *inputs), outputs=outputs), nodes


def with_values(graph: Graph) -> Graph:
    """The graph with a constant for each buffer that it reads; blocks while they are read."""
    new = {n: constant(host_data(n.attrs["buffer"])) for n in graph.nodes() if n.is_buffer}
    return replace(graph, outputs=replaced(graph.outputs, new)) if new else graph


def own(buffer: Buffer, memory: Memory) -> Buffer:
    """The buffer, if it is in this memory. Raises DeviceLostError if it was lost with a device
    of the same name, DeviceError if it is on another one."""
    if buffer.memory is memory:
        return buffer
    if buffer.memory.name == memory.name:
        raise lost(f"a {buffer.dtype.name} array of shape {buffer.shape}")
    raise DeviceError(
        f"a tensor of shape {buffer.shape} is on {buffer.memory.name!r} but is needed on "
        f"{memory.name!r}: move it with x.to({memory.name!r})"
    )


def lost(what: str) -> DeviceLostError:
    """The error for an array whose device is gone."""
    return DeviceLostError(
        f"{what} was lost with its GPU device; compute it again, or load it with "
        "assign or load_state_dict: Tallow opens a new device when it needs one"
    )


def device_of(nodes: Iterable[Node]) -> str | None:
    """The device of the buffers that nodes are computed from; None if there are none.

    Raises DeviceError where there are two.
    """
    names = {node.attrs["buffer"].memory.name for node in nodes if node.is_buffer}
    if len(names) > 1:
        raise DeviceError(
            f"tensors on {' and '.join(sorted(names))} meet in one expression; move one with x.to()"
        )
    return names.pop() if names else None


def host_data(buffer: Buffer) -> HostArray:
    """The elements of a buffer; blocks."""
    return run_sync(buffer.memory.read([buffer]))[0]
