"""What tensors ask of the runtime: their values, on a device or on the host."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import constant
from ..hostarray import HostArray
from ..tensor import Tensor
from . import eager, trace
from .capture import host_data
from .device import backend
from .eager import chosen

__all__ = ["chosen", "host", "host_async", "realize", "realize_all", "to"]


def host(tensor: Tensor, device: str | None) -> HostArray:
    """The elements; blocks."""
    node = tensor.node
    if node.is_constant:
        data: HostArray = node.attrs["data"]
        return data
    if node.is_buffer:
        return host_data(node.attrs["buffer"])
    return eager.fetch([node], chosen([node], device))[0]


async def host_async(tensor: Tensor, device: str | None) -> HostArray:
    """The elements."""
    node = tensor.node
    if node.is_constant:
        data: HostArray = node.attrs["data"]
        return data
    if node.is_buffer:
        buffer = node.attrs["buffer"]
        (found,) = await buffer.memory.read_async([buffer])
        read: HostArray = found
        return read
    return (await eager.fetch_async([node], chosen([node], device)))[0]


def realize_all(*tensors: Tensor, device: str | None = None) -> None:
    """Computes tensors in one go and keeps them on the device; see `Tensor.realize`."""
    realize(tensors, device)


def realize(tensors: Sequence[Tensor], device: str | None) -> None:
    """Has tensors hold buffers. Inside a traced function there is nothing to do."""
    if trace.current.get() is not None:
        return
    waiting = [each for each in tensors if not each.node.is_buffer]
    if not waiting:
        return
    nodes = list(dict.fromkeys(each.node for each in waiting))
    used = chosen(nodes, device)
    coded = [node for node in nodes if node.dtype.coded]
    known = [node for node in nodes if node.is_constant and not node.dtype.coded]
    others = [node for node in nodes if not (node.is_constant or node.dtype.coded)]
    new = {node: used.memory.upload(node.attrs["data"]).node for node in known}
    if others:
        buffers = eager.compute(others, used)
        new |= {node: b.node for node, b in zip(others, buffers, strict=True)}
    for node in coded:
        data = node.attrs["data"] if node.is_constant else eager.fetch([node], used)[0]
        new[node] = constant(data)
    for each in waiting:
        each.node = new[each.node]


def to(tensor: Tensor, device: str) -> Tensor:
    """The tensor on a device."""
    memory = backend(device).memory
    node = tensor.node
    if not node.is_buffer:
        return tensor.realize(device)
    buffer = node.attrs["buffer"]
    if buffer.memory is memory:
        return tensor
    return Tensor(memory.upload(host_data(buffer)).node)
