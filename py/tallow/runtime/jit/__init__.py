"""`@tl.jit`: a Python function becomes one plan, with the variables that it touches as its state.

The function is called once for each combination of shapes, element types and static arguments, on
tensors without a value; what it builds is compiled. Later calls only run the plan.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, overload
from weakref import WeakMethod, WeakSet

from ...compile.indices import check_constants
from ...core import context
from ...core.drivers import Steps
from ...core.dtype import DType
from ...core.hostarray import HostArray
from ...core.shape import Shape
from ...errors import DeviceLostError, DTypeError, OptionError
from ...facts import noting
from ...grad_mode import is_grad_enabled
from ...graph import Graph, Node, seams
from ...tensor import Tensor
from ..base import Backend
from ..buffer import Memory
from ..capture import capture, held_input
from ..compiling import compile_for
from ..device import backend
from ..hosted import load_now
from ..states import BoundStates
from .arguments import Leaf, key_of, memory_of, static_key, with_numbers, with_tensors
from .call import Entry, as_input, indexed_arguments, matching, read, run
from .tracing import Gradients, Trace

_ENTRIES = 64
"""Plans that a function keeps; the least recently used is evicted."""


class Pinned:
    """A plan, as a function of the tensors among its arguments: see `Jitted.pinned`."""

    def __init__(self, function: Jitted, entry: Entry, memory: Memory) -> None:
        self._function, self._entry, self._memory = function, entry, memory

    def __call__(self, *tensors: Tensor) -> Any:
        return self._function._result(self._entry, self._memory, tensors)

    def read(self, *tensors: Tensor) -> Steps[list[HostArray]]:
        """The elements of the tensors in the result, in their order; on a GPU the run and the
        reading are one submit."""
        try:
            return (yield from read(self._entry, tensors))
        except DeviceLostError:
            _check_there(tensors, self._memory)
            raise


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
        self._entries: dict[Hashable, list[Entry]] = {}

    def __repr__(self) -> str:
        return f"<jit {self._name}>"

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
        return self if instance is None else functools.partial(self, instance)

    @property
    def plans(self) -> int:
        """How many plans are compiled: one for each combination of shapes and static arguments."""
        return sum(map(len, self._entries.values()))

    @property
    def nbytes(self) -> int:
        """The bytes that its plans hold on their device, without what tensors and variables
        hold."""
        programs = [each.program for several in self._entries.values() for each in several]
        return sum(int(program.stats["bytes"]) for program in programs)

    def clear(self) -> None:
        """Gives up its plans, and the memory that they hold; the next call compiles again."""
        for several in self._entries.values():
            for each in several:
                each.program.close()
        self._entries.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if context.trace.get() is not None:  # a part of the function that is being traced
            return self._function(*args, **kwargs)
        leaves: list[Any] = []
        entry, memory = self._entry(args, kwargs, leaves)
        if entry is None:  # whose gradients pass no plan
            return self._function(*args, **kwargs)
        return self._result(entry, memory, leaves)

    def pinned(self, *args: Any) -> Pinned:
        """The plan for such arguments, as a function of others of the same shapes and types.

        It no longer looks whether what the function read is as it was when it was traced, which
        takes longer than a short step where that is many modules and tensors. Values of variables
        are read as ever. `clear` ends it.

        args: as for a call; those that are static are left out of its calls.
        Returns: the function of the tensors among the arguments, in their order.
        Raises: OptionError for arguments that require a gradient, and what a call raises.
        """
        entry, memory = self._entry(args, {}, [])
        if entry is None or entry.once:
            raise OptionError(f"{self._name}(): there is no plan for gradients of arguments")

        return Pinned(self, entry, memory)

    def _entry(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]
    ) -> tuple[Entry | None, Memory]:
        """The plan for arguments, and where it runs; None if the function runs without one. Adds
        the arguments of the plan to `leaves`."""
        key = [key_of(value, leaves) for value in args]
        for name in sorted(kwargs):
            value = kwargs[name]
            static = name in self._static
            key.append((name, static_key(value) if static else key_of(value, leaves)))
        memory = memory_of(leaves)
        if memory is None or self._device not in (None, memory.name):
            memory = backend(self._device).memory
        tracked = seams.derivatives.tracked
        if is_grad_enabled() and any(isinstance(x, Tensor) and tracked(x.node) for x in leaves):
            return None, memory
        whole = (tuple(key), context.key())
        try:
            entries = self._entries.setdefault(whole, [])
        except TypeError as error:
            raise OptionError(
                f"{self._name}(): an argument is neither a tensor nor hashable: {error}"
            ) from error
        entry = matching(entries, memory)
        if entry is None:
            used = backend(memory.name)
            entries[:] = [each for each in entries if each.memory is used.memory]
            entry = matching(entries, used.memory)
        if entry is None:
            entry = self._traced(args, kwargs, used)
            if not entry.once:
                entries.append(entry)
            if len(entries) > _ENTRIES:  # a fact that is another one at each call
                entries.pop(0).program.close()
            if len(self._entries) > _ENTRIES:
                for old in self._entries.pop(next(iter(self._entries))):
                    old.program.close()
        return entry, memory

    def _result(self, entry: Entry, memory: Memory, leaves: Sequence[Any]) -> Any:
        try:
            result = run(entry, leaves)
            if entry.once:
                entry.program.close()
            return result
        except DeviceLostError:
            _check_there(leaves, memory)
            raise

    def _traced(self, args: tuple[Any, ...], kwargs: dict[str, Any], used: Backend) -> Entry:
        memory = used.memory
        tracing = Trace(self._name, memory)
        inputs: list[Node] = []

        def traced(shape: Shape, dtype: DType) -> Tensor:
            given, node = held_input(f"argument {len(inputs)}", shape, dtype, memory)
            inputs.append(given)
            return Tensor(node)

        with noting(tracing), context.draws.override(tracing.draw):
            positional = [with_tensors(value, traced) for value in args]  # before the named ones
            named = {
                name: kwargs[name] if name in self._static else with_tensors(kwargs[name], traced)
                for name in sorted(kwargs)
            }
            result = self._function(*positional, **named)
            outputs: list[Tensor] = []
            shown = with_numbers(result, outputs)
            gradients = [*tracing.gradients.values()]
            changed = [value for each in gradients if (value := each.ended()) is not None]
            returned = [self._checked(each) for each in outputs] + changed
            nodes = {f"output {n}": each.node for n, each in enumerate(returned)}
            tracked = [n for n, each in enumerate(outputs) if seams.derivatives.tracked(each.node)]
            facts = tracing.facts.facts()
        found = [*tracing.states.values()]
        names = [state.given.attrs["name"] for state in found]
        nexts = [f"{n} next" if s.written else None for n, s in zip(names, found, strict=True)]
        nodes |= {name: s.next() for name, s in zip(nexts, found, strict=True) if name}
        given = [each.given for each in gradients if each.given is not None]
        if tracing.stream is not None:
            given.append(tracing.stream)
        whole = Graph(
            (*inputs, *given, *(state.given for state in found)),
            nodes,
            self._name,
            dict(zip(names, nexts, strict=True)),
        )
        check_constants(whole)
        kept = whole if context.debug_nans.get() else None
        whole, captured = capture(whole, memory)
        compiled = compile_for(used, whole, used.begin)
        return Entry(
            load_now(used, compiled),
            kept,
            memory,
            captured,
            BoundStates([(state.variable, state.written) for state in found]),
            Gradients(gradients),
            facts,
            tracing.draws,
            indexed_arguments(compiled),
            WeakSet(),
            tracked,
            shown,
            tracing.once,
        )

    def _checked(self, tensor: Tensor) -> Tensor:
        if tensor.dtype.coded:
            raise DTypeError(
                f"{self._name}() returns {tensor.dtype.name}, in which nothing stays on a device; "
                "cast it to float32 or int8"
            )
        return tensor


def _check_there(leaves: Sequence[Leaf], memory: Memory) -> None:
    """Says which array was lost with its device, and what to do."""
    now = backend(memory.name).memory
    for leaf in leaves:
        as_input(leaf, now)


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
    plan; all else is static and must be hashable: another value is another plan. Variables that the
    function reads or assigns are the plan's state and stay on the device; so does what it returns,
    as tensors, until it is asked for. A call does not wait for the device.

    The function is run once for each plan, so that its side effects, such as print, are seen then
    alone; a condition on the value of a tensor raises TracingError, which names the line.

    It is run again, for another plan, once something else is different that it read of a module
    (its mode, parameters, buffers, modules, hooks, plain attributes, `forward`), of a variable
    (type, requires_grad, hooks) or of an optimiser's groups, or a switch is: `no_grad`, autocast,
    the precision of products, `debug_nans`. If all is as before, the first plan serves again.
    Lists, dicts and plain tensors in a module's attributes are compared by what they hold, other
    objects by which object it is. All else that the function reads, such as a global number, stays
    what it was. What it read may not be different when it ends: TracingError names it.

    Gradients are taken within the function. If an argument requires a gradient, it runs as if it
    were not compiled; a `backward` through its result alone raises GradientError.

    function: what is compiled; without it, `jit` gives a decorator.
    static_argnames: keyword arguments that are static though they are floats or tensors.
    device: where it runs; None is where its arguments are stored, else the default device.
    Returns: the compiled function, or the decorator. A call of it raises OptionError for an
      argument that is neither a tensor nor hashable, DTypeError for a result in a type of few bits.
    Source: JAX, `jax.jit`, for the name and static_argnames.
    """
    if function is not None:
        return Jitted(function, frozenset(static_argnames), device)
    return lambda given: Jitted(given, frozenset(static_argnames), device)


def jit_method(method: Callable[..., Any], device: str | None = None) -> Jitted:
    """`jit` of a method, for its object to keep: it does not keep the object alive. So what plans
    hold on the device is free as soon as the object is, and waits for no garbage collector."""
    bound = WeakMethod(method)

    def call(*args: Any, **kwargs: Any) -> Any:
        found = bound()
        assert found is not None  # the object is what calls this
        return found(*args, **kwargs)

    call.__name__, call.__qualname__ = method.__name__, method.__qualname__
    return Jitted(call, frozenset(), device)
