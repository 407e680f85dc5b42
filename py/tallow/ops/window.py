"""Windows over channels-last images: convolution and pooling, the primitives.

Users of NCHW call functional/, which composes these with permutes that compile/passes/layout.py
then cancels. Padding is ((top, bottom), (left, right)).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.bounds import first
from ..core.shape import Shape, window_size
from ..errors import DTypeError, ShapeError
from . import numpy_kernels
from .kinds import Attrs, Composite, Contraction, Coordinates, Movement, Pick, Read, Spec, Window
from .numpy_kernels import Pads, Pair

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def spatial_size(shape: Sequence[int], kernel: Sequence[int], attrs: Attrs) -> tuple[int, int]:
    """The height and width of what a window gives."""
    sizes = []
    for axis in range(2):
        padded = shape[1 + axis] + sum(attrs["padding"][axis])
        size = window_size(padded, kernel[axis], attrs["stride"][axis], attrs["dilation"][axis])
        if size <= 0:
            raise ShapeError(
                f"window: a kernel of {tuple(kernel)} with dilation {tuple(attrs['dilation'])} "
                f"does not fit into {tuple(shape[1:3])} with padding {attrs['padding']}"
            )
        sizes.append(size)
    return sizes[0], sizes[1]


def _conv_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (w, other) = operands
    if dtype != other or not dtype.is_floating:
        raise DTypeError(f"conv2d: takes one floating type, got {dtype.name} and {other.name}")
    if len(x) != 4 or len(w) != 4 or x[3] != w[2] * attrs["groups"] or w[3] % attrs["groups"]:
        raise ShapeError(f"conv2d: {x} (NHWC), {w} (HWIO) and {attrs['groups']} groups do not fit")
    return (x[0], *spatial_size(x, w[:2], attrs), w[3]), dtype


conv2d = Window("conv2d", numpy_kernels.conv2d, _conv_rule, autocast="float16")
"""x (n, h, w, c), weight (kh, kw, c / groups, o): attributes stride, padding, dilation, groups."""


def _weight_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (gradient, other) = operands
    groups, kernel = attrs["groups"], attrs["kernel"]
    if dtype != other or not dtype.is_floating:
        raise DTypeError(f"conv2d_weight: takes one floating type, not {dtype.name}, {other.name}")
    wanted = (x[0], *spatial_size(x, kernel, attrs), gradient[3])
    if gradient != wanted or x[3] % groups or gradient[3] % groups:
        raise ShapeError(f"conv2d_weight: {x} and {gradient} do not fit; expected {wanted}")
    return (*kernel, x[3] // groups, gradient[3]), dtype


conv2d_weight = Composite("conv2d_weight", numpy_kernels.conv2d_weight, _weight_rule)
"""The gradient of conv2d's weight, (kh, kw, c / groups, o), from its image x (n, h, w, c) and the
gradient of its result (n, oh, ow, o): attributes of conv2d, and kernel, (kh, kw)."""


def _patches_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((x, dtype),) = operands
    kernel = attrs["kernel"]
    return (x[0], *spatial_size(x, kernel, attrs), *kernel, x[3]), dtype


def _patches_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    (_, *size, _), (n, oy, ox, ky, kx, c) = shapes[0], coords
    at, when = [], []
    for axis, (out, tap) in enumerate(((oy, ky), (ox, kx))):
        low, high = attrs["padding"][axis]
        begin = out * attrs["stride"][axis] + tap * attrs["dilation"][axis]
        at.append(begin - low if low else begin)
        if low or high:
            when.append((begin, low, low + size[axis]))
    return [Pick(0, (n, *at, c), tuple(when))]


def _patches(
    np: NumPy, x: Array, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair, value: float
) -> Array:
    padded = numpy_kernels.padded(np, x, padding)
    return numpy_kernels.windows_of(np, padded, kernel, stride, dilation)


patches = Movement("patches", _patches, _patches_rule, _patches_pick)
"""What the windows over an image see, (n, oh, ow, kh, kw, c), 0 in the padding: attributes kernel,
stride, padding, dilation, and value, 0."""


def _parts_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    shape, dtype = _weight_rule(operands, {**attrs, "groups": 1})
    return (attrs["parts"], *shape), dtype


WEIGHT_TILE = 8, 8
"""Channels and filters that an invocation of its larger kernel computes."""

conv2d_weight_parts = Contraction("conv2d_weight_parts", numpy_kernels.weight_parts, _parts_rule)
"""As conv2d_weight of one group, in sums over parts of the images: (parts, kh, kw, c, o). Attribute
parts: how many there are; each has as many images as the others, the last ones fewer."""


def _pool_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    x, dtype = operands[0]
    return (x[0], *spatial_size(x, attrs["kernel"], attrs), x[3]), dtype


max_pool2d = Window("max_pool2d", numpy_kernels.max_pool2d, _pool_rule, bounds=first)
"""The largest element of each window, padding left out: kernel, stride, padding, dilation."""

sum_pool2d = Window("sum_pool2d", numpy_kernels.sum_pool2d, _pool_rule)
"""The sum of each window, padding counted as 0: kernel, stride, padding, dilation."""
