"""Whole quotients and remainders. Of integers, both are 0 where the divisor is 0."""

from __future__ import annotations

from typing import Any

from .. import bounds
from ..op import Elementwise


def _trunc_divide(np: Any, x: Any, y: Any) -> Any:
    quotient = np.floor_divide(x, y)
    inexact = np.not_equal(np.multiply(quotient, y), x)
    below = np.logical_and(inexact, np.not_equal(np.less(x, 0), np.less(y, 0)))
    below = np.logical_and(below, np.not_equal(y, 0))
    return np.where(below, quotient + 1, quotient)


# A function, since WGSL refuses a divisor that is 0 in the text of a shader.
_TRUNC_DIVIDE = """
fn trunc_divide_{S}(x: {T}, y: {T}) -> {T} {
    return select(x / y, {T}(), y == {T}());
}
"""
trunc_divide = Elementwise(
    "trunc_divide",
    _trunc_divide,
    "trunc_divide_{S}({0}, {1})",
    2,
    _TRUNC_DIVIDE,
    accepts="iu",
    onnx="Div",
    bounds=bounds.quotient,
    overflows=True,
)
"""Integer division that rounds towards zero, as ONNX's Div and C do."""

# WGSL truncates, so one is taken off where signs differ and a remainder is left.
_FLOOR_DIVIDE = """
fn floor_divide_{S}(x: {T}, y: {T}) -> {T} {
    let quotient = x / y;
    let below = ((x < {T}()) != (y < {T}())) & (quotient * y != x);
    return select(quotient - {T}(below), {T}(), y == {T}());
}
"""
floor_divide = Elementwise(
    "floor_divide",
    lambda np, x, y: np.floor_divide(x, y),
    "floor_divide_{S}({0}, {1})",
    2,
    _FLOOR_DIVIDE,
    accepts="iu",
    bounds=bounds.quotient,
    overflows=True,
)
_REMAINDER = """
fn remainder_{S}(x: {T}, y: {T}) -> {T} {
    let rest = x - y * (x / y);
    let signed = select(rest, rest + y, (rest != {T}()) & ((rest < {T}()) != (y < {T}())));
    return select(signed, {T}(), y == {T}());
}
"""
remainder = Elementwise(
    "remainder",
    lambda np, x, y: np.remainder(x, y),
    "remainder_{S}({0}, {1})",
    2,
    _REMAINDER,
    accepts="iu",
    bounds=bounds.modulus,
)
"""The remainder with the divisor's sign (Python's %)."""

# Long division of the mantissas, eight bits of the quotient at a time: exact, unlike a quotient
# that is rounded. A subnormal number counts as one of the smallest exponent without a leading bit.
_FMOD = """
fn fmod_{S}(x: {T}, y: {T}) -> {T} {
    let hidden = {U}(0x800000u);
    let a = bitcast<{U}>(x) & {U}(0x7fffffffu);
    let b = bitcast<{U}>(y) & {U}(0x7fffffffu);
    let exponent = max(b >> {U}(23u), {U}(1u));
    let divisor = max(select((b & {U}(0x7fffffu)) | hidden, b, b < hidden), {U}(1u));
    var rest = select((a & {U}(0x7fffffu)) | hidden, a, a < hidden) % divisor;
    var left = max(a >> {U}(23u), exponent) - exponent;
    while (any(left > {U}())) {
        let step = min(left, {U}(8u));
        rest = (rest << step) % divisor;
        left = left - step;
    }
    let shift = min(countLeadingZeros(rest) - {U}(8u), exponent - {U}(1u));
    let joined = (rest << shift) + ((exponent - shift - {U}(1u)) << {U}(23u));
    let size = select(select(joined, {U}(), rest == {U}()), a, a < b);
    let undefined = (a >= {U}(0x7f800000u)) | (b > {U}(0x7f800000u)) | (b == {U}());
    let signed = size | (bitcast<{U}>(x) & {U}(0x80000000u));
    return bitcast<{T}>(select(signed, {U}(0x7fc00000u), undefined));
}
"""
fmod = Elementwise(
    "fmod",
    lambda np, x, y: np.fmod(x, y),
    "fmod_{S}({0}, {1})",
    2,
    _FMOD,
    accepts="f",
    discontinuous=True,
)
"""The remainder of floating numbers with the dividend's sign (C's fmod), which is exact."""
