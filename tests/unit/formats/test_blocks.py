"""Blocks of quantised weights: every type gives ggml's numbers, and stays packed in a product."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.files.ranges import ranges_of
from tallow.formats import blocks
from tallow.formats.blocks import BLOCKS, Block
from tallow.graph import Graph, input_node
from tallow.runtime.session import compile_session_async
from tallow.tensor import Tensor

from .gguf_files import KINDS, Raw, gguf
from .record_blocks import HALVES, RECORDED, random_blocks

TYPES = {block.name: block for block in BLOCKS.values()}

OUT, WIDTH = 192, 512


def recorded(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(RECORDED) as archive:
        return archive[f"{name} raw"], archive[f"{name} values"]


def bits(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint32)


def weight_of(block: Block, shape: tuple[int, ...], later: bool = False) -> Tensor:
    """A weight of random blocks. later: whether it is read when a device loads it."""
    raw = random_blocks(block.name, block.nbytes, prod(shape) // block.length)
    source = ranges_of(raw.tobytes())
    if later:
        return blocks.later_blocks(source, block, shape, 0)
    return run_sync(blocks.read_blocks(source, block, shape, 0))


def test_every_type_is_recorded() -> None:
    assert set(TYPES) == set(HALVES)
    assert {number: block.name for number, block in BLOCKS.items()} == {
        number: name for name, number in KINDS.items() if name in HALVES
    }


@pytest.mark.parametrize("name", TYPES)
def test_the_numbers_are_those_of_ggml(name: str) -> None:
    raw, values = recorded(name)
    found = tl.load(gguf({}, {"w": Raw(name, values.shape, raw.tobytes())}))["w"]
    assert (found.dtype, found.shape) == (tl.float32, values.shape)
    np.testing.assert_array_equal(bits(found.to("numpy").numpy()), bits(values))


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
@pytest.mark.parametrize("later", [False, True])
def test_products_and_rows_of_every_device(
    name: str, device: str, later: bool, run_async: Callable[..., Any], request: Any
) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    weight = weight_of(TYPES[name], (OUT, WIDTH), later)
    numbers = weight_of(TYPES[name], (OUT, WIDTH)).to("numpy").numpy()
    x, rows = input_node("x", (5, WIDTH), tl.float32), input_node("rows", (3,), tl.int32)
    made = {"y": Tensor(x) @ weight.T, "taken": tl.take(weight, Tensor(rows), axis=0)}
    graph = Graph((x, rows), {key: value.node for key, value in made.items()}, name)
    fed = {
        "x": np.random.default_rng(1).standard_normal((5, WIDTH)).astype(np.float32),
        "rows": np.array([OUT - 1, 0, 7], np.int32),
    }

    async def answers() -> Any:
        with await compile_session_async(graph, device) as session:
            return await session.run_async(fed)

    found = run_async(answers())
    wanted = fed["x"] @ numbers.T.astype(np.float64)
    # On WebAssembly the products are of 16-bit numbers: tests/ops/test_wasm_blocks.py.
    near = 2e-4 if device == "wasm" else 2e-6
    assert abs(found["y"] - wanted).max() <= near * abs(wanted).max()
    np.testing.assert_allclose(found["taken"], numbers[fed["rows"]], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", TYPES)
def test_pieces_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, values = recorded(name)
    monkeypatch.setattr(blocks, "_PIECE", 3 * TYPES[name].nbytes)
    found = tl.load(gguf({}, {"w": Raw(name, values.shape, raw.tobytes())}))["w"]
    np.testing.assert_array_equal(bits(found.to("numpy").numpy()), bits(values))


@pytest.mark.parametrize("name", TYPES)
def test_planes_take_little_more_than_the_file(name: str) -> None:
    block = TYPES[name]
    assert sum(plane.nbytes for plane in block.planes.values()) <= 1.04 * block.nbytes


def held(block: Block, device: str) -> tuple[int, int]:
    """The bytes of weights and of what is made of them once, of a product with a weight in the
    file's orientation, and those of its largest slot."""
    x = input_node("x", (1, WIDTH), tl.float32)
    product = Tensor(x) @ weight_of(block, (OUT, WIDTH)).T
    plan = compile_graph(Graph((x,), {"y": product.node}, block.name), device).plan
    kept = [slot.bytes for slot in plan.slots if slot.kind in ("weight", "prepared")]
    return sum(kept), max(slot.bytes for slot in plan.slots)


@pytest.mark.parametrize("name", TYPES)
def test_weights_stay_packed_on_a_gpu(name: str) -> None:
    block = TYPES[name]
    total, largest = held(block, "webgpu")
    assert largest <= OUT * WIDTH
    # The minima of blocks are kept once more, in the form of their product.
    assert total <= 1.4 * block.nbytes * OUT * WIDTH // block.length + 128


@pytest.mark.parametrize("name", TYPES)
def test_webassembly_holds_no_float32_copy(name: str) -> None:
    _, largest = held(TYPES[name], "wasm")
    assert largest <= OUT * WIDTH


def test_an_empty_weight() -> None:
    found = tl.load(gguf({}, {"w": Raw("Q4_0", (0, 64), b"")}))["w"]
    assert found.shape == (0, 64)
    assert found.numpy().size == 0
