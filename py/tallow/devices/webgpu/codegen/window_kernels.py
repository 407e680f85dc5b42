"""The hand-written kernels of convolutions, their gradients, pools and Winograd's transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.shape import Shape, size_of
from ....graph import Node
from ....ops import window, winograd
from ....ops.numpy_kernels import images_a_part
from .schedule import LARGE, QUAD, SMALL, SQUARE, TILED, Load, Schedule, Tile, named

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


def _window(
    name: str,
    file: str,
    tile: Tile,
    workgroup: tuple[int, int, int],
    weight: Load | None,
    extent: Callable[[Node, Tile], tuple[int, int, int]] = _pixels,
    **facts: Any,
) -> Schedule:
    loads = (_image(), weight) if weight else (_image(),)
    return Schedule(
        name,
        file,
        loads,
        _PIXEL,
        lambda node: node.shape,
        _geometry,
        extent,
        tile,
        workgroup,
        **facts,
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


def _convolution(
    name: str,
    tile: Tile,
    workgroup: tuple[int, int, int],
    file: str = "convolution",
    **facts: Any,
) -> Schedule:
    facts = {"parameters": {"ACROSS": False}, **facts}
    return _window(name, file, tile, workgroup, _weight(("c",)), **facts)


def _depthwise(
    name: str, file: str, tile: Tile, workgroup: tuple[int, int, int], **parameters: int
) -> Schedule:
    weight = Load("load_w", 1, ("ky", "kx", "c4"), _depthwise_space)
    return _window(name, file, tile, workgroup, weight, parameters=parameters)


_TAPS: dict[str, Any] = {"parameters": {"WINDOW": True}}
_QUAD_ACROSS: dict[str, Any] = {**QUAD, "parameters": {"ACROSS": True}, "extent": _across}

CONVOLUTIONS = named(
    _convolution("conv2d_quad_16x8", Tile(columns=8, rows=16), **QUAD),
    _convolution("conv2d_quad_16x4", Tile(columns=4, rows=16), **QUAD),
    _convolution("conv2d_quad_8x8", LARGE, **_QUAD_ACROSS),
    _convolution("conv2d_8x8", LARGE, SQUARE),
    _convolution("conv2d_4x4", SMALL, SQUARE),
    _convolution("conv2d_tile_8x8", LARGE, **TILED, **_TAPS),
    _convolution("conv2d_tile_4x4", SMALL, **TILED, **_TAPS),
    _convolution("conv2d_tile_8x8_f16", LARGE, half=True, **TILED, **_TAPS),
)
_STRIP = Tile(columns=4, pixels=4, lines=28)
DEPTHWISE = named(
    _depthwise("depthwise", "depthwise", Tile(columns=4, pixels=4), SQUARE),
    *(
        _depthwise(
            f"depthwise_{size}x{size}{'_stride2' if stride == 2 else ''}",
            "depthwise_strip",
            _STRIP,
            (4, 1, 1),
            SIZE=size,
            STRIDE=stride,
        )
        for size in (3, 5)
        for stride in (1, 2)
    ),
)
GROUPED = _window("conv2d_grouped", "convolution_grouped", Tile(), (16, 4, 1), _weight(), width=1)
POOL = _window("pool2d", "pool", Tile(columns=4), (16, 1, 1), None, _along_lines)


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


def _weight_gradient(
    name: str, tile: Tile, workgroup: tuple[int, int, int], **facts: Any
) -> Schedule:
    return Schedule(
        name,
        "weight_gradient",
        (_image(), Load("load_g", 1, ("n", "oy", "ox", "o4"), lambda node: node.inputs[1].shape)),
        ("part", "row", "o4"),
        _weight_space,
        _weight_numbers,
        _weight_extent,
        tile,
        workgroup,
        **facts,
    )


WEIGHT_GRADIENTS = named(
    _weight_gradient("conv2d_weight_quad_16x8", Tile(columns=8, rows=16), **QUAD),
    _weight_gradient("conv2d_weight_quad_16x4", Tile(columns=4, rows=16), **QUAD),
    _weight_gradient("conv2d_weight_8x8", LARGE, SQUARE),
)


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


def _transform(name: str, tile: Tile, load: Load, params: tuple[str, ...]) -> Schedule:
    return Schedule(
        name,
        name,
        (load,),
        params,
        lambda node: node.shape,
        _transform_numbers,
        _transform_extent,
        tile,
        (16, 1, 1),
    )


_PATCH = ("position", "tile", "c4")

TRANSFORM_INPUT = _transform("winograd_input", Tile(columns=4, lines=8), _image(), _PATCH)
TRANSFORM_OUTPUT = _transform(
    "winograd_output",
    Tile(columns=4),
    Load("load_m", 0, _PATCH, lambda node: node.inputs[0].shape),
    _PIXEL,
)
