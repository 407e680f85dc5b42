"""NumPy evaluators of contractions and windows.

They take any operands. devices/numpy/specialized.py has faster forms for operands that a plan knows
at load. NumPy in Pyodide has no BLAS. There, einsum over a contiguous transposed right side is
several times faster than matmul.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

HAS_BLAS = sys.platform != "emscripten"

Pair = tuple[int, int]
Pads = tuple[Pair, Pair]


def numpy_module() -> NumPy:
    """The module NumPy. Raises ImportError where it is missing."""
    import numpy

    return cast("NumPy", numpy)


def windows_of(np: NumPy, x: Array, kernel: Pair, stride: Pair, dilation: Pair) -> Array:
    """A view (n, oh, ow, kh, kw, c) of an already padded image (n, h, w, c)."""
    n, h, w, c = x.shape
    oh = (h - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    ow = (w - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    x = np.ascontiguousarray(x)
    sn, sh, sw, sc = x.strides
    strides = (sn, sh * stride[0], sw * stride[1], sh * dilation[0], sw * dilation[1], sc)
    view: Array = np.ndarray((n, oh, ow, *kernel, c), x.dtype, x, strides=strides)
    return view


def padded(np: NumPy, x: Array, padding: Pads, value: float = 0) -> Array:
    """An image with a border of `value`."""
    if not any(map(any, padding)):
        return x
    (top, bottom), (left, right) = padding
    n, h, w, c = x.shape
    result = np.full((n, top + h + bottom, left + w + right, c), value, x.dtype)
    result[:, top : top + h, left : left + w] = x
    return result


def product(np: NumPy, a: Array, b: Array, out: Array | None = None) -> Array:
    """a (m, k) times b (k, n)."""
    if HAS_BLAS or a.dtype.kind != "f":
        return np.matmul(a, b, out=out)
    return np.einsum("ik,jk->ij", np.ascontiguousarray(a), np.ascontiguousarray(b.T), out=out)


def matmul(np: NumPy, a: Array, b: Array) -> Array:
    """a (batch, m, k) times b (batch, k, n)."""
    if HAS_BLAS or not len(a):
        return np.matmul(a, b)
    return np.stack([product(np, left, right) for left, right in zip(a, b, strict=True)])


def matmul_to(np: NumPy, a: Array, b: Array, length: Array) -> Array:
    """`matmul` of the first `length` columns of a and rows of b."""
    from .numpy_positions import clamped  # which most pages do not need

    end = clamped(length, a.shape[2], 0)
    return matmul(np, a[:, :, :end], b[:, :end])


def conv2d(
    np: NumPy, x: Array, w: Array, stride: Pair, padding: Pads, dilation: Pair, groups: int
) -> Array:
    """The convolution of images (n, h, w, c), by columns."""
    kh, kw, per_group, out = w.shape
    x = padded(np, x, padding)
    if per_group == 1 and out == groups:
        return _depthwise(np, x, w[:, :, 0], stride, dilation)
    windows = windows_of(np, x, (kh, kw), stride, dilation)
    n, oh, ow = windows.shape[:3]
    each = out // groups
    result = np.empty((n * oh * ow, out), x.dtype)
    for group in range(groups):
        part = windows[..., group * per_group : (group + 1) * per_group]
        rows = part.reshape(n * oh * ow, kh * kw * per_group)
        columns = slice(group * each, (group + 1) * each)
        weight = w[..., columns].reshape(kh * kw * per_group, each)
        result[:, columns] = product(np, rows, weight)
    return result.reshape(n, oh, ow, out)


def conv2d_weight(
    np: NumPy,
    x: Array,
    gradient: Array,
    kernel: Pair,
    stride: Pair,
    padding: Pads,
    dilation: Pair,
    groups: int,
) -> Array:
    """The gradient of conv2d's weight: a product of the windows, as columns, and the gradient."""
    windows = windows_of(np, padded(np, x, padding), kernel, stride, dilation)
    n, oh, ow, kh, kw, channels = windows.shape
    per_group, each = channels // groups, gradient.shape[3] // groups
    result = np.empty((kh, kw, per_group, gradient.shape[3]), x.dtype)
    pixels = n * oh * ow
    for group in range(groups):
        part = windows[..., group * per_group : (group + 1) * per_group]
        rows = part.reshape(pixels, kh * kw * per_group)
        columns = slice(group * each, (group + 1) * each)
        of_group = gradient[..., columns].reshape(pixels, each)
        result[..., columns] = product(np, rows.T, of_group).reshape(kh, kw, per_group, each)
    return result


def images_a_part(images: int, parts: int) -> int:
    """How many images a part has, of so many parts; the last ones may have fewer, or none."""
    return -(-images // parts)


def weight_parts(np: NumPy, x: Array, gradient: Array, parts: int, **attrs: Any) -> Array:
    """conv2d_weight of each part of the images."""
    each = images_a_part(len(x), parts)
    slices = [slice(start * each, (start + 1) * each) for start in range(parts)]
    return np.stack([conv2d_weight(np, x[s], gradient[s], groups=1, **attrs) for s in slices])


def _depthwise(np: NumPy, x: Array, w: Array, stride: Pair, dilation: Pair) -> Array:
    windows = windows_of(np, x, (w.shape[0], w.shape[1]), stride, dilation)
    result = windows[:, :, :, 0, 0] * w[0, 0]
    scratch = np.empty_like(result)
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            if i or j:
                np.multiply(windows[:, :, :, i, j], w[i, j], out=scratch)
                result += scratch
    return result


def max_pool2d(
    np: NumPy, x: Array, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair
) -> Array:
    """The largest element of each window."""
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    windows = windows_of(np, padded(np, x, padding, least), kernel, stride, dilation)
    result = windows[:, :, :, 0, 0].copy()
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            if i or j:
                np.maximum(result, windows[:, :, :, i, j], out=result)
    return result


def sum_pool2d(
    np: NumPy, x: Array, kernel: Pair, stride: Pair, padding: Pads, dilation: Pair
) -> Array:
    """The sum of each window."""
    windows = windows_of(np, padded(np, x, padding), kernel, stride, dilation)
    result = windows[:, :, :, 0, 0].copy()
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            if i or j:
                result += windows[:, :, :, i, j]
    return result


def winograd_input(np: NumPy, x: Array, padding: Pads) -> Array:
    """V = B^T d B of the 4x4 patches of ops/winograd.py."""
    h, w, c = x.shape[1:]
    (top, bottom), (left, right) = padding
    odd_down, odd_across = (top + h + bottom) % 2, (left + w + right) % 2
    x = padded(np, x, ((top, bottom + odd_down), (left, right + odd_across)))
    patches = windows_of(np, x, (4, 4), (2, 2), (1, 1))

    def transform(a: Array, axis: int) -> Array:
        d0, d1, d2, d3 = (a.take(index, axis) for index in range(4))
        return np.stack([d0 - d2, d1 + d2, d2 - d1, d1 - d3], axis)

    values = transform(transform(patches, 3), 4)
    return values.transpose(3, 4, 0, 1, 2, 5).reshape(16, -1, c)


def winograd_output(np: NumPy, m: Array, size: Pair) -> Array:
    """A^T m A of the tiles of ops/winograd.py, those of a picture side by side."""
    height, width = size
    down, across = -(-height // 2), -(-width // 2)
    m = m.reshape(4, 4, -1, down, across, m.shape[2])

    def transform(a: Array, axis: int) -> Array:
        m0, m1, m2, m3 = (a.take(index, axis) for index in range(4))
        return np.stack([m0 + m1 + m2, m1 - m2 - m3], axis)

    tiles = transform(transform(m, 0), 1)
    picture = tiles.transpose(2, 3, 0, 4, 1, 5).reshape(-1, 2 * down, 2 * across, m.shape[5])
    return np.ascontiguousarray(picture[:, :height, :width])
