"""Gaussian blur: one axis after the other."""

from __future__ import annotations

from collections.abc import Sequence

from ... import functions as f
from ...core import dtype as dt
from ...errors import OptionError, ShapeError
from ...tensor import Tensor
from .geometry import pad
from .images import Number, fed, restored, working


def blurred(
    img: Tensor, kernel_size: int | Sequence[int], sigma: Number | Sequence[float] | None
) -> Tensor:
    """See `functional.gaussian_blur`. sigma may be a tensor, one for each image (n, c, h, w)."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else [*kernel_size]
    if len(sizes) != 2 or any(not isinstance(k, int) or k < 1 or k % 2 == 0 for k in sizes):
        raise OptionError(f"gaussian_blur: kernel_size={kernel_size!r} is not odd, one or (x, y)")
    for length, k in zip(img.shape[:-3:-1], sizes, strict=True):
        if length <= k // 2:
            raise ShapeError(f"gaussian_blur: a window of {k} for an image {img.shape}")
    if isinstance(sigma, Tensor):
        spreads = [f.reshape(sigma, (-1, 1, 1, 1, 1))] * 2
    else:
        given = [0.15 * k + 0.35 for k in sizes] if sigma is None else sigma
        numbers = [given] * 2 if isinstance(given, (int, float)) else [*given]
        numbers = numbers * 2 if len(numbers) == 1 else numbers
        if len(numbers) != 2 or any(not each > 0 for each in numbers):
            raise OptionError(f"gaussian_blur: sigma={sigma!r} is not above 0, one or (x, y)")
        spread = fed([float(each) for each in numbers])
        spreads = [spread[0], spread[1]]
    x = working(img)
    halves = [k // 2 for k in sizes]
    x = pad(x, halves, padding_mode="reflect")
    for axis, k, spread in ((-1, sizes[0], spreads[0]), (-2, sizes[1], spreads[1])):
        at = (f.arange(k).astype(dt.float32) - (k - 1) * 0.5) / spread
        bell = f.exp(-0.5 * at * at)
        weights = (bell / f.sum(bell, -1, keepdims=True)).astype(x.dtype)
        count = x.shape[axis] - k + 1
        total: Tensor | None = None
        for tap in range(k):
            cut = slice(tap, tap + count)
            part = x[..., cut] if axis == -1 else x[..., cut, :]
            part = part * weights[..., tap]
            total = part if total is None else total + part
        assert total is not None
        x = total
    return restored(x, img.dtype)
