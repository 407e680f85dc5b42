"""Operators that move elements: shapes, axes, joins, repeats."""

from __future__ import annotations

import math

from ..... import functions as f
from .....core.shape import broadcast_shapes, check_axis
from .....errors import OnnxFormatError
from .....tensor import Tensor
from ...call import Call
from ...registry import operator


@operator("Reshape", since=5)
def reshape(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    """0 keeps the length of that axis, unless allowzero is set; one length may be -1."""
    wanted = list(call.known_integers(shape, "shape"))
    if not call.flag("allowzero"):
        for axis, dim in enumerate(wanted):
            if dim == 0:
                if axis >= x.ndim:
                    raise OnnxFormatError(
                        f"shape {tuple(wanted)} keeps axis {axis}, which {x.shape} does not have"
                    )
                wanted[axis] = x.shape[axis]
    return f.reshape(x, wanted)


@operator("Flatten")
def _flatten(call: Call, x: Tensor) -> Tensor:
    axis = call.get("axis", int, 1)
    axis = axis if axis == x.ndim else check_axis(axis, x.ndim, "flatten")
    return f.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Transpose")
def _transpose(call: Call, x: Tensor) -> Tensor:
    return f.permute_dims(x, call.ints("perm", tuple(reversed(range(x.ndim)))))


@operator("Squeeze")
def _squeeze(call: Call, x: Tensor, axes: Tensor | None = None) -> Tensor:
    return f.squeeze(x, call.integers("axes", axes))


@operator("Unsqueeze")
def _unsqueeze(call: Call, x: Tensor, axes: Tensor | None = None) -> Tensor:
    wanted = call.integers("axes", axes)
    if wanted is None:
        raise OnnxFormatError("it has no axes")
    return f.expand_dims(x, wanted)


@operator("Concat")
def _concat(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return f.concat([x, *others], call.get("axis", int))


@operator("Split")
def split(call: Call, x: Tensor, sizes: Tensor | None = None) -> list[Tensor]:
    """Pieces of the given lengths, or else of equal length with a shorter last one."""
    axis = check_axis(call.get("axis", int, 0), x.ndim, "split")
    wanted = call.integers("split", sizes)
    count = call.get("num_outputs", int, len(call.node.outputs))
    if count != len(call.node.outputs):
        raise OnnxFormatError(
            f"num_outputs is {count}, but it has {len(call.node.outputs)} outputs"
        )
    if wanted is None:
        length = x.shape[axis]
        each = -(-length // count)
        if call.opset < 18 and length % count:
            raise OnnxFormatError(f"axis {axis} of {x.shape} does not divide into {count} parts")
        wanted = tuple(max(0, min(each, length - each * i)) for i in range(count))
    if len(wanted) != count:
        raise OnnxFormatError(f"split lists {len(wanted)} lengths for {count} outputs")
    return list(f.split(x, wanted, axis))


@operator("Expand", since=8)
def _expand(call: Call, x: Tensor, shape: Tensor) -> Tensor:
    wanted = call.known_integers(shape, "shape")
    if any(dim < 0 for dim in wanted):
        raise OnnxFormatError(f"the shape {wanted} has a negative dimension")
    return f.broadcast_to(x, broadcast_shapes(x.shape, wanted, what="expand"))


@operator("Tile", since=6)
def _tile(call: Call, x: Tensor, repeats: Tensor) -> Tensor:
    counts = call.known_integers(repeats, "repeats")
    if len(counts) != x.ndim or any(count < 0 for count in counts):
        raise OnnxFormatError(f"repeats {counts} do not fit the {x.ndim} axes of {x.shape}")
    return f.tile(x, counts)


def _blocks(call: Call, x: Tensor) -> tuple[int, bool]:
    size = call.get("blocksize", int)
    depth_first = call.choice("mode", "DCR", "CRD") == "DCR"
    if x.ndim != 4 or size < 1:
        raise OnnxFormatError(f"blocks of {size} do not fit an input of shape {x.shape}")
    return size, depth_first


@operator("DepthToSpace")
def depth_to_space(call: Call, x: Tensor) -> Tensor:
    """Channels become blocks of pixels."""
    size, depth_first = _blocks(call, x)
    n, c, h, w = x.shape
    if c % (size * size):
        raise OnnxFormatError(f"{c} channels do not divide into blocks of {size} by {size}")
    depth = c // (size * size)
    if depth_first:
        blocks = f.permute_dims(f.reshape(x, (n, size, size, depth, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        blocks = f.permute_dims(f.reshape(x, (n, depth, size, size, h, w)), (0, 1, 4, 2, 5, 3))
    return f.reshape(blocks, (n, depth, h * size, w * size))


@operator("SpaceToDepth")
def space_to_depth(call: Call, x: Tensor) -> Tensor:
    """Blocks of pixels become channels."""
    size, depth_first = _blocks(call, x)
    n, c, h, w = x.shape
    if h % size or w % size:
        raise OnnxFormatError(f"{h} by {w} pixels do not divide into blocks of {size}")
    blocks = f.reshape(x, (n, c, h // size, size, w // size, size))
    order = (0, 3, 5, 1, 2, 4) if depth_first else (0, 1, 3, 5, 2, 4)
    return f.reshape(f.permute_dims(blocks, order), (n, c * size * size, h // size, w // size))
