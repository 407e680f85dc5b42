"""In how many bits a cache keeps keys and values."""

from __future__ import annotations

from .. import functions as f
from ..core.dtype import DType, as_dtype, float16, float32
from ..errors import DTypeError, OptionError
from ..runtime.device import backend
from ..tensor import Tensor

CACHE_DTYPES = "float32", "float16", "int8"

_LEAST = 1e-30
"""What the largest number of a row counts for at least: rows of zeros have a scale, too."""


def cache_type(cache_dtype: str | DType | None) -> DType:
    """The type that an option `cache_dtype` means; None is float32. Raises OptionError if it is
    none of `CACHE_DTYPES`."""
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
    """Whether a device keeps elements of int8 in words, so that four of them have to share one.
    Raises OptionError for float16 if it keeps these in words, too."""
    memory = backend(device).memory
    wide = memory.held_type(dtype).size > dtype.size
    if wide and dtype == float16:
        raise OptionError(
            f"on {memory.name} a cache of float16 takes as much as one of float32: "
            "cache_dtype is float32 or int8 there"
        )
    return wide


# Why: docs/decisions/generation.md, "A cache of int8 has a scale for each position and head"
def quantized(x: Tensor) -> tuple[Tensor, Tensor]:
    """Rows in 8 bits: int8 like x, and float32 scales (..., 1), of which the product is about x.

    A row's largest number becomes 127 or -127, and the others what is nearest in proportion.
    Source: llama.cpp, Q8_0; Liu et al. 2024, "KIVI", of the values, "per token".
    """
    largest = f.max(f.abs(x), axis=-1, keepdims=True)
    scale = f.maximum(largest, _LEAST) / 127
    return f.round(x / scale).astype("int8"), scale
