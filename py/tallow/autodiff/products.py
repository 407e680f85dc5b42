"""Derivatives of matrix products, convolutions and poolings, all channels-last."""

from __future__ import annotations

from typing import Any

from .. import functions as f
from ..core import dtype as dt
from ..core.shape import Shape
from ..functions.transposed import Pads, Pair, conv2d_input, dilated
from ..graph import Node, make
from ..ops import (
    attention,
    blocks,
    contract,
    dynamic_recurrence,
    integer,
    movement,
    panels,
    recurrence,
    recurrence_training,
    window,
    winograd,
    winograd4,
)
from ..tensor import Tensor
from .rules import NO_DERIVATIVE, Gradients, rule


@rule(contract.matmul)
def _matmul(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    """A transposed operand, as a layer's weight is, gets the transpose of a product: then its own
    gradient is that product as it lies in memory."""
    of_a = (b @ gradient.mT).mT if _is_transposed(a.node) else gradient @ b.mT
    of_b = (gradient.mT @ a).mT if _is_transposed(b.node) else a.mT @ gradient
    return [of_a, of_b]


def _is_transposed(node: Node) -> bool:
    """Whether a batch of matrices is the transpose of what is there."""
    if node.op is movement.reshape and node.shape == (1, *node.inputs[0].shape):
        node = node.inputs[0]
    last = len(node.shape) - 1
    return node.op is movement.permute and node.attrs["axes"][-2:] == (last, last - 1)


# ---- convolution ------------------------------------------------------------------------------


@rule(window.conv2d)
def _conv2d(gradient: Tensor, y: Tensor, x: Tensor, weight: Tensor, **attrs: Any) -> Gradients:
    of_weight = make(window.conv2d_weight, x.node, gradient.node, kernel=weight.shape[:2], **attrs)
    return [conv2d_input(gradient, weight, x.shape, **attrs), Tensor(of_weight)]


@rule(window.conv2d_weight)
def _conv2d_weight(
    gradient: Tensor, y: Tensor, x: Tensor, cotangent: Tensor, kernel: Pair, **attrs: Any
) -> Gradients:
    """The op is bilinear, and so are its derivatives."""
    of_cotangent = make(window.conv2d, x.node, gradient.node, **attrs)
    return [conv2d_input(cotangent, gradient, x.shape, **attrs), Tensor(of_cotangent)]


# ---- pooling ----------------------------------------------------------------------------------


def _apart(kernel: Pair, stride: Pair, padding: Pads, dilation: Pair) -> bool:
    """Whether windows lie side by side."""
    return kernel == stride and dilation == (1, 1) and not any(map(any, padding))


def _repeated(x: Tensor, kernel: Pair, shape: Shape) -> Tensor:
    """Each pixel as large as its window; rows and columns beyond all windows are 0."""
    n, h, w, c = x.shape
    blocks = f.broadcast_to(f.reshape(x, (n, h, 1, w, 1, c)), (n, h, kernel[0], w, kernel[1], c))
    pixels = f.reshape(blocks, (n, h * kernel[0], w * kernel[1], c))
    rest = [(0, whole - part) for whole, part in zip(shape, pixels.shape, strict=True)]
    return f.pad(pixels, rest) if any(map(any, rest)) else pixels


@rule(window.sum_pool2d)
def _sum_pool2d(
    gradient: Tensor,
    y: Tensor,
    x: Tensor,
    kernel: Pair,
    stride: Pair,
    padding: Pads,
    dilation: Pair,
) -> Gradients:
    if _apart(kernel, stride, padding, dilation):
        return [_repeated(gradient, kernel, x.shape)]
    pads: list[Pair] = [(0, 0)]
    for axis in (0, 1):
        gradient = dilated(gradient, 1 + axis, stride[axis])
        reach = dilation[axis] * (kernel[axis] - 1)
        low = reach - padding[axis][0]
        pads.append((low, x.shape[1 + axis] - gradient.shape[1 + axis] - low + reach))
    padded = f.pad(gradient, [*pads, (0, 0)])
    none = ((0, 0), (0, 0))
    node = make(
        window.sum_pool2d,
        padded.node,
        kernel=kernel,
        stride=(1, 1),
        padding=none,
        dilation=dilation,
    )
    return [Tensor(node)]


@rule(window.max_pool2d)
def _max_pool2d(
    gradient: Tensor,
    y: Tensor,
    x: Tensor,
    kernel: Pair,
    stride: Pair,
    padding: Pads,
    dilation: Pair,
) -> Gradients:
    """The first of the largest elements of a window, row by row, gets its gradient."""
    winner = _winner(y, x, kernel, stride, padding, dilation)
    if _apart(kernel, stride, padding, dilation):
        size = kernel[0] * kernel[1]
        within = f.reshape(f.arange(size), (1, kernel[0], 1, kernel[1], 1))
        n, h, w, c = y.shape
        own = f.broadcast_to(f.reshape(within, (1, 1, kernel[0], 1, kernel[1], 1)),
                             (n, h, kernel[0], w, kernel[1], c))  # fmt: skip
        at = f.broadcast_to(f.reshape(winner, (n, h, 1, w, 1, c)), own.shape)
        each = f.broadcast_to(f.reshape(gradient, (n, h, 1, w, 1, c)), own.shape)
        pixels = f.reshape(
            f.where(f.equal(own, at), each, 0.0), (n, h * kernel[0], w * kernel[1], c)
        )
        rest = [(0, whole - part) for whole, part in zip(x.shape, pixels.shape, strict=True)]
        return [f.pad(pixels, rest) if any(map(any, rest)) else pixels]
    found: Tensor | None = None
    for number, (i, j) in enumerate(_offsets(kernel)):
        part = f.where(f.equal(winner, number), gradient, 0.0)
        pads: list[Pair] = [(0, 0)]
        for axis, offset in enumerate((i, j)):
            part = dilated(part, 1 + axis, stride[axis])
            low = offset * dilation[axis] - padding[axis][0]
            pads.append((low, x.shape[1 + axis] - part.shape[1 + axis] - low))
        placed = f.pad(part, [*pads, (0, 0)])
        found = placed if found is None else found + placed
    assert found is not None
    return [found]


def _offsets(kernel: Pair) -> list[Pair]:
    return [(i, j) for i in range(kernel[0]) for j in range(kernel[1])]


def _winner(
    y: Tensor, x: Tensor, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair
) -> Tensor:
    """The number of the element of each window that is the largest, int32 in y's shape."""
    if any(map(any, padding)):
        x = f.pad(x, [(0, 0), *padding, (0, 0)], float("-inf"))
    offsets = _offsets(kernel)
    winner = f.full(y.shape, len(offsets) - 1, dt.int32)
    for number, (i, j) in reversed([*enumerate(offsets)][:-1]):
        starts = i * dilation[0], j * dilation[1]
        seen = x[
            :, _every(starts[0], stride[0], y.shape[1]), _every(starts[1], stride[1], y.shape[2])
        ]
        winner = f.where(f.equal(seen, y), number, winner)
    return winner


def _every(start: int, step: int, count: int) -> slice:
    return slice(start, start + step * (count - 1) + 1, step)


_MADE_LATER = "passes of the compiler make it, after derivatives were taken"

for _op in (
    window.conv2d_weight_parts, window.patches, winograd.winograd_input, winograd.winograd_output,
    winograd4.winograd_weight,
    winograd4.winograd_conv2d, recurrence.recurrence_steps, recurrence_training.recurrence_kept,
    recurrence_training.recurrence_back, panels.pack_panels, panels.unpack_panels,
    blocks.block_matmul, contract.matmul_to,
    *dynamic_recurrence.OF_WEBGPU,
):  # fmt: skip
    NO_DERIVATIVE[_op] = _MADE_LATER
NO_DERIVATIVE[attention.attention] = (
    "it is made where no gradient is needed; see scaled_dot_product_attention"
)
NO_DERIVATIVE[dynamic_recurrence.dynamic_steps] = "its states are rounded to integers"
for _op in (integer.integer_matmul, integer.integer_conv2d, integer.pack_pairs):
    NO_DERIVATIVE[_op] = "its operands are integers"
