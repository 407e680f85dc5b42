"""Gradients clipped to a norm, by norms of several kinds."""

from __future__ import annotations

from ..case import register
from ..training import Clipping

CLIPPINGS = [
    Clipping(f"clip_grad_norm_ {norm} {norm_type}", norm, norm_type)
    for norm_type in (1.0, 2.0, 3.0, float("inf"))
    for norm in (0.1, 1e3)
]

for each in CLIPPINGS:
    register(each)
