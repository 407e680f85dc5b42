"""Windows for signals, under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..core import dtype as dt
from ..core.dtype import DType
from ..errors import OptionError
from ..tensor import Tensor, asarray
from .creation import placed


def _window(
    of: Callable[[float], float],
    length: int,
    periodic: bool,
    dtype: DType | str | None,
    device: str | None,
    requires_grad: bool,
) -> Tensor:
    """The values of a function of 0 to 1 at that many points: both ends, or without the last."""
    if length < 0:
        raise OptionError(f"a window of {length} elements")
    steps = length if periodic else length - 1
    values = [1.0] if length == 1 else [of(n / steps) for n in range(length)]
    return placed(asarray(values, dtype or dt.float32), device, requires_grad)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 to 1 and back. periodic: the last element, which is as the first, is left
    out. Raises OptionError for a negative length, as all windows do."""
    return _window(
        lambda x: 1 - abs(2 * x - 1), window_length, periodic, dtype, device, requires_grad
    )


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's window, of cosines of two frequencies; the rest as for `bartlett_window`."""

    def of(x: float) -> float:
        return 0.42 - 0.5 * math.cos(2 * math.pi * x) + 0.08 * math.cos(4 * math.pi * x)

    return _window(of, window_length, periodic, dtype, device, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta * cos: Hamming's window; the rest as for `bartlett_window`."""

    def of(x: float) -> float:
        return alpha - beta * math.cos(2 * math.pi * x)

    return _window(of, window_length, periodic, dtype, device, requires_grad)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """(1 - cos) / 2: Hann's window; the rest as for `bartlett_window`."""
    return _window(
        lambda x: math.sin(math.pi * x) ** 2, window_length, periodic, dtype, device, requires_grad
    )


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window, of modified Bessel functions; beta: how narrow it is; the rest as for
    `bartlett_window`."""

    def bessel(x: float) -> float:
        term = total = 1.0
        for k in range(1, 500):
            term *= (x / (2 * k)) ** 2
            total += term
        return total

    def of(x: float) -> float:
        return bessel(beta * math.sqrt(max(1 - (2 * x - 1) ** 2, 0.0))) / bessel(beta)

    return _window(of, window_length, periodic, dtype, device, requires_grad)
