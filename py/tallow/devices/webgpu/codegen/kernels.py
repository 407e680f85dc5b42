"""The hand-written kernels, and how each is bound to the node that it computes (schedule.py)."""

from __future__ import annotations

import struct
from typing import Any

from ....core.shape import Shape, size_of
from ....graph import Node
from ....ops import blocks, contract
from .recurrence_kernels import (
    DYNAMIC_RECURRENCE,
    DYNAMIC_ROUND,
    DYNAMIC_STEP,
    RECURRENCE,
    RECURRENCE_BACK,
)
from .schedule import LARGE, QUAD, SMALL, SQUARE, TILED, Load, Schedule, Tile, named
from .window_kernels import (
    CONVOLUTIONS,
    DEPTHWISE,
    GROUPED,
    POOL,
    TRANSFORM_INPUT,
    TRANSFORM_OUTPUT,
    WEIGHT_GRADIENTS,
)

# ---- matrix products --------------------------------------------------------------------------


def matrix_of(node: Node) -> tuple[int, int, int, int]:
    """Batch, rows, inner length and columns of a matmul, or of a 1x1 convolution seen as one."""
    if node.op in (contract.matmul, contract.matmul_to, blocks.block_matmul):
        batch, rows, inner = node.inputs[0].shape
        return batch, rows, inner, node.shape[2]
    return 1, size_of(node.shape[:3]), node.inputs[0].shape[3], node.shape[3]


def _product(
    name: str, file: str, tile: Tile, workgroup: tuple[int, int, int], **facts: Any
) -> Schedule:
    def a_space(node: Node) -> Shape:
        batch, rows, inner, _ = matrix_of(node)
        return batch, rows, inner

    def b_space(node: Node) -> Shape:
        batch, _, inner, columns = matrix_of(node)
        return batch, inner, columns

    def out_space(node: Node) -> Shape:
        batch, rows, _, columns = matrix_of(node)
        return batch, rows, columns

    def extent(node: Node, tile: Tile) -> tuple[int, int, int]:
        batch, rows, _, columns = matrix_of(node)
        return -(-columns // tile.columns), -(-rows // tile.rows) * tile.split, batch

    column = Load("load_column", 1, ("batch", "col", "k4"), b_space, axes=(0, 2, 1))
    return Schedule(
        name,
        file,
        (
            Load("load_a", 0, ("batch", "row", "k4"), a_space),
            Load("load_b", 1, ("batch", "k", "col4"), b_space, guarded=("k",)),
        ),
        ("batch", "row", "col4"),
        out_space,
        lambda node: dict(zip("MKN", matrix_of(node)[1:], strict=True)),
        extent,
        tile,
        workgroup,
        column=None if file == "product_tiled" else column,
        of_node=lambda node: {"ENDS": node.op is contract.matmul_to},
        **facts,
    )


_ROWS: dict[str, Any] = {"parameters": {"WINDOW": False}}

PRODUCTS = named(
    _product("matmul_quad_32x8", "product", Tile(columns=8, rows=32), **QUAD),
    _product("matmul_quad_16x8", "product", Tile(columns=8, rows=16), **QUAD),
    _product("matmul_quad_16x4", "product", Tile(columns=4, rows=16), **QUAD),
    _product("matmul_8x8", "product", LARGE, SQUARE),
    _product("matmul_4x4", "product", SMALL, SQUARE),
    _product("matmul_1x4", "product_row", Tile(columns=4), (16, 1, 1)),
    _product("matmul_tile_8x8", tile=LARGE, **TILED, **_ROWS),
    _product("matmul_tile_4x4", tile=SMALL, **TILED, **_ROWS),
    _product("matmul_tile_8x8_f16", tile=LARGE, half=True, **TILED, **_ROWS),
    _product("matmul_split", "product_row", Tile(columns=4, split=16), (8, 16, 1)),
)

# ---- products by weights in blocks ------------------------------------------------------------


def _blocks(name: str, file: str, tile: Tile, **facts: Any) -> Schedule:
    def words(node: Node) -> Shape:
        return node.inputs[1].shape

    def factors(node: Node) -> Shape:
        return node.inputs[2].shape

    def numbers(node: Node) -> dict[str, Any]:
        bits, zero = node.attrs["bits"], node.attrs["zero"]
        turn, more = {-4: ("0x88888888", 8), -8: ("0x80808080", 128)}.get(bits, ("0u", 0))
        return {
            "BITS": abs(bits), "TURN": turn, "ZERO": zero + more, "BLOCK": node.attrs["block"],
            "BLOCKS": factors(node)[1], "MINIMA": len(node.inputs) > 3,
        }  # fmt: skip

    few = tile.rows == 1

    def extent(node: Node, tile: Tile) -> tuple[int, int, int]:
        _, rows, columns = node.shape
        across, down = -(-columns // tile.columns), -(-rows // tile.rows)
        return (tile.split, across, down) if few else (across, down, 1)

    return Schedule(
        name,
        file,
        (
            Load("load_a", 0, ("batch", "row", "k4"), lambda node: node.inputs[0].shape),
            Load("load_words", 1, ("col", "word4"), words)
            if few
            else Load("load_word", 1, ("col", "word"), words, width=1),
            Load("load_scale", 2, ("col", "block"), factors, width=1),
            Load("load_minimum", 3, ("col", "block"), factors, width=1),
        ),
        ("batch", "row", "col4"),
        lambda node: node.shape,
        lambda node: dict(zip("MKN", matrix_of(node)[1:], strict=True)),
        extent,
        tile,
        of_node=numbers,
        **facts,
    )


BLOCKS = named(
    _blocks("blocks_1x8", "product_blocks", Tile(columns=8), workgroup=(1, 8, 1)),
    _blocks("blocks_split", "product_blocks", Tile(columns=4, split=16), workgroup=(16, 8, 1)),
    _blocks("blocks_8x8", "product_blocks_tall", LARGE, workgroup=SQUARE),
    _blocks("blocks_quad_16x8", "product_blocks_tall", Tile(columns=8, rows=16), **QUAD),
)

# ---- trees ------------------------------------------------------------------------------------


def _tree_numbers(node: Node) -> dict[str, Any]:
    trees, rows = node.shape
    features, (count, _) = node.inputs[0].shape[1], node.inputs[1].shape
    depth = node.attrs["depth"]
    return {"ROWS": rows, "FEATURES": features, "TREES": trees, "COUNT": count, "DEPTH": depth}


TREES = Schedule(
    "trees",
    "trees",
    (
        Load("load_x", 0, ("row", "feature"), lambda node: node.inputs[0].shape),
        Load("load_node", 1, ("at", "column"), lambda node: node.inputs[1].shape),
        Load("load_split", 2, ("at",), lambda node: node.inputs[2].shape),
        Load("load_root", 3, ("tree",), lambda node: node.inputs[3].shape),
    ),
    ("tree", "row"),
    lambda node: node.shape,
    _tree_numbers,
    lambda node, tile: (node.shape[1], node.shape[0], 1),
    Tile(),
    (64, 1, 1),
    width=1,
)

# ---- attention --------------------------------------------------------------------------------


def _attention_numbers(node: Node) -> dict[str, Any]:
    (_, heads, rows, _), keys = node.shape, node.inputs[1].shape
    (scale,) = struct.unpack("<I", struct.pack("<f", node.attrs["scale"]))
    return {
        "GROUP": heads // keys[1], "ROWS": rows, "KEYS": keys[2], "SCALE": scale,
        "CAUSAL": node.attrs["causal"], "WINDOW": node.attrs["window"],
    }  # fmt: skip


ATTENTION = Schedule(
    "attention",
    "attention",
    (
        Load("load_q", 0, ("n", "head", "row", "d4"), lambda node: node.inputs[0].shape),
        Load("load_k", 1, ("n", "head", "key", "d4"), lambda node: node.inputs[1].shape),
        Load("load_v", 2, ("n", "head", "key", "e4"), lambda node: node.inputs[2].shape),
        Load("load_reach", 3, ("n",), lambda node: node.inputs[3].shape, width=1),
    ),
    ("n", "head", "row", "e4"),
    lambda node: node.shape,
    _attention_numbers,
    lambda node, tile: (node.shape[2], node.shape[1], node.shape[0]),
    Tile(columns=4),
    (64, 1, 1),
    of_node=lambda node: {"SIZE": node.inputs[0].shape[3] // 4, "WIDE": node.shape[3] // 4},
)

SCHEDULES = named(
    *PRODUCTS.values(),
    *BLOCKS.values(),
    *CONVOLUTIONS.values(),
    *DEPTHWISE.values(),
    *WEIGHT_GRADIENTS.values(),
    GROUPED,
    POOL,
    TRANSFORM_INPUT,
    TRANSFORM_OUTPUT,
    RECURRENCE,
    RECURRENCE_BACK,
    DYNAMIC_RECURRENCE,
    DYNAMIC_ROUND,
    DYNAMIC_STEP,
    TREES,
    ATTENTION,
)
