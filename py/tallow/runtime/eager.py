"""Tensors without a session: what is asked for is compiled once for each structure of a graph.

Code that runs in a loop builds the same graph again and again, on other data. Two graphs have one
structure if they are the same ops on sources of the same shapes and types (structure.py). Then one
plan serves both: what differs is its input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ..compile import Compiled
from ..compile.indices import (
    Indexed,
    by_input,
    check_constants,
    check_ranges,
    index_sources,
)
from ..compile.limits import Limits, host_memory
from ..compile.ranges import is_wide, limits
from ..compile.target import QuickPlan
from ..core import context
from ..core.drivers import Steps
from ..core.dtype import device_type, int32
from ..core.hostarray import HostArray, from_words
from ..errors import DTypeError
from ..graph import Graph, Node, input_node, topological
from ..ops.movement import slice_
from ..ops.source import buffer as buffer_op
from . import starts
from .base import Backend, Program
from .buffer import Buffer, Memory
from .capture import device_of, held_input, own, replaced
from .compiling import compile_for, limits_of
from .debug import explain, suspects
from .device import backend
from .hosted import LoadSoon
from .structure import Numbers, Structure, structure_of
from .transfer import for_device

_PROGRAMS = 128
"""How many programs a device keeps; the least recently used are evicted."""

_SHARE = 8
"""The part of the host's memory that their slots may take, if there are more than a few."""

_FEW = 8

_SHAPES = 4
"""How many shapes of alike graphs get a full plan. Further ones are likely to be used once, as the
lengths of a text that grows, and get one that takes less time to make."""

_OFTEN = 16
"""How often such a plan is used before a full one takes its place."""


_LEAF = "leaf "
"""What the names of a plan's inputs begin with; the number of the leaf follows."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class Entry:
    """A program, and what is known of its inputs.

    indexed: those that are indices, by number. bounded: those that are 64-bit integers, with the
    bound of what 32 bits compute of them (Port). checked: the leaves that were looked at. kept:
    nodes whose identity is part of the structure. bytes: of its slots. family: see `_family`; None
    if the plan is a full one. cuts: the leaves whose starts are its last input (starts.py). last:
    the turn in which it was last used. uses: how often it was.
    """

    program: Program
    outputs: list[str]
    coded: dict[int, Any]
    indexed: list[tuple[int, list[Indexed]]]
    bounded: list[tuple[int, int]]
    checked: WeakSet[Node]
    kept: list[Node]
    bytes: int
    family: int | None
    cuts: list[int]
    last: int = 0
    uses: int = 0


# ---- programs ----------------------------------------------------------------------------------


def _entry_of(
    compiled: Compiled, program: Program, names: list[str], structure: Structure
) -> Entry:
    indices = {f"{_LEAF}{number}": number for number in range(len(structure.leaves))}
    indexed = [
        (indices[name], [replace(each, name="") for each in several])
        for name, several in by_input(compiled.indexed).items()
    ]
    coded = {names.index(name): dtype for name, dtype in compiled.coded.items()}
    size = sum([slot.bytes for slot in compiled.plan.slots])
    checked: WeakSet[Node] = WeakSet()
    family = compiled.family
    bounded = _bounded(compiled)
    cuts = [number for number, leaf in enumerate(structure.leaves) if starts.is_read(leaf)]
    return Entry(
        program, names, coded, indexed, bounded, checked, structure.kept, size, family, cuts
    )


def _bounded(compiled: Compiled) -> list[tuple[int, int]]:
    """See `Entry`."""
    return [
        (int(port.name.removeprefix(_LEAF)), port.most)
        for port in compiled.plan.inputs
        if port.most is not None
    ]


def _compiled(
    outputs: Sequence[Node], structure: Structure, used: Backend
) -> tuple[Compiled, list[str]]:
    """The plan of a structure, and the names of its outputs."""
    named = {f"output {number}": node for number, node in enumerate(outputs)}
    order = topological(outputs)
    family = _family(order, used.memory)
    slices = any(leaf.op is slice_ for leaf in structure.leaves)
    quick = used.target.quick if family is not None and not slices else None
    if quick is not None:
        found = _quickly(quick, order, named, structure, limits_of(used))
        if found is not None:
            return replace(found, family=family), list(named)
    graph = _with_inputs(named, structure, used.memory)
    check_constants(graph)
    return replace(compile_for(used, graph), brief=True), list(named)


def _with_inputs(named: dict[str, Node], structure: Structure, memory: Memory) -> Graph:
    """The graph of some outputs, with inputs instead of the structure's leaves. Those whose starts
    are read share one, the last."""
    new: dict[Node, Node] = {}
    inputs: list[Node] = []
    cuts = [leaf for leaf in structure.leaves if starts.is_read(leaf)]
    read = input_node("starts", (starts.count(cuts),), int32)
    place = 0
    for number, leaf in enumerate(structure.leaves):
        name = f"{_LEAF}{number}"
        if leaf.is_buffer:
            given, new[leaf] = held_input(name, leaf.shape, leaf.dtype, memory)
        elif starts.is_read(leaf):
            x = replaced({"x": leaf.inputs[0]}, new)["x"]
            new[leaf] = starts.moved(leaf, x, read, place)
            place += starts.count([leaf])
            continue
        else:
            given = new[leaf] = input_node(name, leaf.shape, leaf.dtype)
        inputs.append(given)
    if cuts:
        inputs.append(read)
    return Graph(tuple(inputs), replaced(named, new), "eager")


def _quickly(
    quick: QuickPlan,
    order: Sequence[Node],
    named: dict[str, Node],
    structure: Structure,
    limits: Limits,
) -> Compiled | None:
    """A plan that takes little time to make, where there is one."""
    inputs = {f"{_LEAF}{number}": leaf for number, leaf in enumerate(structure.leaves)}
    made = quick(order, inputs, named, limits)
    if made is None:
        return None
    names = {leaf: name for name, leaf in inputs.items()}
    indexed: dict[Indexed, None] = {}
    for source, each in index_sources(order):
        if source in names:
            indexed[replace(each, name=names[source])] = None
        elif source.is_constant:
            each.check(source.attrs["data"])
    return Compiled(made.plan, made.weights, indexed=[*indexed], plain=made.plain, brief=True)


def _family(order: Sequence[Node], memory: Memory) -> int | None:
    """What graphs have in common whose shapes alone differ, if some have been compiled."""
    alike = tuple([(n.op, len(n.shape), n.dtype.name) for n in order])
    seen = _families.setdefault(memory, Counter())
    if len(seen) > _MOST_FAMILIES:
        seen.clear()
    family = hash(alike)
    seen[family] += 1
    return family if seen[family] > _SHAPES else None


_MOST_FAMILIES = 4096

_families: WeakKeyDictionary[Any, Counter[int]] = WeakKeyDictionary()


def used_again(entry: Entry, memory: Memory) -> bool:
    """Whether a program serves once more; it counts as used then. One of a plan that took little
    time to make, and has been used often, is worth a full plan instead."""
    entry.last = next(_turns)
    entry.uses += 1
    if entry.family is None or entry.uses < _OFTEN:
        return True
    _families[memory].pop(entry.family, None)
    return False


def _find(memory: Memory, key: Hashable) -> Entry | None:
    found: Entry | None = memory.programs.get(key)
    return found if found is not None and used_again(found, memory) else None


def _remember(memory: Memory, key: Hashable, entry: Entry) -> Entry:
    """Keeps an entry, or finds the one that another thread has made of the same graph meanwhile:
    that may be running, so it stays. Gives the one that is kept."""
    programs = memory.programs
    with _remembering:
        entry.last = next(_turns)
        before: Entry | None = programs.get(key)
        if before is not None and before.family == entry.family:
            entry.program.close()
            return before
        programs[key] = entry
        if before is not None:
            before.program.close()
        held, most = sum([each.bytes for each in programs.values()]), host_memory() // _SHARE
        if len(programs) <= _PROGRAMS and held <= most:
            return entry
        # Some more than must go, so that this is not looked at again at once.
        by_age = sorted(programs.items(), key=lambda item: item[1].last)
        for old, each in by_age[:-_FEW]:
            if len(programs) <= _PROGRAMS * 7 // 8 and held <= most * 7 // 8:
                break
            held -= each.bytes
            del programs[old]
            each.program.close()
    return entry


_remembering = Lock()

_turns = count()


def _inputs(leaves: Sequence[Node], entry: Entry, memory: Memory) -> list[Any]:
    for index, several in entry.indexed:
        check_once(leaves[index], several, entry.checked)
    cuts = entry.cuts
    given = [
        own(leaf.attrs["buffer"], memory) if leaf.op is buffer_op else fed(leaf, memory)
        for leaf in ([x for n, x in enumerate(leaves) if n not in cuts] if cuts else leaves)
    ]
    if cuts:
        given.append(starts.starts_of([leaves[number] for number in cuts]).words())
    return given


def check_once(node: Node, several: Sequence[Indexed], checked: WeakSet[Node]) -> None:
    """Raises IndexRangeError for a constant or a buffer with an index out of range, if the host has
    its elements; `checked` are those that have passed."""
    if node not in checked:
        data = node.attrs["buffer"].known if node.is_buffer else _data(node)
        if data is not None:
            check_ranges(data, several)
            checked.add(node)


def fed(node: Node, memory: Memory) -> Any:
    """What a program is given of a constant: its buffer, where the device has the type as it is;
    the bytes otherwise, and of a single number or a slice, which another one follows."""
    data = _data(node)
    if memory.is_host:
        return data.words()
    narrow = data.dtype.size < 4 and data.dtype.kind != "b"
    once = narrow or data.size == 1 or not node.is_constant
    return for_device(data, "constant") if once else uploaded(node, memory)


def _data(leaf: Node) -> HostArray:
    """What the host has of a leaf that is no buffer."""
    data: HostArray | None
    data = starts.elements(leaf) if leaf.op is slice_ else leaf.attrs["data"]
    assert data is not None
    return data


def uploaded(node: Node, memory: Memory) -> Buffer:
    """The buffer of a constant, which is uploaded once."""
    uploads = _uploads.setdefault(memory, WeakKeyDictionary())
    found = uploads.get(node)
    if found is None:
        found = uploads[node] = memory.upload(node.attrs["data"])
    return found


_uploads: WeakKeyDictionary[Any, WeakKeyDictionary[Node, Buffer]] = WeakKeyDictionary()


# ---- evaluation --------------------------------------------------------------------------------


class Work(NamedTuple):
    """Nodes that are to be computed. order: all that they need. used: what computes them."""

    outputs: Sequence[Node]
    order: list[Node]
    structure: Structure
    used: Backend


def work(outputs: Sequence[Node], device: str | None) -> Work:
    """The nodes on the device that is named, else on the one where what they need is stored."""
    order = topological(outputs)
    used = backend(device or device_of(order))
    return Work(outputs, order, structure_of(order), used)


_numbers: WeakKeyDictionary[Any, Numbers] = WeakKeyDictionary()


def _looked_up(todo: Work) -> tuple[Structure, Hashable, Entry | None]:
    """The structure by which the plan of some work is known, its key, and the plan, if there is
    one."""
    structure, memory = todo.structure, todo.used.memory
    precision = context.matmul_precision.get(), context.function_precision.get()
    key = structure.key_of(todo.outputs), precision
    entry = _find(memory, key)
    if entry is None:
        fed = _numbers.setdefault(memory, Numbers()).fed(structure, todo.outputs)
        if fed is not structure:
            structure, key = fed, (fed.key_of(todo.outputs), precision)
            entry = _find(memory, key)
    return structure, key, entry


class _New(NamedTuple):
    """A plan that is yet to be loaded. key: by which it will be known."""

    compiled: Compiled
    names: list[str]
    structure: Structure
    key: Hashable

    def loaded(self, program: Program, memory: Memory) -> Entry:
        """The entry of its program, which is kept."""
        entry = _entry_of(self.compiled, program, self.names, self.structure)
        return _remember(memory, self.key, entry)


def ready(todo: Work) -> Steps[tuple[Entry, list[Node]]]:
    """The program of some work, and the nodes that it is given."""
    found, leaves = _found(todo)
    if isinstance(found, _New):
        program = yield LoadSoon(todo.used, found.compiled)
        found = found.loaded(program, todo.used.memory)
    return found, leaves


def _found(todo: Work, exact: bool = False) -> tuple[Entry | _New, list[Node]]:
    """The program of some work, or a plan that has none yet; and the nodes that it is given. Where
    the device computes 64-bit integers in 32 bits, and it must be seen that these hold what is
    computed, they are part of the plan. exact: whether they are part of the work's structure."""
    structure, key, entry = _looked_up(todo)
    leaves, used = structure.leaves, todo.used
    if entry is not None and (exact or fits(entry.bounded, leaves)):
        return entry, leaves
    known = exact or used.target.computes_64_bits
    narrowed = not known and any(map(_is_wide_data, leaves))
    refused = _refused.setdefault(used.memory, set())
    if entry is None and not (narrowed and hash(key) in refused):
        try:
            compiled, names = _compiled(todo.outputs, structure, used)
            if known or fits(_bounded(compiled), leaves):
                return _New(compiled, names, structure, key), leaves
        except DTypeError:
            if not narrowed:
                raise
        refused.add(hash(key))
    return _found(todo._replace(structure=structure_of(todo.order, exact=True)), exact=True)


_refused: WeakKeyDictionary[Any, set[int]] = WeakKeyDictionary()
"""Structures with 64-bit integers that must be part of them."""


def _is_wide_data(leaf: Node) -> bool:
    """Whether the host has the elements of a leaf, and they are integers of 64 bits."""
    known = leaf.is_constant or (leaf.op is slice_ and not starts.is_read(leaf))
    return known and is_wide(leaf.dtype)


def fits(bounded: Sequence[tuple[int, int]], leaves: Sequence[Node]) -> bool:
    """Whether the integers of 64 bits that the host knows are such as the plan computes."""
    for number, most in bounded:
        leaf = leaves[number]
        if _is_wide_data(leaf):
            least, greatest = limits(device_type(leaf.dtype))
            low, high = _data(leaf).extremes()
            if low < max(least, -most) or high > min(greatest, most - 1):
                return False
    return True


def run(entry: Entry, leaves: Sequence[Node], memory: Memory) -> list[Buffer]:
    """What a program computes of these nodes, in buffers of their own; does not wait."""
    return entry.program.start(_inputs(leaves, entry, memory))


def compute(todo: Work) -> Steps[list[Buffer]]:
    """The values of nodes, in buffers of their own; does not wait for them."""
    entry, leaves = yield from ready(todo)
    inputs, memory = _inputs(leaves, entry, todo.used.memory), todo.used.memory
    if memory.is_host:  # then nothing has to be waited for
        results = entry.program.start(inputs)
    else:
        results = yield from entry.program.run(inputs, [False] * len(todo.outputs))
    if context.debug_nans.get():
        floating = [n for n, node in enumerate(todo.outputs) if node.dtype.is_floating]
        values = yield from memory.read([results[n] for n in floating])
        yield from _check(todo, zip([todo.outputs[n] for n in floating], values, strict=True))
    return results


def _check(todo: Work, results: Iterable[tuple[Node, HostArray]]) -> Steps[None]:
    """Raises NonFiniteError for a result that is not finite, which what it came from explains."""
    wrong = suspects(results)
    if wrong:
        nodes = [node for node in todo.order if node.is_buffer]
        read = yield from todo.used.memory.read([node.attrs["buffer"] for node in nodes])
        explain(wrong, dict(zip(nodes, read, strict=True)))


def fetch(todo: Work) -> Steps[list[HostArray]]:
    """The values of nodes on the host."""
    outputs, memory = todo.outputs, todo.used.memory
    if all(node.op is buffer_op for node in outputs):
        return (yield from memory.read([own(node.attrs["buffer"], memory) for node in outputs]))
    entry, leaves = yield from ready(todo)
    results = yield from entry.program.run(_inputs(leaves, entry, memory))
    values = _decoded(entry, results)
    if context.debug_nans.get():
        yield from _check(todo, zip(outputs, values, strict=True))
    return values


def _decoded(entry: Entry, values: list[Any]) -> list[HostArray]:
    for index, dtype in entry.coded.items():
        words = values[index]
        values[index] = from_words(words.data, words.shape, dtype)
    return values
