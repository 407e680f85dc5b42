"""Layers made of one product, or one draw."""

from __future__ import annotations

import math

from .. import casting
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from .activations import done, softmax


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias; weight (out, in)."""
    result = input @ weight.mT
    return result if bias is None else result + casting.matched(bias, result)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1 (..., n) and input2 (..., m) between weight (out, n, m): sums over both, (..., out),
    plus bias."""
    result = f.einsum("...n,onm,...m->...o", input1, weight, input2)
    return result if bias is None else result + bias


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with the probability p, else divided by 1 - p, in training (Srivastava et
    al. 2014). Every step draws anew, under `@tl.jit` too. inplace: the input itself, which stands
    for the result afterwards. Raises OptionError for another p."""
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
    """Whole channels of (n, c, length) or (c, length) at once (Tompson et al. 2015)."""
    if input.ndim not in (2, 3):
        raise ShapeError(f"dropout1d: {input.shape} is neither (n, c, length) nor (c, length)")
    return done(input, _channels(input, p, training, input.ndim - 1, "dropout1d"), inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (n, c, h, w) at once. As in PyTorch, three axes are (n, c, length), and two
    (n, c); ShapeError for fewer."""
    return done(input, _channels(input, p, training, 2, "dropout2d"), inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (n, c, d, h, w) or, with fewer axes, of (c, ...) at once."""
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
    """Each element is what selu tends to with the probability p, in training; then all are scaled
    and shifted so that mean and variance stay as they were (Klambauer et al. 2017). Raises
    OptionError for another p."""
    found = _alpha_dropped(input, p, training, input.shape, "alpha_dropout")
    return done(input, found, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """As `alpha_dropout`, whole channels of (n, c, ...) at once."""
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
    """A draw from the classes along an axis by their logits, softened so that gradients pass (Jang
    et al. 2017): softmax((logits + Gumbel noise) / tau).

    hard: 1 at the class drawn and 0 elsewhere, with the gradient of the soft draw. eps changes
    nothing.
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
