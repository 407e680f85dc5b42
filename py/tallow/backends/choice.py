"""Which schedule computes a contraction or window, on what kind of device.

`candidates` lists every schedule that gives the right answer, the one that the rule prefers first.
The rule goes by shape and by kind of device, as measured (docs/performance.md);
what was measured on the very device (`Traits.choices`) goes before the rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..dtype import float32
from ..errors import GraphError
from ..graph import Node
from ..ops import contract, window
from .kernels import (
    CONVOLUTIONS,
    DEPTHWISE,
    GROUPED,
    POOL,
    PRODUCTS,
    Schedule,
    is_depthwise,
    is_pointwise,
    matrix_of,
)


@dataclass(frozen=True)
class Traits:
    """The kind of a device, as far as it decides which kernels run well.

    software: a CPU plays the GPU; workgroup memory and barriers are slow there. subgroups,
    float16: WGSL features that are on. choices: names of schedules by `signature`, as tuned.
    """

    software: bool = False
    subgroups: bool = False
    float16: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)


def signature(node: Node) -> str:
    """What a choice is remembered by: the op with its shapes and attributes."""
    shapes = [child.shape for child in node.inputs]
    text = f"{node.op.name} {shapes} {sorted(node.attrs.items())}"
    return f"{node.op.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def choose(node: Node, traits: Traits) -> Schedule:
    """The schedule for a node: as tuned, else as the rule says."""
    possible = candidates(node, traits)
    tuned = traits.choices.get(signature(node))
    return next((schedule for schedule in possible if schedule.file == tuned), possible[0])


def candidates(node: Node, traits: Traits) -> list[Schedule]:
    """Every schedule that computes the node on such a device, the preferred one first."""
    if node.dtype != float32:
        raise GraphError(f"{node}: hand-written kernels compute float32")
    if node.op is contract.matmul:
        return _products(node, traits)
    if node.op is not window.conv2d:
        return [POOL]
    if is_depthwise(node):
        return [*_depthwise(node), GROUPED]
    if node.attrs["groups"] > 1:
        return [GROUPED]
    if is_pointwise(node):
        return [*_products(node, traits), *_convolutions(node, traits)]
    return _convolutions(node, traits)


def _quads(traits: Traits) -> bool:
    """Whether sharing reads across a quad pays: on software adapters a read is what costs."""
    return traits.software and traits.subgroups


def _quad_columns(columns: int) -> str:
    """Which tile of a quad kernel: 32 columns a quad are better, unless they stand idle."""
    wide, narrow = -(-columns // 32) * 32, -(-columns // 16) * 16
    return "16x8" if wide <= 1.15 * narrow else "16x4"


def _first(name: str, table: Mapping[str, Schedule], traits: Traits) -> list[Schedule]:
    """The schedules of a table that the device can run, the named one first."""
    others = (n for n in table if n != name and (traits.subgroups or "quad" not in n))
    return [table[name], *(table[n] for n in others)]


def _products(node: Node, traits: Traits) -> list[Schedule]:
    _, rows, _, columns = matrix_of(node)
    if rows == 1:
        name = "matmul_1x4"
    elif _quads(traits) and rows > 8 and columns > 8:
        name = f"matmul_quad_{_quad_columns(columns)}"
    else:
        name = "matmul_4x4" if rows < 32 or columns <= 4 else "matmul_8x8"
    return _first(name, PRODUCTS, traits)


def _convolutions(node: Node, traits: Traits) -> list[Schedule]:
    _, height, width, channels = node.shape
    pixels = height * width
    if _quads(traits) and pixels > 8:
        name = f"conv2d_quad_{_quad_columns(channels)}"
    else:
        name = "conv2d_4x4" if pixels < 128 or channels <= 4 else "conv2d_8x8"
    return _first(name, CONVOLUTIONS, traits)


def _depthwise(node: Node) -> list[Schedule]:
    (kh, kw), stride = node.inputs[1].shape[:2], tuple(node.attrs["stride"])
    suffix = {(1, 1): "", (2, 2): "_stride2"}.get(stride)
    special = DEPTHWISE.get(f"depthwise_{kh}x{kw}{suffix}")
    if special and tuple(node.attrs["dilation"]) == (1, 1):
        return [special, DEPTHWISE["depthwise"]]
    return [DEPTHWISE["depthwise"]]
