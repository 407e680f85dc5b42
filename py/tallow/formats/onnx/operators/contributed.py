"""Operators of onnxruntime's own domain, com.microsoft, that its tools write most often.

Its optimizer fuses what exporters write as several nodes, and its quantizer writes 8-bit products.
onnxruntime's ContribOperators.md defines them.
"""

from __future__ import annotations

from .... import dtype as dt
from .... import functional as nn
from .... import functions as f
from ....errors import OnnxFormatError, OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..registry import operator
from .quantization import dynamic_quantize_linear, matmul_integer

DOMAIN = "com.microsoft"


# ---- fused by the optimizer --------------------------------------------------------------------


@operator("Gelu", domain=DOMAIN)
def gelu(call: Call, x: Tensor) -> Tensor:
    return nn.gelu(x)


@operator("BiasGelu", domain=DOMAIN)
def bias_gelu(call: Call, x: Tensor, bias: Tensor) -> Tensor:
    return nn.gelu(x + bias)


@operator("FastGelu", domain=DOMAIN)
def fast_gelu(call: Call, x: Tensor, bias: Tensor | None = None) -> Tensor:
    return nn.gelu(x if bias is None else x + bias, "tanh")


@operator("QuickGelu", domain=DOMAIN)
def quick_gelu(call: Call, x: Tensor) -> Tensor:
    return x * nn.sigmoid(x * call.get("alpha", float, 1.702))


@operator("FusedMatMul", domain=DOMAIN)
def fused_matmul(call: Call, a: Tensor, b: Tensor) -> Tensor:
    """alpha times the product of operands, whose last two axes may be transposed first."""
    if call.flag("transBatchA") or call.flag("transBatchB"):
        raise OnnxUnsupportedError("transBatchA and transBatchB are not supported")
    left = f.matrix_transpose(a) if call.flag("transA") and a.ndim > 1 else a
    right = f.matrix_transpose(b) if call.flag("transB") and b.ndim > 1 else b
    return f.matmul(left, right) * call.get("alpha", float, 1.0)


@operator("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(
    call: Call,
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
) -> list[Tensor]:
    """The layer norm of a sum; its mean, its inverse standard deviation, and the sum itself."""
    total = x + skip if bias is None else x + skip + bias
    wide = total.astype(dt.float32)
    mean = f.mean(wide, axis=-1, keepdims=True)
    centred = wide - mean
    variance = f.mean(centred * centred, axis=-1, keepdims=True)
    inverse = 1.0 / f.sqrt(variance + call.get("epsilon", float, 1e-12))
    result = (centred * inverse).astype(x.dtype) * gamma
    return [result if beta is None else result + beta, mean, inverse, total]


# ---- written by the quantizer ------------------------------------------------------------------


@operator("MatMulIntegerToFloat", domain=DOMAIN)
def matmul_integer_to_float(
    call: Call,
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero: Tensor | None = None,
    b_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """B's scale and zero point are single numbers or have one number per column."""
    if a_scale.size != 1 or (a_zero is not None and a_zero.size != 1):
        raise OnnxFormatError(
            f"the scale of A must be one number, but its shape is {a_scale.shape}"
        )
    zero = None if a_zero is None else f.reshape(a_zero, ())
    whole = matmul_integer(call, a, b, zero, b_zero).astype(dt.float32)
    columns = f.reshape(b_scale, ()) if b_scale.size == 1 else b_scale
    product = whole * (f.reshape(a_scale, ()) * columns)
    return product if bias is None else product + bias


@operator("DynamicQuantizeMatMul", domain=DOMAIN)
def dynamic_quantize_matmul(
    call: Call,
    a: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    quantised, scale, zero = dynamic_quantize_linear(call, a)
    return matmul_integer_to_float(call, quantised, b, scale, b_scale, zero, b_zero, bias)
