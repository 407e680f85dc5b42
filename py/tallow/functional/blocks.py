"""Blocks of images, laid out as columns or as channels: unfold and fold, pixel shuffles."""

from __future__ import annotations

from .. import functions as f
from ..core.shape import size_of, window_size
from ..errors import ShapeError
from ..tensor import Tensor
from .lines import Row, mapped, transposed_rows
from .windows import Pads, Size, batched, check_window, numbers, pads_of, unbatched


def _rows(size: int, kernel: int, dilation: int, pads: tuple[int, int], stride: int) -> list[Row]:
    """Where the elements of all windows along an axis come from, ordered by their position in the
    window; what is padding is empty."""
    count = window_size(size + sum(pads), kernel, stride, dilation)
    positions = [
        tap * dilation + number * stride - pads[0]
        for tap in range(kernel)
        for number in range(count)
    ]
    return [[(at, 1.0)] if 0 <= at < size else [] for at in positions]


def unfold(
    input: Tensor, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
) -> Tensor:
    """The windows of an image as columns.

    input: numbers, (n, c, h, w) or (c, h, w).
    kernel_size: the height and width of a window; one number is both.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    padding: how many zeros go on each side, one number or one for each axis.
    stride: how far apart windows are, one number or one for each axis.
    Returns: (n, c * kh * kw, windows), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.unfold`.
    """
    x, single = batched(input, 2, "unfold")
    kernel, steps, apart, pads = _window(kernel_size, dilation, padding, stride, "unfold")
    check_window("unfold", x.shape, kernel, steps, pads, apart)
    n, channels = x.shape[:2]
    counts = []
    for axis in range(2):
        rows = _rows(x.shape[2 + axis], kernel[axis], apart[axis], pads[axis], steps[axis])
        counts.append(len(rows) // kernel[axis])
        x = mapped(x, 2 + axis, rows)
    x = f.reshape(x, (n, channels, kernel[0], counts[0], kernel[1], counts[1]))
    x = f.permute_dims(x, (0, 1, 2, 4, 3, 5))
    return unbatched(f.reshape(x, (n, channels * size_of(kernel), size_of(counts))), single)


def _window(
    kernel_size: Size, dilation: Size, padding: Size, stride: Size, what: str
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], Pads]:
    """Kernel, stride, dilation and padding over two axes."""
    return (
        numbers(kernel_size, 2, f"{what} kernel_size"),
        numbers(stride, 2, f"{what} stride"),
        numbers(dilation, 2, f"{what} dilation"),
        pads_of(padding, 2, what),
    )


def fold(
    input: Tensor,
    output_size: Size,
    kernel_size: Size,
    dilation: Size = 1,
    padding: Size = 0,
    stride: Size = 1,
) -> Tensor:
    """The transpose of `unfold`: columns added up where they were in an image.

    input: columns, (n, c * kh * kw, windows) or (c * kh * kw, windows).
    output_size: the height and width of the image; one number is both.
    kernel_size: the height and width of a window; one number is both.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    padding: how many zeros the image had on each side, one number or one for each axis.
    stride: how far apart windows are, one number or one for each axis.
    Returns: the image, (n, c, h, w), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.fold`.
    """
    if input.ndim not in (2, 3):
        raise ShapeError(f"fold: expected columns (n, c * kh * kw, windows), got {input.shape}")
    single = input.ndim == 2
    x = f.expand_dims(input, 0) if single else input
    kernel, steps, apart, pads = _window(kernel_size, dilation, padding, stride, "fold")
    sizes = numbers(output_size, 2, "fold output_size")
    check_window("fold", (1, 1, *sizes), kernel, steps, pads, apart)
    tables = [
        _rows(sizes[axis], kernel[axis], apart[axis], pads[axis], steps[axis]) for axis in range(2)
    ]
    counts = [len(rows) // k for rows, k in zip(tables, kernel, strict=True)]
    n, taps = x.shape[0], size_of(kernel)
    if x.shape[1] % taps or x.shape[2] != size_of(counts):
        raise ShapeError(
            f"fold: columns {input.shape} for windows of {taps} elements at {tuple(counts)} "
            f"positions in an image of {sizes}"
        )
    channels = x.shape[1] // taps
    x = f.reshape(x, (n, channels, *kernel, *counts))
    x = f.permute_dims(x, (0, 1, 2, 4, 3, 5))
    x = f.reshape(x, (n, channels, kernel[0] * counts[0], kernel[1] * counts[1]))
    for axis in range(2):
        x = mapped(x, 2 + axis, transposed_rows(tables[axis], sizes[axis]))
    return unbatched(x, single)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels laid out as pixels: (..., c * r * r, h, w) to (..., c, h * r, w * r).

    input: numbers, (..., c * r * r, h, w).
    upscale_factor: r, 1 or more.
    Returns: (..., c, h * r, w * r).
    Raises: ShapeError for shapes that do not fit.
    Source: Shi et al. 2016.
    """
    r = upscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-3] % (r * r):
        raise ShapeError(f"pixel_shuffle: the channels of {input.shape} by a factor of {r}")
    lead, (channels, h, w) = input.shape[:-3], input.shape[-3:]
    start = len(lead)
    x = f.reshape(input, (*lead, channels // (r * r), r, r, h, w))
    order = [start, start + 3, start + 1, start + 4, start + 2]
    x = f.permute_dims(x, (*range(start), *order))
    return f.reshape(x, (*lead, channels // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The inverse of `pixel_shuffle`: (..., c, h * r, w * r) to (..., c * r * r, h, w).

    input: numbers, (..., c, h * r, w * r).
    downscale_factor: r, 1 or more.
    Returns: (..., c * r * r, h, w).
    Raises: ShapeError for shapes that do not fit.
    Source: Shi et al. 2016.
    """
    r = downscale_factor
    if input.ndim < 3 or r < 1 or input.shape[-2] % r or input.shape[-1] % r:
        raise ShapeError(f"pixel_unshuffle: an image of {input.shape} by a factor of {r}")
    lead, (channels, h, w) = input.shape[:-3], input.shape[-3:]
    start = len(lead)
    x = f.reshape(input, (*lead, channels, h // r, r, w // r, r))
    x = f.permute_dims(x, (*range(start), *(start + a for a in (0, 2, 4, 1, 3))))
    return f.reshape(x, (*lead, channels * r * r, h // r, w // r))
