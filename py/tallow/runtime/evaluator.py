"""Computes the values of tensors, on a device or on the host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from threading import local
from typing import NamedTuple
from weakref import WeakValueDictionary

from ..compile.ranges import is_wide
from ..core import context
from ..core.drivers import Steps, run_sync
from ..core.hostarray import HostArray
from ..graph import DEEPEST, OPEN, Node, constant, make, seams, topological
from ..ops.movement import reshape
from ..ops.source import constant as constant_op
from ..tensor import Derivation, Tensor, use_evaluator
from . import derived, eager
from .buffer import Buffer, Memory
from .capture import device_of, host_data
from .device import backend
from .structure import structure_of
from .variable import Variable, waiting


class EagerEvaluator:
    """Computes tensors without a session: see eager.py."""

    def host(self, tensor: Tensor, device: str | None) -> Steps[HostArray]:
        """The elements. Raises what compiling and running raise."""
        node = tensor.node
        if node.is_constant:
            data: HostArray = node.attrs["data"]
            return data
        computes = not node.is_buffer
        if computes and (device is not None or node.dtype.coded):
            return (yield from eager.fetch(eager.work([node], device)))[0]
        if computes:
            work = _work([node], None)
            work.settle((yield from eager.compute(work.todo)))
        buffer: Buffer = node.attrs["buffer"]
        (read,) = yield from buffer.memory.read([buffer])
        return _read(node, read) if computes else read

    def read(self, tensors: Sequence[Tensor]) -> Steps[list[HostArray]]:
        """The elements of tensors: those of one device by one read."""
        computed = [Tensor(each.node) for each in tensors]
        self.realize([each for each in computed if not each.node.is_constant], None)
        found: dict[int, HostArray] = {}
        numbers: defaultdict[Memory, list[int]] = defaultdict(list)
        for number, each in enumerate(computed):
            if each.node.is_buffer:
                numbers[each.node.attrs["buffer"].memory].append(number)
            else:
                found[number] = yield from self.host(each, None)
        for memory, mine in numbers.items():
            buffers = [computed[number].node.attrs["buffer"] for number in mine]
            found |= zip(mine, (yield from memory.read(buffers)), strict=True)
        return [found[number] for number in range(len(computed))]

    def realize(self, tensors: Sequence[Tensor], device: str | None) -> None:
        """Computes tensors, which hold buffers then. Inside a traced function there is nothing to
        do."""
        if context.trace.get() is None:
            _realize(tensors, device)

    def derived(self, derivation: Derivation) -> list[Tensor | None]:
        """See `Evaluator`. A traced function computes nothing."""
        traced = context.trace.get() is not None
        coded = any(each.dtype.coded for each in derivation.tensors)
        if derivation.repeats and not (traced or coded or context.debug_nans.get()):
            return _derived(derivation)
        made = derivation.make()
        if not traced:
            tensors = [*derivation.tensors, *(each for each in made if each is not None)]
            _realize(tensors, None, derivation.references())
        return made

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
            _CHANGED.tensors[id(tensor)] = tensor

    def device(self, tensor: Tensor) -> str:
        """The name of the device that stores a tensor, or would compute it."""
        return eager.work([tensor.node], None).used.info.device


def _realize(tensors: Sequence[Tensor], device: str | None, among: Iterable[Node] = ()) -> None:
    """Computes tensors, which hold buffers then. among: see `Structure.held`."""
    waiting = [each for each in tensors if not each.node.is_buffer]
    if not waiting:
        return
    new = _realized(list(dict.fromkeys(each.node for each in waiting)), device, among)
    for each in waiting:
        if each.node in new:
            each.node = new[each.node]


def _realized(nodes: Sequence[Node], device: str | None, among: Iterable[Node]) -> dict[Node, Node]:
    """Computes nodes, which become their buffers. Gives the other nodes that stand for those that
    were constants, which stay as they are: buffers, or constants where a type has few bits."""
    new: dict[Node, Node] = {}
    computed = []
    for asked in nodes:
        node = _given(asked)
        if node.is_constant or node.dtype.coded:
            new[asked] = _uploaded(node, nodes, device)
        else:
            computed.append(node)
    if computed:
        _compute(computed, device, among)
    return new


def _read(node: Node, data: HostArray) -> HostArray:
    """The elements of a node that was computed to be read. Integers of 64 bits that a GPU has in
    32 are kept on the host: their range is known there, so more can be computed of them. `read`
    says that a single one may differ from turn to turn, as floating numbers do."""
    if node.is_buffer and _is_narrowed(node, node.attrs["buffer"].memory.name):
        kept = make(constant_op, data=data, shape=data.shape, dtype=data.dtype, read=True)
        node.become(constant_op, kept.attrs)
    return data


def _is_narrowed(node: Node, device: str) -> bool:
    """Whether a device has the node's integers in fewer bits, and so keeps none unasked."""
    return is_wide(node.dtype) and not backend(device).target.computes_64_bits


def _uploaded(node: Node, among: Sequence[Node], device: str | None) -> Node:
    """The buffer of a constant, on the device of the nodes with which it is computed; or a constant
    where a type has few bits."""
    if node.dtype.coded:
        if node.is_constant:
            return node
        return constant(run_sync(eager.fetch(eager.work([node], device)))[0])
    used = backend(device or device_of(topological(among)))
    uploaded = used.memory.upload(node.attrs["data"])
    if node.dtype.is_integer:
        uploaded.uploaded = node.attrs["data"]
    return uploaded.node


# ---- what is computed together -----------------------------------------------------------------


class _Changed(local):
    """Tensors that this thread has changed in place, which are yet to be computed."""

    def __init__(self) -> None:
        self.tensors: WeakValueDictionary[int, Tensor] = WeakValueDictionary()


_CHANGED = _Changed()


class _Work(NamedTuple):
    """What one run computes. nodes: they become their buffers, the first of the results. variables:
    those that get the rest, with what they wait for."""

    todo: eager.Work
    nodes: list[Node]
    variables: list[tuple[Variable, Node]]

    def settle(self, buffers: Sequence[Buffer]) -> None:
        """Stores the values of nodes and variables."""
        for node, buffer in zip(self.nodes, buffers, strict=False):
            if not node.is_buffer:  # another task may have computed it meanwhile
                buffer.settle(node)
        for node in self.todo.structure.aliases:  # which hold the past of what they stand for
            if not node.is_source and node.inputs[0].is_buffer:
                node.inputs[0].attrs["buffer"].settle(node)
        rest = buffers[len(self.nodes) :]
        for (variable, node), buffer in zip(self.variables, rest, strict=True):
            variable.settle_waiting(node, buffer)


def _compute(nodes: Sequence[Node], device: str | None = None, among: Iterable[Node] = ()) -> None:
    """Computes nodes, which become their buffers. among: see `Structure.held`."""
    work = _work(nodes, device, among=among)
    work.settle(run_sync(eager.compute(work.todo)))


def _derived(derivation: Derivation) -> list[Tensor | None]:
    """Computes a graph and what rules derive from it; by a known plan, if there is one."""
    asked = [each.node for each in derivation.tensors if not each.node.is_source]
    work = _work(asked, None, derivation.beside, derivation.references())
    todo, memory, count = work.todo, work.todo.used.memory, len(work.todo.outputs)
    marks = derivation.marks(todo.structure.numbers), context.key()
    structure, key, known = derived.find(memory, todo.structure, todo.outputs, marks)
    results = None if known is None else known.run(todo.order, memory)
    if known is not None and results is not None:
        work.settle(results[:count])
        return [None if n is None else Tensor(results[n].node) for n in known.made]
    made = derivation.make()
    nodes = dict.fromkeys(each.node for each in made if each is not None)
    computed = [node for node in nodes if not (node.is_source or node.dtype.coded)]
    outputs = [*todo.outputs, *computed]
    entry, leaves = run_sync(eager.ready(eager.work(outputs, todo.used.info.device)))
    if len(computed) == len(nodes):
        index_of = {node: count + number for number, node in enumerate(computed)}
        results_of = [None if each is None else index_of[each.node] for each in made]
        derived.remember(memory, key, structure, entry, leaves, results_of)
    results = eager.run(entry, leaves, memory)
    work.settle(results[:count])
    for node, buffer in zip(computed, results[count:], strict=True):
        if not node.is_buffer:  # it may be one of the graph's own
            buffer.settle(node)
    _realize([each for each in made if each is not None], None)
    return made


def _work(
    asked: Sequence[Node],
    device: str | None,
    beside: Sequence[Node] = (),
    among: Iterable[Node] = (),
) -> _Work:
    """These nodes, and what would be computed again by later runs: what tensors hold on the way,
    what was changed in place, and the variables that wait for their value. So a turn of a loop
    costs a turn, whatever the loop reads.

    beside: nodes that belong to the structure too. among: see `Structure.held`."""
    order = topological([*asked, *beside])
    used = backend(device or device_of(order))
    name = used.info.device
    variables, changed = waiting(name), _changed()
    waited_for = [node for _, node in variables]
    if changed or waited_for:
        more = topological([*changed.values(), *waited_for], list(order))
        if any(each.attrs["buffer"].memory.name != name for each in more if each.is_buffer):
            changed = {key: node for key, node in changed.items() if _fits(node, name)}
            more = topological([*changed.values(), *waited_for], list(order))
        order = more
    for key in changed:
        _CHANGED.tensors.pop(key, None)
    structure = structure_of(order)
    unasked = [*changed.values(), *structure.held(order, among)]
    nodes = dict.fromkeys([*asked, *(each for each in unasked if not _is_narrowed(each, name))])
    todo = eager.Work([*nodes, *waited_for], order, structure, used)
    return _Work(todo, [*nodes], variables)


def _changed() -> dict[int, Node]:
    """The nodes of tensors that were changed in place and are yet to be computed."""
    found = {}
    for key, tensor in list(_CHANGED.tensors.items()):
        node = tensor.node
        if node.is_source or node.depth == OPEN or node.dtype.coded:
            del _CHANGED.tensors[key]
        else:
            found[key] = node
    return found


def _fits(node: Node, device: str) -> bool:
    """Whether a device computes a node."""
    return device_of(topological([node])) in (None, device)


def _too_deep(nodes: tuple[Node, ...]) -> None:
    """See `seams.too_deep`. Some of what they were made of may have been computed since."""
    for node in topological(nodes):
        node.depth = 1 + max((child.depth for child in node.inputs), default=-1)
    deep = [node for node in dict.fromkeys(nodes) if node.depth > DEEPEST // 2]
    if deep and context.trace.get() is None:
        _compute(deep)


seams.too_deep = _too_deep


def _given(node: Node) -> Node:
    """The constant of integers that a tensor is made of by `tl.tensor` or `detach`; else the
    node."""
    found = node
    while found.op is reshape and found.shape == found.inputs[0].shape:
        found = found.inputs[0]
    return found if found.is_constant and found.dtype.is_integer else node


def realize(*tensors: Tensor, device: str | None = None) -> None:
    """Computes tensors together, and keeps them on the device; see `Tensor.realize`.

    tensors: any tensors.
    device: the name of the device; None is the one that stores what they need.
    Returns: nothing.
    Raises: DeviceUnavailableError if the device cannot be used here, and what compiling and running
      raise.
    """
    _EVALUATOR.realize(tensors, device)


_EVALUATOR = EagerEvaluator()
use_evaluator(_EVALUATOR)
