"""Weights in blocks, in each form in which graphs say them, with their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from wasm_runs import RNG

import tallow as tl
from tallow.core import dtype as dt
from tallow.core.dtype import DType
from tallow.core.hostarray import HostArray
from tallow.graph import constant
from tallow.tensor import Tensor

Weight = tuple[Tensor, np.ndarray]
"""A tensor (columns, depth), and its numbers."""


def known(array: np.ndarray, dtype: DType | None = None, shape: tuple[int, ...] = ()) -> Tensor:
    """A constant. dtype, shape: what the bytes are, if they are codes."""
    data = memoryview(np.ascontiguousarray(array).tobytes())
    kind = dtype or dt.as_dtype(array.dtype)
    return Tensor(constant(HostArray(data, shape or array.shape, kind)))


def codes(columns: int, blocks: int, block: int, kind: str) -> tuple[Tensor, np.ndarray]:
    """Elements (columns, blocks, block) of 4 or 8 bits, and their numbers."""
    shape = columns, blocks, block
    if kind.endswith("8"):
        ends = np.iinfo(kind)
        values = RNG.integers(ends.min, ends.max, shape, kind, endpoint=True)
        return known(values), values.astype(np.float64)
    words = RNG.integers(0, 256, (columns, blocks, block // 2), np.uint8)
    halves = np.stack([words & 15, words >> 4], -1).reshape(shape).astype(np.float64)
    values = np.where(halves > 7, halves - 16, halves) if kind == "int4" else halves
    return known(words, dt.as_dtype(kind), shape), values


def scales(*shape: int, dtype: Any = np.float16) -> tuple[Tensor, np.ndarray]:
    values = (RNG.random(shape) * 0.02 + 0.001).astype(dtype)
    return known(values).astype(tl.float32), values.astype(np.float64)


def scaled(columns: int, depth: int, kind: str, block: int = 32, dtype: Any = np.float16) -> Weight:
    q, plain = codes(columns, depth // block, block, kind)
    s, scale = scales(columns, depth // block, 1, dtype=dtype)
    return tl.reshape(q.astype(tl.float32) * s, (columns, depth)), flat(plain * scale)


def flat(weight: np.ndarray) -> np.ndarray:
    return weight.reshape(len(weight), -1)


def centred(columns: int, depth: int) -> Weight:
    """Q4_0: 4 bits less 8."""
    q, plain = codes(columns, depth // 32, 32, "uint4")
    s, scale = scales(columns, depth // 32, 1)
    return tl.reshape((q.astype(tl.float32) - 8.0) * s, (columns, depth)), flat((plain - 8) * scale)


def centred_short(columns: int, depth: int) -> Weight:
    q, plain = codes(columns, depth // 16, 16, "uint4")
    s, scale = scales(columns, depth // 16, 1)
    return tl.reshape((q.astype(tl.float32) - 8.0) * s, (columns, depth)), flat((plain - 8) * scale)


def centred_bytes(columns: int, depth: int) -> Weight:
    q, plain = codes(columns, depth // 16, 16, "uint8")
    s, scale = scales(columns, depth // 16, 1)
    return tl.reshape((q.astype(tl.float32) - 128.0) * s, (columns, depth)), flat(
        (plain - 128) * scale
    )


def least(columns: int, depth: int, block: int = 32) -> Weight:
    """Q4_1: 4 bits, a scale and a minimum."""
    q, plain = codes(columns, depth // block, block, "uint4")
    s, scale = scales(columns, depth // block, 1)
    m, minimum = scales(columns, depth // block, 1)
    return tl.reshape(q.astype(tl.float32) * s + m, (columns, depth)), flat(plain * scale + minimum)


def super_blocks(columns: int, depth: int) -> Weight:
    """Q4_K: scales and minima of 6 bits, which blocks of 256 scale."""
    blocks = depth // 256
    q, plain = codes(columns, blocks, 256, "uint4")
    q, plain = tl.reshape(q, (columns, blocks, 8, 32)), plain.reshape(columns, blocks, 8, 32)
    (d, big), (low, small) = scales(columns, blocks, 1, 1), scales(columns, blocks, 1, 1)
    few = RNG.integers(0, 64, (2, columns, blocks, 8, 1), np.uint8)
    weight = q.astype(tl.float32) * (d * known(few[0]).astype(tl.float32))
    weight = weight - low * known(few[1]).astype(tl.float32)
    return tl.reshape(weight, (columns, depth)), flat(plain * (big * few[0]) - small * few[1])


def zero_points(columns: int, depth: int) -> Weight:
    """As MatMulNBits has them: a zero point for each block."""
    q, plain = codes(columns, depth // 32, 32, "uint4")
    z, zero = codes(columns, depth // 32, 2, "uint4")
    s, scale = scales(columns, depth // 32, 1, dtype=np.float32)
    weight = (q.astype(tl.float32) - z[:, :, :1].astype(tl.float32)) * s
    return tl.reshape(weight, (columns, depth)), flat((plain - zero[:, :, :1]) * scale)


def along_columns(columns: int, depth: int) -> Weight:
    """As DequantizeLinear has it along axis 0: elements of a column lie apart."""
    values = RNG.integers(-127, 128, (depth, columns), np.int8)
    s, scale = scales(depth // 32, columns, dtype=np.float32)
    weight = known(values).astype(tl.float32) * tl.repeat(s, 32, 0)
    return tl.permute_dims(weight, (1, 0)), (values * np.repeat(scale, 32, 0)).T


def joined(columns: int, depth: int) -> Weight:
    """Q5_0 and Q6_K: the upper bits of codes lie in a plane of their own."""
    q, low = codes(columns, depth // 16, 16, "int4")
    upper = RNG.integers(-2, 2, (columns, depth), np.int8)
    s, scale = scales(columns, depth // 16)
    bytes_ = tl.reshape(q, (columns, depth)).astype(tl.int8) + known(upper) * 16
    weight = bytes_.astype(tl.float32) * tl.repeat(s, 16, -1)
    return weight, (flat(low) + 16.0 * upper) * np.repeat(scale, 16, -1)


def looked_up(columns: int, depth: int) -> Weight:
    """IQ4_NL: a code counts in a table."""
    q, plain = codes(columns, depth // 32, 32, "uint4")
    table = RNG.integers(-127, 127, 16, np.int8)
    s, scale = scales(columns, depth // 32)
    whole = tl.take(known(table), tl.reshape(q, (columns, depth)).astype(tl.uint8), axis=0)
    weight = whole.astype(tl.float32) * tl.repeat(s, 32, -1)
    return weight, table[flat(plain).astype(int)] * np.repeat(scale, 32, -1)


def taking_turns(columns: int, depth: int) -> Weight:
    """Q4_K as a reader of GGUF has it: steps and floors take turns in a plane."""
    blocks = depth // 32
    q, plain = codes(columns, blocks, 32, "uint4")
    halves, half = scales(columns, 2 * (blocks // 8))
    pairs = RNG.integers(0, 64, (columns, 2 * blocks), np.uint8)

    def steps(first: int) -> tuple[Tensor, np.ndarray]:
        some = known(pairs)[:, first::2].astype(tl.float32)
        number = tl.repeat(halves[:, first::2], 8, -1) * some
        return tl.repeat(number, 32, -1), np.repeat(
            np.repeat(half[:, first::2], 8, -1) * pairs[:, first::2], 32, -1
        )

    (s, scale), (m, minimum) = steps(0), steps(1)
    weight = tl.reshape(q, (columns, depth)).astype(tl.float32) * s - m
    return weight, flat(plain) * scale - minimum


FORMS: dict[str, Callable[[int, int], Weight]] = {
    "Q8_0": lambda n, k: scaled(n, k, "int8"),
    "Q4_0": centred,
    "Q4_1": least,
    "Q4_K": super_blocks,
    "int4": lambda n, k: scaled(n, k, "int4", dtype=np.float32),
    "uint8 of 16": centred_bytes,
    "int8 of 16": lambda n, k: scaled(n, k, "int8", 16),
    "uint4 of 16": centred_short,
    "minima of 16": lambda n, k: least(n, k, 16),
    "int4 of 128": lambda n, k: scaled(n, k, "int4", 128),
    "minima of 64": lambda n, k: least(n, k, 64),
    "zero points": zero_points,
    "along columns": along_columns,
    "joined": joined,
    "looked up": looked_up,
    "Q4_K in turns": taking_turns,
}
