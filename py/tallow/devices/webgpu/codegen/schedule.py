"""How a hand-written kernel is bound to the node that it computes.

kernels_wgsl/ holds the shaders; each is a whole module whose memory access goes through functions
named load_* and store_*. A Schedule says, for such a file, what these functions read and write
and how large the dispatch is; hand_written.py writes them anew around whatever is fused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ....core.shape import Shape
from ....errors import GraphError
from ....graph import Node


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
    """A kernel's text and its metadata."""

    text: str
    tile: Tile
    workgroup: tuple[int, int, int]


@cache
def kernel_file(name: str) -> KernelFile:
    """Reads kernels_wgsl/NAME.wgsl, from the installed package or the source tree."""
    packaged = files(__package__.partition(".")[0]) / "kernels_wgsl" / f"{name}.wgsl"
    source_tree = Path(__file__).resolve().parents[5] / "kernels_wgsl" / f"{name}.wgsl"
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
