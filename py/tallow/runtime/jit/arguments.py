"""The arguments and results of a function under `@tl.jit`: tensors within tuples, lists, dicts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ...core.dtype import DType
from ...core.hostarray import HostArray, from_array, from_python
from ...core.shape import Shape
from ...ops.source import buffer as buffer_op
from ...tensor import Tensor, asarray
from ..buffer import Buffer, Memory
from ..variable import Variable

Leaf = Tensor | HostArray | float
"""An argument that becomes an input of the plan."""


class _Output(NamedTuple):
    """An output in the result of a traced function."""

    number: int


def _is_array(value: object) -> bool:
    return isinstance(value, HostArray) or hasattr(value, "__array__")


def key_of(value: Any, leaves: list[Leaf]) -> Hashable:
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
        return (kind, *[key_of(each, leaves) for each in value])
    if kind is dict:
        return (dict, *[(name, key_of(each, leaves)) for name, each in value.items()])
    if _is_array(value):
        data = from_array(value)
        leaves.append(data)
        return data.shape, data.dtype
    return kind, value  # 1 and True are equal


def static_key(value: Hashable) -> Hashable:
    """What of a static argument decides which plan is run: 1, 1.0 and True are equal, and so are
    0.0 and -0.0, but may be compiled to something else."""
    return type(value), value, repr(value) if isinstance(value, float) else ""


def memory_of(leaves: Sequence[Leaf]) -> Memory | None:
    """The memory of the first argument that is stored on a device. It may be that of a device that
    was lost, as the run finds out: asking for the one that is open now takes as long as all else of
    a call."""
    for leaf in leaves:
        if isinstance(leaf, Tensor) and leaf.node.op is buffer_op:
            memory: Memory = leaf.node.attrs["buffer"].memory
            return memory
    return None


def with_tensors(value: Any, traced: Callable[[Shape, DType], Tensor]) -> Any:
    """An argument with traced tensors, in the order of `key_of`."""
    if type(value) is float:
        return traced((), _FLOAT)
    if isinstance(value, Variable):
        return value
    if isinstance(value, Tensor) or _is_array(value):
        tensor = asarray(value)
        return traced(tensor.shape, tensor.dtype)
    if type(value) is dict:
        return {name: with_tensors(each, traced) for name, each in value.items()}
    if type(value) in (tuple, list):
        return type(value)(with_tensors(each, traced) for each in value)
    return value


_FLOAT = from_python(0.0).dtype


def with_numbers(value: Any, outputs: list[Tensor]) -> Any:
    """A result with the numbers of outputs instead of tensors, which are appended to them."""
    if isinstance(value, Tensor):
        outputs.append(value)
        return _Output(len(outputs) - 1)
    if isinstance(value, dict):
        return {name: with_numbers(each, outputs) for name, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(with_numbers(each, outputs) for each in value))
    if isinstance(value, (tuple, list)):
        return type(value)(with_numbers(each, outputs) for each in value)
    return value


def filled(value: Any, buffers: Sequence[Buffer]) -> Any:
    """The result with tensors instead of the numbers."""
    kind = type(value)
    if kind is _Output:
        return Tensor(buffers[value.number].node)
    if kind is dict:
        return {name: filled(each, buffers) for name, each in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(filled(each, buffers) for each in value))
    if kind is tuple or kind is list:
        return kind([filled(each, buffers) for each in value])
    return value


def count_of(value: Any) -> int:
    """How many numbers a result has."""
    if type(value) is _Output:
        return 1
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, tuple | list):
        return 0
    return sum(map(count_of, value))
