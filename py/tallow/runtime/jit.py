"""`@tl.jit`: a Python function becomes one plan, with the variables that it touches as its state.

The function is called once for each combination of shapes, element types and static arguments, on
tensors without a value; what it builds is compiled. Later calls only run the plan.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload
from weakref import WeakSet, ref

from .. import autocast, random
from ..compile import Compiled
from ..compile.indices import Indexed, check_constants
from ..dtype import uint32
from ..errors import DeviceLostError, DTypeError, NonFiniteError, OptionError
from ..graph import Graph, Node, input_node, make
from ..hostarray import HostArray, from_python, from_values
from ..ops.elementwise import cast
from ..ops.source import buffer as buffer_op
from ..ops.source import constant as constant_op
from ..tensor import Tensor, asarray
from . import eager, trace
from .base import Backend, Program
from .buffer import Buffer, Memory
from .capture import capture, held_input, host_data, own
from .debug import debug_nans, explain, suspects
from .device import backend, get_float32_matmul_precision
from .hosted import load_now
from .transfer import to_device
from .tuning import compile_for
from .variable import Variable

_ENTRIES = 64
"""Plans that a function keeps; the one that was used longest ago goes first."""


@dataclass
class _State:
    """A variable in a trace. given: the input that is its value before the run. value: what it is
    at this point of the function."""

    variable: Variable
    given: Node
    value: Node
    written: bool = False

    def next(self) -> Node:
        """The new value in the type that the device holds."""
        held = self.given.dtype
        return self.value if self.value.dtype == held else make(cast, self.value, dtype=held)


@dataclass
class _Gradient:
    """What a variable's `grad` is in a trace. given: the input that it is before the run, if it is
    there then. value: what it is at this point of the function. looked: whether the function asked
    for it before it set it. left: whether the function leaves one of its own."""

    variable: Variable
    given: Node | None = None
    value: Tensor | None = None
    written: bool = False
    looked: bool = False
    left: bool = False

    def ended(self) -> Tensor | None:
        """The value at the end of the trace, of which only whether there is one is remembered."""
        value, self.value = self.value if self.written else None, None
        self.left = value is not None
        return value

    def suits(self) -> bool:
        """Whether the variable has a gradient, or has none, as it was when this was traced."""
        if not self.looked:
            return True
        return (self.variable.gradient is not None) == (self.given is not None)


class _Seen(NamedTuple):
    """An attribute, as a function saw it."""

    owner: ref[Any]
    name: str
    value: Hashable

    def suits(self) -> bool:
        """Whether it is the same now."""
        owner = self.owner()
        return owner is None or bool(getattr(owner, self.name) == self.value)


class _AllSeen:
    """What a function saw: modes and parts of modules, frozen parameters, an optimiser's groups."""

    def __init__(self, seen: Sequence[_Seen]) -> None:
        self._seen = seen
        self._answer = -1, False

    def suits(self) -> bool:
        """Whether all is the same now. If nothing was changed since it was last asked for, that
        takes no time."""
        now = trace.changes()
        if self._answer[0] != now:
            self._answer = now, all(each.suits() for each in self._seen)
        return self._answer[1]


class _Trace:
    """The variables of a function that is being traced, and the values that they have there."""

    def __init__(self, name: str, memory: Memory) -> None:
        self.name = name
        self._memory = memory
        self.states: dict[int, _State] = {}  # by the variables' numbers
        self.gradients: dict[int, _Gradient] = {}
        self.flags: dict[tuple[int, str], _Seen | None] = {}  # None: the function set it first
        self.stream: Node | None = None
        self.draws = 0

    def read(self, variable: Variable) -> Node:
        state = self.states.get(variable.number)
        if state is None:
            name = f"state {len(self.states)}"
            given, value = held_input(name, variable.shape, variable.dtype, self._memory)
            state = self.states[variable.number] = _State(variable, given, value)
        return state.value

    def write(self, variable: Variable, node: Node) -> None:
        self.read(variable)  # so that it is a state, though nothing reads it before
        state = self.states[variable.number]
        state.value, state.written = node, True

    def draw(self) -> Tensor:
        """The stream of the next draw of random numbers: that of the call, so many draws on."""
        if self.stream is None:
            self.stream = input_node("stream", (3,), uint32)
        on = asarray(from_values([0, 0, self.draws], (3,), uint32))
        self.draws += 1
        return Tensor(self.stream) + on

    def gradient(self, variable: Variable) -> Tensor | None:
        found = self.gradients.get(variable.number)
        if found is None:
            found = self.gradients[variable.number] = _Gradient(variable, looked=True)
            if variable.gradient is not None:
                name = f"gradient {len(self.gradients)}"
                held = held_input(name, variable.shape, variable.dtype, self._memory)
                found.given, found.value = held[0], Tensor(held[1])
        return found.value

    def set_gradient(self, variable: Variable, gradient: Tensor | None) -> None:
        found = self.gradients.setdefault(variable.number, _Gradient(variable))
        found.value, found.written = gradient, True

    def saw(self, owner: Any, name: str, value: Hashable) -> None:
        self.flags.setdefault((id(owner), name), _Seen(ref(owner), name, value))

    def set_flag(self, owner: Any, name: str) -> None:
        self.flags.setdefault((id(owner), name), None)


class _Entry(NamedTuple):
    """A plan, and how a call's leaves become its inputs and its outputs a result.

    graph: what was traced, if `debug_nans` was on. states: each with whether it is written.
    gradients: those of variables that the function asked for; the last outputs are the new values
    of those that it leaves. flags: what it saw of modes and the like. draws: how many draws of
    random numbers a call makes. indexed: the leaves that are indices; checked: those that were
    looked at. result: what the function returned, with numbers of outputs instead of tensors.
    """

    program: Program
    graph: Graph | None
    memory: Memory
    captured: list[Buffer]
    states: list[tuple[Variable, bool]]
    gradients: list[_Gradient]
    flags: _AllSeen
    draws: int
    indexed: list[tuple[int, Indexed]]
    checked: WeakSet[Node]
    outputs: int
    result: Any


class _Output(NamedTuple):
    """An output in the result of a traced function."""

    number: int


class Jitted:
    """A function under `@tl.jit`; call it as before."""

    def __init__(
        self, function: Callable[..., Any], static_argnames: frozenset[str], device: str | None
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._name = getattr(function, "__qualname__", repr(function))
        self._static = static_argnames
        self._device = device
        self._entries: dict[Hashable, list[_Entry]] = {}

    def __repr__(self) -> str:
        return f"<jit {self._name}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def plans(self) -> int:
        """How many plans are compiled: one for each combination of shapes and static arguments."""
        return sum(map(len, self._entries.values()))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if trace.current.get() is not None:  # a part of the function that is being traced
            return self._function(*args, **kwargs)
        leaves: list[Any] = []
        key = [_key(value, leaves) for value in args]
        for name in sorted(kwargs):
            value = kwargs[name]
            static = name in self._static
            key.append((name, ("static", value) if static else _key(value, leaves)))
        memory = _memory_of(leaves)
        if memory is None or self._device not in (None, memory.name):
            memory = backend(self._device).memory
        settings = (get_float32_matmul_precision(), autocast.active, debug_nans.on)
        whole = (tuple(key), settings)
        try:
            entries = self._entries.setdefault(whole, [])
        except TypeError as error:
            raise OptionError(
                f"{self._name}(): an argument is neither a tensor nor hashable: {error}"
            ) from error
        entry = _suitable(entries, memory)
        if entry is None:
            used = backend(memory.name)
            entries[:] = [each for each in entries if each.memory is used.memory]
            entry = _suitable(entries, used.memory)
        if entry is None:
            entry = self._traced(args, kwargs, used)
            entries.append(entry)
            if len(self._entries) > _ENTRIES:
                for old in self._entries.pop(next(iter(self._entries))):
                    old.program.close()
        try:
            return _run(entry, leaves)
        except DeviceLostError:
            now = backend(memory.name).memory
            for leaf in leaves:
                _given(leaf, now)  # says which array was lost, and what to do
            raise

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any], used: Backend) -> _Entry:
        memory = used.memory
        tracing = _Trace(self._name, memory)
        inputs: list[Node] = []

        def traced(shape: Any, dtype: Any) -> Tensor:
            given, node = held_input(f"argument {len(inputs)}", shape, dtype, memory)
            inputs.append(given)
            return Tensor(node)

        token = trace.current.set(tracing)
        drawing = random.tracing.set(tracing.draw)
        try:
            positional = [_with_tensors(value, traced) for value in args]  # before the named ones
            named = {
                name: kwargs[name] if name in self._static else _with_tensors(kwargs[name], traced)
                for name in sorted(kwargs)
            }
            result = self._function(*positional, **named)
            outputs: list[Tensor] = []
            shown = _with_numbers(result, outputs)
            gradients = [*tracing.gradients.values()]
            changed = [value for each in gradients if (value := each.ended()) is not None]
            returned = [self._checked(each) for each in outputs] + changed
            nodes = {f"output {n}": each.node for n, each in enumerate(returned)}
        finally:
            trace.current.reset(token)
            random.tracing.reset(drawing)
        found = [*tracing.states.values()]
        names = [state.given.attrs["name"] for state in found]
        nexts = [f"{n} next" if s.written else None for n, s in zip(names, found, strict=True)]
        nodes |= {name: s.next() for name, s in zip(nexts, found, strict=True) if name}
        given = [each.given for each in gradients if each.given is not None]
        if tracing.stream is not None:
            given.append(tracing.stream)
        graph = Graph(
            (*inputs, *given, *(state.given for state in found)),
            nodes,
            self._name,
            dict(zip(names, nexts, strict=True)),
        )
        check_constants(graph)
        whole = graph if debug_nans.on else None
        graph, captured = capture(graph, memory)
        compiled = compile_for(used, graph)
        return _Entry(
            load_now(used, compiled),
            whole,
            memory,
            captured,
            [(state.variable, state.written) for state in found],
            gradients,
            _AllSeen([flag for flag in tracing.flags.values() if flag is not None]),
            tracing.draws,
            _indexed(compiled),
            WeakSet(),
            len(returned),
            shown,
        )

    def _checked(self, tensor: Tensor) -> Tensor:
        if tensor.dtype.coded:
            raise DTypeError(
                f"{self._name}() returns {tensor.dtype.name}, in which nothing stays on a device; "
                "cast it to float32 or int8"
            )
        return tensor


def _suitable(entries: Sequence[_Entry], memory: Memory) -> _Entry | None:
    """The plan in this memory for variables and modules that are as they are now."""
    for entry in entries:
        if (
            entry.memory is memory
            and all(each.suits() for each in entry.gradients)
            and entry.flags.suits()
        ):
            return entry
    return None


# ---- arguments and results ---------------------------------------------------------------------


def _is_array(value: Any) -> bool:
    return isinstance(value, HostArray) or hasattr(value, "__array__")


def _key(value: Any, leaves: list[Any]) -> Hashable:
    """What of an argument decides which plan is run; appends its tensors to the leaves."""
    kind = type(value)
    if kind is Tensor:  # the common kind
        leaves.append(value)
        node = value.node
        return node.shape, node.dtype
    if kind is float:
        leaves.append(value)
        return float
    if isinstance(value, Variable):
        return Variable, value.number
    if isinstance(value, Tensor):
        leaves.append(value)
        return value.shape, value.dtype
    if kind is tuple or kind is list:
        return (kind, *[_key(each, leaves) for each in value])
    if kind is dict:
        return (dict, *[(name, _key(value[name], leaves)) for name in sorted(value)])
    if _is_array(value):
        tensor = asarray(value)
        leaves.append(tensor.node.attrs["data"])
        return tensor.shape, tensor.dtype
    return kind, value  # 1 and True are equal


def _memory_of(leaves: Sequence[Any]) -> Memory | None:
    """The memory of the first argument that is stored on a device. It may be that of a device that
    was lost, as the run finds out: asking for the one that is open now takes as long as all else of
    a call."""
    for leaf in leaves:
        if isinstance(leaf, Tensor) and leaf.node.op is buffer_op:
            memory: Memory = leaf.node.attrs["buffer"].memory
            return memory
    return None


def _with_tensors(value: Any, traced: Callable[[Any, Any], Tensor]) -> Any:
    """An argument with traced tensors, in the order of `_key`."""
    if type(value) is float:
        return traced((), _FLOAT)
    if isinstance(value, Variable):
        return value
    if isinstance(value, Tensor) or _is_array(value):
        tensor = asarray(value)
        return traced(tensor.shape, tensor.dtype)
    if type(value) is dict:
        parts = {name: _with_tensors(value[name], traced) for name in sorted(value)}
        return {name: parts[name] for name in value}
    if type(value) in (tuple, list):
        return type(value)(_with_tensors(each, traced) for each in value)
    return value


_FLOAT = from_python(0.0).dtype


def _with_numbers(value: Any, outputs: list[Tensor]) -> Any:
    """A result with the numbers of outputs instead of tensors, which are appended to them."""
    if isinstance(value, Tensor):
        outputs.append(value)
        return _Output(len(outputs) - 1)
    if isinstance(value, dict):
        return {name: _with_numbers(each, outputs) for name, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with_numbers(each, outputs) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_with_numbers(each, outputs) for each in value)
    return value


def _filled(value: Any, buffers: Sequence[Buffer]) -> Any:
    """The result with tensors instead of the numbers."""
    kind = type(value)
    if kind is _Output:
        return Tensor(buffers[value.number].node)
    if kind is dict:
        return {name: _filled(each, buffers) for name, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(_filled(each, buffers) for each in value))
    if kind is tuple or kind is list:
        return kind([_filled(each, buffers) for each in value])
    return value


# ---- a call ------------------------------------------------------------------------------------


def _indexed(compiled: Compiled) -> list[tuple[int, Indexed]]:
    """The arguments that are indices, by number: the host looks at those that it has."""
    names = [port.name for port in compiled.plan.inputs]
    return [(names.index(each.name), each) for each in compiled.indexed if each.name in names]


def _run(entry: _Entry, leaves: Sequence[Any]) -> Any:
    memory = entry.memory
    fed = list(leaves)
    for gradient in entry.gradients:
        if gradient.given is not None:
            fed.append(gradient.variable.gradient)
    if entry.draws:
        fed.append(random.advance(entry.draws))
    inputs = [_given(each, memory) for each in fed]
    for number, each in entry.indexed:
        leaf = leaves[number] if number < len(leaves) else None
        if isinstance(leaf, HostArray):
            each.check(leaf)
        elif isinstance(leaf, Tensor):
            eager.check_once(leaf.node, each, entry.checked)
    for gradient in entry.gradients:
        if gradient.written and not gradient.looked:
            gradient.variable.gradient = None  # so that the new one can have its memory
    inputs += entry.captured
    for variable, written in entry.states:
        inputs.append(variable.own_buffer(memory) if written else variable.buffer(memory))
    if entry.graph is not None:
        buffers = _looked_at(entry, entry.graph, fed, inputs)
    else:
        buffers = entry.program.run(inputs, [False] * entry.outputs)
    if entry.gradients:
        _keep_gradients(entry, buffers)
    return _filled(entry.result, buffers)


def _looked_at(entry: _Entry, graph: Graph, fed: Sequence[Any], inputs: list[Any]) -> list[Buffer]:
    """What a run gives, if all of it is finite; else NonFiniteError, and the variables are as they
    were before."""
    memory, given = entry.memory, graph.inputs
    written = [(variable, memory.clone(variable.buffer(memory)))
               for variable, is_written in entry.states if is_written]  # fmt: skip
    before = {variable.number: buffer for variable, buffer in written}
    buffers: list[Buffer] = entry.program.run(inputs, [False] * entry.outputs)
    named = {f"output {number}": buffer for number, buffer in enumerate(buffers)}
    for (variable, _), following in zip(entry.states, graph.states.values(), strict=True):
        if following is not None:
            named[following] = variable.buffer(memory)
    read = memory.read(list(named.values()))
    wrong = suspects((graph.outputs[name], data) for name, data in zip(named, read, strict=True))
    if wrong:
        values = dict(zip(given, map(_elements, fed), strict=False))
        for node, (variable, _) in zip(given[len(fed) :], entry.states, strict=True):
            values[node] = host_data(before.get(variable.number) or variable.buffer(memory))
        captured = (node for node in graph.nodes() if node.is_buffer)
        values |= {node: host_data(node.attrs["buffer"]) for node in captured}
        try:
            explain(wrong, values)
        except NonFiniteError:
            for variable, buffer in written:
                variable.settle(buffer)
            raise
    return buffers


def _elements(fed: Any) -> HostArray:
    """The elements of an argument."""
    if type(fed) is float:
        return from_python(fed)
    return fed if isinstance(fed, HostArray) else fed._host(None)


def _keep_gradients(entry: _Entry, buffers: Sequence[Buffer]) -> None:
    """Variables have the gradients that the function left."""
    written = [each for each in entry.gradients if each.written]
    rest = iter(buffers[entry.outputs - sum(each.left for each in written) :])
    for each in written:
        each.variable.gradient = Tensor(next(rest).node) if each.left else None


def _given(leaf: Any, memory: Memory) -> Any:
    """An argument as the program takes it: in the type that the device holds."""
    if type(leaf) is float:
        leaf = from_python(leaf)
    if isinstance(leaf, HostArray):
        return leaf.data if memory.is_host else to_device(leaf)
    node = leaf.node
    if node.op is constant_op:
        return eager.uploaded(node, memory)
    if node.op is not buffer_op:
        leaf.realize(memory.name)
        node = leaf.node
    return own(node.attrs["buffer"], memory)


@overload
def jit(
    function: Callable[..., Any],
    /,
    *,
    static_argnames: Sequence[str] = (),
    device: str | None = None,
) -> Jitted: ...


@overload
def jit(
    *, static_argnames: Sequence[str] = (), device: str | None = None
) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    static_argnames: Sequence[str] = (),
    device: str | None = None,
) -> Any:
    """Compiles a function to one plan for each combination of shapes and static arguments.

    Tensors, arrays and Python floats, also within tuples, lists and dicts, are arguments of the
    plan; all else is static and must be hashable: another value is another plan. Variables that
    the function reads or assigns are the plan's state and stay on the device; so does what it
    returns, as tensors, until it is asked for. A call does not wait for the device.

    static_argnames: keyword arguments that are static though they are floats or tensors.
    device: where it runs; if None, where its arguments are stored, else the default device.

    The function is run once for each plan, so that its side effects, such as print, are seen then
    alone; a condition on the value of a tensor raises TracingError, which names the line. It is run
    again, for another plan, once a module that it uses is in another mode or has other parameters
    or modules, a parameter is frozen or no longer, or an optimiser has other groups. All else that
    it reads, such as a global number, stays what it was.
    """
    if function is not None:
        return Jitted(function, frozenset(static_argnames), device)
    return lambda given: Jitted(given, frozenset(static_argnames), device)
