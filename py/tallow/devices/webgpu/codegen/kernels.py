"""The hand-written kernels, and how each is bound to the node that it computes (schedule.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....core.shape import Shape, size_of
from ....graph import Node
from ....ops import contract, window, winograd
from ....ops.numpy_kernels import images_a_part
from .recurrence_kernels import (
    DYNAMIC_RECURRENCE,
    DYNAMIC_ROUND,
    DYNAMIC_STEP,
    RECURRENCE,
    RECURRENCE_BACK,
)
from .schedule import Load, Schedule, Tile

# ---- matrix products --------------------------------------------------------------------------


def matrix_of(node: Node) -> tuple[int, int, int, int]:
    """Batch, rows, inner length and columns of a matmul, or of a 1x1 convolution seen as one."""
    if node.op is contract.matmul:
        batch, rows, inner = node.inputs[0].shape
        return batch, rows, inner, node.shape[2]
    return 1, size_of(node.shape[:3]), node.inputs[0].shape[3], node.shape[3]


def _product(file: str) -> Schedule:
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

    return Schedule(
        file,
        (
            Load("load_a", 0, ("batch", "row", "k4"), a_space),
            Load("load_b", 1, ("batch", "k", "col4"), b_space, guarded=("k",)),
        ),
        ("batch", "row", "col4"),
        out_space,
        lambda node: dict(zip("MKN", matrix_of(node)[1:], strict=True)),
        extent,
        column=Load("load_column", 1, ("batch", "col", "k4"), b_space, axes=(0, 2, 1)),
    )


PRODUCTS = {
    name: _product(name)
    for name in (
        "matmul_quad_32x8",
        "matmul_quad_16x8",
        "matmul_quad_16x4",
        "matmul_8x8",
        "matmul_4x4",
        "matmul_1x4",
        "matmul_tile_8x8",
        "matmul_tile_4x4",
        "matmul_tile_8x8_f16",
        "matmul_split",
    )
}


# ---- windows ----------------------------------------------------------------------------------

_PIXEL = ("n", "y", "x", "c4")


def _geometry(node: Node) -> dict[str, Any]:
    _, height, width, channels = node.inputs[0].shape
    kernel = node.attrs.get("kernel") or node.inputs[1].shape[:2]
    return {
        "IN_H": height,
        "IN_W": width,
        "IN_C": channels,
        "OUT_H": node.shape[1],
        "OUT_W": node.shape[2],
        "OUT_C": node.shape[3],
        "K_H": kernel[0],
        "K_W": kernel[1],
        "STRIDE_H": node.attrs["stride"][0],
        "STRIDE_W": node.attrs["stride"][1],
        "PAD_TOP": node.attrs["padding"][0][0],
        "PAD_LEFT": node.attrs["padding"][1][0],
        "DILATION_H": node.attrs["dilation"][0],
        "DILATION_W": node.attrs["dilation"][1],
        "GROUPS": node.attrs.get("groups", 1),
        "IS_MAX": node.op is window.max_pool2d,
    }


def _pixels(node: Node, tile: Tile) -> tuple[int, int, int]:
    n, height, width, channels = node.shape
    if tile.rows > 1:
        down = -(-height * width // tile.rows)
    else:
        down = -(-height // tile.lines) * -(-width // tile.pixels)
    return -(-channels // tile.columns), down, n


def _along_lines(node: Node, tile: Tile) -> tuple[int, int, int]:
    n, height, width, channels = node.shape
    return width * -(-channels // tile.columns), height, n


def _image() -> Load:
    return Load("load_x", 0, _PIXEL, lambda node: node.inputs[0].shape)


def _window(file: str, *weight: Load, width: int = 4) -> Schedule:
    return Schedule(
        file, (_image(), *weight), _PIXEL, lambda node: node.shape, _geometry, _pixels, width
    )


def _weight(guarded: tuple[str, ...] = ()) -> Load:
    params = ("ky", "kx", "c", "o4")
    return Load("load_w", 1, params, lambda node: node.inputs[1].shape, guarded)


def _depthwise_space(node: Node) -> Shape:
    kh, kw, _, channels = node.inputs[1].shape
    return kh, kw, channels


def _across(node: Node, tile: Tile) -> tuple[int, int, int]:
    n, height, width, channels = node.shape
    return -(-height * width // tile.rows), -(-channels // tile.columns), n


CONVOLUTIONS = {
    name: _window(name, _weight(("c",)))
    for name in (
        "conv2d_quad_16x8",
        "conv2d_quad_16x4",
        "conv2d_quad_8x8",
        "conv2d_8x8",
        "conv2d_4x4",
        "conv2d_tile_8x8",
        "conv2d_tile_4x4",
        "conv2d_tile_8x8_f16",
    )
}
CONVOLUTIONS["conv2d_quad_8x8"] = replace(CONVOLUTIONS["conv2d_quad_8x8"], extent=_across)
DEPTHWISE = {
    name: _window(name, Load("load_w", 1, ("ky", "kx", "c4"), _depthwise_space))
    for name in (
        "depthwise",
        "depthwise_3x3",
        "depthwise_3x3_stride2",
        "depthwise_5x5",
        "depthwise_5x5_stride2",
    )
}
GROUPED = _window("conv2d_grouped", _weight(), width=1)
POOL = replace(_window("pool2d"), extent=_along_lines)


def _weight_numbers(node: Node) -> dict[str, Any]:
    images, height, width, channels = node.inputs[0].shape
    _, out_height, out_width, filters = node.inputs[1].shape
    attrs = node.attrs
    return {
        "IMAGES": images,
        "IMAGES_A_PART": images_a_part(images, attrs["parts"]),
        "IN_H": height,
        "IN_W": width,
        "IN_C": channels,
        "OUT_H": out_height,
        "OUT_W": out_width,
        "OUT_C": filters,
        **dict(zip(("K_H", "K_W"), attrs["kernel"], strict=True)),
        **dict(zip(("STRIDE_H", "STRIDE_W"), attrs["stride"], strict=True)),
        **dict(zip(("DILATION_H", "DILATION_W"), attrs["dilation"], strict=True)),
        "PAD_TOP": attrs["padding"][0][0],
        "PAD_LEFT": attrs["padding"][1][0],
    }


def _weight_space(node: Node) -> Shape:
    return node.shape[0], size_of(node.shape[1:4]), node.shape[4]


def _weight_extent(node: Node, tile: Tile) -> tuple[int, int, int]:
    parts, kh, kw, channels, filters = node.shape
    return -(-filters // tile.columns), kh * kw * -(-channels // tile.rows), parts


WEIGHT_GRADIENTS = {
    name: Schedule(
        name,
        (_image(), Load("load_g", 1, ("n", "oy", "ox", "o4"), lambda node: node.inputs[1].shape)),
        ("part", "row", "o4"),
        _weight_space,
        _weight_numbers,
        _weight_extent,
    )
    for name in ("conv2d_weight_quad_16x8", "conv2d_weight_quad_16x4", "conv2d_weight_8x8")
}


def is_pointwise(node: Node) -> bool:
    """Whether a convolution is a matrix product of pixels by channels."""
    return (
        node.op is window.conv2d
        and node.attrs["groups"] == 1
        and node.inputs[1].shape[:2] == (1, 1)
        and tuple(node.attrs["stride"]) == (1, 1)
        and not any(side for pair in node.attrs["padding"] for side in pair)
    )


# ---- Winograd's transforms --------------------------------------------------------------------


def _tiled(node: Node) -> tuple[Node, int, int]:
    """The image on this side of a transform, and how many tiles a picture has down and across."""
    if node.op is winograd.winograd_output:
        return node, *winograd.tiles_of(node.shape[1:3])
    (image,) = node.inputs
    size = winograd.result_size(image.shape, node.attrs["padding"])
    return image, *winograd.tiles_of(size)


def _transform_numbers(node: Node) -> dict[str, Any]:
    image, down, across = _tiled(node)
    n, height, width, channels = image.shape
    numbers = {"TILES_H": down, "TILES_W": across, "TILES": n * down * across}
    if node.op is winograd.winograd_output:
        return {**numbers, "OUT_H": height, "OUT_W": width, "OUT_C": channels}
    top, left = node.attrs["padding"][0][0], node.attrs["padding"][1][0]
    shape = {"IN_H": height, "IN_W": width, "IN_C": channels}
    return {**numbers, **shape, "PAD_TOP": top, "PAD_LEFT": left}


def _transform_extent(node: Node, tile: Tile) -> tuple[int, int, int]:
    image, down, across = _tiled(node)
    return -(-image.shape[3] // tile.columns), -(-down // tile.lines) * across, image.shape[0]


def _transform(file: str, load: Load, params: tuple[str, ...]) -> Schedule:
    return Schedule(
        file, (load,), params, lambda node: node.shape, _transform_numbers, _transform_extent
    )


_PATCH = ("position", "tile", "c4")

TRANSFORM_INPUT = _transform("winograd_input", _image(), _PATCH)
TRANSFORM_OUTPUT = _transform(
    "winograd_output", Load("load_m", 0, _PATCH, lambda node: node.inputs[0].shape), _PIXEL
)

# ---- trees ------------------------------------------------------------------------------------


def _tree_numbers(node: Node) -> dict[str, Any]:
    trees, rows = node.shape
    features, (count, _) = node.inputs[0].shape[1], node.inputs[1].shape
    depth = node.attrs["depth"]
    return {"ROWS": rows, "FEATURES": features, "TREES": trees, "COUNT": count, "DEPTH": depth}


TREES = Schedule(
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
    width=1,
)

SCHEDULES = {
    schedule.file: schedule
    for schedule in (
        *PRODUCTS.values(),
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
    )
}
