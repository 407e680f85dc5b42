"""Contractions: sums of products."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.bounds import products_added
from ..errors import DTypeError, ShapeError
from . import numpy_kernels
from .kinds import Attrs, Contraction, Spec


def _matmul_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (a, dtype), (b, other) = operands
    if dtype != other:
        raise DTypeError(f"matmul: operands must have one type, got {dtype.name}, {other.name}")
    if len(a) != 3 or len(b) != 3 or a[0] != b[0] or a[2] != b[1]:
        raise ShapeError(f"matmul: {a} and {b} do not fit; expected (b, m, k) and (b, k, n)")
    return (a[0], a[1], b[2]), dtype


matmul = Contraction(
    "matmul",
    numpy_kernels.matmul,
    _matmul_rule,
    bounds=products_added,
    overflows=True,
    autocast="float16",
)
"""(batch, m, k) @ (batch, k, n); broadcasting and other ranks are composed in functions/."""


def _matmul_to_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    *factors, (length, dtype) = operands
    if not dtype.is_integer:
        raise DTypeError(f"matmul_to: a length must be an integer, not {dtype.name}")
    if length:
        raise ShapeError(f"matmul_to: a length must be one integer, not {length}")
    return _matmul_rule(factors, attrs)


matmul_to = Contraction("matmul_to", numpy_kernels.matmul_to, _matmul_to_rule)
"""`matmul` that sums only the first `length` products. The device reads the length, an integer
without axes: a negative one counts from the end, and a larger one means the whole axis."""
