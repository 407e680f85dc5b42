"""Operators of onnxruntime's own domain, com.microsoft, that its tools write most often.

Its optimizer fuses what exporters write as several nodes; quantized.py has what its quantizer
writes. onnxruntime's ContribOperators.md defines them.
"""

from __future__ import annotations

from .... import functional as nn
from .... import functions as f
from ....core import dtype as dt
from ....errors import OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..registry import operator

DOMAIN = "com.microsoft"


# ---- fused by the optimizer --------------------------------------------------------------------


@operator("Gelu", domain=DOMAIN)
def gelu(call: Call, x: Tensor) -> Tensor:
    """x times the normal cumulative distribution function, by erf."""
    return nn.gelu(x)


@operator("BiasGelu", domain=DOMAIN)
def bias_gelu(call: Call, x: Tensor, bias: Tensor) -> Tensor:
    """Gelu of x + bias."""
    return nn.gelu(x + bias)


@operator("FastGelu", domain=DOMAIN)
def fast_gelu(call: Call, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Gelu of x + bias, approximated by tanh."""
    return nn.gelu(x if bias is None else x + bias, "tanh")


@operator("QuickGelu", domain=DOMAIN)
def quick_gelu(call: Call, x: Tensor) -> Tensor:
    """x times the sigmoid of alpha * x."""
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
    result, mean, inverse = normalised(call, total, gamma, beta)
    return [result, mean, inverse, total]


def normalised(call: Call, x: Tensor, gamma: Tensor, beta: Tensor | None) -> tuple[Tensor, ...]:
    """The layer norm over the last axis; its mean and its inverse standard deviation, float32."""
    wide = x.astype(dt.float32)
    mean = f.mean(wide, axis=-1, keepdims=True)
    centred = wide - mean
    variance = f.mean(centred * centred, axis=-1, keepdims=True)
    inverse = 1.0 / f.sqrt(variance + call.get("epsilon", float, 1e-12))
    result = (centred * inverse).astype(x.dtype) * gamma
    return result if beta is None else result + beta, mean, inverse
