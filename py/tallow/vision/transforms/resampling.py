"""Images, and parts of them, at another size: a matrix for each of the two axes.

An element of a result is the weighted mean of the elements around its centre. The weights are
computed on the device from where a part begins and how long it is, so that other parts need no
other plan.
"""

from __future__ import annotations

from collections.abc import Callable

from ... import functions as f
from ...core import dtype as dt
from ...functional.resampling import interpolate
from ...tensor import Tensor
from .images import Number, batched, fed, per_image, restored, working


def _triangle(distance: Tensor) -> Tensor:
    return f.maximum(1.0 - distance, 0.0)


def _cubic(distance: Tensor) -> Tensor:
    """Cubic convolution (Keys 1981) with a = -0.5, as Pillow resizes."""
    a = -0.5
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1.0
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return f.where(distance < 1.0, near, f.where(distance < 2.0, far, 0.0))


_FILTERS: dict[str, Callable[[Tensor], Tensor]] = {"bilinear": _triangle, "bicubic": _cubic}


def _weights(
    before: int, after: int, start: Tensor, length: Tensor, mode: str, antialias: bool
) -> Tensor:
    """The matrix (..., after, before) of a part of an axis of `before` elements."""
    step = length / after
    centre = (f.arange(after).astype(dt.float32) + 0.5) * step  # within the part
    element = f.arange(before).astype(dt.float32) - start  # its index within the part
    inside = f.logical_and(element >= 0, element < length)
    if mode.startswith("nearest"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        first = f.floor((f.arange(after).astype(dt.float32) + shift) * step)
        at = f.expand_dims(f.minimum(first, length - 1), -1)
        return (f.abs(at - f.expand_dims(element, -2)) < 0.5).astype(dt.float32)
    if antialias:
        reach = f.expand_dims(f.maximum(step, 1.0), -1)
    else:
        centre, reach = f.maximum(centre, 0.5), f.ones(())
        centre = f.minimum(centre, length - 0.5)
    distance = f.abs(f.expand_dims(element + 0.5, -2) - f.expand_dims(centre, -1)) / reach
    found = f.where(f.expand_dims(inside, -2), _FILTERS[mode](distance), 0.0)
    return found / f.sum(found, -1, keepdims=True)


def resized_part(
    img: Tensor,
    top: Number,
    left: Number,
    height: Number,
    width: Number,
    size: tuple[int, int],
    mode: str,
    antialias: bool,
) -> Tensor:
    """A part of images, resized to (h, w); a bicubic one is always with antialias. The numbers may
    be tensors, one for each image (n, c, h, w)."""
    x = working(img)

    def line(value: Number) -> Tensor:
        return per_image(value, x, 1).astype(dt.float32)

    down = _weights(img.shape[-2], size[0], line(top), line(height), mode, antialias)
    across = _weights(img.shape[-1], size[1], line(left), line(width), mode, antialias)
    if down.ndim == 3:
        down, across = f.expand_dims(down, 1), f.expand_dims(across, 1)
    found = down.astype(x.dtype) @ x @ across.mT.astype(x.dtype)
    return restored(found, img.dtype)


def resized(img: Tensor, size: tuple[int, int], mode: str, antialias: bool) -> Tensor:
    """Whole images, resized to (h, w)."""
    if size == img.shape[-2:]:
        return img
    if not antialias or mode.startswith("nearest"):
        x = img if mode.startswith("nearest") else working(img)
        found = interpolate(batched(x), size, mode=mode)
        return restored(f.reshape(found, (*img.shape[:-2], *size)), img.dtype)
    height, width = img.shape[-2:]
    whole = [fed(float(each)) for each in (0, height, width)]
    return resized_part(img, whole[0], whole[0], whole[1], whole[2], size, mode, True)
