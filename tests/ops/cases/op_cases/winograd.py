"""The transforms of Winograd's convolution."""

from __future__ import annotations

from typing import Any

from winograd_reference import winograd_input_reference, winograd_output_reference

import tallow as tl
from tallow.graph import make
from tallow.ops import winograd

from .case import case, normal


def winograd_input(x: Any, padding: Any) -> Any:
    return tl.Tensor(make(winograd.winograd_input, x.node, padding=padding))


def winograd_output(m: Any, size: tuple[int, int]) -> Any:
    return tl.Tensor(make(winograd.winograd_output, m.node, size=size))


case("winograd_input", normal(2, 5, 6, 8), lambda x: winograd_input(x, ((1, 0), (0, 2))),
     lambda x: winograd_input_reference(x, ((1, 0), (0, 2))))  # fmt: skip
case("winograd_output", normal(16, 12, 8), lambda m: winograd_output(m, (3, 6)),
     lambda m: winograd_output_reference(m, (3, 6)), rtol=1e-4, atol=1e-5)  # fmt: skip
