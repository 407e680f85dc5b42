"""NaN, infinity and zeros of both signs, which stay what they are wherever NumPy keeps them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name

from .case import case, normal

NAN, INF = np.float32(np.nan), np.float32(np.inf)
SPECIAL = np.float32([NAN, INF, -INF, 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2.5, 3, -3, 1e20])
MINUS_NAN = np.uint32(0xFFC00001).view(np.float32)  # of the other sign, as 0 / 0 has it on x86


ALL, MIDDLE = "all", "middle"
SPOILT: list[dict[int | str, Any]] = [
    {}, {0: NAN}, {MIDDLE: NAN}, {-1: NAN}, {-1: MINUS_NAN}, {ALL: NAN}, {0: INF}, {-1: -INF},
    {0: INF, MIDDLE: NAN}, {ALL: -INF}, {ALL: INF, -1: NAN}, {ALL: -0.0},
]  # fmt: skip


def spoilt(length: int) -> np.ndarray:
    """Rows of random numbers, special ones at their start, middle and end, or all over."""
    rows = normal(len(SPOILT), length)
    for row, changes in zip(rows, SPOILT, strict=True):
        for index, value in changes.items():
            row[{ALL: slice(None), MIDDLE: length // 2}.get(index, index)] = value
    return rows


one, other = (array.ravel().copy() for array in np.meshgrid(SPECIAL, SPECIAL))  # each with each
pairs = {"flat": (one, other), "odd": (one[:-3], other[:-3]), "rows": (one[:, None], other[:7])}
for name in ("maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
             "greater_equal", "pow"):  # fmt: skip
    reference = np.power if name == "pow" else getattr(np, name)
    for label, pair in pairs.items():
        case(f"nan-{name}-{label}", pair, getattr(tl, name), reference, rtol=1e-4)
for name in ("maximum", "minimum"):
    reference = getattr(np, name)
    for value in (0.0, 6.0, -INF, NAN):
        label = f"nan-{name}-{value:g}"
        case(label, SPECIAL, lambda x, n=name, v=value: getattr(tl, n)(x, float(v)),
             lambda x, r=reference, v=value: r(x, np.float32(v)))  # fmt: skip
    case(f"nan-{name}-first", SPECIAL, lambda x, n=name: getattr(tl, n)(0.5, x),
         lambda x, r=reference: r(np.float32(0.5), x))  # fmt: skip
case("nan-clip", SPECIAL, lambda x: tl.clip(x, -1, 6), lambda x: np.clip(x, -1, 6))
minus = np.append(SPECIAL, MINUS_NAN)
for name in ("relu", "relu6", "hardsigmoid", "elu", "softplus", "sigmoid"):
    references: dict[str, Any] = {
        "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6),
        "hardsigmoid": lambda x: np.clip(x / np.float32(6) + np.float32(0.5), 0, 1),
        "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }  # fmt: skip
    case(f"nan-{name}", minus, getattr(F, name), references[name], rtol=1e-4)
ends = np.array([NAN, MINUS_NAN, 1, -1, 0, 0.5, -0.5, 1.0001, -1.0001, 9, INF, -INF], np.float32)
for name in ("sign", "abs", "negative", "floor", "ceil", "trunc", "round", "sqrt", "exp",
             "log", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
             "atanh"):  # fmt: skip
    long = name.replace("a", "arc", 1) if name[0] == "a" and name != "abs" else name
    case(f"nan-{name}", ends, getattr(tl, name), getattr(np, long), rtol=1e-3, atol=1e-3)
for name in ("sin", "cos", "tan"):
    case(f"nan-{name}", ends[:8], getattr(tl, name), getattr(np, name), rtol=4e-3, atol=1e-3)

# Their squares overflow, or are lost beside 1; and on both sides of where the formula changes.
great = np.array([1e-6, 1e-3, 0.3, 1, 1.001, 2, 9999, 10001, 1e5, 1e18, 2e19, 3e38], np.float32)
case("asinh-great", np.append(great, -great), tl.asinh, np.arcsinh, rtol=2e-5, atol=0)
case("acosh-great", great[3:], tl.acosh, np.arccosh, rtol=1e-4, atol=0)
case("asinh-and-logs", great, lambda x: tl.asinh(x) + tl.log1p(x) + tl.log(x) + tl.acosh(x + 1),
     lambda x: np.arcsinh(x) + np.log1p(x) + np.log(x) + np.arccosh(x + 1), rtol=1e-4)  # fmt: skip

# ---- reductions -------------------------------------------------------------------------------


def reduced(name: str, axis: int | None) -> Any:
    """NumPy's function of that name along the axis, indices as int32."""

    def expected(x: np.ndarray) -> np.ndarray:
        found = np.asarray(getattr(np, name)(x, axis=axis))
        return found.astype(np.int32) if name.startswith("arg") else found

    return expected


# Odd, by fours, longer than a workgroup.
for length, axes in ((5, (1, 0, None)), (8, (1, 0, None)), (1027, (1, None)), (2048, (1, None))):
    for name in ("max", "min", "argmax", "argmin"):
        for axis in axes:
            case(
                f"nan-{name}-{length}-{axis}",
                spoilt(length),
                lambda x, n=name, a=axis: getattr(tl, n)(x, axis=a),
                reduced(name, axis),
            )


def ordered(x: np.ndarray, descending: bool) -> np.ndarray:
    """The indices that sort each row: NaN is greater than all, of equal ones the first is first."""
    if not descending:
        return np.argsort(x, axis=-1, kind="stable").astype(np.int32)
    turned = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return (x.shape[-1] - 1 - turned).astype(np.int32)


def softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


case("nan-softmax", spoilt(40), lambda x: F.softmax(x), softmax)

for descending in (False, True):
    for length in (7, 40, 4100):
        case(f"nan-argsort-{length}-{descending}", spoilt(length),
             lambda x, d=descending: tl.argsort(x, descending=d),
             lambda x, d=descending: ordered(x, d))  # fmt: skip

# ---- kernels ----------------------------------------------------------------------------------

for channels in (4, 3):
    image = (
        spoilt(7 * channels).reshape(len(SPOILT), channels, 7)[None].transpose(0, 2, 1, 3).copy()
    )
    case(
        f"nan-max_pool2d-{channels}",
        image,
        lambda x: F.max_pool2d(x, 2, stride=1),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3)).max((-2, -1)),
    )
