"""The op suite: what every backend must compute, with what NumPy says of it.

A case is a function of tensors, its inputs, and an independent function of NumPy arrays. This
file, its references and run_case.py are also run inside the browser (test_webgpu.py), so they
need nothing but NumPy and tallow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from recurrence_reference import (
    built,
    operands,
    recurrence_reference,
    step_operands,
    steps,
    steps_reference,
)
from winograd_reference import winograd_input_reference, winograd_output_reference

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.graph import make
from tallow.ops import winograd

rng = np.random.default_rng(20261120)


@dataclass(frozen=True)
class Case:
    """`build` on tensors must equal `expected` on arrays; rtol and atol as in numpy.allclose."""

    name: str
    inputs: tuple[np.ndarray, ...]
    build: Callable[..., Any]
    expected: Callable[..., Any]
    rtol: float = 1e-5
    atol: float = 1e-6


CASES: dict[str, Case] = {}


def case(
    name: str,
    inputs: Any,
    build: Callable[..., Any],
    expected: Callable[..., Any],
    **tolerance: float,
) -> None:
    assert name not in CASES, name
    arrays = inputs if isinstance(inputs, tuple) else (inputs,)
    CASES[name] = Case(name, arrays, build, expected, **tolerance)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.normal(size=shape) * scale).astype(np.float32)


def integers(*shape: int, low: int = -9, high: int = 10, dtype: Any = np.int32) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def booleans(*shape: int) -> np.ndarray:
    return rng.random(shape) < 0.5


# ---- elementwise ------------------------------------------------------------------------------

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
for name in ("sqrt", "exp", "log", "log1p", "tanh", "sinh", "cosh", "acosh", "asinh", "atanh"):
    reference = getattr(np, name.replace("a", "arc", 1) if name[0] == "a" else name)
    case(f"{name}-ends", ends, getattr(tl, name), reference, rtol=1e-3, atol=1e-3)
case(
    "bitcast",
    (normal(3, 5), integers(3, 5)),
    lambda x, y: tl.bitcast(tl.bitcast(x, tl.int32) ^ y, tl.uint32),
    lambda x, y: (x.view(np.int32) ^ y).view(np.uint32),
)
case("negative", normal(17), tl.negative, np.negative)
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

# ---- reductions -------------------------------------------------------------------------------

cube = normal(3, 5, 8)
for name in ("sum", "max", "min", "mean", "prod"):
    for axes in (None, 0, 1, -1, (0, 1), (1, 2), (0, 2)):
        label = str(axes).replace(" ", "")
        case(f"{name}-{label}", cube, lambda x, n=name, a=axes: getattr(tl, n)(x, axis=a),
             lambda x, n=name, a=axes: getattr(np, n)(x, axis=a), rtol=1e-4, atol=1e-5)  # fmt: skip
case("sum-keepdims", cube, lambda x: tl.sum(x, axis=1, keepdims=True),
     lambda x: x.sum(1, keepdims=True))  # fmt: skip
case("sum-odd", normal(7, 33), lambda x: tl.sum(x, axis=1), lambda x: x.sum(1), rtol=1e-4)
case("sum-int32", integers(4, 9), lambda x: tl.sum(x, axis=0), lambda x: x.sum(0, dtype=np.int32))
case("sum-fused", cube, lambda x: tl.sqrt(tl.sum(x * x + 1.0, axis=2)) * 2.0,
     lambda x: np.sqrt((x * x + 1).sum(2)) * 2)  # fmt: skip
case("max-negative", -positive, lambda x: tl.max(x, axis=0), lambda x: x.max(0))
case("max-infinite", np.full((2, 4), -np.inf, np.float32), lambda x: tl.max(x, axis=1),
     lambda x: x.max(1))  # fmt: skip
case("max-uint32", bits[0], tl.max, np.max)
case("min-int32", integers(4, 8), lambda x: tl.min(x, axis=1), lambda x: x.min(1))
case("argmax", cube, lambda x: tl.argmax(x, axis=1), lambda x: x.argmax(1).astype(np.int32))
case("argmax-last", cube, lambda x: tl.argmax(x, axis=-1), lambda x: x.argmax(-1).astype(np.int32))
case("argmax-all", cube, tl.argmax, lambda x: np.int32(x.argmax()))
case("argmax-tie", np.zeros((4, 4), np.float32), lambda x: tl.argmax(x, axis=1),
     lambda x: np.zeros(4, np.int32))  # fmt: skip
case("argmin", cube, lambda x: tl.argmin(x, axis=0), lambda x: x.argmin(0).astype(np.int32))
case("var", cube, lambda x: tl.var(x, axis=2), lambda x: x.var(2), rtol=1e-4)
case("std", cube, lambda x: tl.std(x, axis=0, correction=1), lambda x: x.std(0, ddof=1), rtol=1e-4)
case("any", booleans(4, 5), lambda x: tl.any(x, axis=1), lambda x: x.any(1))
case("all", booleans(4, 2), lambda x: tl.all(x, axis=1), lambda x: x.all(1))

# ---- movement ---------------------------------------------------------------------------------

block = normal(2, 3, 4, 8)
case("reshape", block, lambda x: tl.reshape(x, (6, 32)) + 1.0, lambda x: x.reshape(6, 32) + 1)
case("reshape-odd", normal(6, 5), lambda x: tl.reshape(x, (3, 10)) * 2.0,
     lambda x: x.reshape(3, 10) * 2)  # fmt: skip
case("reshape-permuted", block, lambda x: tl.reshape(tl.permute_dims(x, (0, 2, 3, 1)), (8, -1)),
     lambda x: x.transpose(0, 2, 3, 1).reshape(8, -1))  # fmt: skip
for order in ((0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2)):
    case(f"permute-{''.join(map(str, order))}", block, lambda x, a=order: tl.permute_dims(x, a),
         lambda x, a=order: x.transpose(a))  # fmt: skip
case("expand", normal(3, 1, 8), lambda x: tl.broadcast_to(x, (2, 3, 4, 8)),
     lambda x: np.broadcast_to(x, (2, 3, 4, 8)))  # fmt: skip
case("expand-last", normal(3, 1), lambda x: tl.broadcast_to(x, (3, 8)),
     lambda x: np.broadcast_to(x, (3, 8)))  # fmt: skip
case("slice", block, lambda x: x[:, 1:, ::2, 2:7], lambda x: x[:, 1:, ::2, 2:7])
case("slice-negative", block, lambda x: x[:, ::-1, 3:0:-2, ::-3],
     lambda x: x[:, ::-1, 3:0:-2, ::-3])  # fmt: skip
case("slice-aligned", block, lambda x: x[..., 4:8] * 2.0, lambda x: x[..., 4:8] * 2)
case("index", block, lambda x: x[1, None, ..., -1], lambda x: x[1, None, ..., -1])
case("flip", block, lambda x: tl.flip(x, axis=(1, 3)), lambda x: np.flip(x, (1, 3)))
case("pad", normal(3, 5), lambda x: tl.pad(x, [(1, 2), (0, 3)], 7.0),
     lambda x: np.pad(x, [(1, 2), (0, 3)], constant_values=7))  # fmt: skip
case("pad-aligned", normal(2, 8), lambda x: tl.pad(x, [(1, 0), (4, 4)]) + 1.0,
     lambda x: np.pad(x, [(1, 0), (4, 4)]) + 1)  # fmt: skip
case("pad-crop", normal(4, 6), lambda x: tl.pad(x, [(-1, 1), (2, -3)]),
     lambda x: np.pad(x[1:, :-3], [(0, 1), (2, 0)]))  # fmt: skip
parts = (normal(2, 3, 4), normal(2, 5, 4), normal(2, 1, 4))
case("concat", parts, lambda *x: tl.concat(x, axis=1), lambda *x: np.concatenate(x, 1))
lasts = (normal(3, 4), normal(3, 8), normal(3, 4))
case("concat-last", lasts, lambda *x: tl.concat(x, axis=-1), lambda *x: np.concatenate(x, -1))
uneven = (normal(3, 3), normal(3, 5))
case("concat-uneven", uneven, lambda *x: tl.concat(x, axis=1) * 2.0,
     lambda *x: np.concatenate(x, 1) * 2)  # fmt: skip
many = tuple(normal(2, 2) for _ in range(13))
case("concat-many", many, lambda *x: tl.concat(x, axis=0), lambda *x: np.concatenate(x, 0))
pairs = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
case("concat-four", pairs, lambda *x: tl.concat(x, axis=0), lambda *x: np.concatenate(x, 0))
case("concat-computed", (normal(2, 4), normal(2, 4)),
     lambda x, y: tl.concat([tl.exp(x), x + y], axis=1),
     lambda x, y: np.concatenate([np.exp(x), x + y], 1))  # fmt: skip
case("stack", (normal(3, 4), normal(3, 4)), lambda *x: tl.stack(x, axis=1),
     lambda *x: np.stack(x, 1))  # fmt: skip
case("split", normal(4, 9), lambda x: tl.split(x, [2, 3, 4], axis=1)[1] + 1.0,
     lambda x: x[:, 2:5] + 1)  # fmt: skip
case("squeeze", normal(3, 1, 4), lambda x: tl.squeeze(x, 1) * 2.0, lambda x: x[:, 0] * 2)
case("moveaxis", block, lambda x: tl.moveaxis(x, 1, -1), lambda x: np.moveaxis(x, 1, -1))
case("tile", normal(2, 3), lambda x: tl.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)))
case("repeat", normal(2, 3), lambda x: tl.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, 1))
case("tril", normal(5, 5), lambda x: tl.tril(x, 1), lambda x: np.tril(x, 1))
case("triu", normal(2, 4, 6), tl.triu, np.triu)
case("arange", normal(8), lambda x: x + tl.arange(0, 16, 2), lambda x: x + np.arange(0, 16, 2))
case("eye", normal(4, 4), lambda x: x + tl.eye(4, k=1), lambda x: x + np.eye(4, k=1))
case("linspace", normal(5), lambda x: x + tl.linspace(0.0, 1.0, 5),
     lambda x: x + np.linspace(0, 1, 5, dtype=np.float32))  # fmt: skip

# ---- gathers ----------------------------------------------------------------------------------

table = normal(6, 8)
case("take", (table, np.array([[0, 5], [-1, 2]], np.int32)), lambda x, i: tl.take(x, i, axis=0),
     lambda x, i: np.take(x, i, 0))  # fmt: skip
case("take-last", (table, np.array([1, 1, 7], np.int32)), lambda x, i: tl.take(x, i, axis=1),
     lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take-of-one", (normal(6, 1), np.array([0, 0, 0], np.int32)),
     lambda x, i: tl.take(x, i, axis=1), lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take-int64", (table, np.array([3, -6], np.int64)), lambda x, i: tl.take(x, i, axis=0) + 1.0,
     lambda x, i: np.take(x, i, 0) + 1)  # fmt: skip
case("take-computed", (table, np.array([1, 2], np.int32)),
     lambda x, i: tl.take(tl.exp(x), i + 1, axis=0), lambda x, i: np.exp(x)[i + 1])  # fmt: skip
along = rng.integers(0, 6, (4, 8)).astype(np.int32)
case("take_along_axis", (table, along), lambda x, i: tl.take_along_axis(x, i, axis=0),
     lambda x, i: np.take_along_axis(x, i, 0))  # fmt: skip
one = np.array([[0, -1, 0]], np.int32)
case("take-of-one-negative", (normal(2, 1, 4), one), lambda x, i: tl.take(x, i, axis=1),
     lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take_along_axis-of-one", (normal(1, 3), one),
     lambda x, i: tl.take_along_axis(x, i, axis=0) * 2,
     lambda x, i: np.take_along_axis(x, i, 0) * 2)  # fmt: skip
case("concat-empty", (normal(2, 0), normal(2, 3), normal(2, 4)),
     lambda *x: tl.concat(x, axis=1) * 2.0, lambda *x: np.concatenate(x, 1) * 2)  # fmt: skip
case("embedding", np.array([[1, 0], [5, 5]], np.int32), lambda i: F.embedding(i, tl.asarray(table)),
     lambda i: table[i])  # fmt: skip

# ---- matrix products --------------------------------------------------------------------------

for m, k, n in ((1, 1, 1), (3, 7, 5), (17, 33, 17), (33, 64, 40), (1, 128, 100), (2, 16, 7),
                (64, 64, 64), (5, 4, 8), (40, 3, 4)):  # fmt: skip
    case(f"matmul-{m}x{k}x{n}", (normal(m, k), normal(k, n)), tl.matmul, np.matmul,
         rtol=1e-4, atol=1e-5)  # fmt: skip
tolerance = {"rtol": 1e-4, "atol": 1e-5}
case("matmul-batched", (normal(3, 5, 8), normal(3, 8, 12)), tl.matmul, np.matmul, **tolerance)
case("matmul-broadcast", (normal(2, 1, 5, 6), normal(3, 6, 7)), tl.matmul, np.matmul, **tolerance)
case("matmul-vector", (normal(6), normal(6, 5)), tl.matmul, np.matmul, **tolerance)
case("matmul-vectors", (normal(9), normal(9)), tl.matmul, np.matmul, **tolerance)
case("matmul-transposed", (normal(9, 12), normal(8, 12)), lambda a, b: a @ b.mT,
     lambda a, b: a @ b.T, **tolerance)  # fmt: skip
case("matmul-fused", (normal(12, 8), normal(8, 12), normal(12), normal(12, 12)),
     lambda a, b, c, d: F.relu(a @ b + c) + d,
     lambda a, b, c, d: np.maximum(a @ b + c, 0) + d, **tolerance)  # fmt: skip
# Added up in float16 it would stand still at 2,048 halves.
halves = np.full((2, 9000), 0.5, np.float16), np.ones((9000, 3), np.float16)
case("matmul-float16", halves, tl.matmul, lambda a, b: np.full((2, 3), 4500, np.float16))
halves = np.full((1, 64, 9, 9), 0.5, np.float16), np.ones((2, 64, 9, 9), np.float16)
case("conv2d-float16", halves, F.conv2d,
     lambda x, w: np.full((1, 2, 1, 1), 2592, np.float16), rtol=1e-3)  # fmt: skip
case("conv2d-float16-depthwise",
     (np.full((1, 2, 65, 65), 0.5, np.float16), np.ones((2, 1, 65, 65), np.float16)),
     lambda x, w: F.conv2d(x, w, groups=2),
     lambda x, w: np.full((1, 2, 1, 1), 2112.5, np.float16), rtol=1e-3)  # fmt: skip
case("matmul-int32", (integers(3, 4), integers(4, 5)), tl.matmul, np.matmul)
case("linear", (normal(4, 6), normal(10, 6), normal(10)), F.linear,
     lambda x, w, b: x @ w.T + b, **tolerance)  # fmt: skip


# ---- convolution and pooling ------------------------------------------------------------------


def conv_reference(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):  # type: ignore
    """Cross-correlation by the definition, in float64."""
    pair = lambda v: (v, v) if isinstance(v, int) else v  # noqa: E731
    (sh, sw), (dh, dw) = pair(stride), pair(dilation)
    pads = [p if isinstance(p, tuple) else (p, p) for p in pair(padding)]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pads])
    o, each, kh, kw = w.shape
    oh = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    ow = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    out = np.zeros((x.shape[0], o, oh, ow))
    for channel in range(o):
        first = channel // (o // groups) * each
        for i in range(kh):
            for j in range(kw):
                rows, columns = i * dh + sh * np.arange(oh), j * dw + sw * np.arange(ow)
                part = x[:, first : first + each][:, :, rows][:, :, :, columns]
                out[:, channel] += np.einsum("nchw,c->nhw", part, w[channel, :, i, j])
    return (out if b is None else out + b[:, None, None]).astype(np.float32)


def convolution(label: str, x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> None:
    arrays = (normal(*x), normal(*w), normal(w[0]))
    case(f"conv2d-{label}", arrays, lambda x, w, b: F.conv2d(x, w, b, **options),
         lambda x, w, b: conv_reference(x, w, b, **options), rtol=1e-4, atol=1e-4)  # fmt: skip


convolution("3x3", (1, 8, 9, 11), (16, 8, 3, 3), padding=1)
convolution("rgb-stride", (1, 3, 15, 15), (8, 3, 3, 3), stride=2, padding=((0, 1), (0, 1)))
convolution("gray", (2, 1, 7, 7), (5, 1, 5, 5))
convolution("odd", (1, 7, 5, 6), (3, 7, 3, 2), stride=(2, 1), padding=((1, 0), (2, 1)))
convolution("dilated", (1, 4, 12, 12), (4, 4, 3, 3), dilation=(2, 3), padding=(2, 3))
convolution("1x1", (2, 16, 7, 5), (24, 16, 1, 1))
convolution("1x1-odd", (1, 5, 3, 3), (7, 5, 1, 1))
convolution("1x1-stride", (1, 8, 6, 6), (8, 8, 1, 1), stride=2)
convolution("grouped", (1, 6, 5, 5), (9, 2, 3, 3), groups=3, padding=1)
convolution("depthwise-3x3", (1, 16, 9, 9), (16, 1, 3, 3), groups=16, padding=1)
convolution("depthwise-5x5-stride", (1, 8, 11, 11), (8, 1, 5, 5), groups=8, stride=2,
            padding=((1, 2), (1, 2)))  # fmt: skip
convolution("depthwise-odd", (1, 7, 6, 5), (7, 1, 3, 3), groups=7, padding=1)
convolution("depthwise-dilated", (1, 4, 9, 9), (4, 1, 3, 3), groups=4, dilation=2, padding=2)
convolution("multiplier", (1, 4, 6, 6), (8, 1, 3, 3), groups=4, padding=1)
convolution("large-kernel", (1, 4, 7, 7), (4, 4, 7, 7))
convolution("one-pixel", (2, 5, 3, 3), (7, 5, 3, 3))
convolution("depthwise-one-pixel", (2, 3, 1, 1), (3, 1, 1, 1), groups=3)
convolution("7x7-stride", (1, 3, 23, 23), (16, 3, 7, 7), stride=2, padding=3)


def residual_block(x, w1, w2, b, s):  # type: ignore
    """What a network does: convolution, scale, activation, convolution, residual."""
    inner = F.relu6(F.conv2d(x, w1, padding=1) * tl.reshape(s, (-1, 1, 1)))
    return F.conv2d(inner, w2, b) + x


case(
    "conv2d-residual",
    (normal(1, 8, 6, 6), normal(12, 8, 3, 3), normal(8, 12, 1, 1), normal(8), normal(12)),
    residual_block,
    lambda x, w1, w2, b, s: (
        conv_reference(np.clip(conv_reference(x, w1, padding=1) * s[:, None, None], 0, 6), w2, b)
        + x
    ),
    rtol=1e-3,
    atol=1e-3,
)
norm_weight = normal(8, 4, 3, 3)
norm_mean, norm_var, norm_scale, norm_shift = (np.abs(normal(8)) + 0.5 for _ in range(4))


def normed(x):  # type: ignore
    """A convolution and the batch norm after it, all of it weights."""
    weight, mean, var, scale, shift = map(
        tl.asarray, (norm_weight, norm_mean, norm_var, norm_scale, norm_shift)
    )
    return F.batch_norm(F.conv2d(x, weight), mean, var, scale, shift, eps=1e-3)


def normed_reference(x):  # type: ignore
    scale = norm_scale / np.sqrt(norm_var + 1e-3)
    centred = conv_reference(x, norm_weight) - norm_mean[:, None, None]
    return centred * scale[:, None, None] + norm_shift[:, None, None]


case("batch_norm-folded", normal(1, 4, 5, 5), normed, normed_reference, rtol=1e-3, atol=1e-4)


def pool_reference(x, kernel, stride, pads, ceil, reduce):  # type: ignore
    """Windows one by one; reduce(window elements inside, window elements with padding)."""
    n, c, h, w = x.shape
    sizes = []
    for axis, size in enumerate((h, w)):
        low, high = pads[axis]
        span = size + low + high - kernel[axis]
        count = -(-span // stride[axis]) + 1 if ceil else span // stride[axis] + 1
        if ceil and (count - 1) * stride[axis] >= size + low:
            count -= 1
        sizes.append(count)
    out = np.zeros((n, c, *sizes), np.float32)
    for i in range(sizes[0]):
        for j in range(sizes[1]):
            top, left = i * stride[0] - pads[0][0], j * stride[1] - pads[1][0]
            bottom, right = top + kernel[0], left + kernel[1]
            inside = x[:, :, max(top, 0) : min(bottom, h), max(left, 0) : min(right, w)]
            counted = (min(bottom, h + pads[0][1]) - top) * (min(right, w + pads[1][1]) - left)
            out[:, :, i, j] = reduce(inside, counted)
    return out


def pooling(label: str, shape: tuple[int, ...], kernel: Any, stride: Any, pads: Any,
            ceil: bool = False) -> None:  # fmt: skip
    x = normal(*shape)
    options = {"stride": stride, "padding": pads, "ceil_mode": ceil}
    case(f"max_pool2d-{label}", x, lambda x: F.max_pool2d(x, kernel, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, _: w.max((2, 3))))  # fmt: skip
    case(f"avg_pool2d-{label}", x, lambda x: F.avg_pool2d(x, kernel, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, n: w.sum((2, 3)) / n), rtol=1e-4)  # fmt: skip
    case(f"avg_pool2d-{label}-inside", x,
         lambda x: F.avg_pool2d(x, kernel, count_include_pad=False, **options),
         lambda x: pool_reference(x, kernel, stride, pads, ceil,
                                  lambda w, _: w.mean((2, 3))), rtol=1e-4)  # fmt: skip


none = ((0, 0), (0, 0))
pooling("2x2", (1, 8, 6, 6), (2, 2), (2, 2), none)
pooling("3x3-padded", (2, 3, 7, 9), (3, 3), (2, 2), ((1, 1), (1, 1)))
pooling("ceil", (1, 4, 6, 7), (3, 3), (2, 2), none, True)
pooling("ceil-padded", (1, 5, 7, 7), (3, 2), (3, 2), ((1, 1), (0, 1)), True)
pooling("asymmetric", (1, 4, 5, 5), (2, 3), (1, 2), ((0, 1), (2, 0)))
case("max_pool2d-int32", integers(1, 3, 6, 6), lambda x: F.max_pool2d(x, 2),
     lambda x: x.reshape(1, 3, 3, 2, 3, 2).max((3, 5)))  # fmt: skip
case("global_avg_pool", normal(2, 12, 7, 7), F.global_avg_pool,
     lambda x: x.mean((2, 3), keepdims=True), rtol=1e-4)  # fmt: skip

# ---- composed functions -----------------------------------------------------------------------


def softmax_reference(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


case("softmax", normal(3, 10, scale=4), F.softmax, softmax_reference, rtol=1e-4)
case("softmax-axis1", normal(2, 5, 3), lambda x: F.softmax(x, 1),
     lambda x: softmax_reference(x, 1), rtol=1e-4)  # fmt: skip
case("softmax-pooled", normal(1, 12, 5, 5),
     lambda x: F.softmax(tl.reshape(F.global_avg_pool(x) * 3.0, (-1,))),
     lambda x: softmax_reference(x.mean((2, 3)).ravel() * 3), rtol=1e-4)  # fmt: skip
case("softmax-large", np.array([[1e4, 0, -1e4, 9999]], np.float32), F.softmax, softmax_reference)
case("log_softmax", normal(3, 12, scale=4), F.log_softmax,
     lambda x: np.log(softmax_reference(x)), rtol=1e-4, atol=1e-5)  # fmt: skip
case("gelu", normal(5, 8), F.gelu,
     lambda x: x * (1 + exact_erf(x / np.sqrt(2))) / 2, rtol=1e-4, atol=1e-5)  # fmt: skip
case("gelu-tanh", normal(33), lambda x: F.gelu(x, "tanh"),
     lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
     rtol=1e-4, atol=1e-5)  # fmt: skip
case("sigmoid", far, F.sigmoid, lambda x: 1 / (1 + np.exp(-x.astype(np.float64))), atol=1e-6)
case("silu", normal(9), F.silu, lambda x: x / (1 + np.exp(-x)), rtol=1e-4)
case("softplus", far, F.softplus, lambda x: np.logaddexp(0, x), rtol=1e-4, atol=1e-5)
case("elu", normal(9), F.elu, lambda x: np.where(x > 0, x, np.expm1(x)), atol=1e-5)
case("leaky_relu", normal(9), F.leaky_relu, lambda x: np.where(x >= 0, x, np.float32(0.01) * x))
case("hardswish", normal(9, scale=4), F.hardswish,
     lambda x: x * np.clip(x / 6 + 0.5, 0, 1), rtol=1e-4, atol=1e-5)  # fmt: skip
case("layer_norm", (normal(4, 16), normal(16), normal(16)),
     lambda x, w, b: F.layer_norm(x, (16,), w, b),
     lambda x, w, b: (x - x.mean(-1, keepdims=True))
     / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b, rtol=1e-3, atol=1e-4)  # fmt: skip


def lrn_reference(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64) ** 2, [(0, 0), (2, 2), (0, 0), (0, 0)])
    total = sum(padded[:, i : i + x.shape[1]] for i in range(5))
    return x / (1.0 + 1e-2 / 5 * total) ** 0.75


case("local_response_norm", normal(1, 7, 3, 3, scale=3),
     lambda x: F.local_response_norm(x, 5, 1e-2), lrn_reference, rtol=1e-4)  # fmt: skip


def attention_reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax_reference(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


case("attention", (normal(2, 3, 5, 8), normal(2, 3, 7, 8), normal(2, 3, 7, 8)),
     F.scaled_dot_product_attention, attention_reference, rtol=1e-3, atol=1e-4)  # fmt: skip


def winograd_input(x: Any, padding: Any) -> Any:
    return tl.Tensor(make(winograd.winograd_input, x.node, padding=padding))


def winograd_output(m: Any, size: tuple[int, int]) -> Any:
    return tl.Tensor(make(winograd.winograd_output, m.node, size=size))


case("winograd_input", normal(2, 5, 6, 8), lambda x: winograd_input(x, ((1, 0), (0, 2))),
     lambda x: winograd_input_reference(x, ((1, 0), (0, 2))))  # fmt: skip
case("winograd_output", normal(16, 12, 8), lambda m: winograd_output(m, (3, 6)),
     lambda m: winograd_output_reference(m, (3, 6)), rtol=1e-4, atol=1e-5)  # fmt: skip

# ---- recurrences ------------------------------------------------------------------------------

relu, ways = ("Relu", 0.0, 0.0), (False, True)
hard = (("HardSigmoid", 0.3, 0.4), ("Tanh", 0.0, 0.0))
# Cell; steps, sequences, features, elements of the state.
layers: dict[str, tuple[str, tuple[int, int, int, int], dict[str, Any]]] = {
    "rnn": ("rnn", (5, 2, 3, 6), {}),
    "rnn-backward": ("rnn", (4, 1, 2, 5), {"backward": (True,), "activations": (relu,)}),
    "rnn-large": ("rnn", (3, 2, 1, 301), {}),
    "gru": ("gru", (6, 3, 4, 7), {"backward": ways, "clip": 0.6}),
    "gru-linear": ("gru", (6, 2, 4, 8), {"linear_before_reset": True, "activations": hard}),
    "gru-large": ("gru", (3, 1, 2, 258), {}),
    "lstm": ("lstm", (7, 3, 4, 9), {"backward": ways}),
    "lstm-options": ("lstm", (4, 2, 3, 4), {"clip": 0.4, "input_forget": True}),
    "lstm-one": ("lstm", (1, 1, 8, 16), {}),
}
for name, (cell, sizes, choices) in layers.items():
    case(
        f"recurrence-{name}",
        operands(cell, *sizes, len(choices.get("backward", " "))),
        lambda *t, cell=cell, choices=choices: built(cell, *t, **choices),
        lambda *a, cell=cell, choices=choices: recurrence_reference(cell, *a, **choices),
        rtol=1e-4,
        atol=1e-5,
    )
case(
    "recurrence_steps",
    step_operands("gru", 4, 2, 5),
    lambda *t: steps("gru", *t, start=0, steps=4, linear_before_reset=True),
    lambda *a: steps_reference("gru", *a, linear_before_reset=True),
    atol=1e-5,
)

# ---- order and places ---------------------------------------------------------------------------

lone, anywhere = normal(3, 1, 4), np.zeros((3, 5, 2), np.int32)
case("take-of-lone", (lone, anywhere), lambda x, i: tl.take(x, i, 1), lambda x, i: x[:, i[...] * 0])
case(
    "take_along_axis-of-lone",
    (lone, anywhere),
    lambda x, i: tl.take_along_axis(x, i, 1),
    lambda x, i: np.take_along_axis(x[:, :, :2], i, 1),
)

tied = np.array([[3, 1, 3, 2, 1, 3], [0, -1, 0, 0, 2, 0]], np.float32)
for name, values in {"": tied, "-int32": integers(4, 50), "-bool": booleans(3, 9)}.items():
    case(f"argsort{name}", values, tl.argsort, lambda x: np.argsort(x, -1, kind="stable"))
case("argsort-axis", normal(5, 3), lambda x: tl.argsort(x, 0), lambda x: np.argsort(x, 0))
case(
    "argsort-descending",
    tied,
    lambda x: tl.argsort(x, descending=True, count=4),
    lambda x: np.argsort(-x, -1, kind="stable")[:, :4],
)
case("sort", normal(3, 4, 9), lambda x: tl.sort(x, 1), lambda x: np.sort(x, 1))


def scattered(name: str) -> Callable[..., np.ndarray]:
    def reference(x: np.ndarray, places: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = x.copy()
        for place, row in zip(places, updates, strict=True):
            result[place] = row if name == "none" else JOINS[name](result[place], row)
        return result

    return reference


JOINS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
for name in ("none", *JOINS):
    for suffix, make_values in (("", normal), ("-int32", integers)):
        case(
            f"scatter-{name}{suffix}",
            (make_values(5, 3), np.array([4, 0, -1, 0, 2, 2], np.int32), make_values(6, 3)),
            lambda x, places, updates, name=name: tl.scatter(x, places, updates, name),
            scattered(name),
        )
