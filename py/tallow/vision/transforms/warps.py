"""Turned, sheared and bent images: each result is read where a matrix, or a field, leads to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...errors import OptionError, ShapeError
from ...functional.grids import grid_sample
from ...tensor import Tensor, asarray
from . import pillow
from .conversion import pil_to_tensor, to_pil_image
from .images import (
    Fill,
    InterpolationMode,
    Picture,
    batched,
    checked,
    dimensions,
    fed,
    fills,
    interpolation_of,
    is_pil,
    restored,
    working,
)

_SAMPLED = ("nearest", "bilinear")


def inverse_matrix(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> list[float]:
    """The six numbers that map a result's pixels to the image's, of a turn by `angle` degrees, a
    shear by two angles, a scale about `center`, and a translation."""
    turn, sx, sy = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - sy) / math.cos(sy)
    b = -math.cos(turn - sy) * math.tan(sx) / math.cos(sy) - math.sin(turn)
    c = math.sin(turn - sy) / math.cos(sy)
    d = -math.sin(turn - sy) * math.tan(sx) / math.cos(sy) + math.cos(turn)
    inverse = [[d / scale, -b / scale], [-c / scale, a / scale]]  # the determinant is 1
    found: list[float] = []
    for (one, two), middle in zip(inverse, center, strict=True):
        moved = one * (-center[0] - translate[0]) + two * (-center[1] - translate[1])
        found += [one, two, moved + middle]
    return found


def inverse_matrices(
    angle: Tensor, translate: tuple[Tensor, Tensor], scale: Tensor, shear: tuple[Tensor, Tensor]
) -> Tensor:
    """`inverse_matrix` about the middle, for each image, (n, 2, 3)."""
    turn, sx, sy = (each * (math.pi / 180) for each in (angle, *shear))
    slope, width = f.tan(sx), f.cos(sy)
    a, c = f.cos(turn - sy) / width, f.sin(turn - sy) / width
    b, d = -a * slope - f.sin(turn), -c * slope + f.cos(turn)
    rows = []
    for one, two in ((d / scale, -b / scale), (-c / scale, a / scale)):
        rows.append(f.stack([one, two, -one * translate[0] - two * translate[1]], 1))
    return f.stack(rows, 1)


def _centres(length: int) -> Tensor:
    """The pixels' centres along an axis, counted from the middle."""
    return f.arange(length).astype(dt.float32) + (0.5 - length * 0.5)


def warped(
    img: Tensor, matrices: Tensor, mode: str, fill: Fill, size: tuple[int, int] | None = None
) -> Tensor:
    """Images read where matrices (2, 3), or (n, 2, 3) for images (n, c, h, w), lead to, in pixels
    from the middle."""
    h, w = img.shape[-2:]
    rows, columns = size or (h, w)
    y, x = f.reshape(_centres(rows), (-1, 1)), f.reshape(_centres(columns), (1, -1))
    each = matrices if matrices.ndim == 3 else f.expand_dims(matrices, 0)
    at = []
    for row, length in ((0, w), (1, h)):
        one, two, moved = (each[:, row, k].reshape((-1, 1, 1)) for k in range(3))
        at.append((one * x + two * y + moved) * (2.0 / length))
    return _sampled(img, f.stack(at, -1), mode, fill)


def _sampled(img: Tensor, grid: Tensor, mode: str, fill: Fill) -> Tensor:
    """Images at a grid (1 or n, h, w, 2), with `fill` beyond them."""
    x = working(batched(img))
    n = x.shape[0]
    rows, columns = grid.shape[1:3]
    grid = f.broadcast_to(grid, (n, *grid.shape[1:])) if grid.shape[0] != n else grid
    numbers = fills(fill, x.shape[1], "fill")
    if any(numbers):
        mask = f.ones((n, 1, *x.shape[2:]), x.dtype)
        found = grid_sample(f.concat([x, mask], 1), grid, mode, "zeros", False)
        share = found[:, -1:]
        colour = f.reshape(asarray(numbers, x.dtype), (-1, 1, 1))
        if mode == "nearest":
            found = f.where(share < 0.5, colour, found[:, :-1])
        else:
            found = found[:, :-1] * share + (1.0 - share) * colour
    else:
        found = grid_sample(x, grid, mode, "zeros", False)
    return restored(f.reshape(found, (*img.shape[:-2], rows, columns)), img.dtype)


def _shears(shear: float | Sequence[float]) -> tuple[float, float]:
    given = [shear, 0.0] if isinstance(shear, (int, float)) else [*shear]
    given = given * 2 if len(given) == 1 else given
    if len(given) != 2:
        raise OptionError(f"affine: shear={shear!r} is neither one angle nor two")
    return float(given[0]), float(given[1])


def affine(
    img: Picture,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: Any = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Sequence[float] | None = None,
) -> Picture:
    """The image turned clockwise by `angle` degrees, sheared, scaled, moved by pixels.

    translate: (right, down). shear: an angle along x, or two along x and y, in degrees. fill: what
    stands where the image is not. center: (x, y) of what stays; None is the middle.
    Raises: OptionError for a scale that is not above 0, another interpolation, and other numbers.
    """
    if len(translate) != 2 or not scale > 0:
        raise OptionError(
            f"affine: translate={translate!r} is not (x, y), or scale={scale!r} not above 0"
        )
    shears = _shears(shear)
    _, h, w = dimensions(img, "affine")
    if is_pil(img):
        mode = interpolation_of(interpolation, "affine", (*_SAMPLED, "bicubic"))
        middle = (w * 0.5, h * 0.5) if center is None else (center[0], center[1])
        return pillow.transform(
            img, "AFFINE", inverse_matrix(middle, angle, translate, scale, shears), mode, fill
        )
    name = interpolation_of(interpolation, "affine", _SAMPLED).value
    about = _from_middle(center, h, w)
    numbers = inverse_matrix(about, angle, translate, scale, shears)
    return warped(checked(img, "affine"), f.reshape(fed(numbers), (2, 3)), name, fill)


def _from_middle(center: Sequence[float] | None, h: int, w: int) -> tuple[float, float]:
    return (0.0, 0.0) if center is None else (center[0] - w * 0.5, center[1] - h * 0.5)


def rotate(
    img: Picture,
    angle: float,
    interpolation: Any = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Fill = None,
) -> Picture:
    """The image turned counter-clockwise by `angle` degrees.

    expand: the result is as large as the whole turned image. center: (x, y) of what stays; None is
    the middle. fill: what stands where the image is not.
    Raises: OptionError for another interpolation.
    """
    _, h, w = dimensions(img, "rotate")
    if is_pil(img):
        mode = interpolation_of(interpolation, "rotate", (*_SAMPLED, "bicubic"))
        return pillow.rotate(img, angle, mode, expand, center, fill)
    name = interpolation_of(interpolation, "rotate", _SAMPLED).value
    numbers = inverse_matrix(_from_middle(center, h, w), -angle, (0, 0), 1.0, (0.0, 0.0))
    size = _turned_size(numbers, h, w) if expand else (h, w)
    return warped(checked(img, "rotate"), f.reshape(fed(numbers), (2, 3)), name, fill, size)


def _turned_size(numbers: Sequence[float], h: int, w: int) -> tuple[int, int]:
    """(h, w) of what encloses the whole image."""
    corners = [(x, y) for x in (-0.5 * w, 0.5 * w) for y in (-0.5 * h, 0.5 * h)]
    lengths = []
    for row, length in ((3, h), (0, w)):
        along = [x * numbers[row] + y * numbers[row + 1] + 0.5 * length for x, y in corners]
        low, high = (math.trunc(round(at / 1e-3, 3)) * 1e-3 for at in (min(along), max(along)))
        lengths.append(math.ceil(high) - math.floor(low))
    return lengths[0], lengths[1]


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of a few linear equations, by elimination with the largest pivot. Raises
    OptionError if there is none."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        if abs(rows[pivot][k]) < 1e-12:
            raise OptionError("perspective: three of the points lie on one line")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(size):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]


def perspective_coefficients(
    startpoints: Sequence[Sequence[float]], endpoints: Sequence[Sequence[float]]
) -> list[float]:
    """The eight numbers (a ... h) of the projection ((a x + b y + c) / (g x + h y + 1), ...) that
    maps four endpoints to the startpoints."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise OptionError("perspective: give four startpoints and four endpoints")
    matrix, right = [], []
    for (x, y), (u, v) in zip(endpoints, startpoints, strict=True):
        matrix.append([x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y])
        matrix.append([0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y])
        right += [u, v]
    return solved(matrix, right)


def perspective(
    img: Picture,
    startpoints: Sequence[Sequence[float]],
    endpoints: Sequence[Sequence[float]],
    interpolation: Any = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Picture:
    """The image seen from elsewhere, so that four startpoints (x, y) come to the endpoints: top
    left, top right, bottom right, bottom left. Raises OptionError for points on one line, and
    another interpolation."""
    numbers = perspective_coefficients(startpoints, endpoints)
    if is_pil(img):
        mode = interpolation_of(interpolation, "perspective", (*_SAMPLED, "bicubic"))
        return pillow.transform(img, "PERSPECTIVE", numbers, mode, fill)
    name = interpolation_of(interpolation, "perspective", _SAMPLED).value
    picture = checked(img, "perspective")
    h, w = picture.shape[-2:]
    y = f.reshape(f.arange(h).astype(dt.float32) + 0.5, (-1, 1))
    x = f.reshape(f.arange(w).astype(dt.float32) + 0.5, (1, -1))
    k = fed(numbers)
    depth = k[6] * x + k[7] * y + 1.0
    across = (k[0] * x + k[1] * y + k[2]) / depth * (2.0 / w) - 1.0
    down = (k[3] * x + k[4] * y + k[5]) / depth * (2.0 / h) - 1.0
    return _sampled(picture, f.expand_dims(f.stack([across, down], -1), 0), name, fill)


def elastic_transform(
    img: Picture,
    displacement: Tensor,
    interpolation: Any = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Picture:
    """The image read beside each pixel.

    displacement: how far beside, (1, h, w, 2), x first, as parts of half the image's sides.
    Raises: ShapeError for another shape, OptionError for another interpolation.
    """
    name = interpolation_of(interpolation, "elastic_transform", _SAMPLED).value
    if is_pil(img):
        found = elastic_transform(pil_to_tensor(img), displacement, name, fill)
        return to_pil_image(found, img.mode)
    picture = checked(img, "elastic_transform")
    h, w = picture.shape[-2:]
    if displacement.shape != (1, h, w, 2):
        raise ShapeError(
            f"elastic_transform: displacement {displacement.shape}, not {(1, h, w, 2)}"
        )
    y = f.broadcast_to(f.reshape(_centres(h) * (2.0 / h), (-1, 1)), (h, w))
    x = f.broadcast_to(f.reshape(_centres(w) * (2.0 / w), (1, -1)), (h, w))
    grid = f.expand_dims(f.stack([x, y], -1), 0) + displacement
    return _sampled(picture, grid, name, fill)
