"""The types in which a cache keeps keys and values."""

from __future__ import annotations

from .. import functions as f
from ..core.dtype import DType, as_dtype, float16, float32
from ..errors import DTypeError, OptionError
from ..runtime.device import backend
from ..tensor import Tensor

CACHE_DTYPES = "float32", "float16", "int8"

_LEAST = 1e-30
"""The least magnitude that a scale is computed from, so that rows of zeros have one, too."""


def cache_type(cache_dtype: str | DType | None) -> DType:
    """The type that the option `cache_dtype` names; None is float32. Raises OptionError for a type
    that is not in `CACHE_DTYPES`."""
    if cache_dtype is None:
        return float32
    try:
        found = as_dtype(cache_dtype)
    except DTypeError:
        found = None
    if found is None or found.name not in CACHE_DTYPES:
        raise OptionError(f"cache_dtype is one of {', '.join(CACHE_DTYPES)}, not {cache_dtype!r}")
    return found


def in_words(dtype: DType, device: str | None) -> bool:
    """Whether a device stores each element of a narrow type in a whole word, so that four of int8
    must be packed. Raises OptionError for float16 on such a device."""
    memory = backend(device).memory
    wide = memory.held_type(dtype).size > dtype.size
    if wide and dtype == float16:
        raise OptionError(
            f"on {memory.name} a cache of float16 takes as much memory as one of float32; use "
            "cache_dtype float32 or int8 there"
        )
    return wide


# Why: docs/decisions/generation.md, "A cache of int8 has a scale for each position and head"
def quantized(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rounds rows to 8 bits. Returns codes, int8 (..., n), and scales, float32 (..., 1), whose
    product is about x.

    x: floating (..., n). The element of a row with the largest magnitude becomes 127 or -127.
    Source: llama.cpp, Q8_0; Liu et al. 2024, "KIVI", values "per token".
    """
    largest = f.max(f.abs(x), axis=-1, keepdims=True)
    scale = f.maximum(largest, _LEAST) / 127
    return f.round(x / scale).astype("int8"), scale
