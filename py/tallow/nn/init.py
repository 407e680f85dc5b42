"""Initial values of parameters: torch.nn.init. Functions ending in an underscore assign to the
tensor that they are given, a parameter or another variable, and give it back.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..runtime.variable import Variable
from ..shape import size_of
from ..tensor import Tensor

V = TypeVar("V", bound=Variable)


def _assign(tensor: V, value: Tensor) -> V:
    tensor.assign(value.astype(tensor.dtype))
    return tensor


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


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
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


def _kaiming(tensor: Variable, a: float, mode: str, nonlinearity: str) -> float:
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
