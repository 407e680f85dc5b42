"""Initial values of parameters: torch.nn.init. Functions ending in an underscore assign to the
tensor that they are given, a parameter, a variable or any other tensor, and give it back.
"""

from __future__ import annotations

import math
from typing import TypeVar

from .. import functions as f
from ..core.shape import size_of
from ..errors import OptionError, ShapeError
from ..functions.special import erfinv
from ..tensor import Tensor, asarray

V = TypeVar("V", bound=Tensor)


def _assign(tensor: V, value: Tensor) -> V:
    return tensor.become(value.astype(tensor.dtype), True)


def uniform_(tensor: V, a: float = 0.0, b: float = 1.0) -> V:
    """Numbers drawn evenly between a and b."""
    return _assign(tensor, f.rand(tensor.shape) * (b - a) + a)


def normal_(tensor: V, mean: float = 0.0, std: float = 1.0) -> V:
    """Numbers of a normal distribution."""
    return _assign(tensor, f.randn(tensor.shape) * std + mean)


def constant_(tensor: V, val: float) -> V:
    """The same number everywhere."""
    return _assign(tensor, f.full(tensor.shape, float(val)))


def ones_(tensor: V) -> V:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: V) -> V:
    """0 everywhere."""
    return constant_(tensor, 0.0)


def fans(shape: tuple[int, ...], what: str = "init") -> tuple[int, int]:
    """How many elements a result of a layer is computed from, and how many results an element
    takes part in, by the shape of its weight (out, in, ...). ShapeError below two axes."""
    if len(shape) < 2:
        raise ShapeError(f"{what}: a weight of shape {shape} has no fan; it needs two axes or more")
    field = size_of(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """As `fans`; layers of users' own call PyTorch's by this name."""
    return fans(tensor.shape)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which an activation shrinks the variance's root, as torch lists it."""
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return math.sqrt(2.0 / (1 + slope * slope))
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "sigmoid" or nonlinearity.startswith(("linear", "conv")):
        return 1.0
    raise OptionError(f"calculate_gain: {nonlinearity!r} is unknown")


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise OptionError(f"kaiming: the mode {mode!r} is neither 'fan_in' nor 'fan_out'")
    fan = fans(tensor.shape, "kaiming")[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(max(fan, 1))


def kaiming_uniform_(
    tensor: V, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> V:
    """Evenly within gain * sqrt(3 / fan) (He et al. 2015)."""
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(
    tensor: V, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> V:
    """Normal with the deviation gain / sqrt(fan) (He et al. 2015)."""
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity))


def xavier_uniform_(tensor: V, gain: float = 1.0) -> V:
    """Evenly within gain * sqrt(6 / (fan in + fan out)) (Glorot and Bengio 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor.shape, "xavier")))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: V, gain: float = 1.0) -> V:
    """Normal with the deviation gain * sqrt(2 / (fan in + fan out)) (Glorot and Bengio 2010)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor.shape, "xavier"))))


def trunc_normal_(
    tensor: V, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> V:
    """Numbers of a normal distribution of which those outside a and b were left out.

    Computed from even numbers by the inverse of the distribution. Raises OptionError if std is not
    positive, or there is nothing between a and b.
    """
    if std <= 0 or a >= b:
        raise OptionError(f"trunc_normal_: std {std} between {a} and {b} leaves no numbers")
    low, high = (math.erf((end - mean) / (std * math.sqrt(2))) for end in (a, b))
    if low == high:
        raise OptionError(f"trunc_normal_: no numbers near {mean} lie between {a} and {b}")
    drawn = f.clip(f.rand(tensor.shape) * (high - low) + low, -0.9999999, 0.9999999)
    numbers = erfinv(drawn) * (std * math.sqrt(2)) + mean
    return _assign(tensor, f.clip(numbers, a, b))


def eye_(tensor: V) -> V:
    """1 on the diagonal of a matrix, 0 elsewhere. Raises ShapeError for another tensor."""
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: {tensor.shape} is not a matrix")
    return _assign(tensor, f.eye(tensor.shape[0], tensor.shape[1]))


def dirac_(tensor: V, groups: int = 1) -> V:
    """The weight (out, in, ...) of a convolution that gives its input, in each group and as far
    as there are channels. Raises ShapeError for other than 3 to 5 axes, or groups that do not
    divide."""
    shape = tensor.shape
    if not 3 <= len(shape) <= 5:
        raise ShapeError(f"dirac_: {shape} is not the weight of a convolution")
    if groups < 1 or shape[0] % groups:
        raise ShapeError(f"dirac_: {shape[0]} channels do not divide into {groups} groups")
    matrix = f.tile(f.eye(shape[0] // groups, shape[1]), (groups, 1))
    middle = f.reshape(matrix, (*shape[:2], *(1,) * (len(shape) - 2)))
    around = [(size // 2, size - size // 2 - 1) for size in shape[2:]]
    return _assign(tensor, f.pad(middle, [(0, 0), (0, 0), *around]))


def orthogonal_(tensor: V, gain: float = 1.0) -> V:
    """A matrix (out, the rest) whose rows or columns, whichever are fewer, are orthogonal and of
    length `gain` (Saxe et al. 2013). NumPy computes it on the host. Raises ShapeError below two
    axes."""
    if tensor.ndim < 2:
        raise ShapeError(f"orthogonal_: {tensor.shape} has fewer than two axes")
    import numpy as np

    rows, columns = tensor.shape[0], size_of(tensor.shape[1:])
    if not rows * columns:
        return tensor
    drawn = f.randn((max(rows, columns), min(rows, columns))).numpy().astype(np.float64)
    q, r = np.linalg.qr(drawn)
    q = q * np.sign(np.diag(r))  # which makes every orthogonal matrix as likely
    q = q if rows >= columns else q.T
    found = np.ascontiguousarray(q * gain, np.float32).reshape(tensor.shape)
    return _assign(tensor, asarray(found))


def sparse_(tensor: V, sparsity: float, std: float = 0.01) -> V:
    """A matrix in whose columns a part of the elements, rounded up, is 0; the others are normal
    (Martens 2010). Raises ShapeError, or OptionError for a part that is not from 0 to 1."""
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_: {tensor.shape} is not a matrix")
    if not 0 <= sparsity <= 1:
        raise OptionError(f"sparse_: the sparsity must be from 0 to 1, not {sparsity}")
    zeros = math.ceil(sparsity * tensor.shape[0])
    rank = f.argsort(f.argsort(f.rand(tensor.shape), axis=0), axis=0)
    return _assign(tensor, f.where(rank < zeros, 0.0, f.randn(tensor.shape) * std))
