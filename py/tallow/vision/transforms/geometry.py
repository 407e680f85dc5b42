"""Sizes, parts, borders and mirror images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...core.hostarray import from_values
from ...errors import DTypeError, OptionError, ShapeError
from ...tensor import Tensor, asarray
from . import pillow
from .borders import PADDING_MODES, sources
from .images import (
    Fill,
    InterpolationMode,
    Number,
    Picture,
    checked,
    dimensions,
    fed,
    fills,
    interpolation_of,
    is_pil,
    pair,
    select,
)
from .resampling import resized, resized_part

_ON_TENSORS = ("nearest", "nearest-exact", "bilinear", "bicubic")


def resize(
    img: Picture,
    size: int | Sequence[int],
    interpolation: Any = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Picture:
    """The image at another size.

    size: (h, w), or the length of the shorter side, with which the other keeps its proportion.
    max_size: what the longer side is at most, where size is one number.
    antialias: each result is a mean over all pixels that it covers; Pillow's images always have it.
    Raises: OptionError for sizes that are not above 0, another interpolation, and a max_size that
      is not above size.
    """
    _, height, width = dimensions(img, "resize")
    lengths = resized_lengths(height, width, size, max_size)
    if is_pil(img):
        return pillow.resize(img, lengths, interpolation_of(interpolation, "resize"))
    mode = interpolation_of(interpolation, "resize", _ON_TENSORS).value
    return resized(img, lengths, mode, antialias is not False)


def resized_lengths(
    height: int, width: int, size: int | Sequence[int], max_size: int | None
) -> tuple[int, int]:
    """(h, w) after `resize`."""
    asked = pair(size, "resize")
    if not isinstance(size, int) and len(size) == 2:
        if max_size is not None:
            raise OptionError("resize: max_size goes with one number as size")
        return asked
    short, long = sorted((height, width))
    new_short, new_long = asked[0], int(asked[0] * long / short)
    if max_size is not None:
        if max_size <= asked[0]:
            raise OptionError(f"resize: max_size={max_size} must be above size={asked[0]}")
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_short, new_long) if height <= width else (new_long, new_short)


def crop(img: Picture, top: int, left: int, height: int, width: int) -> Picture:
    """A part of the image, (height, width) from (top, left) on; 0 where the image is not. Raises
    OptionError for a size that is not above 0."""
    pair((height, width), "crop")
    if is_pil(img):
        return pillow.crop(img, top, left, height, width)
    x = checked(img, "crop")
    h, w = x.shape[-2:]
    top, left = min(max(top, -height), h), min(max(left, -width), w)
    rows = slice(max(top, 0), max(top + height, 0))
    columns = slice(max(left, 0), max(left + width, 0))
    part = x[..., rows, columns]
    before = max(-top, 0), max(-left, 0)
    after = height - part.shape[-2] - before[0], width - part.shape[-1] - before[1]
    if not any((*before, *after)):
        return part
    return f.pad(part, [(0, 0)] * (x.ndim - 2) + [*zip(before, after, strict=True)], 0)


def moved_crop(img: Tensor, top: Number, left: Number, height: int, width: int) -> Tensor:
    """A part that lies within the images, (height, width). top and left are data, numbers or one
    for each image (n, c, h, w), so that another place needs no other plan."""
    h, w = img.shape[-2:]
    if not isinstance(top, Tensor) or not isinstance(left, Tensor):
        place = fed([top, left], dt.int32)  # type: ignore[list-item]
        rows = f.take(img, place[0] + f.arange(height), img.ndim - 2)
        return f.take(rows, place[1] + f.arange(width), img.ndim - 1)
    n, c = img.shape[:2]
    down = f.reshape(top.astype(dt.int32), (-1, 1, 1)) + f.reshape(f.arange(height), (1, -1, 1))
    across = f.reshape(left.astype(dt.int32), (-1, 1, 1)) + f.reshape(f.arange(width), (1, 1, -1))
    index = f.reshape(down * w + across, (n, 1, height * width))
    flat = f.reshape(img, (n, c, h * w))
    found = f.take_along_axis(flat, f.broadcast_to(index, (n, c, height * width)), 2)
    return f.reshape(found, (n, c, height, width))


def resized_crop(
    img: Picture,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: Any = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Picture:
    """`resize` of `crop`. On a tensor, another part of one image needs no other plan."""
    pair((height, width), "resized_crop")
    if is_pil(img):
        return resize(crop(img, top, left, height, width), size, interpolation, None, antialias)
    x = checked(img, "resized_crop")
    lengths = resized_lengths(height, width, size, None)
    within = 0 <= top <= x.shape[-2] - height and 0 <= left <= x.shape[-1] - width
    mode = interpolation_of(interpolation, "resized_crop", _ON_TENSORS).value
    if not within or (mode == "bicubic" and not antialias):
        return resize(crop(x, top, left, height, width), size, mode, None, antialias)
    return resized_part(x, top, left, height, width, lengths, mode, antialias is not False)


def center_crop(img: Picture, output_size: int | Sequence[int]) -> Picture:
    """The middle of the image, (h, w), with 0 around an image that is smaller."""
    height, width = pair(output_size, "center_crop")
    _, h, w = dimensions(img, "center_crop")
    if height > h or width > w:
        low = (max(width - w, 0) // 2, max(height - h, 0) // 2)
        high = ((max(width - w, 0) + 1) // 2, (max(height - h, 0) + 1) // 2)
        img = pad(img, [*low, *high])
        _, h, w = dimensions(img)
    return crop(img, round((h - height) / 2.0), round((w - width) / 2.0), height, width)


def sides_of(padding: int | Sequence[int], what: str = "pad") -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of one number, (left and right, top and bottom), or all four.
    Raises OptionError for others."""
    given = [padding] * 4 if isinstance(padding, int) else [*padding]
    given = given * 4 if len(given) == 1 else given * 2 if len(given) == 2 else given
    if len(given) != 4 or any(not isinstance(each, int) or each < 0 for each in given):
        raise OptionError(f"{what}: padding={padding!r} is not 1, 2 or 4 whole numbers from 0 on")
    return given[0], given[1], given[2], given[3]


def pad(
    img: Picture, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant"
) -> Picture:
    """The image with a border.

    padding: one number, (left and right, top and bottom), or (left, top, right, bottom).
    fill: what the border is in the mode "constant", a number or one for each channel.
    padding_mode: "constant", "edge" (the outermost pixel), "reflect" (mirrored at that, which is
      not repeated) or "symmetric" (mirrored with it).
    Raises: OptionError for another mode or numbers below 0, ShapeError for a border that is wider
      than what is mirrored.
    """
    sides = sides_of(padding)
    if padding_mode not in PADDING_MODES:
        listed = ", ".join(PADDING_MODES)
        raise OptionError(f"pad: the padding_mode {padding_mode!r} is not one of {listed}")
    if is_pil(img):
        return pillow.pad(img, sides, fill, padding_mode)
    x = checked(img, "pad")
    left, top, right, bottom = sides
    if padding_mode == "constant":
        numbers = fills(fill, dimensions(x)[0], "pad")
        widths = [(0, 0)] * (x.ndim - 2) + [(top, bottom), (left, right)]
        if len(set(numbers)) == 1:
            value = numbers[0] if x.dtype.is_floating else int(numbers[0])
            return f.pad(x, widths, value)
        mask = f.pad(f.ones(x.shape[-2:], dt.bool_), widths[-2:], False)
        colour = f.reshape(asarray(numbers).astype(x.dtype), (-1, 1, 1))
        return f.where(mask, f.pad(x, widths, 0), colour)
    for axis, (low, high) in ((-2, (top, bottom)), (-1, (left, right))):
        if low or high:
            indices = sources(x.shape[axis], low, high, padding_mode)
            table = asarray(from_values(indices, (len(indices),), dt.int32))
            x = f.take(x, table, x.ndim + axis)
    return x


def hflip(img: Picture) -> Picture:
    """Left and right exchanged."""
    return pillow.flip(img, -1) if is_pil(img) else f.flip(checked(img, "hflip"), axis=-1)


def vflip(img: Picture) -> Picture:
    """Top and bottom exchanged."""
    return pillow.flip(img, -2) if is_pil(img) else f.flip(checked(img, "vflip"), axis=-2)


class Crops(tuple[Picture, ...]):
    """Several parts of one image, not an image and what stands beside it."""

    __slots__ = ()


def five_crop(img: Picture, size: int | Sequence[int]) -> Crops:
    """The four corners and the middle, each (h, w): top left, top right, bottom left, bottom right,
    middle. Raises ShapeError for a size that is larger than the image."""
    height, width = pair(size, "five_crop")
    _, h, w = dimensions(img, "five_crop")
    check_fits("five_crop", (height, width), (h, w))
    corners = [(top, left) for top in (0, h - height) for left in (0, w - width)]
    parts = [crop(img, top, left, height, width) for top, left in corners]
    return Crops([*parts, center_crop(img, (height, width))])


def ten_crop(img: Picture, size: int | Sequence[int], vertical_flip: bool = False) -> Crops:
    """`five_crop` of the image, then of its mirror image."""
    mirrored = vflip(img) if vertical_flip else hflip(img)
    return Crops([*five_crop(img, size), *five_crop(mirrored, size)])


def check_fits(what: str, size: tuple[int, int], available: tuple[int, int]) -> None:
    """ShapeError for a part that is larger than the image."""
    if size[0] > available[0] or size[1] > available[1]:
        raise ShapeError(
            f"{what}: a part of {size} is larger than the image {available}; resize or pad it first"
        )


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """The image with v, a number or a tensor that broadcasts, in the part (h, w) from (i, j) on."""
    if is_pil(img):
        raise DTypeError("erase: takes tensors; PILToTensor() comes before")
    found = erased(checked(img, "erase"), i, j, h, w, v)
    return img.copy_(found) if inplace else found


def erased(x: Tensor, top: Number, left: Number, height: Number, width: Number, v: Any) -> Tensor:
    """As `erase`, with numbers, or one for each image (n, c, h, w). v: a number, or what broadcasts
    with the part that fits, or with the image."""
    lines = []
    for axis, start, length in ((-2, top, height), (-1, left, width)):
        at = f.arange(x.shape[axis]).astype(dt.float32)
        if isinstance(start, Tensor) and isinstance(length, Tensor):
            start, length = (f.reshape(each, (-1, 1, 1, 1)) for each in (start, length))
        else:
            start, length = fed(float(start)), fed(float(length))
        at = f.reshape(at, (-1, 1) if axis == -2 else (1, -1))
        lines.append(f.logical_and(at >= start, at < start + length))
    inside = f.logical_and(*lines)
    value = v if isinstance(v, Tensor) else asarray(float(v))
    value = value.astype(x.dtype)
    if value.ndim >= 2 and value.shape[-2:] not in ((1, 1), x.shape[-2:]):
        if isinstance(top, Tensor) or isinstance(left, Tensor):
            raise ShapeError(f"erase: a value {value.shape} for an image {x.shape}")
        rest = (x.shape[-2] - int(top) - value.shape[-2], x.shape[-1] - int(left) - value.shape[-1])
        widths = [(0, 0)] * (value.ndim - 2) + [(int(top), rest[0]), (int(left), rest[1])]
        value = f.pad(value, widths, 0)
    return f.where(inside, value, x)


def flipped_where(chosen: bool | Tensor, img: Picture, axis: int) -> Picture:
    """The image, mirrored along an axis if it is chosen."""
    mirror = hflip if axis == -1 else vflip
    if is_pil(img):
        return mirror(img) if chosen else img
    return select(chosen, mirror(img), img)
