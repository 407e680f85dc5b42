"""Which schedule computes a contraction, a window or a reduction, on what kind of device.

`candidates` lists every schedule that gives the right answer, the one that the rule prefers first.
The rule goes by shape and by kind of device: as measured (docs/performance.md) on software
adapters, by what hardware is known for on others. What was measured on the very device
(`Traits.choices`) goes before the rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ....codegen.groups import is_depthwise
from ....codegen.index import lane_axis
from ....compile.limits import Limits
from ....core.dtype import float32
from ....errors import GraphError
from ....graph import Node
from ....ops import (
    attention,
    blocks,
    contract,
    dynamic_recurrence,
    recurrence,
    recurrence_training,
    trees,
    window,
    winograd,
)
from ....ops.elementwise import to_half
from ....ops.kinds import Contraction, Movement
from .kernels import ATTENTION, BLOCKS, PRODUCTS, TREES, matrix_of
from .recurrence_kernels import (
    DYNAMIC_RECURRENCE,
    DYNAMIC_ROUND,
    DYNAMIC_STEP,
    RECURRENCE,
    RECURRENCE_BACK,
)
from .schedule import Schedule
from .window_kernels import (
    CONVOLUTIONS,
    DEPTHWISE,
    GROUPED,
    POOL,
    TRANSFORM_INPUT,
    TRANSFORM_OUTPUT,
    WEIGHT_GRADIENTS,
    is_pointwise,
)


@dataclass(frozen=True)
class Traits:
    """The kind of a device, as far as it decides which kernels run well.

    software: a CPU plays the GPU; workgroup memory and barriers are slow there. lanes: neighbours
    in x that it computes at once, for which a workgroup of fewer leaves lanes idle. subgroups,
    float16: WGSL features that are on. half: products of operands rounded to float16, which changes
    answers, are allowed; those of operands that are rounded already always are. builtins: functions
    such as the sine may be WGSL's own, whose errors are larger. choices: names of schedules by
    `signature`, as tuned.
    """

    software: bool = False
    subgroups: bool = False
    float16: bool = False
    half: bool = False
    builtins: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)
    lanes: int = 4


def traits_of(limits: Limits) -> Traits:
    """What limits say of a GPU; the defaults hold of every one."""
    found: Traits | None = limits.traits
    return found or Traits()


# Not measured on the user's device: large enough that the other kernel would leave a real GPU idle.
_BUSY = 64  # tiles of 64 x 64 outputs
_LONG = 256  # inner length of a product of few rows

# Multiply-adds of a product that takes 19 ms on SwiftShader and 16 ms in the tile of 32 rows, whose
# module takes 0.15 s longer to compile.
_LARGE = 1 << 26

# Tiles of one row take a workgroup or more for each: many rows are slow, then more than a dispatch
# holds.
_FEW = 128

FEW_ROWS = 4
"""Of a product by a weight in blocks whose kernel reads the weight again for each."""

# Winograd's cost, on software adapters and on others: rows of a kernel's tile, and multiply-adds in
# the time that a transform takes for an element of the transformed side. On software adapters the
# latter grow with the lanes, which compute together but read one by one; that agrees with what
# SwiftShader and lavapipe need, within a tenth mostly. For others it is an estimate: a product must
# fill its tiles, and in the time of a byte to or from memory 10 operations are done.
_WINOGRAD_SOFTWARE_ROWS, _WINOGRAD_SOFTWARE_LANE = 16, 5
_WINOGRAD_HARDWARE = 64, 40
_WINOGRAD_GAIN = 1.2  # less is not worth weights 16/9 as large and more kernels to compile


def signature(node: Node) -> str:
    """What a choice is remembered by: the op with its shapes and attributes."""
    shapes = [child.shape for child in node.inputs]
    half = " of float16" if _of_half(node) else ""
    text = f"{node.op.name} {shapes} {sorted(node.attrs.items())}{half}"
    return f"{node.op.name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def choose(node: Node, traits: Traits) -> Schedule:
    """The schedule for a node: as tuned, else as the rule says."""
    possible = candidates(node, traits)
    tuned = traits.choices.get(signature(node))
    return next((schedule for schedule in possible if schedule.name == tuned), possible[0])


def candidates(node: Node, traits: Traits) -> list[Schedule]:
    """Every schedule that computes the node on such a device, the preferred one first."""
    if _of_half(node):  # rounding changes nothing
        traits = replace(traits, half=True)
    if node.op is trees.walk_trees:
        return [TREES]
    if node.op is dynamic_recurrence.round_states:
        return [DYNAMIC_ROUND]
    if node.dtype != float32:
        raise GraphError(f"{node}: hand-written kernels compute float32")
    if node.op in (contract.matmul, contract.matmul_to):
        return _products(node, traits)
    if node.op is blocks.block_matmul:
        return _by_blocks(node, traits)
    if node.op is attention.attention:
        return [ATTENTION]
    if node.op is winograd.winograd_input:
        return [TRANSFORM_INPUT]
    if node.op is winograd.winograd_output:
        return [TRANSFORM_OUTPUT]
    if node.op in (recurrence.recurrence_steps, recurrence_training.recurrence_kept):
        return [RECURRENCE]
    if node.op is dynamic_recurrence.word_steps:
        return [DYNAMIC_RECURRENCE]
    if node.op is dynamic_recurrence.word_step:
        return [DYNAMIC_STEP]
    if node.op is recurrence_training.recurrence_back:
        return [RECURRENCE_BACK]
    if node.op is window.conv2d_weight_parts:
        tile = f"quad_{_quad_columns(node.shape[-1])}" if _quads(traits) else "8x8"
        return _first(f"conv2d_weight_{tile}", WEIGHT_GRADIENTS, traits)
    if node.op is not window.conv2d:
        return [POOL]
    if is_depthwise(node):
        return [*_depthwise(node), GROUPED]
    if node.attrs["groups"] > 1:
        return [GROUPED]
    if is_pointwise(node):
        return [*_products(node, traits), *_convolutions(node, traits)]
    return _convolutions(node, traits)


# Why: docs/decisions/types.md, "Mixed precision rounds the factors of products, and kernels know
# them by that"
def _of_half(node: Node) -> bool:
    """Whether all factors of a product are numbers of float16, as within `tl.amp.autocast`."""
    return isinstance(node.op, Contraction) and all(map(_is_half, node.inputs))


def _is_half(node: Node) -> bool:
    while isinstance(node.op, Movement) and len(node.inputs) == 1 and not node.attrs.get("value"):
        node = node.inputs[0]
    return node.op is to_half


def _quads(traits: Traits) -> bool:
    """Whether sharing reads across a quad pays: on software adapters a read is what costs."""
    return traits.software and traits.subgroups


def _quad_columns(columns: int) -> str:
    """Which tile of a quad kernel: 32 columns a quad are better, unless they stand idle."""
    wide, narrow = -(-columns // 32) * 32, -(-columns // 16) * 16
    return "16x8" if wide <= 1.15 * narrow else "16x4"


def _can_run(schedule: Schedule, traits: Traits) -> bool:
    """Whether the device has what a kernel needs, and the user allows what it does."""
    half = traits.float16 and traits.half
    return (traits.subgroups or not schedule.quad) and (half or not schedule.half)


def _first(name: str, table: Mapping[str, Schedule], traits: Traits) -> list[Schedule]:
    """The schedules of a table that the device can run, the named one first."""
    return [table[name], *(s for s in table.values() if s.name != name and _can_run(s, traits))]


def _tile(rows: int, columns: int, inner: int, batch: int, traits: Traits) -> str | None:
    """The suffix of the kernels in workgroup memory, where one pays: on a real GPU, which reads
    that memory fast, and for products that fill tiles. The large tile needs enough of them
    to keep a GPU busy.
    """
    if traits.software or rows < 64 or columns < 32 or inner < 32:
        return None
    if batch * -(-rows // 64) * -(-columns // 64) < _BUSY:
        return "tile_4x4"
    return "tile_8x8_f16" if traits.float16 and traits.half else "tile_8x8"


def _products(node: Node, traits: Traits) -> list[Schedule]:
    batch, rows, inner, columns = matrix_of(node)
    tile = _tile(rows, columns, inner, batch, traits)
    if tile:
        name = f"matmul_{tile}"
    elif not traits.software and rows <= 4 and inner >= _LONG:
        name = "matmul_split"
    elif rows == 1:
        name = "matmul_1x4"
    elif _quads(traits) and rows > 8 and columns > 4:
        quad = _quad_columns(columns)
        large = batch * rows * inner * columns >= _LARGE and rows % 32 == 0
        name = f"matmul_quad_{'32x8' if large and quad == '16x8' else quad}"
    else:
        name = "matmul_4x4" if rows < 32 or columns <= 4 else "matmul_8x8"
    possible = _first(name, PRODUCTS, traits)
    if rows <= _FEW:
        return possible
    return [schedule for schedule in possible if schedule.tile.rows > 1]


def _by_blocks(node: Node, traits: Traits) -> list[Schedule]:
    rows = node.shape[1]
    if rows <= FEW_ROWS:
        name = "blocks_1x8" if traits.software else "blocks_split"
    else:
        name = "blocks_quad_16x8" if _quads(traits) else "blocks_8x8"
    possible = _first(name, BLOCKS, traits)
    return [schedule for schedule in possible if rows <= _FEW or schedule.tile.rows > 1]


def _convolutions(node: Node, traits: Traits) -> list[Schedule]:
    batch, height, width, channels = node.shape
    pixels = height * width
    kh, kw, in_channels = node.inputs[1].shape[:3]
    tile = _tile(pixels, channels, kh * kw * in_channels, batch, traits)
    if tile:
        name = f"conv2d_{tile}"
    elif _quads(traits) and pixels > 8:
        name = f"conv2d_quad_{_quad_columns(channels) if channels > 8 else '8x8'}"
    else:
        name = "conv2d_4x4" if pixels < 128 or channels <= 4 else "conv2d_8x8"
    return _first(name, CONVOLUTIONS, traits)


def winograd_pays(conv: Node, traits: Traits) -> bool:
    """Whether Winograd's three kernels are faster than the direct one, for a 3x3 convolution of
    stride 1 and one group. They compute float32."""
    batch, height, width, filters = conv.shape
    channels = conv.inputs[0].shape[3]
    tile_rows, element = _WINOGRAD_HARDWARE
    if traits.software:
        tile_rows, element = _WINOGRAD_SOFTWARE_ROWS, _WINOGRAD_SOFTWARE_LANE * traits.lanes
    tiles = batch * -(-height // 2) * -(-width // 2)
    if tiles < tile_rows or (_of_half(conv) and choose(conv, traits).half):
        return False

    def computed(rows: int) -> int:
        return -(-rows // tile_rows) * tile_rows * channels * filters

    direct = 9 * batch * computed(height * width)
    transforms = element * tiles * (channels + filters)
    return direct >= _WINOGRAD_GAIN * winograd.POSITIONS * (computed(tiles) + transforms)


def _depthwise(node: Node) -> list[Schedule]:
    (height, width), (down, across) = node.inputs[1].shape[:2], node.attrs["stride"]
    dense = tuple(node.attrs["dilation"]) == (1, 1)
    wanted = {"SIZE": height, "STRIDE": down}
    square = dense and (height, down) == (width, across)
    special = [s for s in DEPTHWISE.values() if square and s.parameters == wanted]
    return [*special, DEPTHWISE["depthwise"]]


# ---- reductions -------------------------------------------------------------------------------

REDUCTIONS = ("serial", "workgroup", "subgroup")

# Turns of all its loops that an invocation may take: lavapipe, for one, silently ends them there.
_MAX_TURNS = 65535

# Estimates for hardware, which are not measured: from how many elements on a workgroup
# beats invocations that read far from each other (rows), or side by side (columns); and how many
# of the latter keep a device busy.
_ROW, _COLUMN = 128, 256
_MANY = 1 << 14

# A fold is split into so many parts for all results, measured on software adapters; a part has to
# be worth an invocation there, and a workgroup elsewhere.
_PARTS, _FEWEST_PARTS = 1024, 8
_SOFTWARE_PART, _PART = 64, 4096


def reduction_schedule(node: Node, outputs: int, traits: Traits, passes: int = 2) -> str:
    """Who computes one of `outputs` results, or rows, of a kernel that holds the reduction `node`:
    an invocation alone ("serial"), or a workgroup, combining in workgroup memory ("workgroup")
    or by subgroup operations ("subgroup").

    passes: how often the elements are passed; 2 counts the loops that other loops stand in.
    """
    possible = reduction_schedules(node, outputs, traits, passes)
    tuned = traits.choices.get(signature(node))
    return tuned if tuned in possible else possible[0]


def reduction_schedules(node: Node, outputs: int, traits: Traits, passes: int = 2) -> list[str]:
    """Every way to reduce that gives the right answer on such a device, the preferred one first."""
    length = _length(node)
    if length <= 1:
        return ["serial"]
    together = ["subgroup", "workgroup"] if traits.subgroups else ["workgroup"]
    if traits.software:
        together.reverse()  # measured: subgroup operations are slower there
    if passes * length > _MAX_TURNS:
        return together
    serial = not _pays_together(node, outputs, length, traits)
    return ["serial", *together] if serial else [*together, "serial"]


def _pays_together(node: Node, outputs: int, length: int, traits: Traits) -> bool:
    """Never on software adapters, where a workgroup with barriers takes as long as some ten
    thousand elements do: what is longer is split, or too long for an invocation anyway."""
    if traits.software or outputs > 2 * max(node.size, 1):  # or most results are no reductions
        return False
    if lane_axis(node.inputs[0].shape) in node.attrs["axes"]:
        return length >= _ROW
    return length >= _COLUMN and outputs < _MANY


def _length(node: Node) -> int:
    """Elements that one result of a reduction folds."""
    return node.inputs[0].size // max(node.size, 1)


def parts_of(node: Node, traits: Traits) -> int:
    """Into how many parts a reduction is split; 1 if it is not worth it.

    The largest divisor of its length that leaves parts of some length; parts that can be read by
    fours are preferred.
    """
    length = _length(node)
    part = _SOFTWARE_PART if traits.software else _PART
    most = min(_PARTS // max(node.size, 1), length // part)
    divisors = [parts for parts in range(_FEWEST_PARTS, most + 1) if length % parts == 0]
    by_fours = [parts for parts in divisors if length // parts % 4 == 0]
    return max(by_fours or divisors, default=1)
