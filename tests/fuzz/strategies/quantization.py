"""Quantized tensors, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case, element_type
from ..draft import Draft, Shape
from .convolution import AUTO, extent, image_of, kernel_of, spatial
from .registry import draws

_BYTES = ("uint8", "int8")
# The first ones are exact; with the others, a quotient may round either way.
_EXACT, _ROUNDED = (1.0, 0.5, 2.0, 0.25), (0.1, 0.03)


def _scales(draft: Draft, dtype: str, shape: Shape) -> tuple[np.ndarray, int]:
    """Scales, and the tolerance of a rounded result."""
    exact = draft.flag()
    options = np.array(_EXACT if exact else _ROUNDED, dtype)
    chosen = draft.array("int32", shape, 0, len(options) - 1) % len(options)
    return options[chosen], 0 if exact else 1


def _parameters(draft: Draft, opset: int, x: Shape) -> tuple[Shape, dict[str, Any]]:
    """The shape of scales: one, one per index along an axis, or since 21 one per block."""
    how = draft.integer(0, 3 if opset >= 21 else 2 if opset >= 13 else 1)
    if how < 2 or not x:
        return (), {}
    axis = draft.axis(len(x))
    if how == 2:
        return (x[axis],), {"axis": axis}
    size = draft.integer(1, max(x[axis], 1))
    blocks = list(x)
    blocks[axis] = -(-x[axis] // size)
    return tuple(blocks), {"axis": axis, "block_size": size}


@draws("quantization", "QuantizeLinear")
def quantize(draft: Draft) -> Case:
    opset = draft.opset(10)
    dtype = draft.pick(("float32", "float32", "float16") if opset >= 19 else ("float32",))
    shape = draft.shape(0, 3, zeros=False)
    x = draft.array(dtype, shape, -40, 40)
    count, chosen = _parameters(draft, opset, shape)
    scales, steps = _scales(draft, dtype, count)
    kinds = (*_BYTES, "int16", "uint16") if opset >= 21 else _BYTES
    kind = draft.pick(kinds)
    more = []
    if draft.flag():
        more.append(draft.given(draft.array(kind, count, 0, 5)))
    elif opset >= 21 and draft.flag():
        chosen["output_dtype"] = element_type(kind)
    return draft.result(draft.given(x), draft.given(scales), *more, steps=steps, **chosen)


@draws("quantization", "DequantizeLinear")
def dequantize(draft: Draft) -> Case:
    opset = draft.opset(10)
    kinds = (*_BYTES, "int32", *(("int16", "uint16", "int4", "uint4") if opset >= 21 else ()))
    kind = draft.pick(kinds)
    shape = draft.shape(0, 3, zeros=False)
    count, chosen = _parameters(draft, opset, shape)
    scales, _ = _scales(draft, draft.pick(("float32", "float16")[: 1 + (opset >= 19)]), count)
    four = kind.endswith("4")
    x = draft.given(draft.array(kind, shape, *((0, 5) if four else ())), known=four or None)
    more = []
    if draft.flag() and kind != "int32":
        zero = draft.array(kind, count, 0, 5)
        more.append(draft.given(zero, known=four or None))
    return draft.result(x, draft.given(scales), *more, **chosen)


@draws("quantization", "DynamicQuantizeLinear")
def dynamic(draft: Draft) -> Case:
    draft.opset(11)
    x = draft.array("float32", draft.shape(1, 3, zeros=False), edges=False)
    return draft.result(draft.given(x), outputs=3, steps=1)


@draws("quantization", "MatMulInteger")
def matmul_integer(draft: Draft) -> Case:
    draft.opset(10)
    n, k, m = (draft.shape(1, 1, zeros=False)[0] for _ in range(3))
    batch = draft.shape(0, 2, zeros=False, long=3)
    kinds = [draft.pick(_BYTES) for _ in "ab"]
    a, b = draft.array(kinds[0], (*batch, n, k)), draft.array(kinds[1], (*batch, k, m))
    zeros = []
    if draft.flag():
        zeros.append(draft.given(draft.array(kinds[0], ())))
        if draft.flag():
            each = (m,) if draft.flag() and not batch else ()
            zeros.append(draft.given(draft.array(kinds[1], each)))
    return draft.result(draft.given(a), draft.given(b), *zeros)


@draws("quantization", "QLinearMatMul")
def qlinear_matmul(draft: Draft) -> Case:
    draft.opset(10, 20)
    n, k, m = (draft.shape(1, 1, zeros=False)[0] for _ in range(3))
    kinds = [draft.pick(_BYTES) for _ in "ab"]
    kinds.append(kinds[0])
    shapes = [(n, k), (k, m)]
    inputs = []
    for i, shape in enumerate(shapes):
        inputs += [draft.given(draft.array(kinds[i], shape)), *_pair(draft, kinds[i])]
    return draft.result(*inputs, *_pair(draft, kinds[2]), steps=1)


def _pair(draft: Draft, kind: str) -> list[str]:
    """A scale and a zero point."""
    scale = np.array(draft.pick((0.5, 0.25, 1.0, 0.1)), np.float32)
    return [draft.given(scale), draft.given(draft.array(kind, (), 0, 5))]


@draws("quantization", "QLinearConv")
def qlinear_conv(draft: Draft) -> Case:
    draft.opset(10)
    kernel = kernel_of(draft, most=2)
    chosen = spatial(draft, kernel, draft.pick(AUTO))
    groups, before, after = draft.pick((1, 1, 2)), draft.integer(1, 3), draft.integer(1, 3)
    image = image_of(draft, extent(kernel, chosen))
    kinds = [draft.pick(_BYTES) for _ in "xw"]
    x = draft.array(kinds[0], (1, groups * before, *image))
    w = draft.array(kinds[1], (groups * after, before, *kernel))
    inputs = [draft.given(x), *_pair(draft, kinds[0]), draft.given(w)]
    if draft.flag():
        scale = np.full(groups * after, 0.5, np.float32)
        zero = np.zeros(groups * after, kinds[1])
        inputs += [draft.given(scale, known=True), draft.given(zero, known=True)]
    else:
        inputs += _pair(draft, kinds[1])
    inputs += _pair(draft, kinds[0])
    if draft.flag():
        inputs.append(draft.given(draft.array("int32", (groups * after,), -99, 99), known=True))
    return draft.result(*inputs, group=groups, **chosen, steps=1)


@draws("quantization", "com.microsoft.DynamicQuantizeMatMul com.microsoft.MatMulIntegerToFloat")
def to_float(draft: Draft) -> Case:
    n, k, m = (draft.shape(1, 1, zeros=False)[0] for _ in range(3))
    columns = (m,) if draft.flag() else ()
    # Seven bits: onnxruntime's sums of two products saturate on processors without VNNI.
    b = draft.given(draft.array("int8", (k, m), -64, 63), known=True)
    scale = draft.given(draft.array("float32", columns, 0.25, 1))
    zero = draft.given(np.zeros(columns, np.int8), known=True)
    bias = [draft.given(draft.array("float32", (m,), -3, 3))] if draft.flag() else []
    if draft.op == "DynamicQuantizeMatMul":
        a = draft.given(draft.array("float32", (n, k), -3, 3))
        return draft.result(a, b, scale, zero, *bias, scaled=True, slack=2000)
    a = draft.given(draft.array("uint8", (n, k)))
    return draft.result(a, b, *_pair(draft, "uint8")[:1], scale, "", zero, *bias, scaled=True,
                        slack=400)  # fmt: skip


@draws("quantization", "com.microsoft.QLinearAdd com.microsoft.QLinearMul")
def qlinear_two(draft: Draft) -> Case:
    kind = draft.pick(_BYTES)
    shape = draft.shape(1, 3, zeros=False)
    inputs = []
    for other in (shape, draft.pick((shape, shape[-1:]))):
        inputs += [draft.given(draft.array(kind, other)), *_pair(draft, kind)]
    return draft.result(*inputs, *_pair(draft, kind), steps=1)


@draws("quantization", "com.microsoft.QLinearSigmoid com.microsoft.QLinearLeakyRelu")
def qlinear_one(draft: Draft) -> Case:
    kind = draft.pick(_BYTES)
    x = draft.given(draft.array(kind, draft.shape(1, 3, zeros=False)))
    chosen = {"alpha": draft.pick((None, 0.25))} if draft.op.endswith("Relu") else {}
    return draft.result(x, *_pair(draft, kind), *_pair(draft, kind), **chosen, steps=1)
