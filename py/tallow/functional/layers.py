"""Layers made of one product, one lookup, or one draw."""

from __future__ import annotations

from .. import autocast
from .. import functions as f
from ..autodiff.history import with_gradient
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor, asarray


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight (out, in)."""
    result = x @ weight.mT
    return result if bias is None else result + autocast.matched(bias, result)


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 (..., n) and x2 (..., m) between weight (out, n, m): sums over both, (..., out)."""
    result = f.einsum("...n,onm,...m->...o", x1, weight, x2)
    return result if bias is None else result + bias


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of weight (count, features) at integer indices. padding_idx: a row that gets no
    gradient. IndexRangeError for an index that is no row, also a negative one: see
    `checked_indices`."""
    given = asarray(input)
    if not given.dtype.is_integer:
        raise DTypeError(f"embedding: the indices must be integers, not {given.dtype.name}")
    input = f.checked_indices(given, weight.shape[0], "embedding: the index")
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise ShapeError(f"embedding: padding_idx {padding_idx} is not among {rows} rows")
        kept = f.not_equal(f.reshape(f.arange(rows), (-1, 1)), padding_idx % rows)
        same = weight + 0.0

        def pull(gradient: Tensor, result: Tensor) -> list[Tensor]:
            return [f.where(kept, gradient, 0.0)]

        weight = with_gradient(same, [weight], pull)
    return f.take(weight, input, axis=0)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at each index of a new last axis of num_classes elements, 0 elsewhere; int32.

    num_classes: -1 for the largest index and one more, for which the tensor is read; this cannot be
    asked for under `@tl.jit`. Raises DTypeError for indices that are not integers, IndexRangeError
    for one that is no class (see `checked_indices`), OptionError where there is nothing to count.
    """
    if not tensor.dtype.is_integer:
        raise DTypeError(f"one_hot: the indices must be integers, not {tensor.dtype.name}")
    if num_classes == -1:
        if not tensor.size:
            raise OptionError("one_hot: an empty tensor says nothing of num_classes; give it")
        num_classes = max(int(f.max(tensor)) + 1, 0)
    if num_classes < 1:
        raise OptionError(f"one_hot: num_classes must be above 0, or -1, not {num_classes}")
    classes = f.checked_indices(tensor, num_classes, "one_hot: the class")
    return f.equal(f.expand_dims(classes, -1), f.arange(num_classes)).astype("int32")


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Each element is 0 with the probability p, else divided by 1 - p, in training (Srivastava et
    al. 2014). Every step draws anew, under `@tl.jit` too. Raises OptionError for another p."""
    return _dropped(input, p, training, input.shape, "dropout")


def _dropped(x: Tensor, p: float, training: bool, shape: tuple[int, ...], what: str) -> Tensor:
    if not 0 <= p <= 1:
        raise OptionError(f"{what}: the probability p must be from 0 to 1, not {p}")
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0.0
    kept = (f.rand(shape) >= p).astype(x.dtype) * (1 / (1 - p))
    return x * kept


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels of (n, c, length) or (c, length) at once (Tompson et al. 2015)."""
    return _channels(input, p, training, 1)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels of (n, c, h, w) or (c, h, w) at once."""
    return _channels(input, p, training, 2)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Whole channels of (n, c, d, h, w) or (c, d, h, w) at once."""
    return _channels(input, p, training, 3)


def _channels(x: Tensor, p: float, training: bool, spatial: int) -> Tensor:
    if x.ndim not in (spatial + 1, spatial + 2):
        raise ShapeError(f"dropout{spatial}d: {x.shape} is not (n, c, ...) with {spatial} axes")
    shape = (*x.shape[: x.ndim - spatial], *(1,) * spatial)
    return _dropped(x, p, training, shape, f"dropout{spatial}d")
