"""Elementwise ops, casts among them."""

from __future__ import annotations

import math

import numpy as np

import tallow as tl
from tallow.functions.philox import random_bits
from tallow.graph import make
from tallow.ops.elementwise import to_half

from .case import booleans, case, integers, normal

for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum"):
    numpy_function = getattr(np, name)
    tallow_function = getattr(tl, name)
    case(name, (normal(3, 5), normal(3, 5)), tallow_function, numpy_function)
    case(f"{name}-broadcast", (normal(4, 1, 8), normal(3, 1)), tallow_function, numpy_function)
    if name != "divide":
        pair = (integers(3, 7), integers(3, 7))
        case(f"{name}-int32", pair, tallow_function, numpy_function)
        pair = (integers(9, low=10, high=20, dtype=np.uint32), integers(9, low=0, dtype=np.uint32))
        case(f"{name}-uint32", pair, tallow_function, numpy_function)

positive = np.abs(normal(5, 7)) + 0.1
for name in ("sqrt", "exp", "log", "reciprocal", "floor", "ceil", "trunc"):
    case(name, positive, getattr(tl, name), getattr(np, name), rtol=3e-5, atol=3e-5)
tiny = np.array([1e-7, -3e-5, 4e-4, 0.01, -0.049, 0.049, 0.051, 0.5, 7, 0], np.float32)
case("tanh-small", tiny, tl.tanh, np.tanh, rtol=2e-5, atol=0)
case("log1p", tiny, tl.log1p, np.log1p, rtol=2e-5, atol=0)
near = np.append(tiny, [-0.24, 0.24, -0.26, 0.26, -1, -5]).astype(np.float32)
case("exp2", normal(17), tl.exp2, np.exp2, rtol=1e-6, atol=0)
case("expm1", near, tl.expm1, np.expm1, rtol=2e-5, atol=0)
# WGSL (section 15.7.4) promises no more than 2^-11 of these, absolute, between -pi and pi.
for name in ("sin", "cos", "tan"):
    angles = np.linspace(-1.4, 1.4, 35, dtype=np.float32)
    case(name, angles, getattr(tl, name), getattr(np, name), rtol=4e-3, atol=1e-3)
for name in ("sinh", "cosh"):
    case(name, normal(17), getattr(tl, name), getattr(np, name), rtol=1e-4)
inside = np.linspace(-0.95, 0.95, 24, dtype=np.float32)
for name, values in {
    "acos": inside, "asin": inside, "atanh": inside, "acosh": positive + 1,
    "asinh": normal(17, scale=30), "atan": normal(17, scale=3),
}.items():  # fmt: skip
    reference = getattr(np, name.replace("a", "arc", 1))
    case(name, values, getattr(tl, name), reference, rtol=1e-3, atol=1e-3)
# Where a function ends, and beyond; NaN stays NaN.
ends = np.array([0, -0.0, 1, -1, -2.5, 0.5, 100, -100, np.inf, -np.inf, np.nan], np.float32)
for name in (
    "sqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "tanh",
    "sinh",
    "cosh",
    "acosh",
    "asinh",
    "atanh",
):
    reference = getattr(np, name.replace("a", "arc", 1) if name[0] == "a" else name)
    case(f"{name}-ends", ends, getattr(tl, name), reference, rtol=1e-3, atol=1e-3)
case(
    "bitcast",
    (normal(3, 5), integers(3, 5)),
    lambda x, y: tl.bitcast(tl.bitcast(x, tl.int32) ^ y, tl.uint32),
    lambda x, y: (x.view(np.int32) ^ y).view(np.uint32),
)
case("negative", normal(17), tl.negative, np.negative)
for name in ("uint8", "uint16", "uint32"):
    edges = np.array([0, 1, 7, np.iinfo(name).max], name)
    case(f"negative-{name}", edges, tl.negative, np.negative)
    case(f"sign-{name}", edges, tl.sign, np.sign)
case("abs", normal(17), tl.abs, np.abs)
case("abs-int32", integers(17), tl.abs, np.abs)
case("sign", np.array([-2, 0, 3, -0.5], np.float32), tl.sign, np.sign)
case("round", np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.4999], np.float32), tl.round, np.round)
far = np.array([-1e4, -89, -20, -9, -1, -1e-6, 0, 1e-3, 0.5, 3, 10, 88, 100, 3e38], np.float32)
case("tanh", far, tl.tanh, np.tanh, rtol=2e-5, atol=2e-6)


def exact_erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(float(v)) for v in x.ravel()], np.float32).reshape(x.shape)


case("erf", np.linspace(-6, 6, 101, dtype=np.float32), tl.erf, exact_erf, atol=1e-6)
case("erf-ends", ends, tl.erf, exact_erf, atol=1e-6)
case(
    "pow",
    (
        np.array([2, 2, -2, -2, 0, 4, -3, 9], np.float32),
        np.array([3, -1, 3, 2, 2, 0.5, 0, 0], np.float32),
    ),
    lambda x, y: tl.pow(x, y),
    np.power,
    rtol=1e-4,
)
case("pow-of-zero", (np.float32([0, 0, 0, 0]), np.float32([-1.5, -2, 0, 3])), tl.pow, np.power)
case("pow-2", normal(7), lambda x: x**2, lambda x: x**2)
sevens = integers(40, low=-30, high=30)
divisors = np.where(integers(40) < 0, -7, 3).astype(np.int32)
case("floor_divide", (sevens, divisors), tl.floor_divide, np.floor_divide)
case("floor_divide-float", (normal(9), positive[0, :1]), tl.floor_divide, np.floor_divide)
case("remainder", (sevens, divisors), tl.remainder, np.remainder)
case("remainder-float", (normal(9), normal(9)), tl.remainder, np.remainder, rtol=1e-3, atol=1e-4)
# Quotients that round to the next whole number, quotients of 250 bits, and every end of the type.
dividends = np.array(
    [5, 1, 6, -5, 6, 1e30, -3e38, 7, 0, -0.0, 3, -3, 4, 1e-42, 5e-41, 2e-38, 1e38, 3, -3,
     np.inf, -np.inf, np.nan, 1, 0, np.inf],
    np.float32,
)  # fmt: skip
by = np.array(
    [0.1, 0.1, 0.3, 0.1, -3, 0.1, 3e-38, -0.3, 5, 5, np.inf, np.inf, -np.inf, 3e-43, 3e-45, 1e-42,
     1.5e-45, 0, 0, 2, np.inf, 1, np.nan, 0, np.inf],
    np.float32,
)  # fmt: skip
anything = integers(2, 1000, low=0, high=2**32, dtype=np.uint32).view(np.float32)
for note, (x, y) in (("ends", (dividends, by)), ("anything", (anything[0], anything[1]))):
    # WGSL may flush what is smaller than the smallest normal number, which is no remainder then.
    case(f"fmod-{note}", (x, y), tl.fmod, np.fmod, rtol=0, atol=1.2e-38)
    with np.errstate(all="ignore"):
        rest = np.abs(np.fmod(x, y))
    kept = ~((rest > 0) & (rest < np.finfo(np.float32).tiny))
    case(f"remainder-{note}", (x[kept], y[kept]), tl.remainder, np.remainder, rtol=0, atol=1.2e-38)
tenths = np.arange(-60, 60, dtype=np.float32) * np.float32(0.1)
steps = np.array([0.1, -0.3, np.inf, -np.inf, np.nan, 0], np.float32)[:, None]
case("floor_divide-tenths", (tenths, steps), tl.floor_divide, np.floor_divide, rtol=0, atol=0)
case("floor_divide-ends", (dividends[-6:], by[-6:]), tl.floor_divide, np.floor_divide)
endless = np.array([np.inf, np.inf, -np.inf, 3, 2], np.float32)
finite = np.array([3, -1, 1, -2, 5.5], np.float32)
case("remainder-infinite", (finite, endless), tl.remainder, np.remainder)
case(
    "trunc_divide",
    (sevens, divisors),
    tl.trunc_divide,
    lambda x, y: np.trunc(x / y).astype(np.int32),
)
small = integers(30, low=0, high=3)
others = integers(30, low=0, high=3)
for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    case(name, (small, others), getattr(tl, name), getattr(np, name))
    floats = (small.astype(np.float32), others.astype(np.float32))
    case(f"{name}-float32", floats, getattr(tl, name), getattr(np, name))
truths = (booleans(33), booleans(33))
for name in ("logical_and", "logical_or", "logical_xor", "equal"):
    case(f"{name}-bool", truths, getattr(tl, name), getattr(np, name))
case("logical_not", booleans(12), tl.logical_not, np.logical_not)
odd = np.array([1, np.nan, np.inf, -np.inf, 0, -2, 3e38], np.float32)
case("isnan", odd, tl.isnan, np.isnan)
case("isinf", odd, tl.isinf, np.isinf)
bits = (integers(20, low=0, high=99, dtype=np.uint32), integers(20, low=0, high=9, dtype=np.uint32))
for name in ("and", "or", "xor", "left_shift", "right_shift"):
    reference = getattr(np, name if "shift" in name else f"bitwise_{name}")
    case(f"bitwise_{name}", bits, getattr(tl, f"bitwise_{name}"), reference)
by = np.array([1, 31, 32, 40, -1, 33], np.int32)
far_out = np.array([-8, -9, -10, 11, 12, -13], np.int32), by
for name in ("left_shift", "right_shift"):
    case(f"bitwise_{name}-beyond", far_out, getattr(tl, f"bitwise_{name}"), getattr(np, name))
case("bitwise_invert", integers(8), tl.bitwise_invert, np.invert)
case("bitwise_right_shift-negative", integers(8), lambda x: x >> 1, lambda x: x >> 1)
case("where", (booleans(4, 6), normal(4, 6), normal(6)), tl.where, np.where)
case("where-scalar", normal(5, 3), lambda x: tl.where(x > 0, x, -1.0),
     lambda x: np.where(x > 0, x, np.float32(-1)))  # fmt: skip
case("clip", normal(3, 3), lambda x: tl.clip(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5))

# ---- casts ------------------------------------------------------------------------------------

values = np.array([-2.7, -1, 0, 0.5, 1.9, 100.25], np.float32)
case("cast-int32", values, lambda x: x.astype("int32"), lambda x: x.astype(np.int32))
case("cast-bool", values, lambda x: x.astype("bool"), lambda x: x.astype(bool))
case("cast-float32", integers(9), lambda x: x.astype("float32"), lambda x: x.astype(np.float32))
case("cast-bool-float", booleans(9), lambda x: x.astype("float32"), lambda x: x.astype(np.float32))
for kind in (np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int64):
    shape = (5, 7)
    array = (normal(*shape, scale=9) if kind is np.float16 else integers(*shape, low=0)).astype(
        kind
    )
    case(f"input-{np.dtype(kind).name}", array, lambda x: x.astype("float32") * 2,
         lambda x: x.astype(np.float32) * 2)  # fmt: skip
    case(f"weight-{np.dtype(kind).name}", normal(5, 7),
         lambda x, a=array: x + tl.asarray(a).astype("float32").mT.mT,
         lambda x, a=array: x + a.astype(np.float32))  # fmt: skip
case("int64", (integers(6, dtype=np.int64), integers(6, dtype=np.int64)),
     lambda x, y: x * y + 1, lambda x, y: x * y + 1)  # fmt: skip
case("weight-bool", normal(9), lambda x: tl.where(tl.asarray(truths[0][:9]), x, 0.0),
     lambda x: np.where(truths[0][:9], x, np.float32(0)))  # fmt: skip

# What does not fit wraps round, as in NumPy, also where 32 bits compute it.
for label in ("int8", "int16", "int32"):
    least = np.array([-(2 ** (int(label[3:]) - 1)), 7, -7], label)
    by = np.array([-1, -2, 2], label)
    case(f"trunc_divide-least-{label}", (least, by), tl.trunc_divide,
         lambda x, y: np.where(y == -1, -x, (x / y).astype(x.dtype)))  # fmt: skip
    case(f"floor_divide-least-{label}", (least, by), tl.floor_divide, np.floor_divide)
case("matmul-int8", (np.int8([[100, 99]]), np.int8([[100], [99]])), lambda x, y: x @ y, np.matmul)
wide = np.array([300, -129, 5, 70000], np.int32)
for label in ("int8", "uint8", "int16", "uint16"):
    case(f"cast-wraps-{label}", wide, lambda x, t=label: x.astype(t).astype("int32"),
         lambda x, t=label: x.astype(t).astype(np.int32))  # fmt: skip

# float16: rounded to even, from the smallest to what is infinite.
halves = np.array(
    [1.0001, 2049, 2051, 65519, 65520, -65520, 6.1e-5, 6.0e-8, 8.9e-8, 2.98e-8, 2.9803e-8, 1e-9,
     0, -0.0, 3e38, np.nan, np.inf, -np.inf, 0.1, -0.1],
    np.float32,
)  # fmt: skip
case("cast-float16", halves, lambda x: x.astype("float16").astype("float32"),
     lambda x: x.astype(np.float16).astype(np.float32), rtol=0, atol=0)  # fmt: skip
case("to_half", halves, lambda x: tl.Tensor(make(to_half, x.node)),
     lambda x: x.astype(np.float16).astype(np.float32), rtol=0, atol=0)  # fmt: skip
case("cast-float16-integers", wide, lambda x: x.astype("float16").astype("float32"),
     lambda x: x.astype(np.float16).astype(np.float32), rtol=0, atol=0)  # fmt: skip
large = np.array([60000, -60000, 21000, 1e-7, np.nan, np.inf, 3], np.float16)
case("float16-overflows", large, lambda x: x * 3, lambda x: x * np.float16(3), rtol=1e-3)

# Nothing at all, as an input and as a constant.
nothing = np.zeros((0, 3), np.float32)
case("nothing", nothing, lambda x: tl.sum(tl.exp(x) + 1, axis=0), lambda x: np.zeros(3))
case("nothing-known", nothing, lambda x: tl.sum(x + tl.asarray(nothing), axis=0),
     lambda x: np.zeros(3))  # fmt: skip
case("nothing-matmul", nothing, lambda x: x.mT @ tl.asarray(nothing), lambda x: np.zeros((3, 3)),
     rtol=0)  # fmt: skip


def philox(count: int, stream: np.ndarray) -> np.ndarray:
    """Words of the generator by the paper's definition, with Python's integers."""
    words: list[int] = []
    for counter in range(-(-count // 4)):
        low, high, draw = map(int, stream)
        a, b, c, d = counter, draw, 0, 0
        for _ in range(10):
            first, second = a * 0xD2511F53, c * 0xCD9E8D57
            a, b, c, d = second >> 32 ^ b ^ low, second, first >> 32 ^ d ^ high, first
            b, d = b & 0xFFFFFFFF, d & 0xFFFFFFFF
            low, high = low + 0x9E3779B9 & 0xFFFFFFFF, high + 0xBB67AE85 & 0xFFFFFFFF
        words += [a, b, c, d]
    return np.array(words[:count], np.uint32)


stream = np.array([0xFFFFFFFE, 0x12345678, 0x80000001], np.uint32)
for rows, columns in ((1, 37), (6, 8), (1, 3)):
    case(
        f"philox-{rows}x{columns}",
        stream,
        lambda x, rows=rows, columns=columns: random_bits((rows, columns), x),
        lambda x, rows=rows, columns=columns: philox(rows * columns, x).reshape(rows, columns),
    )
line = np.array([3], np.int32)
case("iota", line, lambda x: x + tl.arange(23), lambda x: x + np.arange(23, dtype=np.int32))
