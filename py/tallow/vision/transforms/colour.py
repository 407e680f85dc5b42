"""Colours: brightness, contrast, saturation, hue, and what works on values one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...errors import DTypeError, OptionError
from ...tensor import Tensor
from . import pillow
from .blur import blurred
from .conversion import convert_image_dtype, pil_to_tensor, to_pil_image
from .images import (
    Number,
    Picture,
    bound,
    check_channels,
    checked,
    is_pil,
    per_image,
    restored,
    working,
)


def _factor(value: Number, what: str, least: float = 0.0) -> Number:
    if not isinstance(value, Tensor) and not value >= least:
        raise OptionError(f"{what}: the factor {value} is below {least:g}")
    return value


def _blend(img: Tensor, other: Tensor | float, factor: Number) -> Tensor:
    """factor of the image and the rest of another one, in the range and the type of the image."""
    x = working(img)
    share = per_image(factor, x)
    found = x * share + (1.0 - share) * other
    return restored(f.clip(found, 0, bound(img.dtype)), img.dtype, rounded=False)


def rgb_to_grayscale(img: Picture, num_output_channels: int = 1) -> Picture:
    """Luma (ITU-R 601) in one channel or three. Raises ShapeError for an image without 1 or 3
    channels, OptionError for another number of results."""
    if num_output_channels not in (1, 3):
        raise OptionError(
            f"rgb_to_grayscale: num_output_channels={num_output_channels} is neither 1 nor 3"
        )
    if is_pil(img):
        return pillow.grayscale(img, num_output_channels)
    x = checked(img, "rgb_to_grayscale")
    gray = _gray(x, "rgb_to_grayscale")
    return f.concat([gray] * 3, axis=x.ndim - 3) if num_output_channels == 3 else gray


to_grayscale = rgb_to_grayscale


def _gray(x: Tensor, what: str) -> Tensor:
    if check_channels(x, (1, 3), what) == 1:
        return x
    red, green, blue = (x[..., k : k + 1, :, :] for k in range(3))
    return (0.2989 * red + 0.587 * green + 0.114 * blue).astype(x.dtype)


def adjust_brightness(img: Picture, brightness_factor: Number) -> Picture:
    """The image times a factor: 0 is black, 1 changes nothing. Raises OptionError for one below
    0."""
    value = _factor(brightness_factor, "adjust_brightness")
    if is_pil(img):
        return pillow.enhanced(img, "Brightness", float(value))
    x = checked(img, "adjust_brightness")
    check_channels(x, (1, 3), "adjust_brightness")
    return _blend(x, 0.0, value)


def adjust_contrast(img: Picture, contrast_factor: Number) -> Picture:
    """Distances to the mean luma times a factor: 0 is gray, 1 changes nothing. Raises OptionError
    for one below 0."""
    value = _factor(contrast_factor, "adjust_contrast")
    if is_pil(img):
        return pillow.enhanced(img, "Contrast", float(value))
    x = checked(img, "adjust_contrast")
    mean = f.mean(working(_gray(x, "adjust_contrast")), axis=(-3, -2, -1), keepdims=True)
    return _blend(x, mean, value)


def adjust_saturation(img: Picture, saturation_factor: Number) -> Picture:
    """Distances to luma times a factor: 0 is black and white, 1 changes nothing. Raises OptionError
    for one below 0."""
    value = _factor(saturation_factor, "adjust_saturation")
    if is_pil(img):
        return pillow.enhanced(img, "Color", float(value))
    x = checked(img, "adjust_saturation")
    gray = _gray(x, "adjust_saturation")
    return x if x.shape[-3] == 1 else _blend(x, working(gray), value)


def adjust_hue(img: Picture, hue_factor: Number) -> Picture:
    """Hues turned by a part of the circle, from -0.5 to 0.5. Raises OptionError for another."""
    if not isinstance(hue_factor, Tensor) and not -0.5 <= hue_factor <= 0.5:
        raise OptionError(f"adjust_hue: the factor {hue_factor} is not from -0.5 to 0.5")
    if is_pil(img):
        return pillow.adjust_hue(img, float(hue_factor))
    x = checked(img, "adjust_hue")
    if check_channels(x, (1, 3), "adjust_hue") == 1:
        return x
    rgb = x if x.dtype.is_floating else convert_image_dtype(x, dt.float32)
    hue, saturation, value = _hsv(rgb)
    turned = hue + per_image(hue_factor, rgb)
    found = _rgb(turned - f.floor(turned), saturation, value)
    return convert_image_dtype(found, x.dtype)


def _hsv(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue, saturation and value, each from 0 to 1 (Smith 1978)."""
    red, green, blue = (x[..., k : k + 1, :, :] for k in range(3))
    high, low = f.max(x, -3, keepdims=True), f.min(x, -3, keepdims=True)
    even = high == low
    spread = high - low
    saturation = spread / f.where(even, 1.0, high)
    divisor = f.where(even, 1.0, spread)
    r, g, b = ((high - each) / divisor for each in (red, green, blue))
    of_red = high == red
    of_green = f.logical_and(f.logical_not(of_red), high == green)
    angle = f.where(of_red, b - g, f.where(of_green, 2.0 + r - b, 4.0 + g - r))
    turns = angle / 6.0 + 1.0
    return turns - f.floor(turns), saturation, high


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    """The colour of hue, saturation and value."""
    sixth = hue * 6.0
    channels = []
    for shift in (5.0, 3.0, 1.0):
        k = sixth + shift
        k = k - 6.0 * f.floor(k / 6.0)
        part = f.clip(f.minimum(k, 4.0 - k), 0.0, 1.0)
        channels.append(f.clip(value - value * saturation * part, 0.0, 1.0))
    return f.concat(channels, axis=hue.ndim - 3)


def adjust_gamma(img: Picture, gamma: float, gain: float = 1) -> Picture:
    """gain * img ** gamma, of values from 0 to 1. Raises OptionError for a gamma below 0."""
    _factor(gamma, "adjust_gamma")
    if is_pil(img):
        return pillow.adjust_gamma(img, gamma, gain)
    x = checked(img, "adjust_gamma")
    check_channels(x, (1, 3), "adjust_gamma")
    value = x if x.dtype.is_floating else convert_image_dtype(x, dt.float32)
    return convert_image_dtype(f.clip(gain * value**gamma, 0, 1), x.dtype)


def invert(img: Picture) -> Picture:
    """Black and white exchanged."""
    if is_pil(img):
        return pillow.operated(img, "invert")
    x = checked(img, "invert")
    check_channels(x, (1, 3), "invert")
    return (1.0 if x.dtype.is_floating else int(bound(x.dtype))) - x


def posterize(img: Picture, bits: int) -> Picture:
    """The highest `bits` bits of bytes. Raises DTypeError for other types, OptionError for a number
    of bits outside of 0 to 8."""
    if not isinstance(bits, int) or not 0 <= bits <= 8:
        raise OptionError(f"posterize: bits={bits!r} is not a whole number from 0 to 8")
    if is_pil(img):
        return pillow.operated(img, "posterize", bits)
    x = _bytes(img, "posterize")
    return f.bitwise_and(x, 256 - 2 ** (8 - bits))


def _bytes(img: Any, what: str) -> Tensor:
    x = checked(img, what)
    if x.dtype != dt.uint8:
        raise DTypeError(f"{what}: an image of {x.dtype.name}; it takes uint8")
    check_channels(x, (1, 3), what)
    return x


def solarize(img: Picture, threshold: float) -> Picture:
    """Values from the threshold on are inverted. Raises OptionError for one above white."""
    if is_pil(img):
        return pillow.operated(img, "solarize", threshold)
    x = checked(img, "solarize")
    check_channels(x, (1, 3), "solarize")
    if threshold > bound(x.dtype):
        raise OptionError(f"solarize: the threshold {threshold} is above white, {bound(x.dtype):g}")
    return f.where(working(x) >= float(threshold), invert(x), x)


def adjust_sharpness(img: Picture, sharpness_factor: float) -> Picture:
    """A blend with the blurred image: 0 is blurred, 1 changes nothing, 2 is sharper. Raises
    OptionError for a factor below 0."""
    _factor(sharpness_factor, "adjust_sharpness")
    if is_pil(img):
        return pillow.enhanced(img, "Sharpness", sharpness_factor)
    x = checked(img, "adjust_sharpness")
    check_channels(x, (1, 3), "adjust_sharpness")
    h, w = x.shape[-2:]
    if h <= 2 or w <= 2:
        return x
    given = working(x)
    total = given[..., 1:-1, 1:-1] * 4.0
    for row in range(3):
        for column in range(3):
            total = total + given[..., row : h - 2 + row, column : w - 2 + column]
    blurred = restored(total / 13.0, x.dtype)  # as Pillow: the middle counts 5, the others 1
    rest = [(0, 0)] * (x.ndim - 2) + [(1, 1), (1, 1)]
    inner = f.pad(f.ones((h - 2, w - 2), dt.bool_), rest[-2:], False)
    whole = f.where(inner, f.pad(blurred, rest, 0), x)
    return _blend(x, working(whole), sharpness_factor)


def autocontrast(img: Picture) -> Picture:
    """Each channel stretched from black to white; one of a single value stays."""
    if is_pil(img):
        return pillow.operated(img, "autocontrast")
    x = checked(img, "autocontrast")
    check_channels(x, (1, 3), "autocontrast")
    given, white = working(x), bound(x.dtype)
    low, high = (reduce(given, (-2, -1), keepdims=True) for reduce in (f.min, f.max))
    even = low == high
    scale = white / f.where(even, white, high - low)
    found = (given - f.where(even, 0.0, low)) * f.where(even, 1.0, scale)
    return restored(f.clip(found, 0, white), x.dtype, rounded=False)


def equalize(img: Picture) -> Picture:
    """Each channel with its values spread evenly, as Pillow does. Raises DTypeError for types but
    uint8."""
    if is_pil(img):
        return pillow.operated(img, "equalize")
    x = _bytes(img, "equalize")
    rows = f.reshape(x, (-1, x.shape[-2] * x.shape[-1])).astype(dt.int32)
    count, pixels = rows.shape
    marks = (f.expand_dims(rows, -1) == f.arange(256)).astype(dt.int32)
    histogram = f.sum(marks, 1)
    brightest = f.max(rows, 1, keepdims=True)
    step = (pixels - f.take_along_axis(histogram, brightest, 1)) // 255
    divisor = f.maximum(step, 1)
    table = (f.cumulative_sum(histogram, axis=1) + divisor // 2) // divisor
    table = f.concat([f.zeros((count, 1), dt.int32), table[:, :-1]], axis=1)
    table = f.clip(f.where(step == 0, f.arange(256), table), 0, 255)
    return f.reshape(f.take_along_axis(table, rows, 1), x.shape).astype(dt.uint8)


def gaussian_blur(
    img: Picture, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None
) -> Picture:
    """A mean over a window, weighted by a bell, of an image that is mirrored at its ends.

    kernel_size: odd numbers, one or (x, y). sigma: the bell's standard deviation in pixels, one or
    (x, y); None is 0.15 * kernel_size + 0.35.
    Raises: OptionError for even sizes and a sigma that is not above 0, ShapeError for an image that
      is not larger than half the window.
    """
    if is_pil(img):
        return to_pil_image(blurred(pil_to_tensor(img), kernel_size, sigma), img.mode)
    return blurred(checked(img, "gaussian_blur"), kernel_size, sigma)
