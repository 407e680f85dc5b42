"""Products with packed constants of every type, each against NumPy's answer."""

from __future__ import annotations

from math import prod

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.core import dtype as dt
from tallow.core.codes import packed_bytes
from tallow.core.hostarray import HostArray
from tallow.graph import Graph, constant, input_node
from tallow.runtime.session import compile_session_async
from tallow.tensor import Tensor

TYPES = (
    dt.int8, dt.uint8, dt.int16, dt.uint16, dt.int4, dt.uint4, dt.int2, dt.uint2, dt.bfloat16,
    dt.float8_e4m3fn, dt.float4_e2m1fn,
)  # fmt: skip


def packed(dtype: dt.DType, shape: tuple[int, ...]) -> HostArray:
    """Random elements that are all finite."""
    if dtype.narrow_bits or dtype.is_integer:
        codes = np.random.default_rng(2).integers(0, 256, packed_bytes(dtype, prod(shape)))
        return HostArray(memoryview(codes.astype(np.uint8).tobytes()), shape, dtype)
    codes = 7 * np.random.default_rng(2).integers(0, 16, shape)
    if dtype == dt.bfloat16:
        content = (codes + 0x3F80).astype(np.uint16).tobytes()
    else:
        content = codes.astype(np.uint8).tobytes()
    return HostArray(memoryview(content), shape, dtype)


def graph_of(dtype: dt.DType, columns: int) -> Graph:
    """A product, one with a transposed weight, rows of a table and a convolution."""
    a, b = input_node("a", (5, 96), tl.float32), input_node("b", (1, 24, 4, 4), tl.float32)
    rows = input_node("rows", (3,), tl.int32)
    weight = Tensor(constant(packed(dtype, (96, columns)))).astype(tl.float32)
    turned = Tensor(constant(packed(dtype, (columns, 96)))).astype(tl.float32)
    filters = Tensor(constant(packed(dtype, (columns, 24, 2, 2)))).astype(tl.float32)
    outputs = {
        "product": Tensor(a) @ weight,
        "turned": Tensor(a) @ tl.permute_dims(turned, (1, 0)),
        "taken": tl.take(weight, Tensor(rows), axis=0),
        "conv": F.conv2d(Tensor(b), filters * 0.5),
    }
    named = {name: value.node for name, value in outputs.items()}
    return Graph((a, b, rows), named, f"{dtype.name} {columns}")


async def run_case(dtype: dt.DType, columns: int, device: str) -> list[str]:
    """What is wrong with the answers on a device, or with what it holds."""
    random = np.random.default_rng(3)
    feeds = {
        "a": random.standard_normal((5, 96)).astype(np.float32),
        "b": random.standard_normal((1, 24, 4, 4)).astype(np.float32),
        "rows": np.array([95, 0, 33], np.int32),
    }
    graph, wrong = graph_of(dtype, columns), []
    with await compile_session_async(graph, "numpy") as session:
        wanted = await session.run_async(feeds)
    with await compile_session_async(graph, device) as session:
        got = await session.run_async(feeds)
        held, bits = session.stats["weights"], dtype.bits
        # Three weights, each with a table if its type needs one.
        if held > 3 * (96 * columns * bits // 8 + 16 + 1024):
            wrong.append(f"{graph.name}: {held} bytes of weights")
    for name, value in wanted.items():
        error = abs(got[name] - value).max() / abs(value).max()
        if not error < 1e-5:
            wrong.append(f"{graph.name}, {name}: {error}")
    return wrong


async def run_all(device: str) -> list[str]:
    """What is wrong with any type, with columns that neighbours share words in, and others."""
    return [
        line
        for dtype in TYPES
        for columns in (64, 63)
        for line in await run_case(dtype, columns, device)
    ]
