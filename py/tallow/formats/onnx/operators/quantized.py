"""Operators of com.microsoft on quantised values, which onnxruntime's quantizer writes.

Each has one scale and zero point for every input and for the result, and computes in float32.
"""

from __future__ import annotations

from collections.abc import Sequence

from .... import functional as nn
from .... import functions as f
from ....core import dtype as dt
from ....core.dtype import DType
from ....core.shape import check_axis
from ....errors import OnnxFormatError
from ....tensor import Tensor
from ..call import Call
from ..registry import operator
from . import quantization
from .contributed import DOMAIN
from .nn.pooling import average_pool
from .quantization import (
    check_scale,
    check_zero,
    dequantize_linear,
    dynamic_quantize_linear,
    matmul_integer,
    qlinear_conv,
    quantize_linear,
)

operator("QuantizeLinear", domain=DOMAIN)(quantize_linear)
operator("DequantizeLinear", domain=DOMAIN)(dequantize_linear)


def check_parameters(
    name: str, dtype: DType, scale: Tensor | None, zero: Tensor | None, columns: int = 1
) -> Tensor:
    """The scale. Raises OnnxFormatError for a scale or zero point that does not belong to values of
    a type.

    columns: how many each may also have, instead of one.
    """
    if scale is None:
        raise OnnxFormatError(f"the scale of {name} is missing")
    if scale.dtype != dt.float32:
        raise OnnxFormatError(f"the scale of {name} is {scale.dtype.name}; expected float32")
    check_scale(name, scale)
    check_zero(name, dtype, zero)
    for what, values in (("scale", scale), ("zero point", zero)):
        if values is not None and (values.ndim > 1 or values.size not in (1, columns)):
            some = "one number" if columns == 1 else f"one number or {columns}"
            raise OnnxFormatError(f"the {what} of {name} is {values.shape}; expected {some}")
    return scale


def one(values: Tensor) -> Tensor:
    """A parameter without axes, if it is one number."""
    return f.reshape(values, ()) if values.size == 1 else values


def real(
    name: str, x: Tensor | None, scale: Tensor | None, zero: Tensor | None, columns: int = 1
) -> Tensor:
    """The numbers that quantised values stand for."""
    if x is None:
        raise OnnxFormatError(f"{name} is missing")
    if not x.dtype.is_integer or x.dtype.size > 2:
        raise OnnxFormatError(f"{name} is {x.dtype.name}, which is not quantised")
    factor = one(check_parameters(name, x.dtype, scale, zero, columns))
    whole = x.astype(dt.int32)
    if zero is not None:
        whole = whole - one(zero).astype(dt.int32)
    return whole.astype(dt.float32) * factor


def rounded(
    name: str, x: Tensor, scale: Tensor | None, zero: Tensor | None, dtype: DType
) -> Tensor:
    """Numbers as quantised values."""
    factor = one(check_parameters(name, dtype, scale, zero))
    return quantization.rounded(x / factor, None if zero is None else one(zero), dtype)


# ---- element by element ------------------------------------------------------------------------


@operator("QLinearAdd", domain=DOMAIN)
def _qlinear_add(
    call: Call, a: Tensor, a_scale: Tensor, a_zero: Tensor | None = None, b: Tensor | None = None,
    b_scale: Tensor | None = None, b_zero: Tensor | None = None, c_scale: Tensor | None = None,
    c_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    total = real("A", a, a_scale, a_zero) + real("B", b, b_scale, b_zero)
    return rounded("C", total, c_scale, c_zero, a.dtype)


@operator("QLinearMul", domain=DOMAIN)
def _qlinear_mul(
    call: Call, a: Tensor, a_scale: Tensor, a_zero: Tensor | None = None, b: Tensor | None = None,
    b_scale: Tensor | None = None, b_zero: Tensor | None = None, c_scale: Tensor | None = None,
    c_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    times = real("A", a, a_scale, a_zero) * real("B", b, b_scale, b_zero)
    return rounded("C", times, c_scale, c_zero, a.dtype)


@operator("QLinearSigmoid", domain=DOMAIN)
def _qlinear_sigmoid(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None = None,
    y_scale: Tensor | None = None, y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return rounded("Y", nn.sigmoid(real("X", x, x_scale, x_zero)), y_scale, y_zero, x.dtype)


@operator("QLinearLeakyRelu", domain=DOMAIN)
def _qlinear_leaky_relu(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None = None,
    y_scale: Tensor | None = None, y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    value = real("X", x, x_scale, x_zero)
    bent = f.where(value >= 0, value, value * call.get("alpha", float, 0.01))
    return rounded("Y", bent, y_scale, y_zero, x.dtype)


@operator("QLinearWhere", domain=DOMAIN)
def _qlinear_where(
    call: Call, condition: Tensor, x: Tensor, x_scale: Tensor, x_zero: Tensor, y: Tensor,
    y_scale: Tensor, y_zero: Tensor, z_scale: Tensor, z_zero: Tensor,
) -> Tensor:  # fmt: skip
    if x.dtype != y.dtype:
        raise OnnxFormatError(f"X is {x.dtype.name}, but Y is {y.dtype.name}")
    chosen = f.where(condition, real("X", x, x_scale, x_zero), real("Y", y, y_scale, y_zero))
    return rounded("Z", chosen, z_scale, z_zero, x.dtype)


@operator("QLinearConcat", domain=DOMAIN)
def qlinear_concat(call: Call, y_scale: Tensor, y_zero: Tensor, *inputs: Tensor | None) -> Tensor:
    """Each input is followed by its scale and its zero point."""
    if not inputs or len(inputs) % 3:
        raise OnnxFormatError(f"it has {len(inputs)} inputs after its zero point; expected threes")
    parts = []
    for number in range(0, len(inputs), 3):
        x, scale, zero = inputs[number : number + 3]
        if x is None or scale is None:
            raise OnnxFormatError(f"its input {number + 3} or the scale of that is missing")
        parts.append(real(f"its input {number + 3}", x, scale, zero))
    whole = f.concat(parts, axis=call.get("axis", int))
    return rounded("Y", whole, y_scale, y_zero, y_zero.dtype)


# ---- along axes --------------------------------------------------------------------------------


@operator("QLinearSoftmax", domain=DOMAIN)
def qlinear_softmax(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None = None,
    y_scale: Tensor | None = None, y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`opset` is that of the Softmax which it replaces: before 13, all axes from `axis` on are
    one."""
    axis = check_axis(call.get("axis", int, -1), x.ndim, "softmax")
    value = real("X", x, x_scale, x_zero)
    if call.get("opset", int, 13) < 13:
        rest = f.reshape(value, (*x.shape[:axis], -1)) if x.size else value
        made = f.reshape(nn.softmax(rest, axis=-1), x.shape)
    else:
        made = nn.softmax(value, axis=axis)
    return rounded("Y", made, y_scale, y_zero, x.dtype)


@operator("QLinearReduceMean", domain=DOMAIN)
def _qlinear_reduce_mean(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None = None,
    y_scale: Tensor | None = None, y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    axes = call.ints("axes", tuple(range(x.ndim)))
    made = f.mean(real("data", x, x_scale, x_zero), axis=axes, keepdims=call.flag("keepdims", True))
    return rounded("reduced", made, y_scale, y_zero, x.dtype)


def _channels(x: Tensor, first: bool) -> Tensor:
    """An image whose last axis has its channels with those second (`first`), or back."""
    if x.ndim < 3:
        raise OnnxFormatError(f"X {x.shape} has no channels")
    return f.moveaxis(x, -1, 1) if first else f.moveaxis(x, 1, -1)


@operator("QLinearAveragePool", domain=DOMAIN)
def _qlinear_average_pool(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor | None = None,
    y_scale: Tensor | None = None, y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    last = call.flag("channels_last")
    value = real("X", x, x_scale, x_zero)
    made = average_pool(call, _channels(value, True) if last else value)
    return rounded("Y", _channels(made, False) if last else made, y_scale, y_zero, x.dtype)


@operator("QLinearGlobalAveragePool", domain=DOMAIN)
def _qlinear_global_average_pool(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor, y_scale: Tensor, y_zero: Tensor
) -> Tensor:
    first = 1 if call.flag("channels_last") else 2
    axes = tuple(range(first, first + x.ndim - 2))
    made = f.mean(real("X", x, x_scale, x_zero), axis=axes, keepdims=True)
    return rounded("Y", made, y_scale, y_zero, x.dtype)


# ---- products ----------------------------------------------------------------------------------


@operator("QLinearConv", domain=DOMAIN)
def _qlinear_conv_of_either_order(
    call: Call, x: Tensor, x_scale: Tensor, x_zero: Tensor, w: Tensor, w_scale: Tensor,
    w_zero: Tensor, y_scale: Tensor, y_zero: Tensor, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    last = call.flag("channels_last")
    image = _channels(x, True) if last else x
    rest = x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias
    made = qlinear_conv(call, image, *rest)
    return _channels(made, False) if last else made


@operator("QGemm", domain=DOMAIN)
def qgemm(
    call: Call, a: Tensor, a_scale: Tensor, a_zero: Tensor, b: Tensor, b_scale: Tensor,
    b_zero: Tensor, c: Tensor | None = None, y_scale: Tensor | None = None,
    y_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """B may have a scale and zero point per column of the product; C is int32, in its steps.
    Without y_scale the result is float32."""
    if a.ndim != 2 or b.ndim != 2:
        raise OnnxFormatError(f"A {a.shape} and B {b.shape} must be matrices")
    left = f.matrix_transpose(a) if call.flag("transA") else a
    right = f.matrix_transpose(b) if call.flag("transB") else b
    check_parameters("A", a.dtype, a_scale, a_zero)
    check_parameters("B", b.dtype, b_scale, b_zero, right.shape[1])
    sums = matmul_integer(call, left, right, one(a_zero), one(b_zero))
    if c is not None:
        if c.dtype != dt.int32:
            raise OnnxFormatError(f"C is {c.dtype.name}; expected int32")
        sums = sums + c
    factor = one(a_scale) * one(b_scale) * call.get("alpha", float, 1.0)
    made = sums.astype(dt.float32) * factor
    if y_scale is None:
        return made
    return rounded("Y", made, y_scale, y_zero, a.dtype if y_zero is None else y_zero.dtype)


@operator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    call: Call, a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor,
    a_zero: Tensor | None = None, b_zero: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """B's scale and zero point are single numbers or have one number per column."""
    made = product(call, "AB", a, b, (a_scale, b_scale), (a_zero, b_zero))
    return made if bias is None else made + bias


@operator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    call: Call, a: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A is quantised by its own range."""
    quantised, scale, zero = dynamic_quantize_linear(call, a)
    return matmul_integer_to_float(call, quantised, b, scale, b_scale, zero, b_zero, bias)


def product(
    call: Call, names: Sequence[str], a: Tensor, b: Tensor, scales: Sequence[Tensor],
    zeros: Sequence[Tensor | None],
) -> Tensor:  # fmt: skip
    """The float32 product of quantised operands, of which the second may have parameters per
    column. names: of the operands, in errors."""
    for name, x, scale, zero, columns in zip(
        names, (a, b), scales, zeros, (1, b.shape[-1]), strict=True
    ):
        check_parameters(name, x.dtype, scale, zero, columns)
    left, right = (None if zero is None else one(zero) for zero in zeros)
    sums = matmul_integer(call, a, b, left, right)
    return sums.astype(dt.float32) * (one(scales[0]) * one(scales[1]))
