"""What families share: parameters of one shape, and probabilities as logarithms and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from .. import functional
from .. import functions as f
from ..core.dtype import DType
from ..errors import OptionError, ShapeError
from ..functions.data_types import finfo
from ..functions.statistics import logsumexp
from ..tensor import Tensor, asarray

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits",
    "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

Value = Tensor | float
Found = TypeVar("Found")


def broadcast_all(*values: Value) -> tuple[Tensor, ...]:
    """Tensors of one shape. Numbers take the type of the first floating tensor, or float32.

    Raises OptionError for what is neither a tensor nor a number, ShapeError for shapes that do not
    broadcast.
    """
    for each in values:
        if not isinstance(each, (Tensor, int, float)) and not hasattr(each, "__array__"):
            raise OptionError(f"a parameter is a {type(each).__name__}, not a tensor or a number")
    kinds = [x.dtype for x in values if isinstance(x, Tensor) and x.dtype.is_floating]
    kind = kinds[0] if kinds else "float32"
    tensors = [
        asarray(each, kind) if isinstance(each, (int, float)) else asarray(each) for each in values
    ]
    if len({each.shape for each in tensors}) == 1:
        return tuple(tensors)
    return tuple(f.broadcast_arrays(*tensors))


def floating(*values: Value) -> list[Tensor]:
    """Floating tensors of one shape: `broadcast_all`, and float32 for integers."""
    found = broadcast_all(*values)
    return [x if x.dtype.is_floating else x.astype("float32") for x in found]


def one_of(probs: object, logits: object, what: str) -> None:
    """Raises OptionError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise OptionError(f"{what}: give either probs or logits")


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities that are neither 0 nor 1, so that their logarithms are finite."""
    least = finfo(probs.dtype).eps
    return f.clip(probs, least, 1 - least)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logits: along the last axis, or each on its own."""
    return functional.sigmoid(logits) if is_binary else functional.softmax(logits, axis=-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logarithms of probabilities; of each on its own, log(p / (1 - p))."""
    kept = clamp_probs(probs)
    return f.log(kept) - f.log1p(-kept) if is_binary else f.log(kept)


def normalized(logits: Tensor) -> Tensor:
    """Logarithms of probabilities that add up to 1 along the last axis."""
    return logits - logsumexp(logits, -1, keepdim=True)


class lazy_property(Generic[Found]):  # noqa: N801 - PyTorch's name
    """A property that is computed once, when it is first asked for, and kept by the object."""

    def __init__(self, wrapped: Callable[[Any], Found]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @overload
    def __get__(self, instance: None, owner: object = None) -> lazy_property[Found]: ...

    @overload
    def __get__(self, instance: object, owner: object = None) -> Found: ...

    def __get__(self, instance: object, owner: object = None) -> lazy_property[Found] | Found:
        if instance is None:
            return self
        found = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, found)
        return found


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """The sum over the last axes, of which there are this many."""
    return f.sum(value, axis=tuple(range(-count, 0)), dtype=value.dtype) if count else value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of the lower triangle of square matrices, row by row, as the last axis. diag:
    the last diagonal that belongs to it. Raises OptionError for a diagonal out of range."""
    side = mat.shape[-1]
    if not -side <= diag < side:
        raise OptionError(f"tril_matrix_to_vec: no diagonal {diag} of {side} columns")
    indices = [r * side + c for r in range(side) for c in range(side) if c <= r + diag]
    flat = f.reshape(mat, (*mat.shape[:-2], side * side))
    return f.take(flat, asarray(indices, "int32"), axis=-1) if indices else flat[..., :0]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Square matrices with the last axis as their lower triangle, row by row; 0 elsewhere. Raises
    ShapeError for a length that no triangle has."""
    count = vec.shape[-1]
    side = round((0.25 + diag * (diag + 1) + 2 * count) ** 0.5 - 0.5 - diag)
    inside = [(r, c) for r in range(side) for c in range(side) if c <= r + diag]
    if len(inside) != count:
        raise ShapeError(f"vec_to_tril_matrix: {count} elements make no triangle")
    indices = [count] * (side * side)
    for number, (row, column) in enumerate(inside):
        indices[row * side + column] = number
    padded = f.pad(vec, [(0, 0)] * (vec.ndim - 1) + [(0, 1)])
    flat = f.take(padded, asarray(indices, "int32"), axis=-1)
    return f.reshape(flat, (*vec.shape[:-1], side, side))


def _standard_normal(
    shape: Sequence[int], dtype: DType | str | None = None, device: str | None = None
) -> Tensor:
    """Numbers of the standard normal distribution; PyTorch's programs take it from here."""
    return f.randn(tuple(shape), dtype=dtype, device=device)
