"""Types that NumPy and WGSL lack: casts, constants and movement."""

from typing import Any

import ml_dtypes
import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

from ..case import Case, Known, floats, integers

_NUMBERS = np.array(
    [[0, 1, -1, 0.3, 5.5, 1e-3, 447], [2.5, 3.5, -700, 6e4, 1e6, -1e-9, 0.07]], np.float32
)
_POWERS = np.array([0.124, 1.1, 3, 2, 1e-9, 7e5, 1.5], np.float32)

# Each type, and the first operator set whose Cast has it.
_FLOATING = [
    (ml_dtypes.bfloat16, T.BFLOAT16, 13), (ml_dtypes.float8_e4m3fn, T.FLOAT8E4M3FN, 19),
    (ml_dtypes.float8_e4m3fnuz, T.FLOAT8E4M3FNUZ, 19), (ml_dtypes.float8_e5m2, T.FLOAT8E5M2, 19),
    (ml_dtypes.float8_e5m2fnuz, T.FLOAT8E5M2FNUZ, 19), (ml_dtypes.float4_e2m1fn, T.FLOAT4E2M1, 23),
]  # fmt: skip
_WHOLE = [
    (ml_dtypes.int4, T.INT4, 21), (ml_dtypes.uint4, T.UINT4, 21),
    (ml_dtypes.int2, T.INT2, 25), (ml_dtypes.uint2, T.UINT2, 25),
]  # fmt: skip


def few(*shape: int, dtype: Any) -> np.ndarray:
    """Numbers that every type can represent."""
    return integers(*shape, low=0, high=2).astype(np.float32).astype(dtype)


CAST = [
    *[Case("Cast", [_NUMBERS], {"to": to}, (since, 28), oracle="reference")
      for _, to, since in _FLOATING],
    *[Case("Cast", [_NUMBERS], {"to": to, "saturate": 0}, (since, 28), oracle="reference")
      for _, to, since in _FLOATING[1:5]],
    *[Case("Cast", [integers(4, 5, low=-20, high=20).astype(np.float32)], {"to": to}, (since, 28),
           oracle="reference") for _, to, since in _WHOLE],
    *[Case("Cast", [few(3, 5, dtype=t)], {"to": T.FLOAT}, (since, 28), oracle="reference")
      for t, _, since in _FLOATING + _WHOLE],
    *[Case("Cast", [Known(few(9, 9, dtype=t))], {"to": T.FLOAT}, (since, 28), note=t.__name__)
      for t, _, since in _FLOATING + _WHOLE],
    *[Case("Cast", [_POWERS], {"to": T.FLOAT8E8M0, "round_mode": mode}, (24, 28),
           oracle="reference") for mode in ("up", "down", "nearest")],
    *[Case("Cast", [floats(4)], {"to": to}, note=str(to)) for to in (T.FLOAT16, T.DOUBLE, T.INT64)],
    Case("CastLike", [_NUMBERS, few(1, dtype=ml_dtypes.bfloat16)], oracle="reference"),
    Case("CastLike", [_NUMBERS, few(1, dtype=ml_dtypes.float8_e5m2)], {"saturate": 0}, (19, 28),
         oracle="reference"),
]  # fmt: skip


MOVED = [
    *[Case(op, [few(2, 3, dtype=t), *more], {}, (25, 28), note=t.__name__, oracle="reference")
      for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4, ml_dtypes.uint2)
      for op, more in [
          ("Identity", []), ("Transpose", []), ("Reshape", [Known(np.array([3, -1]))]),
      ]],
    Case("Constant", [], {"value": numpy_helper.from_array(few(5, dtype=ml_dtypes.int4))},
         (21, 28), oracle="reference"),
    Case("Constant", [], {"value": numpy_helper.from_array(few(3, 3, dtype=ml_dtypes.bfloat16))},
         (13, 28), oracle="reference"),
    Case("ConstantOfShape", [Known(np.array([2, 3]))],
         {"value": helper.make_tensor("v", T.BFLOAT16, [1], [1.5])}, (20, 28), oracle="reference"),
    Case("Add", [few(4, dtype=ml_dtypes.bfloat16), few(4, dtype=ml_dtypes.bfloat16)],
         opsets=(13, 28), oracle="reference"),
    Case("IsNaN", [np.array([1, np.nan, -2], ml_dtypes.float8_e4m3fn)], opsets=(20, 28),
         oracle="reference"),
    Case("IsInf", [np.array([1, np.inf, -2], ml_dtypes.float8_e5m2)], opsets=(20, 28),
         oracle="reference"),
]  # fmt: skip

CASES = [*CAST, *MOVED]
