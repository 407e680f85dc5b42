"""Arrays that are read as another type while their bytes are on their way (core/retyped.py)."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from tallow.compile.passes.blocks import use_blocks
from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.core.retyped import retyped
from tallow.core.streamed_weights import StreamedArray
from tallow.errors import DataNotLoadedError, ShapeError
from tallow.functions import astype, matmul, permute_dims, repeat
from tallow.graph import Graph, constant, input_node
from tallow.ops.blocks import block_matmul
from tallow.tensor import Tensor


class Part:
    """Bytes that come when they are waited for, and may be taken once."""

    handle = "a part of a file"

    def __init__(self, content: bytes) -> None:
        self.content: bytes | None = content
        self.here = False

    async def ready(self) -> None:
        self.here = True

    def take(self) -> memoryview:
        assert self.content is not None
        content, self.content = self.content, None
        return memoryview(content)


def test_bytes_arrive_once_for_both() -> None:
    part: Any = Part(bytes(range(64)))
    source = StreamedArray(part, (4, 32), dt.uint4)
    same = retyped(source, (4, 16), dt.uint8)
    assert isinstance(same, StreamedArray)
    assert same.part is part
    with pytest.raises(DataNotLoadedError):
        _ = same.data
    asyncio.run(same.arrive())
    assert same.part is None
    assert bytes(same.data) == bytes(source.data) == bytes(range(64))
    asyncio.run(source.arrive())  # does nothing, though the part is taken
    assert same.numpy().shape == (4, 16)


def test_other_arrays_share_their_bytes() -> None:
    array = HostArray(memoryview(bytes(8)), (8,), dt.int8)
    assert retyped(array, (4, 4), dt.uint4).data is array.data
    with pytest.raises(ShapeError):
        retyped(array, (4,), dt.int8)


def test_a_weight_on_its_way_is_not_waited_for() -> None:
    part: Any = Part(bytes(64 * 128))
    codes = Tensor(constant(StreamedArray(part, (64, 256), dt.uint4)))
    scale = HostArray(memoryview(np.ones((64, 8), np.float16).tobytes()), (64, 8), dt.float16)
    factors = repeat(astype(Tensor(constant(scale)), dt.float32), 32, -1)
    weight = astype(codes, dt.float32) * factors
    x = input_node("x", (1, 256), dt.float32)
    y = matmul(Tensor(x), permute_dims(weight, (1, 0)))
    nodes = use_blocks(Graph((x,), {"y": y.node}, "streamed")).nodes()
    (product,) = (node for node in nodes if node.op is block_matmul)
    assert product.inputs[1].attrs["data"].part is part
    assert not part.here
