"""Methods that change a tensor in place and that no other method computes: draws, copies, fills.

The other methods whose names end in an underscore put what the method without it gives: a row of
names.py says for which there are some. A tensor is a value, so these methods have the tensor object
stand for another value: what was computed from it before stays as it was.

A parameter, or a tensor that requires a gradient itself, is changed within `no_grad` only, as in
PyTorch: GradientError says so. Raises ShapeError if the result has another shape, DTypeError if an
integer tensor would have to be floating.
"""

from __future__ import annotations

import math

from ..functions import creation, elementwise, randomness
from ..functions.selection import masked_fill
from ..functions.shapes import expand
from ..tensor import Scalar, Tensor, asarray
from . import views


def zero_(input: Tensor) -> Tensor:
    """0 everywhere."""
    return fill_(input, 0)


def fill_(input: Tensor, value: Scalar | Tensor) -> Tensor:
    """The same number everywhere."""
    number = value.astype(input.dtype) if isinstance(value, Tensor) else value
    return input.become(creation.zeros_like(input) + number)


def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """The elements of another tensor, which broadcasts, in the type that this one has."""
    return input.become(expand(asarray(src).astype(input.dtype), input.shape))


def detach_(input: Tensor) -> Tensor:
    """Ends the way of gradients here; a leaf receives none from now on."""
    if input.is_leaf:
        return input.requires_grad_(False)
    return input.become(input.detach())


def fill_diagonal_(input: Tensor, fill_value: Scalar) -> Tensor:
    """One number on the diagonal of a matrix."""
    rows, columns = input.shape
    return input.become(masked_fill(input, creation.eye(rows, columns, dtype="bool"), fill_value))


# ---- draws -----------------------------------------------------------------------------------


def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Numbers drawn from a normal distribution."""
    return input.become(randomness.randn_like(input) * std + mean)


def uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, **named: float) -> Tensor:
    """Numbers drawn evenly between two; the first is named `from` in PyTorch."""
    low = named.get("from", from_)
    return input.become(randomness.rand_like(input) * (to - low) + low)


def bernoulli_(input: Tensor, p: float | Tensor = 0.5) -> Tensor:
    """1 with the probability p, else 0."""
    return input.become((randomness.rand_like(input) < p).astype(input.dtype))


def exponential_(input: Tensor, lambd: float = 1.0) -> Tensor:
    """Numbers drawn from an exponential distribution."""
    return input.become(-elementwise.log(randomness.rand_like(input)) / lambd)


def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Numbers drawn from Cauchy's distribution."""
    turn = (randomness.rand_like(input) - 0.5) * math.pi
    return input.become(elementwise.tan(turn) * sigma + median)


def geometric_(input: Tensor, p: float) -> Tensor:
    """How many attempts, drawn, it takes until one of a probability succeeds."""
    drawn = elementwise.log(randomness.rand(input.shape)) / math.log1p(-p)
    return input.become(elementwise.clip(elementwise.ceil(drawn), 1).astype(input.dtype))


def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """e to the power of numbers drawn from a normal distribution."""
    return input.become(elementwise.exp(randomness.randn_like(input) * std + mean))


def random_(input: Tensor, from_: int = 0, to: int | None = None) -> Tensor:
    """Whole numbers drawn evenly from from_, or 0, to below the other bound."""
    low, high = (0, from_) if to is None else (from_, to)
    return input.become(randomness.randint(low, high, input.shape).astype(input.dtype))


# ---- another shape ---------------------------------------------------------------------------


def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """An axis of length 1 inserted. A view keeps its shape: OptionError, here and below."""
    return input.become_shaped(views.unsqueeze(input, dim))


def squeeze_(input: Tensor, dim: int | None = None) -> Tensor:
    """Axes of length 1 removed."""
    return input.become_shaped(views.squeeze(input, dim))


def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged."""
    return input.become_shaped(views.transpose(input, dim0, dim1))


def t_(input: Tensor) -> Tensor:
    """A matrix transposed."""
    return input.become_shaped(views.t(input))
