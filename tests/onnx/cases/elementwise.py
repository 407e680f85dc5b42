"""Arithmetic, comparison, logic, bits and activations."""

import numpy as np
from onnx import TensorProto

from ..case import Case, Known, bools, floats, integers, known, scalar

POSITIVE = {"low": 0.1, "high": 4.0}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 0.5, 3.5], np.float32)
BYTES = {"low": 0, "high": 200, "dtype": np.uint8}
_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

OF_ONE = [
    Case(op, [x])
    for op, x in [
        ("Abs", floats(2, 3)), ("Abs", integers(5)), ("Abs", integers(5, dtype=np.int32)),
        *[(op, floats(9, low=-0.9, high=0.9)) for op in ("Acos", "Asin", "Atanh")],
        ("Acosh", floats(9, low=1, high=9)), ("Asinh", floats(9, low=-50, high=50)),
        ("Atan", floats(9)),
        ("Ceil", floats(2, 3)), ("Ceil", SPECIAL), ("Cos", floats(7)), ("Erf", floats(40)),
        *[("Erf", np.array([0, 1, 2, 3, 4, 9, 100], t)) for t in ("uint8", "int32", "uint64")],
        *[("Erf", np.array([0, -1, -3, -4, 3, -100], t)) for t in ("int8", "int64")],
        ("Cosh", floats(7)), ("Sinh", floats(7)),
        ("Exp", floats(2, 3)), ("Floor", floats(2, 3)), ("Floor", SPECIAL), ("IsNaN", SPECIAL),
        ("Log", floats(2, 3, **POSITIVE)), ("Neg", floats(2, 3)), ("Neg", integers(4)),
        ("Not", bools(2, 3)), ("Reciprocal", floats(2, 3, **POSITIVE)), ("Round", SPECIAL),
        ("Sign", SPECIAL[1:]), ("Sign", integers(6)), ("Sign", integers(6, **BYTES)),
        ("Sin", floats(7)), ("Sqrt", floats(2, 3, **POSITIVE)), ("Tan", floats(7, low=-1, high=1)),
        ("Tanh", floats(30, low=-100, high=100)), ("Identity", floats(2, 3)),
        ("Identity", bools(4)), ("BitwiseNot", integers(6, dtype=np.int32)),
        ("IsInf", SPECIAL), ("HardSwish", floats(20, low=-6, high=6)),
        ("Relu", floats(2, 3)), ("Sigmoid", floats(30, low=-100, high=100)),
        ("Softplus", floats(30, low=-100, high=100)), ("Softsign", floats(9)),
        ("Mish", floats(9)),
    ]
]  # fmt: skip

ATTRIBUTES = [
    Case("LeakyRelu", [floats(3, 4)]),
    Case("LeakyRelu", [floats(3, 4)], {"alpha": 0.3}),
    Case("HardSigmoid", [floats(20, low=-6, high=6)]),
    Case("HardSigmoid", [floats(20, low=-6, high=6)], {"alpha": 0.5, "beta": 0.25}),
    Case("Elu", [floats(9)]),
    Case("Elu", [floats(9)], {"alpha": 2.0}),
    Case("Celu", [floats(9)], {"alpha": 2.0}),
    Case("Selu", [floats(9)]),
    Case("Selu", [floats(9)], {"alpha": 2.0, "gamma": 3.0}),
    *[Case(op, [(floats(9) * size).astype(np.float16)], note=f"near-0-{size}", rtol=2e-3, atol=1e-7)
      for op in ("Elu", "Selu") for size in (1e-2, 1e-4)],
    Case("ThresholdedRelu", [floats(9)]),
    Case("ThresholdedRelu", [floats(9)], {"alpha": 0.25}),
    Case("Shrink", [floats(9)], {"bias": 0.5, "lambd": 1.5}),
    *[Case("Shrink", [np.append(integers(9, low=-100 * (t.kind == "i"), high=100), 2).astype(t)],
           {"bias": bias, "lambd": edge}, note=f"by-{bias}")
      for t in map(np.dtype, _INTEGERS) for bias, edge in ((0.0, 0.5), (1.5, 1.0), (-40.0, 1.0))],
    *[Case("Shrink", [floats(9, dtype=t)], {"bias": 1.5, "lambd": 0.5})
      for t in (np.float16, np.float64)],
    Case("Swish", [floats(9)], {"alpha": 1.5}),
    Case("Gelu", [floats(20)]),
    Case("Gelu", [floats(20)], {"approximate": "tanh"}),
    Case("IsInf", [SPECIAL], {"detect_negative": 0}),
    Case("IsInf", [SPECIAL], {"detect_positive": 0}),
    Case("IsInf", [SPECIAL], {"detect_positive": 0, "detect_negative": 0}),
    Case("Mod", [integers(9), integers(9, low=1)]),
    Case("Mod", [integers(9), integers(9, low=1)], {"fmod": 1}),
    Case("Mod", [floats(9), floats(9, low=1, high=2)], {"fmod": 1}),
    Case("BitShift", [integers(6, **BYTES), integers(6, low=0, high=4, dtype=np.uint8)],
         {"direction": "LEFT"}),
    Case("BitShift", [integers(6, **BYTES), integers(6, low=0, high=4, dtype=np.uint8)],
         {"direction": "RIGHT"}),
    Case("Mod", [floats(9), floats(9, low=1, high=2)], opsets=(28, 28), oracle="reference"),
    Case("Mod", [SPECIAL[:6], np.array([2, 2, 2, np.inf, -np.inf, np.inf], np.float32)],
         {"fmod": 1}, note="infinite"),
    *[Case("Mod", [np.array([5, 1, 6, -5, 6, 1e4], t),
                   np.array([0.1, 0.1, 0.3, 0.1, -0.3, 0.1], t)], attributes, opsets,
           note="rounded", oracle=oracle, rtol=0, atol=0)
      for t in (np.float16, np.float32, np.float64)
      for attributes, opsets, oracle in (({"fmod": 1}, (7, 28), "onnxruntime"),
                                         ({}, (28, 28), "reference"))],
    *[Case("Mod", [np.array([i.min, i.max, i.min, i.max, i.min], i.dtype),
                   np.array([-1, -3, 7, i.min, i.max], i.dtype)], {"fmod": fmod}, note="ends",
           oracle="reference")
      for i in map(np.iinfo, (np.int8, np.int16, np.int32, np.int64)) for fmod in (0, 1)],
    *[Case(op, [np.array([5, -5, 0], np.int32), zero], attributes, note="by-zero",
           oracle="reference")
      for op, attributes in (("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1}))
      for zero in (np.zeros(3, np.int32), scalar(0, np.int32))],
    *[Case("Mod", [integers(9, dtype=t, low=-99 * (t != np.uint8), high=99),
                   integers(1, low=5, high=9, dtype=t)], {"fmod": fmod})
      for t in (np.int8, np.uint8, np.int16, np.int32) for fmod in (0, 1)],
    *[Case("BitShift", [np.array([9, -9, -9, 5], np.int32), np.array([2, 1, 40, -1], np.int32)],
           {"direction": d}, (28, 28), oracle="reference") for d in ("LEFT", "RIGHT")],
    Case("BitCast", [floats(2, 3)], {"to": TensorProto.INT32}, (26, 28)),
    Case("BitCast", [integers(4, dtype=np.int8)], {"to": TensorProto.UINT8}, (26, 28)),
    Case("BitCast", [integers(4, low=0, high=60000, dtype=np.uint16)], {"to": TensorProto.INT16},
         (26, 28)),
    Case("PRelu", [floats(2, 3, 4), floats(3, 1)]),
    Case("PRelu", [floats(2, 3, 4), scalar([0.25])]),
]  # fmt: skip

_PAIRS = [
    (floats(2, 3, 4), floats(2, 3, 4) + 4),
    (floats(2, 3, 4), floats(3, 1) + 4),
    (floats(1, 4), floats(3, 1, 1) + 4),
    (floats(3), np.array(2.0, np.float32)),
]
OF_TWO = [
    *[Case(op, pair) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min") for pair in _PAIRS],
    *[Case(op, [floats(2, 3, dtype=t), floats(3, dtype=t) + 4], rtol=2e-3)
      for op in ("Add", "Sub", "Mul", "Div") for t in (np.float16, np.float64)],
    *[Case(op, [integers(6), integers(6, low=1)]) for op in ("Add", "Sub", "Mul", "Div")],
    Case("Div", [integers(9, dtype=np.int32), integers(9, low=-3, high=0, dtype=np.int32)]),
    *[Case(op, [floats(3, 4), floats(3, 4).round()])
      for op in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")],
    *[Case(op, [integers(3, 4), integers(4, 4)[0]])
      for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")],
    Case("Equal", [floats(5).round(), floats(6)[:5].round()]),
    Case("Equal", [bools(6), bools(1)]),
    *[Case(op, [bools(2, 4), bools(4)]) for op in ("And", "Or", "Xor")],
    *[Case(op, [integers(6, dtype=np.int32), integers(1, dtype=np.int32)])
      for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")],
    *[Case(op, [integers(6, dtype=t, high=99), integers(1, dtype=t, low=50, high=99)])
      for op in ("Add", "Sub", "Mul") for t in (np.int8, np.uint8, np.int16)],
    Case("Where", [bools(2, 3), floats(2, 3), floats(3)]),
    Case("Where", [bools(4, 1), integers(4), integers(1)]),
    Case("Where", [bools(2, 3), floats(2, 3), scalar(-np.inf)], note="minus-infinity"),
    Case("Where", [bools(2, 3), floats(2, 3), scalar(np.nan)], note="nan"),
    Case("Add", [floats(2, 3), Known(np.array([0, -np.inf, np.inf], np.float32))], note="infinite"),
]  # fmt: skip

POW = [
    Case("Pow", [floats(3, 4, **POSITIVE), floats(4)]),
    Case("Pow", [floats(3, 4), np.array([2, 3, 0, 1], np.float32)], note="negative-base"),
    *[Case("Pow", [floats(5, **POSITIVE), scalar(e)], note=f"to-{e}")
      for e in (2, 3, 4, 0.5, -1, 1.7)],
    Case("Pow", [floats(5), scalar(2, np.int64)], opsets=(12, 28), note="whole-exponent"),
    Case("Pow", [floats(5), integers(5, low=0, high=3)], opsets=(12, 28)),
    Case("Pow", [integers(5), integers(5, low=0, high=3)], opsets=(12, 28)),
    Case("Pow", [integers(5, dtype=np.int32), scalar(3, np.int32)], opsets=(12, 28)),
    Case("Pow", [integers(5, low=1), floats(5, low=0, high=3)], opsets=(12, 28)),
    Case("Pow", [np.array([1, -1, 3, 3], np.int32), np.array([99, 98, 11, 2], np.int32)],
         opsets=(12, 28), note="large"),
]  # fmt: skip

SEVERAL = [
    *[Case(op, [floats(2, 3), floats(3), floats(2, 1)]) for op in ("Max", "Mean", "Min", "Sum")],
    *[Case(op, [floats(2, 3)]) for op in ("Max", "Mean", "Min", "Sum")],
    *[Case(op, [integers(4), integers(1)], opsets=(12, 28)) for op in ("Max", "Min")],
]

CLIP = [
    Case("Clip", [floats(3, 4)], opsets=(7, 10)),
    Case("Clip", [floats(3, 4)], {"min": -1.0, "max": 0.5}, (7, 10)),
    Case("Clip", [floats(3, 4)], {"max": 0.5}, (7, 10)),
    Case("Clip", [floats(3, 4)], opsets=(11, 28)),
    Case("Clip", [floats(3, 4), scalar(-1), scalar(0.5)], opsets=(11, 28), note="known"),
    Case("Clip", [floats(3, 4), None, scalar(0.5)], opsets=(11, 28), note="max"),
    Case("Clip", [floats(3, 4), np.array(-1, np.float32)], opsets=(11, 28)),
    Case("Clip", [integers(6), scalar(-2, np.int64), scalar(3, np.int64)], opsets=(12, 28)),
    *[
        Case("Clip", [integers(6, low=0, dtype=t), scalar(2, t), scalar(5, t)], opsets=(12, 28))
        for t in (np.int8, np.uint8, np.int32, np.uint32)
    ],
]

_SOFT = ("Softmax", "LogSoftmax", "Hardmax")
SOFT = [
    *[Case(op, [floats(2, 3, 4)]) for op in _SOFT],
    *[Case(op, [floats(2, 3, 4)], {"axis": axis}) for op in _SOFT for axis in (0, 1, 2)],
    *[Case(op, [floats(2, 3, 4)], {"axis": -2}, (11, 28)) for op in _SOFT],
    Case("Softmax", [floats(2, 5, low=90, high=200)], note="large"),
    *[Case(op, [floats(2, 0)], {"axis": axis}, (13, 28)) for op in _SOFT for axis in (0, 1)],
]

_MASK = {"opsets": (12, 28), "note": "known"}
DROPOUT = [
    Case("Dropout", [floats(2, 3)], {"ratio": 0.4}, (7, 11)),
    Case("Dropout", [floats(2, 3)], opsets=(12, 28)),
    Case("Dropout", [floats(2, 3)], opsets=(12, 28), outputs=2, note="mask"),
    Case("Dropout", [floats(2, 3), scalar(0.3), scalar(False, bool)], **_MASK),
]

# Each overflows, or loses all digits, if every step is rounded to float16.
_HALF, _LARGE = {"rtol": 2e-3, "atol": 1e-6}, floats(2, 3, 40, low=200, high=400, dtype=np.float16)
_NEGATIVE = np.array([-5, -4, -3, -1e-3, 60000], np.float16)
HALF = [
    Case("Gelu", [np.array([3e38, -3e38, 7], np.float32)], note="large"),
    Case(
        "ReduceLogSumExp",
        [np.array([[-np.inf] * 2, [np.inf, 1], [500, 500]], np.float32), known(1)],
        opsets=(18, 18),
        note="infinite",
    ),
    Case("Gelu", [_NEGATIVE], **_HALF),
    Case("Gelu", [_NEGATIVE], {"approximate": "tanh"}, **_HALF),
    Case("Mean", [_LARGE * 100, _LARGE * 100], **_HALF),
    Case("Softmax", [floats(2, 3000, dtype=np.float16)], **_HALF),
    Case("ReduceMean", [_LARGE, known(1, 2)], opsets=(18, 28), **_HALF),
    Case("ReduceMean", [np.full((2, 100_000), 3, np.float16), known(1)], opsets=(18, 28), **_HALF),
    Case("ReduceL2", [_LARGE, known(2)], opsets=(18, 28), **_HALF),
    Case("ReduceMax", [_LARGE, known(2)], opsets=(18, 28), **_HALF),
    Case("LpNormalization", [_LARGE], **_HALF),
    Case("LRN", [_LARGE[:, :, :, None]], {"size": 3, "alpha": 0.5}, opsets=(13, 28), **_HALF),
    Case("Transpose", [_LARGE], **_HALF),
    Case("Cast", [_LARGE], {"to": TensorProto.INT32}, **_HALF),
]

_TURNED = np.roll(SPECIAL, 1)
_ROWS = np.stack([SPECIAL, _TURNED, np.roll(SPECIAL, 5), SPECIAL[::-1]])
_NAN_BASE = np.array([0, np.nan, np.nan, 1, -1, np.inf, -np.inf, -2, -0.0], np.float32)
_NAN_EXPONENT = np.array([np.nan, 2, 0, np.nan, np.inf, 0.5, 3, np.nan, -1], np.float32)
NAN = [
    *[Case(op, [SPECIAL], note="nan")
      for op in ("Relu", "HardSigmoid", "Elu", "Selu", "Celu", "Sign", "Atan", "Softplus", "Abs")],
    *[Case(op, [SPECIAL, _TURNED], note="nan") for op in ("Max", "Min")],
    *[Case(op, [SPECIAL, scalar(0.5)], note="nan")
      for op in ("Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")],
    Case("Clip", [SPECIAL, scalar(-1.0), scalar(2.0)], opsets=(11, 28), note="nan"),
    Case("Clip", [SPECIAL, np.array(-1, np.float32), np.array(2, np.float32)],
         opsets=(11, 28), note="nan"),
    *[Case(op, [_ROWS, known(1)], opsets=(18, 28), note="nan", oracle="reference")
      for op in ("ReduceMax", "ReduceMin")],
    *[Case(op, [_ROWS], {"axis": 1}, note="nan", oracle="reference")
      for op in ("ArgMax", "ArgMin", "Hardmax")],
    Case("Pow", [_NAN_BASE, _NAN_EXPONENT], note="nan"),
    *[Case(op, [np.array([1e10, 1e19, 2e19, 3e38], np.float32)], note="great")
      for op in ("Asinh", "Acosh")],
    Case("Hardmax", [np.zeros((0, 3), np.float32)], opsets=(13, 28)),
    *[Case("Div", [np.array([np.iinfo(t).min, 7], t), np.array([-1, -2], t)], note="least",
           oracle="reference") for t in (np.int8, np.int16)],
]  # fmt: skip

CASES = [*OF_ONE, *ATTRIBUTES, *OF_TWO, *POW, *SEVERAL, *CLIP, *SOFT, *DROPOUT, *HALF, *NAN]
