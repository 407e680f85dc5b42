"""Operators of onnxruntime's own domain, com.microsoft, that its tools write most often.

Its optimizer fuses what exporters write as several nodes, and its quantizer writes 8-bit products.
onnxruntime's ContribOperators.md defines them.
"""

from __future__ import annotations

from typing import Any

from .... import dtype as dt
from .... import functional as nn
from .... import functions as f
from ....errors import OnnxFormatError, OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..registry import host_operator, operator
from .quantization import dynamic_quantize_linear, matmul_integer

_DOMAIN = "com.microsoft"


# ---- fused by the optimizer --------------------------------------------------------------------


@operator("Gelu", domain=_DOMAIN)
def gelu(call: Call, x: Tensor) -> Tensor:
    return nn.gelu(x)


@operator("BiasGelu", domain=_DOMAIN)
def bias_gelu(call: Call, x: Tensor, bias: Tensor) -> Tensor:
    return nn.gelu(x + bias)


@operator("FastGelu", domain=_DOMAIN)
def fast_gelu(call: Call, x: Tensor, bias: Tensor | None = None) -> Tensor:
    return nn.gelu(x if bias is None else x + bias, "tanh")


@operator("QuickGelu", domain=_DOMAIN)
def quick_gelu(call: Call, x: Tensor) -> Tensor:
    return x * nn.sigmoid(x * call.get("alpha", float, 1.702))


@operator("FusedMatMul", domain=_DOMAIN)
def fused_matmul(call: Call, a: Tensor, b: Tensor) -> Tensor:
    """alpha times the product of operands, whose last two axes may be transposed first."""
    if call.flag("transBatchA") or call.flag("transBatchB"):
        raise OnnxUnsupportedError("transBatchA and transBatchB are not supported")
    left = f.matrix_transpose(a) if call.flag("transA") and a.ndim > 1 else a
    right = f.matrix_transpose(b) if call.flag("transB") and b.ndim > 1 else b
    return f.matmul(left, right) * call.get("alpha", float, 1.0)


@operator("SkipLayerNormalization", domain=_DOMAIN)
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


@operator("MatMulIntegerToFloat", domain=_DOMAIN)
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


@operator("DynamicQuantizeMatMul", domain=_DOMAIN)
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


@host_operator("DynamicQuantizeLSTM", domain=_DOMAIN)
def dynamic_quantize_lstm(
    call: Call,
    np: Any,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    p: Any = None,
    w_scale: Any = None,
    w_zero: Any = None,
    r_scale: Any = None,
    r_zero: Any = None,
) -> Any:
    """An LSTM with 8-bit weights (directions, elements, 4 * hidden). The inputs are quantized as a
    whole, the hidden state at every step by its own range. That makes many small steps, each
    dependent on the previous one: too many for a GPU."""
    direction = call.choice("direction", "forward", "reverse", "bidirectional")
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    (time, batch, features), hidden = x.shape, r.shape[1]
    shapes = (len(backward), features, 4 * hidden), (len(backward), hidden, 4 * hidden)
    if (w.shape, r.shape) != shapes or call.get("hidden_size", int, hidden) != hidden:
        raise OnnxFormatError(f"W {w.shape} and R {r.shape}; expected {shapes[0]}, {shapes[1]}")
    if p is not None or call.flag("input_forget") or w_scale is None or r_scale is None:
        raise OnnxUnsupportedError("peepholes, input_forget and missing scales are not supported")
    if sequence_lens is not None and (sequence_lens != time).any():
        raise OnnxUnsupportedError("sequences of different lengths are not supported")
    usual = ("Sigmoid", "Tanh", "Tanh") * len(backward)
    given = call.get("activations", tuple, usual)
    if tuple(x.decode() if isinstance(x, bytes) else x for x in given) != usual:
        raise OnnxUnsupportedError(f"the activations {given} are not supported")

    def weights(values: Any, scale: Any, zero: Any) -> Any:
        per = (len(backward), 1, -1)
        whole = values.astype(np.int32) - (
            0 if zero is None else zero.astype(np.int32).reshape(per)
        )
        return whole.astype(np.float32) * scale.reshape(per)

    def eight_bits(values: Any) -> Any:
        """Values rounded to 8 bits of their range."""
        low, high = min(values.min(), 0), max(values.max(), 0)
        scale = np.float32((high - low) / np.float32(255) if high > low else 1)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        return (np.clip(np.rint(values / scale) + zero, 0, 255) - zero).astype(np.float32) * scale

    def sigmoid(values: Any) -> Any:
        return 0.5 * np.tanh(0.5 * values) + 0.5

    inputs, recurrent = weights(w, w_scale, w_zero), weights(r, r_scale, r_zero)
    rows, shape = eight_bits(x), (len(backward), batch, hidden)
    last_h = np.zeros(shape, np.float32) if initial_h is None else initial_h.copy()
    last_c = np.zeros(shape, np.float32) if initial_c is None else initial_c.copy()
    y = np.empty((time, len(backward), batch, hidden), np.float32)
    for d, back in enumerate(backward):
        projected = rows @ inputs[d]
        if b is not None:
            projected += b[d, : 4 * hidden] + b[d, 4 * hidden :]
        for t in reversed(range(time)) if back else range(time):
            gates = projected[t] + eight_bits(last_h[d]) @ recurrent[d]
            enter, leave, forget, cell = np.split(gates, 4, axis=-1)
            last_c[d] = sigmoid(forget) * last_c[d] + sigmoid(enter) * np.tanh(cell)
            last_h[d] = y[t, d] = sigmoid(leave) * np.tanh(last_c[d])
    return y, last_h, last_c
