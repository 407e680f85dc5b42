"""What tensors ask of the runtime: their values, on a device or on the host."""

from __future__ import annotations

from collections.abc import Sequence

from .. import context
from ..autodiff.history import is_tracked, replaced_by_value
from ..graph import Node, constant
from ..hostarray import HostArray
from ..ops.movement import reshape
from ..tensor import Tensor, use_evaluator
from . import eager
from .buffer import Buffer
from .capture import host_data
from .device import backend
from .variable import waiting


class EagerEvaluator:
    """Computes tensors without a session: see eager.py."""

    def host(self, tensor: Tensor, device: str | None) -> HostArray:
        """The elements; blocks. Raises what compiling and running raise."""
        node = tensor.node
        if node.is_constant:
            data: HostArray = node.attrs["data"]
            return data
        if node.is_buffer:
            return host_data(node.attrs["buffer"])
        return eager.fetch(eager.work([node], device))[0]

    async def host_async(self, tensor: Tensor, device: str | None) -> HostArray:
        """As `host`."""
        node = tensor.node
        if node.is_constant:
            data: HostArray = node.attrs["data"]
            return data
        if node.is_buffer:
            buffer: Buffer = node.attrs["buffer"]
            return (await buffer.memory.read_async([buffer]))[0]
        return (await eager.fetch_async(eager.work([node], device)))[0]

    def realize(self, tensors: Sequence[Tensor], device: str | None) -> None:
        """Has tensors hold buffers. Inside a traced function there is nothing to do."""
        waiting = [(each, each.node) for each in tensors if not each.node.is_buffer]
        if not waiting or context.trace.get() is not None:
            return
        new = _realized(list(dict.fromkeys(node for _, node in waiting)), device)
        for each, node in waiting:
            each.node = new[node]

    def to(self, tensor: Tensor, device: str) -> Tensor:
        """The tensor on a device; blocks if it is on another one."""
        node = tensor.node
        if not node.is_buffer:
            return tensor.realize(device)
        buffer: Buffer = node.attrs["buffer"]
        memory = backend(device).memory
        if buffer.memory is memory:
            return tensor
        return Tensor(memory.upload(host_data(buffer)).node)

    def device(self, tensor: Tensor) -> str:
        """The name of the device that stores a tensor, or would compute it."""
        return eager.work([tensor.node], None).used.info.device


def _realized(nodes: Sequence[Node], device: str | None) -> dict[Node, Node]:
    """What nodes are once they are computed: buffers, or constants where a type has few bits.

    The values of variables that wait for theirs are computed, too.
    """
    todo = eager.work(nodes, device)
    used = todo.used
    new: dict[Node, Node] = {}
    computed = []
    for asked in nodes:
        node = _given(asked)
        if node.dtype.coded:
            is_known = node.is_constant
            new[asked] = (
                node if is_known else constant(eager.fetch(eager.work([node], used.info.device))[0])
            )
        elif node.is_constant:
            uploaded = used.memory.upload(node.attrs["data"])
            if node.dtype.is_integer:
                uploaded.uploaded = node.attrs["data"]
            new[asked] = uploaded.node
        else:
            computed.append(node)
    if computed:
        variables = waiting(used.info.device)
        if variables or len(computed) < len(nodes):
            todo = eager.work([*computed, *(node for _, node in variables)], used.info.device)
        buffers = eager.compute(todo)
        for (variable, _), buffer in zip(variables, buffers[len(computed) :], strict=True):
            variable.settle(buffer)
        new |= {node: buffer.node for node, buffer in zip(computed, buffers, strict=False)}
        for node in filter(is_tracked, computed):
            replaced_by_value(node, new[node])
    return new


def _given(node: Node) -> Node:
    """The constant of integers that a tensor is made of by `tl.tensor` or `detach`; else the
    node."""
    found = node
    while found.op is reshape and found.shape == found.inputs[0].shape:
        found = found.inputs[0]
    return found if found.is_constant and found.dtype.is_integer else node


def realize(*tensors: Tensor, device: str | None = None) -> None:
    """Computes tensors together, and keeps them on the device; see `Tensor.realize`."""
    _EVALUATOR.realize(tensors, device)


_EVALUATOR = EagerEvaluator()
use_evaluator(_EVALUATOR)
