"""Functions of `torch` whose meaning or arguments differ from those of Tallow's function."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import tallow as tl

from .. import functional
from ..core import dtype as dt
from ..core import shape
from ..core.dtype import DType, as_dtype
from ..core.shape import Size
from ..errors import DTypeError
from ..tensor import Tensor
from .calls import put_out
from .tensors import full_like
from .types import Number


def where(
    condition: Tensor, input: Number | Tensor | None = None, other: Number | Tensor | None = None
) -> Any:
    """The element of input where the condition is true, else that of other. Of a condition alone,
    the indices where it is true, a vector for each axis."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if condition.dtype == dt.uint8:  # masks of older programs
        condition = condition.astype("bool")
    return tl.where(condition, input, other)  # type: ignore[arg-type]


def pow(input: Number | Tensor, exponent: Number | Tensor) -> Tensor:
    """Each element to a power; one of the two may be a number."""
    return tl.pow(input, exponent)


def _only_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    given = list(tensors)
    for each in given:
        if not isinstance(each, Tensor):
            raise DTypeError(f"cat: takes tensors, not {type(each).__name__}")
    return given


def cat(
    tensors: Sequence[Tensor],
    dim: builtins.int = 0,
    *,
    axis: builtins.int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Tensors joined along an axis. Vectors without elements are left out, as in PyTorch."""
    given = _only_tensors(tensors)
    kept = [x for x in given if tuple(x.shape) != (0,)] or given
    made = tl.concat(kept, dim if axis is None else axis)
    return made if out is None else put_out(out, made)


concat = concatenate = cat


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None
) -> tuple[Tensor, ...]:
    """Grids of vectors; indexing: "ij", the default, or "xy"."""
    return tl.meshgrid(*tensors, indexing=indexing or "ij")


def einsum(equation: str | Tensor, *operands: Any) -> Tensor:
    """The sum of products that an equation such as "bij,bjk->bik" describes. Lists of numbers that
    name axes, in place of the equation, as NumPy has them, too."""
    if isinstance(equation, str):
        return tl.einsum(equation, *operands)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    given: list[Any] = [equation, *operands]
    texts = ["".join("..." if n is ... else letters[n] for n in axes) for axes in given[1::2]]
    result = f"->{''.join('...' if n is ... else letters[n] for n in given[-1])}"
    joined = ",".join(texts) + (result if len(given) % 2 else "")
    return tl.einsum(joined, *given[: 2 * len(texts) : 2])


def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """The different elements in order; also each element's index among them, and their counts."""
    return tl.unique(input, sorted, return_inverse, return_counts, dim)


def result_type(tensor1: Number | Tensor, tensor2: Number | Tensor) -> DType:
    """The type that operators on two tensors or numbers give."""
    return tl.result_type(tensor1, tensor2)


def promote_types(type1: DType, type2: DType) -> DType:
    """The type to which elements of two types are converted where they meet."""
    return dt.promote(as_dtype(type1), as_dtype(type2))


def _assert(condition: object, message: str) -> None:
    """Raises AssertionError where a condition is false."""
    assert condition, message


def is_tensor(obj: object) -> builtins.bool:
    """Whether this is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: object) -> builtins.bool:
    """False: tensors have no storages here."""
    return False


def typename(obj: object) -> str:
    """The name of a tensor's type, such as "torch.FloatTensor", or of another object's."""
    return str(obj.type()) if isinstance(obj, Tensor) else type(obj).__qualname__


def real(input: Tensor) -> Tensor:
    """The tensor itself: no element is complex."""
    return input


def fill(input: Tensor, value: Number) -> Tensor:
    """A tensor in the shape and type of another one, of one number everywhere."""
    return full_like(input, value)


def constant_pad_nd(input: Tensor, pad: Sequence[builtins.int], value: Number = 0) -> Tensor:
    """A tensor with a number around it; pad: how much before and after, the last axis first."""
    return functional.pad(input, pad, "constant", value)


def broadcast_shapes(*shapes: builtins.int | Sequence[builtins.int]) -> Size:
    """The shape to which shapes, or lengths of one axis, are broadcast together."""
    given = [(each,) if isinstance(each, builtins.int) else tuple(each) for each in shapes]
    return Size(shape.broadcast_shapes(*given))


__all__ = [
    "broadcast_shapes", "cat", "concat", "concatenate", "constant_pad_nd", "einsum", "fill",
    "is_storage", "is_tensor", "meshgrid", "pow", "promote_types", "real", "result_type",
    "typename", "unique", "where",
]  # fmt: skip
