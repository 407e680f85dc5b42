"""Tensors as text: the elements, as PyTorch prints them."""

from __future__ import annotations

from typing import Any

from ..errors import TallowError

_UNSAID = ("float32", "int32", "bool")
"""Element types that numbers have without being told."""


def text_of(x: Any) -> str:
    """The elements, for which they are computed and read; of more than a thousand those at the
    ends. What is known without them, where they can't be read: while a function is traced, where
    waiting is impossible, or without NumPy, which writes them."""
    try:
        values = x.numpy()
    except (TallowError, ImportError):
        return str(x.described())
    import numpy as np

    parts = [
        np.array2string(
            values, precision=4, separator=", ", prefix="tensor(", floatmode="maxprec_equal"
        )
    ]
    if not x.size:
        parts.append(f"size={x.shape}")
    if x.dtype.name not in _UNSAID:
        parts.append(f"dtype={x.dtype.name}")
    if x.requires_grad:
        parts.append("requires_grad=True")
    return f"tensor({', '.join(parts)})"
