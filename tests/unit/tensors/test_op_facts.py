"""The facts in the records of ops that passes rely on: each is found by computing, so that a record
which lacks one fails here by name."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tallow.core.dtype import float32
from tallow.devices.webgpu.codegen.arithmetic import elementwise
from tallow.ops.kinds import REGISTRY, Contraction, Elementwise, Op, Reduce

INTEGERS = [-128, -127, -2, -1, 0, 1, 2, 7, 100, 127]
UNSIGNED = [0, 1, 2, 7, 100, 127, 128, 255]

# Where functions of floating numbers are known to jump, and points where they do not.
CENTRES = [-3.0, -2.5, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0]

CASTS = ("cast", "bitcast")
"""Their results depend on the type that is asked for."""

REFUSING = ("position", "checked")
"""They raise an error for operands that are out of range."""


def named(kind: type[Op], *, accepts: str) -> list[str]:
    return [
        name
        for name, op in REGISTRY.items()
        if type(op) is kind and accepts in op.accepts and name not in (*CASTS, *REFUSING)
    ]


def on(op: Any, dtype: Any, *operands: Any, **attrs: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(op.numpy(np, *(np.asarray(x, dtype) for x in operands), **attrs))


@pytest.mark.parametrize("name", named(Elementwise, accepts="i"))
def test_what_leaves_eight_bits_says_so(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    leaves = False
    for values, dtype in ((INTEGERS, np.int32), (UNSIGNED, np.uint32)):
        if np.dtype(dtype).kind not in op.accepts:
            continue
        drawn = list(itertools.product(values, repeat=op.arity))
        operands = [np.array(column) for column in zip(*drawn, strict=True)]
        wide = on(op, dtype, *operands)
        if wide.dtype != bool:
            leaves |= bool((wide < min(values)).any() or (wide > max(values)).any())
    assert op.overflows == leaves, f"{name}: overflows={op.overflows} in its record"


@pytest.mark.parametrize("name", named(Reduce, accepts="i"))
def test_a_reduction_that_leaves_eight_bits_says_so(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Reduce)
    wide = on(op, np.int32, [INTEGERS, [100] * len(INTEGERS)], axes=(1,))
    leaves = bool((wide < -128).any() or (wide > 127).any())
    assert op.overflows == leaves, f"{name}: overflows={op.overflows} in its record"


def test_products_and_casts_overflow() -> None:
    products = [name for name, op in REGISTRY.items() if isinstance(op, Contraction)]
    assert "matmul" in products  # the only one that takes integers: see narrow.py
    assert all(REGISTRY[name].overflows for name in ("matmul", *CASTS))


@pytest.mark.parametrize("name", named(Elementwise, accepts="f"))
def test_what_is_discontinuous_says_so(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    if op.result is not None:
        assert not op.discontinuous, "a result that is no floating number says it already"
        return
    step = np.float64(1e-9)
    jumps = False
    for centre in itertools.product(CENTRES, repeat=op.arity):
        for moved in range(op.arity):
            below, above = ([*centre] for _ in range(2))
            below[moved] -= step
            above[moved] += step
            values = [float(on(op, np.float64, *each)) for each in (below, centre, above)]
            # A pole, or a point where only one side is defined, is no jump.
            if np.isfinite(values).all():
                jumps |= max(values) - min(values) > 1e-3
    assert op.discontinuous == jumps, f"{name}: discontinuous={op.discontinuous} in its record"


@pytest.mark.parametrize("name", named(Elementwise, accepts="f"))
def test_what_may_lose_nan_in_wgsl_keeps_it(name: str) -> None:
    """Where WGSL's functions may turn NaN into a number, the generator gives the NaN of an operand
    as the result: that must be right for each operand."""
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    if not elementwise(op, (float32,) * op.arity, op.result or float32, 1).loses_nan:
        return
    for number in range(op.arity):
        operands = [0.5] * op.arity
        operands[number] = np.nan
        assert np.isnan(on(op, np.float32, *operands)), f"{name}: NaN as operand {number}"


UFUNCS = [name for name, op in REGISTRY.items() if isinstance(op, Elementwise) and op.ufunc]


@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_is_the_function_of_that_name(name: str) -> None:
    op = REGISTRY[name]
    assert isinstance(op, Elementwise)
    function = getattr(np, name)
    assert isinstance(function, np.ufunc) and function.nin == op.arity
    operands = np.array([[1, 0, 0.5, -2], [0, 1, -3, 0.5]][: op.arity], np.float32)
    with np.errstate(all="ignore"):
        expected = function(*operands)
    np.testing.assert_array_equal(on(op, np.float32, *operands), expected)
