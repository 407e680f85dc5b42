"""Turns MNIST digits into what a mouse might have drawn, on the fly, in JAX.

A mouse makes different strokes than a pen: with a constant width, thick on a small digit and thin
on a large one, with hard edges, slanted and wobbly. After the change, MNIST's own preparation (fit
to 20x20, centre of mass in the middle of 28x28) is applied again, because the page applies it to
every drawing.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

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


def augment(key: Array, images: Array, lightly: Array | float = 0.3) -> Array:
    """Changes each of the images (n, 28, 28), float32, 0..1, in a random way.

    lightly: the share of digits that stay close to the original, so that it is not forgotten.
    """
    keys = jax.random.split(key, images.shape[0])
    return jax.vmap(lambda k, image: _one(k, image, lightly, STRENGTH))(keys, images)


def _one(key: Array, image: Array, lightly: Array | float, strength: Strength) -> Array:
    share_key, warp_key, stroke_key, place_key = jax.random.split(key, 4)
    share = jnp.where(jax.random.uniform(share_key) < lightly, 0.3, 1.0)
    drawing = _warp(warp_key, image, share, strength)
    drawing = _stroke(stroke_key, drawing, share, strength)
    return _place(place_key, drawing, share, strength)


def _between(key: Array, low: float, high: float) -> Array:
    return jax.random.uniform(key, minval=low, maxval=high)


def _warp(key: Array, image: Array, share: Array, s: Strength) -> Array:
    """Rotates, shears, stretches and wobbles the digit, from 28x28 to the canvas."""
    keys = jax.random.split(key, 4)
    angle = share * s.rotation * _between(keys[0], -1.0, 1.0)
    shear = share * s.shear * _between(keys[1], -1.0, 1.0)
    stretch = jnp.exp(0.5 * share * s.aspect * _between(keys[2], -1.0, 1.0))
    unit = (jnp.arange(CANVAS) - (CANVAS - 1) / 2) * (1.15 * SIZE / CANVAS)
    y, x = jnp.meshgrid(unit, unit, indexing="ij")
    x, y = x * stretch + shear * y, y / stretch
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    coarse = share * s.elastic * jax.random.normal(keys[3], (2, COARSE, COARSE))
    wobble = jax.image.resize(coarse, (2, CANVAS, CANVAS), "cubic")
    middle = (SIZE - 1) / 2
    rows = cos * y + sin * x + wobble[0] + middle
    columns = cos * x - sin * y + wobble[1] + middle
    moved: Array = jax.scipy.ndimage.map_coordinates(image, [rows, columns], order=1)
    return moved


def _grow(drawing: Array) -> Array:
    """Every pixel becomes the maximum of its neighbourhood, roughly a disc of radius one."""
    cross = jnp.array(drawing)
    for axis in (0, 1):
        for step in (-1, 1):
            cross = jnp.maximum(cross, jnp.roll(drawing, step, axis))
    square: Array = lax.reduce_window(drawing, -jnp.inf, lax.max, (3, 3), (1, 1), "SAME")
    return 0.6 * cross + 0.4 * square


def _stroke(key: Array, drawing: Array, share: Array, s: Strength) -> Array:
    """Thickens or thins the stroke, and sharpens its edge."""
    keys = jax.random.split(key, 4)
    steps = share * s.thicken * _between(keys[0], 0.0, 1.0) ** 1.5
    thick = drawing
    for _ in range(int(s.thicken) + 1):
        thick = thick + jnp.clip(steps, 0.0, 1.0) * (_grow(thick) - thick)
        steps = steps - 1.0
    thin = drawing + share * s.thin * _between(keys[1], 0.0, 1.0) * (-_grow(-drawing) - drawing)
    thin = thin / jnp.maximum(thin.max(), 0.3)
    drawing = jnp.where(jax.random.uniform(keys[2]) < 0.3, thin, thick)
    contrast = 1.0 + share * (s.edge - 1.0) * _between(keys[3], -0.6, 1.0).clip(0.0)
    return jnp.clip((drawing - 0.5) * contrast + 0.5, 0.0, 1.0)


def _place(key: Array, drawing: Array, share: Array, s: Strength) -> Array:
    """Fits the digit to the box, with its centre of mass near the middle; from canvas to 28x28."""
    keys = jax.random.split(key, 4)
    drawing = jnp.where(drawing > 0.05, drawing, 0.0)
    mass = drawing.sum() + 1e-6
    coordinate = jnp.arange(CANVAS)
    ink = drawing > 0.15
    extent = jnp.maximum(_extent(ink.any(1)), _extent(ink.any(0)))
    loose = jnp.where(jax.random.uniform(keys[0]) < 0.5, share, 0.0)
    scale = BOX / extent * jnp.exp(loose * s.size * _between(keys[1], -1.0, 1.0))
    # In all of MNIST the centre of mass is within the pixel just after the middle.
    middle_key, shift_key = jax.random.split(keys[2])
    middle = jax.random.uniform(middle_key, (2,), minval=13.5, maxval=14.5)
    middle = middle + loose * s.shift * jax.random.uniform(shift_key, (2,), minval=-1.0, maxval=1.0)
    blur = 1.0 + share * 0.5 * _between(keys[3], -0.4, 1.0)
    centre = jnp.stack([(drawing.sum(axis) * coordinate).sum() for axis in (1, 0)]) / mass
    rows = _resampling(scale, centre[0], middle[0], blur)
    columns = _resampling(scale, centre[1], middle[1], blur)
    return jnp.clip(rows @ drawing @ columns.T, 0.0, 1.0)


def _extent(inked: Array) -> Array:
    """The length of the inked part, in pixels of the canvas."""
    coordinate = jnp.arange(CANVAS)
    last = jnp.where(inked, coordinate, 0).max()
    first = jnp.where(inked, coordinate, CANVAS).min()
    return jnp.maximum(last - first + 1, 4).astype(jnp.float32)


def _resampling(scale: Array, centre: Array, middle: Array, blur: Array) -> Array:
    """(28, canvas): the weight of each canvas pixel in each result pixel, by a triangle filter."""
    wanted = (jnp.arange(SIZE) - middle) / scale + centre
    reach = jnp.maximum(1.0, 1.0 / scale) * blur
    distance = jnp.abs(wanted[:, None] - jnp.arange(CANVAS)[None, :])
    weight = jnp.maximum(0.0, 1.0 - distance / reach)
    # Normalize rows, except those beyond the edge, because everything outside is black.
    return weight / jnp.maximum(weight.sum(1, keepdims=True), 0.5 * reach)
