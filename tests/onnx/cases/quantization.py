"""Quantization, dequantization, and products of quantized operands."""

from typing import Any

import ml_dtypes
import numpy as np
from onnx import TensorProto as T

from ..case import Case, floats, integers

# Halves, which round to even, and values beyond every range.
_WIDE = np.array([[0, 1, -1, 0.5, 1.5, 2.5, -0.5], [3, 999, -999, 7, 8, 1e9, -8.5]], np.float32)
_ONE, _HALF = np.array(1, np.float32), np.array(0.5, np.float32)
_TWO = np.array([2, 0.5], np.float32)


def whole(*values: int, dtype: Any = np.uint8) -> np.ndarray:
    return np.array(values if len(values) > 1 else values[0], dtype)


def _quantize(zero: np.ndarray, first: int, **fields: Any) -> list[Case]:
    given = {"oracle": "reference", **fields}
    return [
        Case("QuantizeLinear", [_WIDE, _ONE, zero], opsets=(first, 28), atol=1e-6, **given),
        Case("DequantizeLinear", [integers(2, 7, low=0, high=2).astype(np.float32).astype(
            zero.dtype), _HALF, zero], opsets=(first, 28), **given),
    ]  # fmt: skip


_BLOCKS = np.abs(floats(3, 2)) + 0.5
QUANTIZE = [
    *_quantize(whole(3), 10, oracle="onnxruntime"),
    *_quantize(whole(-3, dtype=np.int8), 10, oracle="onnxruntime"),
    *_quantize(whole(0, dtype=ml_dtypes.float8_e4m3fn), 19),
    *_quantize(whole(0, dtype=ml_dtypes.float8_e5m2), 19),
    *[_case for t in (np.uint16, np.int16, ml_dtypes.int4, ml_dtypes.uint4)
      for _case in _quantize(whole(1, dtype=t), 21)],
    *_quantize(whole(0, dtype=ml_dtypes.float4_e2m1fn), 23),
    *[_case for t in (ml_dtypes.int2, ml_dtypes.uint2)
      for _case in _quantize(whole(1, dtype=t), 25)],
    Case("QuantizeLinear", [_WIDE, _ONE]),
    Case("QuantizeLinear", [_WIDE, _TWO, whole(3, 128)], {"axis": 0}, (13, 28)),
    Case("QuantizeLinear", [floats(3, 4, 2), _TWO, whole(3, 128)], {"axis": -1}, (13, 28)),
    Case("QuantizeLinear", [floats(3, 4) * 9, _BLOCKS], {"axis": 1, "block_size": 2}, (21, 28)),
    Case("QuantizeLinear", [floats(3, 3) * 9, _BLOCKS, integers(3, 2, dtype=np.int8)],
         {"axis": 1, "block_size": 2}, (21, 28), oracle="reference"),
    Case("QuantizeLinear", [_WIDE, _ONE], {"output_dtype": T.INT8}, (21, 28), oracle="reference"),
    Case("QuantizeLinear", [_WIDE, _ONE, whole(0, dtype=ml_dtypes.float8_e5m2)], {"saturate": 0},
         (19, 28), oracle="reference"),
    Case("QuantizeLinear",
         [np.clip(_WIDE, -900, 900).astype(np.float16), _ONE.astype(np.float16), whole(3)],
         opsets=(19, 28)),
    Case("QuantizeLinear", [_WIDE, _ONE.astype(np.float16)], {"precision": T.FLOAT}, (23, 28),
         oracle="reference"),
    Case("DequantizeLinear", [integers(2, 3, low=0, dtype=np.uint8), _ONE]),
    Case("DequantizeLinear", [integers(2, 3, dtype=np.int32), _HALF]),
    Case("DequantizeLinear", [integers(2, 3, dtype=np.int8), _TWO, integers(2, dtype=np.int8)],
         {"axis": 0}, (13, 28)),
    Case("DequantizeLinear",
         [integers(3, 4, dtype=np.int8), _BLOCKS, integers(3, 2, dtype=np.int8)],
         {"axis": 1, "block_size": 2}, (21, 28)),
    Case("DequantizeLinear", [integers(2, 3, dtype=np.int8), _HALF.astype(np.float16)],
         opsets=(19, 28)),
    Case("DequantizeLinear", [integers(2, 3, dtype=np.int8), _ONE], {"output_dtype": T.FLOAT16},
         (23, 28), oracle="reference"),
    *[Case("DynamicQuantizeLinear", [x], opsets=(11, 28), outputs=3)
      for x in (floats(3, 5), abs(floats(7)) + 1, -abs(floats(8)) - 1)],
]  # fmt: skip

_A, _B = integers(3, 7, low=0, high=255, dtype=np.uint8), integers(7, 4, low=-128, high=128)
_S = [np.array(v, np.float32) for v in (0.02, 0.03, 0.4)]


def _matmul(a: np.ndarray, b: np.ndarray, zeros: list[np.ndarray], scales: Any = None) -> Case:
    (az, bz, yz), (sa, sb, sy) = zeros, scales or _S
    return Case("QLinearMatMul", [a, sa, az, b, sb, bz, sy, yz])


def _conv(x: np.ndarray, w: np.ndarray, zeros: list[np.ndarray], *bias: np.ndarray,
          scale: Any = None, **attributes: Any) -> Case:  # fmt: skip
    (xz, wz, yz), (sx, sw, sy) = zeros, _S
    inputs = [x, sx, xz, w, sw if scale is None else scale, wz, sy, yz, *bias]
    return Case("QLinearConv", inputs, attributes)


_IMAGE = integers(1, 2, 5, 6, low=0, high=255, dtype=np.uint8)
_WEIGHT = integers(4, 2, 3, 3, low=-120, high=120, dtype=np.int8)
_ZEROS = [whole(120), whole(0, dtype=np.int8), whole(100)]
PRODUCTS = [
    _matmul(_A, _B.astype(np.int8), [whole(9), whole(-3, dtype=np.int8), whole(120)]),
    _matmul(_A, integers(2, 7, 4, low=0, high=255, dtype=np.uint8), [whole(9), whole(7), whole(0)]),
    _matmul(_A, _B.astype(np.int8), [whole(9), whole(-3, 2, 0, 5, dtype=np.int8), whole(120)],
            [_S[0], abs(floats(4)) / 30 + 0.01, _S[2]]),
    _conv(_IMAGE, _WEIGHT, _ZEROS),
    _conv(_IMAGE, _WEIGHT, _ZEROS, integers(4, low=-900, high=900, dtype=np.int32),
          pads=[1, 1, 1, 1], strides=[2, 1]),
    _conv(_IMAGE, _WEIGHT, [_ZEROS[0], integers(4, dtype=np.int8) * 0, _ZEROS[2]],
          scale=abs(floats(4)) / 30 + 0.01),
    _conv(_IMAGE, _WEIGHT[:, :1], _ZEROS, group=2),
    *[Case("MatMulInteger", inputs) for inputs in [
        [_A, _B.astype(np.uint8)],
        [_A, _B.astype(np.uint8), whole(120), whole(7)],
        [_A, _B.astype(np.int8), whole(120), whole(-3, 2, 0, 5, dtype=np.int8)],
        [np.full((2, 700), 255, np.uint8), np.full((700, 3), 255, np.uint8), whole(0)],
    ]],
]  # fmt: skip

CASES = [*QUANTIZE, *PRODUCTS]
