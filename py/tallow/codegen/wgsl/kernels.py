"""The hand-written kernels, and how each is bound to the node that it computes.

kernels_wgsl/ holds the shaders; each is a whole module whose memory access goes through functions
named load_* and store_*. A Schedule says, for such a file, what these functions read and write
and how large the dispatch is; hand_written.py writes them anew around whatever is fused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...errors import GraphError
from ...graph import Node
from ...ops import contract, recurrence, recurrence_training, window, winograd
from ...ops.numpy_kernels import images_a_part
from ...shape import Shape, size_of


@dataclass(frozen=True)
class Load:
    """A function load_*(params): operand `operand` seen in the shape `space`, row-major.

    The last parameter counts in fours, if loads are four wide. `guarded` parameters may pass the
    end of their axis when its length is not a multiple of 4; the function then gives 0. width:
    elements that it loads, if not those of the schedule. axes: those of the space in the order of
    the parameters, if that is another.
    """

    function: str
    operand: int
    params: tuple[str, ...]
    space: Callable[[Node], Shape]
    guarded: tuple[str, ...] = ()
    width: int = 0
    axes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """How a kernel file computes a node.

    space: the shape that the parameters of store_out count in. overrides: values for the file's
    override constants (those that it does not declare are left out). extent: invocations along
    the dispatch axes. width: elements that a load or a store moves. column: loads four elements of
    a column of the second factor; a file's function `block` may be made of it.
    """

    file: str
    loads: tuple[Load, ...]
    params: tuple[str, ...]
    space: Callable[[Node], Shape]
    overrides: Callable[[Node], dict[str, Any]]
    extent: Callable[[Node, Tile], tuple[int, int, int]]
    width: int = 4
    column: Load | None = None


@dataclass(frozen=True)
class Tile:
    """Outputs of one invocation: `columns` (channels) of `rows` rows of a matrix product, of
    `rows` pixels in row-major order, or of `pixels` pixels on each of `lines` lines. split: how
    many invocations share these outputs, neighbours in y."""

    columns: int
    rows: int
    pixels: int
    lines: int
    split: int


@dataclass(frozen=True)
class KernelFile:
    """A kernel's text and what it says of itself."""

    text: str
    tile: Tile
    workgroup: tuple[int, int, int]


@cache
def kernel_file(name: str) -> KernelFile:
    """Reads kernels_wgsl/NAME.wgsl, from the installed package or the source tree."""
    packaged = files(__package__.partition(".")[0]) / "kernels_wgsl" / f"{name}.wgsl"
    source_tree = Path(__file__).resolve().parents[4] / "kernels_wgsl" / f"{name}.wgsl"
    text = (packaged if packaged.is_file() else source_tree).read_text("utf-8")
    tile = {
        name: int(size) for name, size in re.findall(r"^const TILE_(\w+) = (\d+)u;", text, re.M)
    }
    columns = tile.get("COLS") or tile.get("CHANNELS")
    sizes = re.search(r"@workgroup_size\((\d+), (\d+), (\d+)\)", text)
    if not (columns and sizes):
        raise GraphError(f"kernels_wgsl/{name}.wgsl does not declare its tile and workgroup size")
    others = (tile.get(axis, 1) for axis in ("ROWS", "PIXELS", "LINES", "SPLIT"))
    x, y, z = (int(size) for size in sizes.groups())
    return KernelFile(text, Tile(columns, *others), (x, y, z))


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

# ---- recurrences ------------------------------------------------------------------------------


def _by_gates(operand: int, size: Callable[[Node], int]) -> Callable[[Node], Shape]:
    """The shape of an operand, or of the result for -1, with the gates on an axis of their own."""

    def space(node: Node) -> Shape:
        *outer, width = node.shape if operand < 0 else node.inputs[operand].shape
        return *outer, width // size(node), size(node)

    return space


def _recurrence_numbers(node: Node) -> dict[str, Any]:
    _, directions, batch, size = node.shape
    keeps = node.op is recurrence_training.recurrence_kept
    return {
        **_layer_numbers(node, node.inputs[0].shape[0], directions, batch, size),
        "KEEPS": keeps,
    }


def _layer_numbers(node: Node, time: int, directions: int, batch: int, size: int) -> dict[str, Any]:
    attrs = node.attrs
    numbers = {
        "TIME": time,
        "START": attrs["start"],
        "STEPS": attrs["steps"],
        "BATCH": batch,
        "DIRECTIONS": directions,
        "HIDDEN": size,
        "BACKWARD": sum(back << direction for direction, back in enumerate(attrs["backward"])),
        "CLIP": _bits(attrs["clip"]),
        "INPUT_FORGET": int(attrs["input_forget"]),
        "GATES": recurrence.GATES[attrs["cell"]],
        "LINEAR": bool(attrs["linear_before_reset"]) and attrs["cell"] == "gru",
    }
    unused = [("Tanh", 0.0, 0.0)] * (3 - len(attrs["activations"]))
    for index, (name, alpha, beta) in enumerate([*attrs["activations"], *unused]):
        number = list(recurrence.ACTIVATIONS).index(name)
        numbers |= {f"FUNCTION_{index}": number}
        numbers |= {f"ALPHA_{index}": _bits(alpha), f"BETA_{index}": _bits(beta)}
    return numbers


def _bits(value: float) -> int:
    """A float32 as a whole number."""
    return int.from_bytes(struct.pack("<f", value), "little")


def _recurrence_extent(node: Node, tile: Tile) -> tuple[int, int, int]:
    """A workgroup for each sequence of each direction."""
    _, directions, batch, _ = node.shape
    return 1, batch, directions


def _size(node: Node) -> int:
    return node.shape[3]


RECURRENCE = Schedule(
    "recurrence",
    (
        Load("load_x", 0, ("t", "b", "d", "gate", "unit"), _by_gates(0, _size)),
        Load("load_hidden", 1, ("d", "k", "unit"), lambda node: node.inputs[1].shape, ("k",), 4),
        Load("load_state", 2, ("number", "d", "b", "unit"), lambda node: node.inputs[2].shape),
        Load("load_extra", 3, ("d", "gate", "unit"), _by_gates(3, _size)),
        Load("load_length", 4, ("b",), lambda node: node.inputs[4].shape),
    ),
    ("row", "d", "b", "unit"),
    lambda node: node.shape,
    _recurrence_numbers,
    _recurrence_extent,
    width=1,
)


def _back_size(node: Node) -> int:
    return node.inputs[3].shape[3]


def _back_numbers(node: Node) -> dict[str, Any]:
    count, directions, batch, size = node.inputs[3].shape
    return _layer_numbers(node, node.inputs[0].shape[0] - count, directions, batch, size)


def _shape_of(operand: int) -> Callable[[Node], Shape]:
    return lambda node: node.inputs[operand].shape


def _weights_by_gates(node: Node) -> Shape:
    directions, width, size = node.inputs[2].shape
    return directions, width // size, size, size


RECURRENCE_BACK = Schedule(
    "recurrence_back",
    (
        Load("load_gradient", 0, ("t", "d", "b", "unit"), _shape_of(0)),
        Load("load_whole", 1, ("row", "d", "b", "unit"), _shape_of(1)),
        Load("load_hidden", 2, ("d", "gate", "unit", "column"), _weights_by_gates),
        Load("load_state", 3, ("number", "d", "b", "unit"), _shape_of(3)),
        Load("load_extra", 4, ("d", "gate", "unit"), _by_gates(4, _back_size)),
        Load("load_length", 5, ("b",), _shape_of(5)),
    ),
    ("row", "b", "d", "gate", "unit"),
    _by_gates(-1, _back_size),
    _back_numbers,
    lambda node, tile: (1, node.shape[1], node.shape[2]),
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
    )
}
