"""Adaptive pooling: as many windows as wanted, of about equal length.

Window i of `count` along an axis of n elements reaches from i * n // count to
ceil((i + 1) * n / count), as in PyTorch; neighbours overlap where n is no multiple.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..ops import window
from ..tensor import Tensor
from .lines import mapped
from .pool_indices import largest
from .pooling import output_sizes, pooled
from .windows import batched, unbatched

Lengths = int | Sequence[int | None] | None
"""The wanted lengths: one for all axes or one for each; None keeps that of the input."""


def adaptive_avg_pool1d(input: Tensor, output_size: Lengths) -> Tensor:
    """Means over as many windows as wanted, of about equal length.

    input: numbers, (n, c, l) or (c, l).
    output_size: the number of windows; None keeps the length.
    Returns: (n, c, output_size) or (c, output_size).
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_avg_pool1d`.
    """
    return _mean("adaptive_avg_pool1d", 1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Lengths) -> Tensor:
    """Means over as many windows as wanted, of about equal size.

    input: numbers, (n, c, h, w) or (c, h, w).
    output_size: the height and width of the result; one number is both, None keeps a length.
    Returns: (n, c, height, width) or (c, height, width).
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_avg_pool2d`.
    """
    return _mean("adaptive_avg_pool2d", 2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Lengths) -> Tensor:
    """Means over as many windows as wanted, of about equal size.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    output_size: the depth, height and width of the result; one number is all three, None keeps a
      length.
    Returns: (n, c, depth, height, width) or (c, depth, height, width).
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_avg_pool3d`.
    """
    return _mean("adaptive_avg_pool3d", 3, input, output_size)


def adaptive_max_pool1d(
    input: Tensor, output_size: Lengths, return_indices: bool = False
) -> Any:  # fmt: skip
    """The largest elements of as many windows as wanted, of about equal length.

    input: numbers, (n, c, l) or (c, l).
    output_size: the number of windows; None keeps the length.
    return_indices: gives (values, indices), as `max_pool2d` does.
    Returns: (n, c, output_size) or (c, output_size), or a pair of such tensors.
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_max_pool1d`.
    """
    return _max("adaptive_max_pool1d", 1, input, output_size, return_indices)


def adaptive_max_pool2d(
    input: Tensor, output_size: Lengths, return_indices: bool = False
) -> Any:  # fmt: skip
    """The largest elements of as many windows as wanted, of about equal size.

    input: numbers, (n, c, h, w) or (c, h, w).
    output_size: the height and width of the result; one number is both, None keeps a length.
    return_indices: gives (values, indices), as `max_pool2d` does.
    Returns: (n, c, height, width) or (c, height, width), or a pair of such tensors.
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_max_pool2d`.
    """
    return _max("adaptive_max_pool2d", 2, input, output_size, return_indices)


def adaptive_max_pool3d(
    input: Tensor, output_size: Lengths, return_indices: bool = False
) -> Any:  # fmt: skip
    """The largest elements of as many windows as wanted, of about equal size.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    output_size: the depth, height and width of the result; one number is all three, None keeps a
      length.
    return_indices: gives (values, indices), as `max_pool2d` does.
    Returns: (n, c, depth, height, width) or (c, depth, height, width), or a pair of such tensors.
    Raises: ShapeError for an input of other axes or without elements, and for lengths below 1.
    Source: PyTorch, `torch.nn.functional.adaptive_max_pool3d`.
    """
    return _max("adaptive_max_pool3d", 3, input, output_size, return_indices)


def _spans(length: int, count: int) -> list[range]:
    return [range(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def _mean(name: str, axes: int, input: Tensor, output_size: Lengths) -> Tensor:
    x, single = batched(input, axes, name)
    sizes = output_sizes(name, x, axes, output_size)
    if sizes == (1,) * axes:
        return unbatched(f.mean(x, tuple(range(2, x.ndim)), True), single)
    return unbatched(averaged(x, sizes), single)


def averaged(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """x (n, c, *spatial) as means over windows, `sizes` of them along each axis."""
    even = all(n % count == 0 for n, count in zip(x.shape[2:], sizes, strict=True))
    if even:
        kernel = [n // count for n, count in zip(x.shape[2:], sizes, strict=True)]
        none = ((0, 0),) * len(kernel)
        total = pooled(window.sum_pool2d, x, kernel, kernel, none, (1,) * len(kernel))
        share = 1.0
        for size in kernel:
            share /= size
        return total * share
    for axis, count in enumerate(sizes, 2):
        spans = _spans(x.shape[axis], count)
        x = mapped(x, axis, [[(i, 1.0 / len(span)) for i in span] for span in spans])
    return x


def _max(
    name: str, axes: int, input: Tensor, output_size: Lengths, return_indices: bool
) -> Any:  # fmt: skip
    x, single = batched(input, axes, name)
    sizes = output_sizes(name, x, axes, output_size)
    even = all(n % count == 0 for n, count in zip(x.shape[2:], sizes, strict=True))
    if even and not return_indices:
        kernel = [n // count for n, count in zip(x.shape[2:], sizes, strict=True)]
        none = ((0, 0),) * axes
        found = pooled(window.max_pool2d, x, kernel, kernel, none, (1,) * axes)
        return unbatched(found, single)
    spans = [_spans(x.shape[axis], count) for axis, count in enumerate(sizes, 2)]
    values, indices = (unbatched(each, single) for each in largest(x, spans))
    return (values, indices) if return_indices else values
