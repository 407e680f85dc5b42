"""NumPy: it computes the operations of each step; there are no kernels."""

from __future__ import annotations

from ...compile.limits import host_limits
from ...compile.passes.exact import exact_products
from ...compile.passes.widen import widen
from ...compile.plain import plain_plan
from ...compile.target import Target
from .passes import float_dynamic

TARGET = Target(
    name="numpy",
    computes_64_bits=True,
    fit_types=(exact_products, float_dynamic, widen),
    any_order=True,
    kernels=None,
    limits=lambda limits: host_limits(),
    quick=plain_plan,
)
