"""Records what the package gguf (PyPI) makes of blocks of every type, where it is installed:

    python tests/unit/formats/record_blocks.py

The project does not need it: what it gave stands in data/blocks.npz, per type "NAME raw", bytes of
two rows of 512 elements, and "NAME values".
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).parent / "data" / "blocks.npz"

HALVES = {
    "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "IQ4_NL": (0,),
    "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,),
}  # fmt: skip
"""Where in its bytes a block of each type has float16 numbers."""

ROWS, LENGTH = 2, 512


def random_blocks(name: str, nbytes: int, count: int, seed: int = 4) -> np.ndarray:
    """Any bytes, with finite scales and minima of both signs, some of them subnormal or zero."""
    random = np.random.default_rng(seed)
    raw = random.integers(0, 256, (count, nbytes), dtype=np.uint8)
    for at in HALVES[name]:
        halves = (random.standard_normal(count) * 0.05).astype(np.float16)
        halves[:: max(1, count // 3)] = np.float16(3e-7)
        raw[:, at : at + 2] = halves.view(np.uint8).reshape(count, 2)
    return raw


def main() -> None:
    from gguf import (  # type: ignore[import-not-found]
        GGML_QUANT_SIZES,
        GGMLQuantizationType,
    )
    from gguf.quants import dequantize, quantize  # type: ignore[import-not-found]

    kept = {}
    numbers = np.random.default_rng(3).standard_normal((1, LENGTH)).astype(np.float32)
    for name in HALVES:
        kind = GGMLQuantizationType[name]
        length, nbytes = GGML_QUANT_SIZES[kind]
        raw = random_blocks(name, nbytes, ROWS * LENGTH // length).reshape(ROWS, -1)
        with suppress(NotImplementedError):
            raw[1] = quantize(numbers, kind)[0]
        kept[f"{name} raw"], kept[f"{name} values"] = raw, dequantize(raw, kind)
    np.savez_compressed(RECORDED, **kept)


if __name__ == "__main__":
    main()
