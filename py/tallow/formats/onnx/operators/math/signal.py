"""Signals: Fourier transforms, windows, the mel scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..... import functions as f
from .....core.dtype import DType
from .....core.hostarray import from_values
from .....core.shape import check_axis
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor, asarray
from ...call import Call
from ...read.tensors import dtype_of, type_name
from ...registry import host_operator, operator
from ...values import check_array
from .accumulation import along
from .fourier import spectrum

if TYPE_CHECKING:
    from .....arrays import Array, NumPy

_MAX_TABLE = 1 << 20
"""Elements of a table that is computed when a model is loaded."""
_MAX_LENGTH = 1 << 28
"""Elements of a transform, so that a number in a file can't exhaust the host's memory."""


# ---- Fourier transforms ------------------------------------------------------------------------


def _signal(call: Call, shape: Sequence[int]) -> tuple[bool, bool]:
    """The flags inverse and onesided of a DFT, checked against the input's shape."""
    inverse, onesided = call.flag("inverse"), call.flag("onesided")
    if len(shape) < 2 or shape[-1] not in (1, 2):
        raise OnnxFormatError(f"the input {tuple(shape)} must end in 1 or 2: (real, imaginary)")
    if onesided and not inverse and shape[-1] == 2:
        raise OnnxFormatError("onesided=1 needs a real input")
    return inverse, onesided


def _length(given: int | None, dim: int, half: bool) -> int:
    """The length of a transform along an axis of `dim` elements."""
    length = given if given is not None else 2 * (dim - 1) if half else dim
    if not 1 <= length <= _MAX_LENGTH:
        raise OnnxFormatError(f"the length of the transform is {length}")
    return length


@operator("DFT", since=17)
def dft(
    call: Call, x: Tensor, dft_length: Tensor | None = None, axis: Tensor | None = None
) -> Tensor:
    """The axis is an input since opset 20, and an attribute before."""
    inverse, onesided = _signal(call, x.shape)
    given = None if dft_length is None else call.known_integer(dft_length, "dft_length")

    def run(number: int) -> Tensor:
        length = _length(given, x.shape[number], onesided and inverse)
        return spectrum(x, number, length, inverse, onesided)

    if axis is None:
        fixed = call.get("axis", int, 1) if call.opset < 20 else -2
        return run(_signal_axis(fixed, x.ndim))
    if given is not None or onesided:  # the shape depends on the axis
        return run(_signal_axis(call.known_integer(axis, "axis"), x.ndim))
    return along(axis, x.ndim, run, x.ndim - 1)


def _signal_axis(axis: int, rank: int) -> int:
    number = check_axis(axis, rank, "axis")
    if number == rank - 1:
        raise OnnxFormatError(f"axis {axis} is the axis of the real and imaginary parts")
    return number


def _host_dft(np: NumPy, x: Array, axis: int, length: int, inverse: bool, onesided: bool) -> Array:
    others = math.prod(x.shape[:axis] + x.shape[axis + 1 : -1])
    check_array(
        (3, max(length, x.shape[axis]), others), 16
    )  # complex numbers, and input and output
    real = x[..., 0].astype(np.float64)
    signal = real if x.shape[-1] == 1 else real + 1j * x[..., 1]
    if onesided and inverse:
        return np.fft.irfft(signal, length, axis)[..., None].astype(x.dtype)
    transform = np.fft.ifft if inverse else np.fft.rfft if onesided else np.fft.fft
    made = transform(signal, length, axis)
    return np.stack([made.real, made.imag], axis=-1).astype(x.dtype)


@host_operator("DFT", since=17)
def _dft_on_host(
    call: Call, np: NumPy, x: Array, dft_length: Array | None = None, axis: Array | None = None
) -> Array:
    inverse, onesided = _signal(call, x.shape)
    fixed = call.get("axis", int, 1) if call.opset < 20 else -2
    number = _signal_axis(fixed if axis is None else int(axis.item()), x.ndim)
    given = None if dft_length is None else int(dft_length.item())
    length = _length(given, x.shape[number], onesided and inverse)
    return _host_dft(np, x, number, length, inverse, onesided)


def _frames(
    call: Call, shape: Sequence[int], step: int, window: Sequence[int] | None, length: int | None
) -> tuple[int, int, bool]:
    """The length and number of frames of an STFT, and whether it is one-sided.

    A real signal may lack its last axis of length 1: exporters omit it, and runtimes accept that.
    """
    onesided = call.flag("onesided", True)
    if len(shape) != 2 and (len(shape) != 3 or shape[2] not in (1, 2)):
        raise OnnxFormatError(f"the signal {tuple(shape)} must be (batch, length, 1 or 2)")
    if onesided and tuple(shape[2:]) == (2,):
        raise OnnxFormatError("onesided=1 needs a real signal")
    if window is not None and len(window) != 1:
        raise OnnxFormatError(f"the window must have one axis, not {tuple(window)}")
    if length is None:
        length = shape[1] if window is None else window[0]
    if step < 1 or not 1 <= length <= shape[1] or (window is not None and window[0] != length):
        raise OnnxFormatError(
            f"frames of {length} elements every {step} do not fit {shape[1]} or the window {window}"
        )
    return length, (shape[1] - length) // step + 1, onesided


@operator("STFT", since=17)
def stft(
    call: Call,
    signal: Tensor,
    frame_step: Tensor,
    window: Tensor | None = None,
    frame_length: Tensor | None = None,
) -> Tensor:
    """The DFT of each frame, times the window."""
    step = call.known_integer(frame_step, "frame_step")
    given = None if frame_length is None else call.known_integer(frame_length, "frame_length")
    shape = None if window is None else window.shape
    length, count, onesided = _frames(call, signal.shape, step, shape, given)
    if signal.ndim == 2:
        signal = f.expand_dims(signal, -1)
    starts = f.reshape(f.arange(count) * step, (-1, 1))
    frames = f.take(signal, starts + f.arange(length), axis=1)
    if window is not None:
        frames = frames * f.reshape(window.astype(signal.dtype), (-1, 1))
    return spectrum(frames, 2, length, False, onesided)


@host_operator("STFT", since=17)
def _stft_on_host(
    call: Call,
    np: NumPy,
    signal: Array,
    frame_step: Array,
    window: Array | None = None,
    frame_length: Array | None = None,
) -> Array:
    step = int(frame_step.item())
    given = None if frame_length is None else int(frame_length.item())
    shape = None if window is None else window.shape
    length, count, onesided = _frames(call, signal.shape, step, shape, given)
    signal = signal.reshape(*signal.shape[:2], -1)
    check_array((2, signal.shape[0], count, length, signal.shape[2]), signal.itemsize)
    frames = signal[:, np.arange(count)[:, None] * step + np.arange(length)]
    if window is not None:
        frames = frames * window[:, None].astype(signal.dtype)
    return _host_dft(np, frames, 2, length, False, onesided)


# ---- tables ------------------------------------------------------------------------------------


def _type(call: Call) -> DType:
    number = call.get("output_datatype", int, 1)
    wanted = dtype_of(number)
    if wanted is None or wanted.kind == "b":
        raise OnnxUnsupportedError(f"output_datatype {type_name(number)}")
    return wanted


def _values(values: Sequence[float], dtype: DType) -> list[Any]:
    return list(values) if dtype.is_floating else [int(value) for value in values]


def _register_window(name: str, shares: Sequence[float]) -> None:
    """A window: the sum of shares[i] * cos(i * angle), over one full turn."""

    def values(call: Call, size: int) -> list[float]:
        if not 0 <= size <= _MAX_TABLE:
            raise OnnxFormatError(f"a window of {size} elements is not supported")
        period = max(size if call.flag("periodic", True) else size - 1, 1)
        turns = (2 * math.pi * k / period for k in range(size))
        return [sum(share * math.cos(i * turn) for i, share in enumerate(shares)) for turn in turns]

    def composed(call: Call, size: Tensor) -> Tensor:
        dtype, made = _type(call), values(call, call.known_integer(size, "size"))
        return asarray(from_values(_values(made, dtype), (len(made),), dtype))

    def on_host(call: Call, np: NumPy, size: Array) -> Array:
        dtype = _type(call)
        return np.array(_values(values(call, int(size.item())), dtype), dtype.name)

    operator(name, since=17)(composed)
    host_operator(name, since=17)(on_host)


_register_window("BlackmanWindow", (0.42, -0.5, 0.08))
_register_window("HammingWindow", (25 / 46, -21 / 46))
_register_window("HannWindow", (0.5, -0.5))


def _mel(hertz: float) -> float:
    if hertz <= -700:
        raise OnnxFormatError(f"a frequency of {hertz} hertz is invalid")
    return 2595 * math.log10(1 + hertz / 700)


def _mel_weights(bins: int, length: int, rate: int, low: float, high: float) -> list[list[float]]:
    """Triangles over the bins of a one-sided spectrum: rows are its bins, columns the mel bins.

    Their corners are evenly spaced in mel, with the step of the standard's reference.
    """
    rows = length // 2 + 1
    if bins < 0 or length < 1 or rate < 1 or rows * max(bins, 1) > _MAX_TABLE:
        raise OnnxFormatError(
            f"{bins} mel bins of a transform of {length} at {rate} per second are not supported"
        )
    first, last = _mel(low), _mel(high)
    step = (last - first) / (bins + 2)
    hertz = (700 * (10 ** ((first + i * step) / 2595) - 1) for i in range(bins + 2))
    corners = [math.floor((length + 1) * value / rate) for value in hertz]
    if any(not 0 <= corner < rows for corner in corners):
        raise OnnxFormatError(
            f"frequencies from {low} to {high} are invalid at {rate} samples per second"
        )
    table = [[0.0] * bins for _ in range(rows)]
    for column, (left, middle, right) in enumerate(
        zip(corners, corners[1:], corners[2:], strict=False)
    ):
        for row in range(left, middle):
            table[row][column] = (row - left) / (middle - left)
        for row in range(middle, max(right, middle + 1)):
            table[row][column] = (right - row) / (right - middle) if right > middle else 1.0
    return table


def _mel_inputs(item: Callable[[Any], Any], values: Sequence[Any]) -> list[list[float]]:
    for value in values:
        if value.size != 1:
            raise OnnxFormatError(f"its inputs must be numbers, not {tuple(value.shape)}")
    numbers = [item(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        raise OnnxFormatError(f"its inputs must be finite numbers: {numbers}")
    bins, length, rate, low, high = numbers
    return _mel_weights(int(bins), int(length), int(rate), float(low), float(high))


@operator("MelWeightMatrix", since=17)
def _mel_weight_matrix(
    call: Call, bins: Tensor, length: Tensor, rate: Tensor, low: Tensor, high: Tensor
) -> Tensor:
    dtype = _type(call)
    table = _mel_inputs(
        lambda x: call.known(x, "each of its inputs").item(), (bins, length, rate, low, high)
    )
    flat = _values([value for row in table for value in row], dtype)
    return asarray(from_values(flat, (len(table), len(table[0])), dtype))


@host_operator("MelWeightMatrix", since=17)
def _mel_weight_matrix_on_host(
    call: Call, np: NumPy, bins: Array, length: Array, rate: Array, low: Array, high: Array
) -> Array:
    table = _mel_inputs(lambda x: x.item(), (bins, length, rate, low, high))
    return np.array(table).reshape(len(table), -1).astype(_type(call).name)
