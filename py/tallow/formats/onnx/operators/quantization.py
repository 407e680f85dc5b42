"""Quantization: numbers as small integers or small floating numbers, a scale and a zero point.

Products whose results are quantized again are computed in float32. Its sums are exact up to
2 ** 24, and the error beyond that is far less than a step of the 8 bits to which they are rounded.
A target may compute them with integers (devices/wasm/passes/dots.py).
"""

from __future__ import annotations

from math import inf

from .... import functions as f
from ....core import dtype as dt
from ....core.dtype import DType
from ....core.shape import Shape, broadcast_shapes, check_axis
from ....errors import OnnxFormatError, OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..read.tensors import type_called
from ..registry import operator
from .generator.constants import saturated
from .nn.convolution import conv


def _spread(call: Call, parameter: Tensor, shape: Shape) -> Tensor:
    """A scale or zero point in a shape that broadcasts: one for all elements, one per index along
    `axis`, or one per block of `block_size` along it."""
    block, given = call.get("block_size", int, 0), call.get("axis", int, 1)
    if parameter.size == 1 and not block:
        return f.reshape(parameter, ())
    axis = check_axis(given, len(shape), "quantize")
    if not block:
        if parameter.shape != (shape[axis],):
            raise OnnxFormatError(
                f"a scale of shape {parameter.shape} for axis {axis} of {shape}, without blocks"
            )
        return f.reshape(parameter, [-1 if a == axis else 1 for a in range(len(shape))])
    blocks = -(-shape[axis] // block) if block > 0 else 0
    if parameter.shape != (*shape[:axis], blocks, *shape[axis + 1 :]):
        raise OnnxFormatError(
            f"scales {parameter.shape} for blocks of {block} along axis {axis} of {shape}"
        )
    wide = f.repeat(parameter, block, axis)
    return wide[tuple(slice(0, dim) for dim in shape)]


def check_scale(name: str, scale: Tensor) -> None:
    """Raises OnnxFormatError for a constant scale by which nothing can be divided."""
    for value in scale.node.attrs["data"].flat() if scale.node.is_constant else ():
        if not 0 < abs(value) < inf:
            raise OnnxFormatError(f"the scale of {name} is {value:g}; expected another number")


def check_zero(name: str, dtype: DType, zero: Tensor | None) -> None:
    """Raises OnnxFormatError for a zero point of another type than the values."""
    if zero is not None and zero.dtype != dtype:
        raise OnnxFormatError(
            f"the zero point of {name} is {zero.dtype.name}, but {name} is {dtype.name}"
        )


def rounded(x: Tensor, zero_point: Tensor | None, dtype: DType) -> Tensor:
    """Scaled float32 numbers as a quantized type: rounded half to even, clamped to its range."""
    zero = None if zero_point is None else zero_point.astype(dt.float32)
    if dtype.is_floating:
        moved = x if zero is None else x + zero
        return (saturated(moved, dtype) if dtype.bits == 8 else moved).astype(dtype)
    whole = f.round(x) if zero is None else f.round(x) + zero
    low = -(1 << dtype.bits - 1) if dtype.kind == "i" else 0
    held = f.clip(whole, low, low + (1 << dtype.bits) - 1)
    return held.astype(dt.int32).astype(dtype)


@operator("QuantizeLinear", since=10)
def quantize_linear(
    call: Call, x: Tensor, scale: Tensor, zero_point: Tensor | None = None
) -> Tensor:
    """Quantizes to the type of the zero point, or else output_dtype, or else uint8."""
    number, precision = call.get("output_dtype", int, 0), call.get("precision", int, 0)
    saturate = call.flag("saturate", True)
    wanted = type_called(number) if number else dt.uint8
    if zero_point is not None:
        if number and wanted != zero_point.dtype:
            raise OnnxFormatError(
                f"{wanted.name} does not fit a {zero_point.dtype.name} zero point"
            )
        wanted = zero_point.dtype
    check_scale("y", scale)
    if wanted.size > 2:
        raise OnnxUnsupportedError(f"quantizing to {wanted.name} is not supported")
    spread = _spread(call, scale, x.shape)
    zero = None if zero_point is None else _spread(call, zero_point, x.shape)
    divided = type_called(precision) if precision else scale.dtype
    if not divided.is_floating or divided == dt.float8_e8m0fnu:
        divided = dt.float32
    scaled = (x.astype(divided) / spread.astype(divided)).astype(dt.float32)
    if wanted.is_floating and not saturate:
        return (
            scaled.astype(wanted)
            if zero is None
            else (scaled + zero.astype(dt.float32)).astype(wanted)
        )
    return rounded(scaled, zero, wanted)


@operator("DequantizeLinear", since=10)
def dequantize_linear(
    call: Call, x: Tensor, scale: Tensor, zero_point: Tensor | None = None
) -> Tensor:
    """(x - zero point) * scale, in the type of the scale or in output_dtype."""
    number = call.get("output_dtype", int, 0)
    wanted = type_called(number) if number else scale.dtype
    check_zero("x", x.dtype, zero_point)
    value = _centred(x, None if zero_point is None else _spread(call, zero_point, x.shape))
    return (value * _spread(call, scale, x.shape).astype(dt.float32)).astype(wanted)


def _centred(x: Tensor, zero_point: Tensor | None) -> Tensor:
    """Quantized values minus their zero point, as float32."""
    if zero_point is None:
        return x.astype(dt.float32)
    wide = dt.float32 if x.dtype.is_floating else dt.int32
    return (x.astype(wide) - zero_point.astype(wide)).astype(dt.float32)


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(call: Call, x: Tensor) -> list[Tensor]:
    """Values as uint8, and the scale and zero point that just fit their range and 0."""
    low, high = (
        f.minimum(f.min(x), 0) if x.size else f.zeros(()),
        f.maximum(f.max(x), 0) if x.size else f.zeros(()),
    )
    range_ = high - low
    scale = f.where(f.equal(range_, 0), f.ones(()), range_ / 255.0)
    zero = f.clip(f.round(-low / scale), 0, 255)
    return [rounded(x / scale, zero, dt.uint8), scale, zero.astype(dt.uint8)]


def _of_rows(parameter: Tensor, ndim: int) -> Tensor:
    """A parameter per row of a matrix, as a column; other parameters broadcast as they are."""
    if parameter.size == 1:
        return f.reshape(parameter, ())
    return f.expand_dims(parameter, -1) if parameter.ndim == 1 and ndim > 1 else parameter


@operator("MatMulInteger", since=10)
def matmul_integer(
    call: Call, a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """Exact int32 sums. How a device gets them is up to its compiler passes."""
    if b.ndim < 2 or a.ndim < 1 or a.shape[-1] != b.shape[-2]:
        raise OnnxFormatError(f"A {a.shape} and B {b.shape} do not fit")
    check_zero("A", a.dtype, a_zero)
    check_zero("B", b.dtype, b_zero)
    left, right = a.astype(dt.int32), b.astype(dt.int32)
    if a_zero is not None:
        left = left - _of_rows(a_zero, a.ndim).astype(dt.int32)
    if b_zero is not None:
        columns = f.reshape(b_zero, ()) if b_zero.size == 1 else b_zero
        right = right - columns.astype(dt.int32)
    return left @ right


@operator("QLinearMatMul", since=10)
def qlinear_matmul(
    call: Call,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
) -> Tensor:
    """A product of quantised matrices, quantised."""
    check_zero("a", a.dtype, a_zero)
    check_zero("b", b.dtype, b_zero)
    check_scale("y", y_scale)
    left = _centred(a, _of_rows(a_zero, a.ndim))
    right = _centred(b, f.reshape(b_zero, ()) if b_zero.size == 1 else b_zero)
    rows, columns, result = (
        x.astype(dt.float32)
        for x in (
            _of_rows(a_scale, a.ndim),
            f.reshape(b_scale, ()) if b_scale.size == 1 else b_scale,
            _of_rows(y_scale, a.ndim),
        )
    )
    factor = rows * columns / result
    product = f.matmul(left, right)
    if broadcast_shapes(product.shape, factor.shape, what="the scales") != product.shape:
        raise OnnxFormatError(f"scales {factor.shape} do not fit the product {product.shape}")
    return rounded(product * factor, _of_rows(y_zero, a.ndim), y_zero.dtype)


@operator("QLinearConv", since=10)
def qlinear_conv(
    call: Call,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """The weight may have a scale and zero point per output channel. The bias is int32; its scale
    is the product of the other two."""

    def channels(parameter: Tensor, axis: int) -> Tensor:
        if parameter.size == 1:
            return f.reshape(parameter, ())
        return f.reshape(parameter, [-1 if a == axis else 1 for a in range(x.ndim)])

    check_zero("x", x.dtype, x_zero)
    check_zero("w", w.dtype, w_zero)
    check_scale("y", y_scale)
    for name, parameter in (("x", x_scale), ("x", x_zero), ("y", y_scale), ("y", y_zero)):
        if parameter.size != 1:
            raise OnnxFormatError(
                f"a scale or zero point of {name} is {parameter.shape}; expected one number"
            )
    image = _centred(x, f.reshape(x_zero, ()))
    weight = _centred(w, channels(w_zero, 0))
    added = None if bias is None else bias.astype(dt.float32)
    factor = f.reshape(x_scale, ()) * channels(w_scale, 1) / f.reshape(y_scale, ())
    return rounded(conv(call, image, weight, added) * factor, f.reshape(y_zero, ()), y_zero.dtype)
