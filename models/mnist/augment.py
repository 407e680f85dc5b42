"""Turns MNIST digits into what a mouse might have drawn, on the fly and on the device.

A mouse makes different strokes than a pen: with a constant width, thick on a small digit and thin
on a large one, with hard edges, slanted and wobbly. After the change, MNIST's own preparation (fit
to 20x20, centre of mass in the middle of 28x28) is applied again, because the page applies it to
every drawing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tallow as tl
from tallow import Tensor

SIZE = 28
BOX = 20
CANVAS = 48  # drawings are changed at this larger size, so that strokes can change by subpixels
COARSE = 5  # grid points per side of the random elastic displacement


class Strength(NamedTuple):
    """The maximum of each change; each digit is changed by a random share of it."""

    rotation: float = 0.30  # radians
    shear: float = 0.30
    aspect: float = 0.22  # natural logarithm
    elastic: float = 0.9  # pixels of the original, standard deviation
    thicken: float = 2.2  # pixels of the canvas on each side
    thin: float = 0.9  # share of the eroded picture
    edge: float = 4.0  # contrast
    size: float = 0.10  # of the box, natural logarithm
    shift: float = 1.2  # pixels


STRENGTH = Strength()


def augment(images: Tensor, lightly: Tensor | float = 0.3) -> Tensor:
    """Changes each of the images (n, 28, 28), float32, 0..1, in a random way.

    lightly: the share of digits that stay close to the original, so that it is not forgotten.
    """
    n = images.shape[0]
    share = tl.where(tl.rand(n, 1, 1) < lightly, 0.3, 1.0)
    drawing = _warp(images, share, STRENGTH)
    drawing = _stroke(drawing, share, STRENGTH)
    return _place(drawing, share, STRENGTH)


def _between(shape: tuple[int, ...], low: float, high: float) -> Tensor:
    return tl.rand(*shape) * (high - low) + low


def _smooth() -> NDArray[np.float32]:
    """(CANVAS, COARSE): what each coarse point counts in each row of the canvas, by cubic
    convolution (Keys 1981)."""
    at = (np.arange(CANVAS) + 0.5) * COARSE / CANVAS - 0.5
    far = np.abs(at[:, None] - np.arange(COARSE))
    near = (1.5 * far - 2.5) * far**2 + 1
    beyond = ((-0.5 * far + 2.5) * far - 4) * far + 2
    weight = np.where(far < 1, near, np.where(far < 2, beyond, 0))
    share: NDArray[np.float32] = (weight / weight.sum(1, keepdims=True)).astype(np.float32)
    return share


def _warp(images: Tensor, share: Tensor, s: Strength) -> Tensor:
    """Rotates, shears, stretches and wobbles each digit, from 28x28 to the canvas."""
    n = images.shape[0]
    angle = share * s.rotation * _between((n, 1, 1), -1.0, 1.0)
    shear = share * s.shear * _between((n, 1, 1), -1.0, 1.0)
    stretch = tl.exp(0.5 * share * s.aspect * _between((n, 1, 1), -1.0, 1.0))
    unit = (np.arange(CANVAS, dtype=np.float32) - (CANVAS - 1) / 2) * (1.15 * SIZE / CANVAS)
    y, x = tl.asarray(unit[:, None]), tl.asarray(unit[None, :])
    x, y = x * stretch + shear * y, y / stretch
    cos, sin = tl.cos(angle), tl.sin(angle)
    smooth = tl.asarray(_smooth())
    coarse = tl.expand_dims(share, 1) * s.elastic * tl.randn(n, 2, COARSE, COARSE)
    wobble = smooth @ coarse @ tl.permute_dims(smooth, (1, 0))
    middle = (SIZE - 1) / 2
    return _between_pixels(
        images,
        cos * y + sin * x + wobble[:, 0] + middle,
        cos * x - sin * y + wobble[:, 1] + middle,
    )


def _between_pixels(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """The images (n, 28, 28) at coordinates (n, h, w), linearly between pixels; black outside."""
    n = images.shape[0]
    wide = SIZE + 2  # with black around
    flat = tl.reshape(tl.pad(images, ((0, 0), (1, 1), (1, 1))), (n, wide * wide))
    rows = tl.clip(rows + 1.0, 0.0, wide - 1.001)
    columns = tl.clip(columns + 1.0, 0.0, wide - 1.001)
    top, left = tl.floor(rows), tl.floor(columns)
    down, right = rows - top, columns - left
    at = tl.reshape((top * wide + left).astype("int32"), (n, -1))

    def pixel(step: int) -> Tensor:
        return tl.reshape(tl.take_along_axis(flat, at + step, 1), rows.shape)

    above = pixel(0) * (1.0 - right) + pixel(1) * right
    below = pixel(wide) * (1.0 - right) + pixel(wide + 1) * right
    moved: Tensor = above * (1.0 - down) + below * down
    return moved


def _grow(drawing: Tensor) -> Tensor:
    """Every pixel becomes the maximum of its neighbourhood, roughly a disc of radius one."""

    def along(x: Tensor, axis: int) -> Tensor:
        ends = [(0, 0), (0, 0), (0, 0)]
        ends[axis] = (1, 1)
        x = tl.pad(x, ends, -np.inf)
        before, here, after = (x[(slice(None),) * axis + (slice(i, i + CANVAS),)] for i in range(3))
        most: Tensor = tl.maximum(tl.maximum(before, after), here)
        return most

    across = along(drawing, 2)
    cross = tl.maximum(across, along(drawing, 1))
    grown: Tensor = 0.6 * cross + 0.4 * along(across, 1)
    return grown


def _stroke(drawing: Tensor, share: Tensor, s: Strength) -> Tensor:
    """Thickens or thins the stroke, and sharpens its edge."""
    one = (drawing.shape[0], 1, 1)
    steps = share * s.thicken * tl.rand(*one) ** 1.5
    thick = drawing
    for _ in range(int(s.thicken) + 1):
        thick = thick + tl.clip(steps, 0.0, 1.0) * (_grow(thick) - thick)
        steps = steps - 1.0
    thin = drawing + share * s.thin * tl.rand(*one) * (-_grow(-drawing) - drawing)
    thin = thin / tl.clip(tl.max(thin, axis=(1, 2), keepdims=True), 0.3)
    drawing = tl.where(tl.rand(*one) < 0.3, thin, thick)
    contrast = 1.0 + share * (s.edge - 1.0) * tl.clip(_between(one, -0.6, 1.0), 0.0)
    sharp: Tensor = tl.clip((drawing - 0.5) * contrast + 0.5, 0.0, 1.0)
    return sharp


def _place(drawing: Tensor, share: Tensor, s: Strength) -> Tensor:
    """Fits the digit to the box, with its centre of mass near the middle; from canvas to 28x28."""
    n = drawing.shape[0]
    one = (n, 1, 1)
    drawing = tl.where(drawing > 0.05, drawing, 0.0)
    coordinate = tl.asarray(np.arange(CANVAS, dtype=np.float32))
    extent = tl.reshape(tl.maximum(_extent(drawing, 2), _extent(drawing, 1)), one)
    loose = tl.where(tl.rand(*one) < 0.5, share, 0.0)
    scale = BOX / extent * tl.exp(loose * s.size * _between(one, -1.0, 1.0))
    blur = 1.0 + share * 0.5 * _between(one, -0.4, 1.0)
    resampled = []
    for axis in (2, 1):
        along = tl.sum(drawing, axis=axis)
        mass = tl.sum(along, axis=1) + 1e-6
        centre = tl.reshape(tl.sum(along * coordinate, axis=1) / mass, one)
        # In all of MNIST the centre of mass is within the pixel just after the middle.
        middle = _between(one, 13.5, 14.5) + loose * s.shift * _between(one, -1.0, 1.0)
        resampled.append(_resampling(scale, centre, middle, blur))
    rows, columns = resampled
    return tl.clip(rows @ drawing @ columns.mT, 0.0, 1.0)


def _extent(drawing: Tensor, over: int) -> Tensor:
    """The length (n,) of the inked part, in pixels of the canvas, along the axis that is left."""
    coordinate = tl.asarray(np.arange(CANVAS, dtype=np.float32))
    inked = tl.max(drawing, axis=over) > 0.15
    last = tl.max(tl.where(inked, coordinate, 0.0), axis=1)
    first = tl.min(tl.where(inked, coordinate, float(CANVAS)), axis=1)
    return tl.clip(last - first + 1.0, 4.0)


def _resampling(scale: Tensor, centre: Tensor, middle: Tensor, blur: Tensor) -> Tensor:
    """(n, 28, canvas): what each canvas pixel counts in each result pixel, by a triangle filter."""
    to = tl.asarray(np.arange(SIZE, dtype=np.float32)[:, None])
    wanted = (to - middle) / scale + centre
    reach = tl.clip(1.0 / scale, 1.0) * blur
    distance = abs(wanted - tl.asarray(np.arange(CANVAS, dtype=np.float32)))
    weight = tl.clip(1.0 - distance / reach, 0.0)
    # Normalize rows, except those beyond the edge, because everything outside is black.
    even: Tensor = weight / tl.maximum(tl.sum(weight, axis=2, keepdims=True), 0.5 * reach)
    return even
