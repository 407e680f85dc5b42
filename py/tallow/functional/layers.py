"""Layers made of one product, or one draw."""

from __future__ import annotations

import math

from .. import casting
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from .activations import done, softmax


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias.

    input: numbers, (..., in).
    weight: (out, in).
    bias: (out,); None adds nothing.
    Returns: (..., out).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.linear`.
    """
    result = input @ weight.mT
    return result if bias is None else result + casting.matched(bias, result)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A weighted sum of all products of an element of one input with one of the other.

    input1: numbers, (..., n).
    input2: numbers, (..., m).
    weight: (out, n, m).
    bias: (out,); None adds nothing.
    Returns: (..., out).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.bilinear`.
    """
    result = f.einsum("...n,onm,...m->...o", input1, weight, input2)
    return result if bias is None else result + bias


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets elements to 0 at random in training, and divides the others by 1 - p.

    Every step draws anew, under `@tl.jit` too.

    input: numbers, of any shape.
    p: the probability of a 0.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1.
    Source: Srivastava et al. 2014.
    """
    return done(input, _dropped(input, p, training, input.shape, "dropout"), inplace)


def _dropped(x: Tensor, p: float, training: bool, shape: tuple[int, ...], what: str) -> Tensor:
    if not 0 <= p <= 1:
        raise OptionError(f"{what}: the probability p must be from 0 to 1, not {p}")
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0.0
    kept = (f.rand(shape) >= p).astype(x.dtype) * (1 / (1 - p))
    return x * kept


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Sets whole channels of sequences to 0 at random in training; see `dropout`.

    input: numbers, (n, c, length) or (c, length).
    p: the probability that a channel is 0.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1, ShapeError for an input of other axes.
    Source: Tompson et al. 2015.
    """
    if input.ndim not in (2, 3):
        raise ShapeError(f"dropout1d: {input.shape} is neither (n, c, length) nor (c, length)")
    return done(input, _channels(input, p, training, input.ndim - 1, "dropout1d"), inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Sets whole channels of images to 0 at random in training; see `dropout`.

    input: numbers, (n, c, h, w). As in PyTorch, three axes are (n, c, length), and two (n, c).
    p: the probability that a channel is 0.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1, ShapeError for fewer than two axes.
    Source: Tompson et al. 2015.
    """
    return done(input, _channels(input, p, training, 2, "dropout2d"), inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Sets whole channels of volumes to 0 at random in training; see `dropout`.

    input: numbers, (n, c, d, h, w) or, with fewer axes, (c, ...).
    p: the probability that a channel is 0.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1, ShapeError for an input without axes.
    Source: Tompson et al. 2015.
    """
    whole = 2 if input.ndim == 5 else 1
    return done(input, _channels(input, p, training, whole, "dropout3d"), inplace)


def _channels(x: Tensor, p: float, training: bool, whole: int, what: str) -> Tensor:
    """Dropout by what the first `whole` axes count."""
    if x.ndim < whole:
        raise ShapeError(f"{what}: {x.shape} has no channels")
    return _dropped(x, p, training, (*x.shape[:whole], *(1,) * (x.ndim - whole)), what)


_SATURATION = -1.7580993408473766
"""What selu tends to for small inputs, -scale * alpha."""


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Sets elements at random to what selu tends to, in training; mean and variance stay as they
    were.

    To that end all elements are then scaled and shifted.

    input: numbers, of any shape.
    p: the probability that an element is replaced.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1.
    Source: Klambauer et al. 2017.
    """
    found = _alpha_dropped(input, p, training, input.shape, "alpha_dropout")
    return done(input, found, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Replaces whole channels at random in training, as `alpha_dropout` replaces elements.

    input: numbers, (n, c, ...).
    p: the probability that a channel is replaced.
    training: False gives the input as it is.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1, ShapeError for fewer than two axes.
    Source: Klambauer et al. 2017.
    """
    if input.ndim < 2:
        raise ShapeError(f"feature_alpha_dropout: {input.shape} is not (n, c, ...)")
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    found = _alpha_dropped(input, p, training, shape, "feature_alpha_dropout")
    return done(input, found, inplace)


def _alpha_dropped(
    x: Tensor, p: float, training: bool, shape: tuple[int, ...], what: str
) -> Tensor:
    if not 0 <= p <= 1:
        raise OptionError(f"{what}: the probability p must be from 0 to 1, not {p}")
    if not training or p == 0:
        return x
    if p == 1:
        return x * 0.0
    kept = (f.rand(shape) >= p).astype(x.dtype)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _SATURATION * _SATURATION))
    dropped = (1 - kept) * _SATURATION
    return (x * kept + dropped) * scale - scale * p * _SATURATION


def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A draw from the classes along an axis by their logits, softened so that gradients pass:
    softmax((logits + Gumbel noise) / tau).

    logits: scores of the classes, of any shape.
    tau: the temperature; the smaller, the nearer is the draw to a single class.
    hard: 1 at the class drawn and 0 elsewhere, with the gradient of the soft draw.
    eps: changes nothing.
    dim: the axis of the classes.
    Returns: numbers that add up to 1 along the axis, in the shape of logits.
    Source: Jang et al. 2017.
    """
    uniform = f.rand(logits.shape, dtype=logits.dtype)
    soft = softmax((logits - f.log(-f.log(uniform))) / tau, dim)
    if not hard:
        return soft
    axis = dim % logits.ndim
    line = [1] * logits.ndim
    line[axis] = -1
    best = f.equal(f.argmax(soft, axis, True), f.reshape(f.arange(logits.shape[axis]), line))
    return best.astype(soft.dtype) - soft.detach() + soft
