"""How a hand-written kernel is bound to the node that it computes.

kernels_wgsl/ holds templates of shaders, whose memory access goes through functions named load_*
and store_*. A Schedule says which template with which parameters computes a node, what these
functions read and write, and how large the dispatch is; hand_written.py writes them around whatever
is fused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ....core.shape import Shape
from ....graph import Node
from .template import Part, expand, parse


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
class Tile:
    """Outputs of one invocation: `columns` (channels) of `rows` rows of a matrix product, of
    `rows` pixels in row-major order, or of `pixels` pixels on each of `lines` lines. split: how
    many invocations share these outputs, neighbours in y."""

    columns: int = 1
    rows: int = 1
    pixels: int = 1
    lines: int = 1
    split: int = 1


@dataclass(frozen=True)
class Schedule:
    """How a kernel computes a node.

    name: what a choice of it is remembered by. file: its template. loads: the functions that it
    reads by. params: of store_out. space: the shape that these count in. overrides: values for the
    template's override constants (those that it does not declare are left out). extent: invocations
    along the dispatch axes. tile, workgroup: of an invocation, and its invocations along the axes.
    width: elements that a load or a store moves. column: loads four elements of a column of the
    second factor; the function `block` may be made of it. quad: whether quads share what they read,
    by subgroup operations. half: whether it rounds operands to float16. parameters: the template's
    other ones. of_node: those that the node decides.
    """

    name: str
    file: str
    loads: tuple[Load, ...]
    params: tuple[str, ...]
    space: Callable[[Node], Shape]
    overrides: Callable[[Node], dict[str, Any]]
    extent: Callable[[Node, Tile], tuple[int, int, int]]
    tile: Tile
    workgroup: tuple[int, int, int]
    width: int = 4
    column: Load | None = None
    quad: bool = False
    half: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    of_node: Callable[[Node], dict[str, Any]] = lambda node: {}

    @property
    def facts(self) -> dict[str, Any]:
        """The values of its template's parameters, besides those that the node decides."""
        return {
            **{name.upper(): size for name, size in vars(self.tile).items()},
            "WORKGROUP": self.workgroup,
            "QUAD": self.quad,
            "HALF": self.half,
            **self.parameters,
        }

    def text(self, **decided: Any) -> str:
        """The kernel, without its bindings and the functions that access memory. decided: DOWN,
        another WORKGROUP, and what the node decides."""
        facts = {**self.facts, "DOWN": False, "ENDS": False, **decided}
        return _expanded(self.file, tuple(facts.items()))


@cache
def _expanded(file: str, facts: tuple[tuple[str, Any], ...]) -> str:
    values = dict(facts)
    values["WORKGROUP"] = ", ".join(map(str, values["WORKGROUP"]))
    return expand(_template(file), values)


@cache
def _template(file: str) -> Part:
    return parse(f"{file}.wgsl", sources().__getitem__)


@cache
def sources() -> dict[str, str]:
    """The files of kernels_wgsl/, of the installed package or the source tree."""
    packaged = files(__package__.partition(".")[0]) / "kernels_wgsl"
    source_tree = Path(__file__).resolve().parents[5] / "kernels_wgsl"
    folder = packaged if packaged.is_dir() else source_tree
    texts = {path.name: path for path in folder.iterdir() if path.name.endswith(".wgsl")}
    return {name: texts[name].read_text("utf-8") for name in sorted(texts)}


# ---- what several families share ----------------------------------------------------------------

SMALL, LARGE = Tile(columns=4, rows=4), Tile(columns=8, rows=8)
SQUARE = (4, 4, 1)
QUAD: dict[str, Any] = {"workgroup": (4, 1, 1), "quad": True}
TILED: dict[str, Any] = {"file": "product_tiled", "workgroup": (8, 8, 1)}


def named(*schedules: Schedule) -> dict[str, Schedule]:
    """Schedules by their names."""
    return {schedule.name: schedule for schedule in schedules}
