"""Activations as modules; the functions are in functional/activations.py."""

from __future__ import annotations

from .. import functional
from .. import functions as f
from ..tensor import Tensor
from .module import Module
from .parameter import Parameter


class _Activation(Module):
    """A function with settings, which are attributes of the module under their own names."""

    _settings: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        words = [f"{name}={getattr(self, name)!r}" for name in self._settings]
        words += ["inplace=True"] if getattr(self, "inplace", False) else []
        return ", ".join(words)


class _InPlace(_Activation):
    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _Exponential(_Activation):
    _settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class _Shrink(_Activation):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class _AlongAxis(_Activation):
    _settings = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class ReLU(_InPlace):
    """max(x, 0). See `functional.relu`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu(input, inplace=self.inplace)


class ReLU6(_InPlace):
    """x clamped to 0 and 6. See `functional.relu6`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.relu6(input, inplace=self.inplace)


class Hardtanh(_Activation):
    """x clamped to min_val and max_val. See `functional.hardtanh`."""

    _settings = ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, inplace=self.inplace)


class LeakyReLU(_Activation):
    """x where it is positive, negative_slope * x elsewhere. See `functional.leaky_relu`."""

    _settings = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return functional.leaky_relu(input, self.negative_slope, inplace=self.inplace)


class ELU(_Exponential):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere. See `functional.elu`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, inplace=self.inplace)


class SELU(_InPlace):
    """`ELU` with constants that keep mean and variance (Klambauer 2017). See `functional.selu`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.selu(input, inplace=self.inplace)


class CELU(_Exponential):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017). See `functional.celu`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.celu(input, self.alpha, inplace=self.inplace)


class GELU(_Activation):
    """x times the normal cumulative distribution function (Hendrycks and Gimpel 2016). See
    `functional.gelu`."""

    _settings = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return functional.gelu(input, self.approximate)


class Sigmoid(_Activation):
    """1 / (1 + exp(-x)). See `functional.sigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.sigmoid(input)


class LogSigmoid(_Activation):
    """log(sigmoid(x)), without overflow. See `functional.logsigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.logsigmoid(input)


class Hardsigmoid(_InPlace):
    """A line through 0.5, clamped to 0 and 1. See `functional.hardsigmoid`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardsigmoid(input, inplace=self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x). See `functional.silu`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.silu(input, inplace=self.inplace)


class Mish(_InPlace):
    """x * tanh(softplus(x)) (Misra 2019). See `functional.mish`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.mish(input, inplace=self.inplace)


class Hardswish(_InPlace):
    """x * hardsigmoid(x) (Howard et al. 2019). See `functional.hardswish`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardswish(input, inplace=self.inplace)


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta, without overflow. See `functional.softplus`."""

    _settings = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return functional.softplus(input, self.beta, self.threshold)


class Softsign(_Activation):
    """x / (1 + |x|). See `functional.softsign`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softsign(input)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd; 0 within. See `functional.softshrink`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """x, but 0 within lambd of 0. See `functional.hardshrink`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


class Tanhshrink(_Activation):
    """x - tanh(x). See `functional.tanhshrink`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanhshrink(input)


class Tanh(_Activation):
    """The hyperbolic tangent. See `functional.tanh`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.tanh(input)


class Threshold(_Activation):
    """x above the threshold, the value elsewhere. See `functional.threshold`."""

    _settings = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, inplace=self.inplace)


class Softmax(_AlongAxis):
    """exp(x) / sum(exp(x)) along an axis. See `functional.softmax`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, _axis(self.dim, input))


class LogSoftmax(_AlongAxis):
    """log(softmax(x)) along an axis. See `functional.log_softmax`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, _axis(self.dim, input))


class Softmin(_AlongAxis):
    """The softmax of -x. See `functional.softmin`."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmin(input, _axis(self.dim, input))


class GLU(_Activation):
    """The first half along an axis times the sigmoid of the second (Dauphin et al. 2017). See
    `functional.glu`."""

    _settings = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)


class SwiGLU(_Activation):
    """The silu of the first half along an axis times the second (Shazeer 2020). See
    `functional.swiglu`."""

    _settings = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return functional.swiglu(input, self.dim)


class Softmax2d(Module):
    """The softmax over the channels of (n, c, h, w) or (c, h, w)."""

    def forward(self, input: Tensor) -> Tensor:
        return functional.softmax(input, -3)


class PReLU(Module):
    """x where it is positive, a slope times x elsewhere; the slopes, one or one per channel, are
    trained (He et al. 2015)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(f.full((num_parameters,), float(init)))

    def forward(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(_Activation):
    """`LeakyReLU` with slopes drawn in training (Xu et al. 2015). See `functional.rrelu`."""

    _settings = ("lower", "upper")

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace
        self.lower, self.upper = lower, upper

    def forward(self, input: Tensor) -> Tensor:
        return functional.rrelu(input, self.lower, self.upper, self.training, inplace=self.inplace)


def _axis(dim: int | None, x: Tensor) -> int:
    """PyTorch's default: the first axis of 0, 1 or 3, otherwise the second."""
    return dim if dim is not None else 0 if x.ndim in (0, 1, 3) else 1
