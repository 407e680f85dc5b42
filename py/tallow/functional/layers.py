"""Layers made of one product or one lookup."""

from __future__ import annotations

from .. import functions as f
from ..tensor import Tensor, asarray


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight (out, in)."""
    result = x @ weight.mT
    return result if bias is None else result + bias


def embedding(indices: Tensor, weight: Tensor) -> Tensor:
    """Rows of weight (count, features) at integer indices."""
    return f.take(weight, asarray(indices), axis=0)
