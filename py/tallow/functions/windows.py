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
    """Makes Bartlett's window: a triangle from 0 to 1 and back.

    window_length: how many elements.
    periodic: whether the last element, which is as the first, is left out.
    dtype: the element type; None is float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the window, a vector.
    Raises: OptionError for a negative length; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.bartlett_window`.
    """
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
    """Makes Blackman's window, of cosines of two frequencies.

    window_length: how many elements.
    periodic: whether the last element, which is as the first, is left out.
    dtype: the element type; None is float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the window, a vector.
    Raises: OptionError for a negative length; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.blackman_window`.
    """

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
    """Makes Hamming's window: alpha - beta * cos.

    window_length: how many elements.
    periodic: whether the last element, which is as the first, is left out.
    alpha, beta: the numbers of the formula.
    dtype: the element type; None is float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the window, a vector.
    Raises: OptionError for a negative length; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.hamming_window`.
    """

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
    """Makes Hann's window: (1 - cos) / 2.

    window_length: how many elements.
    periodic: whether the last element, which is as the first, is left out.
    dtype: the element type; None is float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the window, a vector.
    Raises: OptionError for a negative length; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.hann_window`.
    """
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
    """Makes Kaiser's window, of modified Bessel functions.

    window_length: how many elements.
    periodic: whether the last element, which is as the first, is left out.
    beta: how narrow it is.
    dtype: the element type; None is float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the window, a vector.
    Raises: OptionError for a negative length; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.kaiser_window`.
    """

    def bessel(x: float) -> float:
        term = total = 1.0
        for k in range(1, 500):
            term *= (x / (2 * k)) ** 2
            total += term
        return total

    def of(x: float) -> float:
        return bessel(beta * math.sqrt(max(1 - (2 * x - 1) ** 2, 0.0))) / bessel(beta)

    return _window(of, window_length, periodic, dtype, device, requires_grad)
