"""Modified Bessel functions, under the names of torch.special."""

from __future__ import annotations

import math

from ..core import dtype as dt
from ..graph import seams
from ..tensor import Tensor
from . import elementwise

_NEAR = 15.0  # up to here the power series, beyond the asymptotic one


_TERMS = 40


_FAR_TERMS = 14


def _scaled(input: Tensor, order: int) -> Tensor:
    """exp(-|x|) times the modified Bessel function of order 0 or 1 at |x|, that one divided by |x|.

    The power series has no terms that cancel; the asymptotic one is that of Hankel (Abramowitz and
    Stegun 1964, 9.6.10 and 9.7.1).
    """
    x = elementwise.abs(input if input.dtype.is_floating else input.astype(dt.float32))
    near = x <= _NEAR
    small = elementwise.where(near, x, 0.0)
    quarter = small * small * 0.25
    series = small * 0.0 + 1.0
    for k in range(_TERMS, 0, -1):
        series = series * (quarter * (1 / (k * (k + order)))) + 1.0
    if order:
        series = series * 0.5
    large = elementwise.where(near, _NEAR, x)
    inverse = 0.125 / large
    tail = large * 0.0 + 1.0
    for k in range(_FAR_TERMS, 0, -1):
        tail = 1.0 + tail * inverse * (((2 * k - 1) ** 2 - 4 * order) / k)
    far = tail * elementwise.sqrt(1.0 / (2 * math.pi * large))
    if order:
        far = far / large
    return elementwise.where(near, series * elementwise.exp(-small), far)


def i0(input: Tensor) -> Tensor:
    """Computes the modified Bessel function of order 0.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: Abramowitz and Stegun 1964, 9.6.10 and 9.7.1.
    """
    found = i0e(input) * elementwise.exp(elementwise.abs(input))
    pull = lambda gradient, _, x: [gradient * i1(x)]  # noqa: E731
    return seams.derivatives.with_gradient(found, [input], pull, [input])


def i0e(input: Tensor) -> Tensor:
    """Computes exp(-|input|) times the modified Bessel function of order 0.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: Abramowitz and Stegun 1964, 9.6.10 and 9.7.1.
    """
    pull = lambda gradient, y, x: [gradient * (i1e(x) - elementwise.sign(x) * y)]  # noqa: E731
    return seams.derivatives.with_gradient(_scaled(input, 0), [input], pull, [input])


def i1(input: Tensor) -> Tensor:
    """Computes the modified Bessel function of order 1.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: Abramowitz and Stegun 1964, 9.6.10 and 9.7.1.
    """
    return i1e(input) * elementwise.exp(elementwise.abs(input))


def i1e(input: Tensor) -> Tensor:
    """Computes exp(-|input|) times the modified Bessel function of order 1.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: Abramowitz and Stegun 1964, 9.6.10 and 9.7.1.
    """
    return _scaled(input, 1) * input
