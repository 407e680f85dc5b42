"""Operators that reverse, crop or pad along given axes; and picture decoding."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ..... import functions as f
from .....core.shape import check_axis
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


@operator("ReverseSequence", since=10)
def reverse_sequence(call: Call, x: Tensor, lengths: Tensor) -> Tensor:
    """Reverses the first `lengths[b]` elements along time of each batch entry b."""
    batch = call.get("batch_axis", int, 1)
    time = call.get("time_axis", int, 0)
    if x.ndim < 2 or {batch, time} != {0, 1} or lengths.shape != (x.shape[batch],):
        raise OnnxFormatError(
            f"batch_axis {batch}, time_axis {time} and lengths {lengths.shape} do not fit {x.shape}"
        )
    line = [1] * x.ndim
    line[time] = x.shape[time]
    at = f.reshape(f.arange(x.shape[time]), line)
    line = [1] * x.ndim
    line[batch] = x.shape[batch]
    length = f.reshape(lengths, line)
    return f.take_along_axis(
        x, f.broadcast_to(f.where(at < length, length - 1 - at, at), x.shape), time
    )


@operator("CenterCropPad", since=18)
def center_crop_pad(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    """Crops each axis to its middle or pads both sides with zeros; an odd element goes last."""
    wanted = call.known_integers(shape, "shape")
    chosen = call.ints("axes", None) or tuple(range(x.ndim))
    if len(chosen) != len(wanted) or any(length < 0 for length in wanted):
        raise OnnxFormatError(f"shape {wanted} does not fit the axes {chosen} of {x.shape}")
    borders = [(0, 0)] * x.ndim
    for axis, length in zip(chosen, wanted, strict=True):
        number = check_axis(axis, x.ndim, "center_crop_pad")
        added = length - x.shape[number]
        low = added // 2 if added >= 0 else -(-added // 2)
        borders[number] = (low, added - low)
    return f.pad(x, borders)


@host_operator("ImageDecoder", since=20)
def image_decoder(call: Call, np: NumPy, stream: Array) -> Array:
    """(h, w, channels) uint8, decoded by Pillow if it is installed."""
    wanted = call.choice("pixel_format", "RGB", "BGR", "Grayscale")
    try:
        from PIL import Image
    except ImportError as error:
        raise OnnxUnsupportedError(
            "decoding pictures needs the Python package Pillow, which is not installed"
        ) from error
    try:
        picture = Image.open(io.BytesIO(stream.tobytes()))
        pixels = np.asarray(picture.convert("L" if wanted == "Grayscale" else "RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise OnnxFormatError(f"its {stream.size} bytes are not a picture: {error}") from error
    if wanted == "Grayscale":
        return pixels[:, :, None]
    return pixels[:, :, ::-1] if wanted == "BGR" else pixels
