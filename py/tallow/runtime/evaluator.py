"""What tensors ask of the runtime: their values, on a device or on the host."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import NamedTuple
from weakref import WeakValueDictionary

from .. import context, graph
from ..dtype import float32
from ..graph import OPEN, Node, constant, topological
from ..hostarray import HostArray
from ..op import Frozen, Movement
from ..ops.movement import reshape
from ..tensor import Tensor, use_evaluator
from . import eager
from .buffer import Buffer
from .capture import device_of, host_data
from .device import backend
from .variable import Variable, waiting


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
        if device is None and not node.dtype.coded:
            _compute([node])
            return host_data(node.attrs["buffer"])
        return eager.fetch(eager.work([node], device))[0]

    async def host_async(self, tensor: Tensor, device: str | None) -> HostArray:
        """As `host`."""
        node = tensor.node
        if node.is_constant:
            data: HostArray = node.attrs["data"]
            return data
        if device is None and not node.dtype.coded and not node.is_buffer:
            work = _work([node], None)
            work.settle(await eager.compute_async(work.todo))
        if node.is_buffer:
            buffer: Buffer = node.attrs["buffer"]
            return (await buffer.memory.read_async([buffer]))[0]
        return (await eager.fetch_async(eager.work([node], device)))[0]

    def realize(self, tensors: Sequence[Tensor], device: str | None) -> None:
        """Has tensors hold buffers. Inside a traced function there is nothing to do."""
        waiting = [each for each in tensors if not each.node.is_buffer]
        if not waiting or context.trace.get() is not None:
            return
        new = _realized(list(dict.fromkeys(each.node for each in waiting)), device)
        for each in waiting:
            if each.node in new:
                each.node = new[each.node]

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

    def changed(self, tensor: Tensor) -> None:
        """See `Evaluator`. A function that is being traced computes nothing."""
        if context.trace.get() is None:
            _CHANGED[id(tensor)] = tensor

    def device(self, tensor: Tensor) -> str:
        """The name of the device that stores a tensor, or would compute it."""
        return eager.work([tensor.node], None).used.info.device


def _realized(nodes: Sequence[Node], device: str | None) -> dict[Node, Node]:
    """Computes nodes, which become their buffers. Gives the other nodes that stand for those that
    were constants, which stay as they are: buffers, or constants where a type has few bits."""
    used = eager.work(nodes, device).used
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
        _compute(computed, used.info.device)
    return new


# ---- what is computed together -----------------------------------------------------------------


_CHANGED: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
"""Tensors that were changed in place and are yet to be computed."""

_CONSTANT_DEPTH = {True: 2, False: 16}
"""The depth beyond which a tensor made of constants alone is kept, for floating types and others.
Those below are folded into kernels; integers, which may be indices, are checked on the host."""


class _Work(NamedTuple):
    """What one run computes. nodes: they become their buffers, the first of the results. variables:
    those that get the rest."""

    todo: eager.Work
    nodes: list[Node]
    variables: list[Variable]

    def settle(self, buffers: Sequence[Buffer]) -> None:
        """Gives nodes and variables their values."""
        for node, buffer in zip(self.nodes, buffers, strict=False):
            if not node.is_buffer:  # another task may have computed it meanwhile
                buffer.settle(node)
        for node in self.todo.order:  # so that they do not hold the past of what they stand for
            if not node.is_source and node.is_alias and node.inputs[0].is_buffer:
                node.inputs[0].attrs["buffer"].settle(node)
        for variable, buffer in zip(self.variables, buffers[len(self.nodes) :], strict=True):
            variable.settle(buffer)


def _compute(nodes: Sequence[Node], device: str | None = None) -> None:
    """Computes nodes, which become their buffers."""
    work = _work(nodes, device)
    work.settle(eager.compute(work.todo))


def _work(asked: Sequence[Node], device: str | None) -> _Work:
    """These nodes, and what would be computed again by later runs: what tensors hold on the way,
    what was changed in place, and the variables that wait for their value. So a turn of a loop
    costs a turn, whatever the loop reads."""
    todo = eager.work(asked, device)
    name = todo.used.info.device
    nodes = dict.fromkeys(asked)
    changed = _changed(name)
    if changed:
        nodes |= dict.fromkeys(changed)
        todo = eager.work([*nodes], name)
    nodes |= dict.fromkeys(_held(todo.order))
    variables = waiting(name)
    if len(nodes) > len(todo.outputs) or variables:
        todo = eager.work([*nodes, *(node for _, node in variables)], name)
    return _Work(todo, [*nodes], [variable for variable, _ in variables])


def _changed(device: str) -> list[Node]:
    """The nodes of tensors that were changed in place, as far as this device computes them."""
    found = []
    for key, tensor in list(_CHANGED.items()):
        node = tensor.node
        if not node.is_source and node.depth != OPEN:
            if device_of(topological([node])) not in (None, device):
                continue
            if not node.dtype.coded:
                found.append(node)
        del _CHANGED[key]
    return found


def _held(order: Sequence[Node]) -> list[Node]:
    """The nodes among these that something outside of their graph holds, in topological order: a
    living tensor, or what is built from them and not computed here. Those are left out which are
    not worth a buffer: what only moves what is known, and small sums of constants."""
    found = []
    fed: set[Node] = set()
    known: set[Node] = set()
    for node, outside in zip(order, _holders(order), strict=True):
        if node.is_source:
            known.add(node)
            if node.is_buffer or eager.is_fed(node):
                fed.add(node)
            continue
        inputs = node.inputs
        if isinstance(node.op, Movement) and inputs[0] in known:
            known.add(node)
        if any(child in fed for child in inputs):
            fed.add(node)
        elif node.depth <= _CONSTANT_DEPTH[node.dtype.is_floating]:
            continue
        if outside and node not in known and not node.dtype.coded:
            found.append(node)
    return found


def _holders(order: Sequence[Node]) -> list[int]:
    """How often something outside of a graph refers to each of its nodes.

    CPython counts references anyway; tables of weak references would cost every op. Nothing but
    speed depends on the answer: a node that is missed is computed again, and one too many is
    stored.
    """
    inside = _readers(order)
    probe = Node(reshape, (), Frozen(), (), float32)  # nobody else has it
    inside[probe] = 0
    *counts, least = [getrefcount(node) - count for node, count in inside.items()]
    # This frame holds the probe as the caller's list holds the nodes.
    return [count - least for count in counts]


def _readers(order: Sequence[Node]) -> dict[Node, int]:
    """How often the nodes of a graph refer to each of them."""
    found = dict.fromkeys(order, 0)
    for node in order:
        for child in node.inputs:
            found[child] += 1
        if node.past is not None:
            for child in graph.derivatives.needs(node):
                if child in found:
                    found[child] += 1
    return found


def _too_deep(nodes: tuple[Node, ...]) -> None:
    """See `graph.too_deep`. Some of what they were made of may have been computed since."""
    for node in topological(nodes):
        node.depth = 1 + max((child.depth for child in node.inputs), default=-1)
    deep = [node for node in dict.fromkeys(nodes) if node.depth > graph.DEEPEST // 2]
    if deep and context.trace.get() is None:
        _compute(deep)


graph.too_deep = _too_deep


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
