"""Derivatives where a function ends, first and second: those of PyTorch 2.14.
None stands for what PyTorch has wrong, or leaves to chance."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallow as tl
from tallow.functions import special

INF, NAN = math.inf, math.nan


ONE = {
    "erfinv": [(1, INF, INF), (-1, INF, -INF), (0, 0.88622695, 0), (1.5, NAN, NAN)],
    "ndtri": [(0, INF, -INF), (1, INF, INF), (0.5, 2.5066283, 0), (1e-7, 1858896, -1.7966e13)],
    "logit": [(0, INF, None), (1, INF, None), (0.5, 4, 0)],
    "entr": [(0, INF, -INF), (-1, NAN, 1), (0.5, -0.3068528, -2)],
    "acos": [(1, -INF, -INF), (-1, -INF, INF), (0.6, -1.25, -1.171875)],
    "asin": [(1, INF, INF), (-1, INF, -INF), (0.6, 1.25, 1.171875)],
    "atanh": [(1, INF, INF), (-1, INF, -INF), (0.5, 1.3333334, 1.7777778)],
    "acosh": [(1, INF, -INF), (1.25, 1.3333334, -2.962963)],
    "lgamma": [(1, -0.5772157, 1.644934), (2, 0.4227843, 0.644934), (0, -INF, None),
               (-1, NAN, None), (INF, INF, None)],
    "erfcx": [(0, -1.1283792, 2), (10, -0.0055593, None)],
    "i0": [(0, 0, 0.5), (1, 0.5651591, 0.7009068)],
    "i0e": [(0, 0, 0.5)],
    "sqrt": [(0, INF, -INF)],
    "rsqrt": [(0, -INF, INF)],
    "log": [(0, INF, -INF)],
}  # fmt: skip
"""Where, and the first and second derivative there."""

TWO = {
    "hypot": [((INF, 1), (NAN, 0)), ((1, INF), (0, NAN)), ((0, 2), (0, 1)), ((3, 4), (0.6, 0.8))],
    "xlogy": [((0, 0), (0, NAN)), ((0, INF), (INF, 0)), ((0, -1), (0, 0)), ((1, 0), (-INF, INF))],
    "xlog1py": [((0, -1), (0, NAN)), ((0, 1), (0.6931472, 0)), ((0, -2), (0, 0))],
    "pow": [((0, 0), (0, 0)), ((0, 0.5), (INF, 0)), ((0, 2), (0, 0)), ((0, -1), (-INF, -INF))],
    "logaddexp": [((INF, 1), (1, 0)), ((0, 0), (0.5, 0.5)), ((INF, INF), (NAN, NAN))],
}


@pytest.mark.parametrize("name", ONE)
def test_of_one_operand(name: str) -> None:
    function = getattr(tl, name, None) or getattr(special, name)
    for at, first, second in ONE[name]:
        x = tl.asarray(float(at), requires_grad=True)
        (slope,) = tl.autograd.grad(function(x), [x], create_graph=True)
        (bend,) = tl.autograd.grad(slope, [x])
        for found, right in ((slope, first), (bend, second)):
            if right is not None:
                np.testing.assert_allclose(float(found), right, 1e-4, 1e-6, err_msg=f"at {at}")


@pytest.mark.parametrize("name", TWO)
def test_of_two_operands(name: str) -> None:
    function = getattr(tl, name, None) or getattr(special, name)
    for at, right in TWO[name]:
        operands = [tl.asarray(float(each), requires_grad=True) for each in at]
        found = tl.autograd.grad(function(*operands), operands)
        np.testing.assert_allclose([float(each) for each in found], right, 1e-5, err_msg=f"{at}")


def test_second_derivatives_of_logaddexp() -> None:
    a, b = (tl.asarray(0.0, requires_grad=True) for _ in range(2))
    (slope,) = tl.autograd.grad(tl.logaddexp(a, b), [a], create_graph=True)
    found = tl.autograd.grad(slope, [a, b])
    np.testing.assert_allclose([float(each) for each in found], [0.25, -0.25])


def test_operands_that_broadcast() -> None:
    x, y = tl.asarray([[1.0], [2.0]], requires_grad=True), tl.asarray([3.0, 4.0, 5.0])
    for function in (tl.hypot, tl.xlogy, tl.logaddexp):
        (gradient,) = tl.autograd.grad(tl.sum(function(x, y)), [x])
        assert gradient is not None
        assert gradient.shape == (2, 1)
        step = 1e-2
        change = tl.sum(function(x + step, y) - function(x - step, y), 1) / (2 * step)
        np.testing.assert_allclose(gradient.numpy()[:, 0], change.numpy(), 1e-3)
