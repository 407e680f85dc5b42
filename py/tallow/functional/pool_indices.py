"""Max pooling that says where the largest elements were, and its partial inverse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from .. import functions as f
from ..core import dtype as dt
from ..core.hostarray import from_values
from ..core.shape import size_of
from ..errors import DTypeError, OptionError, ShapeError
from ..functions.selection import scatter_along
from ..tensor import Tensor, asarray
from .windows import Size, batched, numbers, pads_of, unbatched

Windows = Sequence[Sequence[int | None]]
"""Along an axis, the positions in each window; None is padding."""


def largest(x: Tensor, windows: Sequence[Windows]) -> tuple[Tensor, Tensor]:
    """The largest element of each window of x (n, c, *spatial), and its index in the flattened
    spatial axes. Of equal ones the first counts, which also takes the gradient."""
    spatial = x.shape[2:]
    counts = [len(each) for each in windows]
    longest = [max(map(len, each)) for each in windows]
    steps = [size_of(spatial[axis + 1 :]) for axis in range(len(spatial))]
    table: list[int] = []
    for corner in product(*map(range, counts)):
        lines = [
            [*windows[axis][at], *[None] * (longest[axis] - len(windows[axis][at]))]
            for axis, at in enumerate(corner)
        ]
        for taps in product(*lines):
            known = [tap * step for tap, step in zip(taps, steps, strict=True) if tap is not None]
            table.append(sum(known) if len(known) == len(steps) else -1)
    shape = (math.prod(counts), math.prod(longest))
    indices = asarray(from_values(table, shape, dt.int32))
    inside = asarray(from_values([index >= 0 for index in table], shape, dt.bool_))
    flat = f.reshape(x, (*x.shape[:2], size_of(spatial)))
    taken = f.take(flat.detach(), f.maximum(indices, 0), 2)
    lowest = float("-inf") if x.dtype.is_floating else -(1 << 31)
    tap = f.argmax(f.where(inside, taken, lowest), axis=-1)  # (n, c, windows)
    at = f.take(f.reshape(indices, (-1,)), f.arange(shape[0]) * shape[1] + tap)
    values = f.take_along_axis(flat, at, axis=2)
    whole = (*x.shape[:2], *counts)
    return f.reshape(values, whole), f.reshape(at, whole).astype(dt.default_integer())


def sliding(length: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int) -> Windows:
    """The windows of a pooling along an axis."""
    count = (length + sum(pads) - dilation * (kernel - 1) - 1) // stride + 1
    starts = [at * stride - pads[0] for at in range(count)]
    return [
        [i if 0 <= i < length else None for i in range(s, s + kernel * dilation, dilation)]
        for s in starts
    ]


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The elements of a max pooling put back to where they were; 0 elsewhere.

    input: what the pooling gave, (n, c, l) or (c, l).
    indices: what the pooling gave with return_indices, in the shape of input.
    kernel_size, stride, padding: those of the pooling; a stride of None is kernel_size.
    output_size: the length of what was pooled, if the other arguments leave it open.
    Returns: (n, c, length), without n if input has none.
    Raises: ShapeError for shapes that do not fit, DTypeError for indices that are not integers,
      OptionError for an output_size that cannot be, IndexRangeError for an index beyond the output.
    Source: PyTorch, `torch.nn.functional.max_unpool1d`.
    """
    return _unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The elements of a max pooling put back to where they were; 0 elsewhere.

    input: what the pooling gave, (n, c, h, w) or (c, h, w).
    indices: what the pooling gave with return_indices, in the shape of input.
    kernel_size, stride, padding: those of the pooling; a stride of None is kernel_size.
    output_size: the size of what was pooled, if the other arguments leave it open.
    Returns: (n, c, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit, DTypeError for indices that are not integers,
      OptionError for an output_size that cannot be, IndexRangeError for an index beyond the output.
    Source: PyTorch, `torch.nn.functional.max_unpool2d`.
    """
    return _unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The elements of a max pooling put back to where they were; 0 elsewhere.

    input: what the pooling gave, (n, c, d, h, w) or (c, d, h, w).
    indices: what the pooling gave with return_indices, in the shape of input.
    kernel_size, stride, padding: those of the pooling; a stride of None is kernel_size.
    output_size: the size of what was pooled, if the other arguments leave it open.
    Returns: (n, c, depth, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit, DTypeError for indices that are not integers,
      OptionError for an output_size that cannot be, IndexRangeError for an index beyond the output.
    Source: PyTorch, `torch.nn.functional.max_unpool3d`.
    """
    return _unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)


def _unpool(
    name: str,
    axes: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    output_size: Sequence[int] | None,
) -> Tensor:
    if indices.shape != input.shape:
        raise ShapeError(f"{name}: indices {indices.shape} for an input {input.shape}")
    if not indices.dtype.is_integer:
        raise DTypeError(f"{name}: the indices must be integers, not {indices.dtype.name}")
    x, single = batched(input, axes, name)
    kernel, pads = numbers(kernel_size, axes, name), pads_of(padding, axes, name)
    steps = kernel if stride is None else numbers(stride, axes, f"{name} stride")
    usual = [
        (length - 1) * step - sum(pad) + size
        for length, step, pad, size in zip(x.shape[2:], steps, pads, kernel, strict=True)
    ]
    sizes = usual if output_size is None else list(output_size)[-axes:]
    for size, expected, step in zip(sizes, usual, steps, strict=True):
        if not expected - step < size < expected + step:
            raise OptionError(
                f"{name}: output_size {tuple(sizes)} is not within a stride of {tuple(usual)}"
            )
    flat = f.zeros((*x.shape[:2], math.prod(sizes)), x.dtype)
    lines = (*x.shape[:2], size_of(x.shape[2:]))
    put = scatter_along(flat, 2, f.reshape(indices, lines), f.reshape(x, lines))
    return unbatched(f.reshape(put, (*x.shape[:2], *sizes)), single)
