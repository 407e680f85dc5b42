"""Random transforms of colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from . import colour
from .blur import blurred
from .containers import chosen_image
from .draws import HostDraws
from .images import Number, Picture, bound, checked, dimensions, restored, working
from .transform import Source, Transform, probability, span

Range = tuple[float, float] | None


class Jitter(NamedTuple):
    """What ColorJitter.get_params draws: the order of the four changes, and the factor of each;
    None for one that does not happen."""

    order: list[int]
    brightness: float | None
    contrast: float | None
    saturation: float | None
    hue: float | None


class ColorJitter(Transform):
    """Brightness, contrast, saturation and hue changed at random, in a random order.

    brightness, contrast, saturation: factors (low, high), or one number for (1 - number, 1 +
    number), not below 0. hue: parts of the circle (low, high), within -0.5 and 0.5, or one number
    for (-number, number).
    Raises: OptionError for other options.
    """

    is_random = True

    def __init__(
        self,
        brightness: float | Sequence[float] = 0,
        contrast: float | Sequence[float] = 0,
        saturation: float | Sequence[float] = 0,
        hue: float | Sequence[float] = 0,
    ) -> None:
        super().__init__()
        self.brightness = _factors(brightness, "brightness")
        self.contrast = _factors(contrast, "contrast")
        self.saturation = _factors(saturation, "saturation")
        self.hue = _factors(hue, "hue", 0.0)

    @staticmethod
    def get_params(brightness: Range, contrast: Range, saturation: Range, hue: Range) -> Jitter:
        """Draws the order and the factors."""
        draws = HostDraws()
        drawn = [
            None if each is None else draws.uniform(*each)
            for each in (brightness, contrast, saturation, hue)
        ]
        return Jitter(draws.random.sample(range(4), 4), *drawn)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        ranges = self.brightness, self.contrast, self.saturation, self.hue
        order = draws.random.sample(range(4), 4) if isinstance(draws, HostDraws) else range(4)
        for number in order:
            limits = ranges[number]
            if limits is not None:
                img = _CHANGES[number](img, draws.uniform(*limits))
        return img


_CHANGES: list[Callable[[Picture, Number], Picture]] = [
    colour.adjust_brightness, colour.adjust_contrast, colour.adjust_saturation, colour.adjust_hue,
]  # fmt: skip


def _factors(given: Any, what: str, middle: float = 1.0) -> Range:
    """(low, high) of factors; None if nothing changes."""
    if isinstance(given, (int, float)):
        if given < 0:
            raise OptionError(f"ColorJitter: {what}={given!r} is below 0")
        low = middle - given
        given = (max(low, 0.0) if middle else low, middle + given)
    low, high = span(given, f"ColorJitter: {what}", 0.0 if middle else -0.5)
    if not middle and high > 0.5:
        raise OptionError(f"ColorJitter: {what}={given!r} is not within -0.5 and 0.5")
    return None if low == high == middle else (low, high)


class Grayscale(Transform):
    """Luma, in one channel or three. Raises OptionError for another number."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        if num_output_channels not in (1, 3):
            raise OptionError(
                f"Grayscale: num_output_channels={num_output_channels} is neither 1 nor 3"
            )
        self.num_output_channels = num_output_channels

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return colour.rgb_to_grayscale(img, self.num_output_channels)


class _Chosen(Transform):
    """What happens with the probability p."""

    is_random = True

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = probability(p, type(self).__name__)

    def changed(self, img: Picture) -> Picture:
        """The image if it is chosen."""
        raise OptionError(f"{type(self).__name__} must define changed(img)")

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        return chosen_image(draws.chance(self.p), lambda: self.changed(img), img)


class RandomGrayscale(_Chosen):
    """Luma in as many channels as the image has, with the probability p."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.rgb_to_grayscale(img, dimensions(img, "RandomGrayscale")[0])


class RandomInvert(_Chosen):
    """Black and white exchanged, with the probability p."""

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.invert(img)


class RandomPosterize(_Chosen):
    """The highest `bits` bits of bytes, with the probability p."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__(p)
        if not isinstance(bits, int) or not 0 <= bits <= 8:
            raise OptionError(f"RandomPosterize: bits={bits!r} is not a whole number from 0 to 8")
        self.bits = bits

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.posterize(img, self.bits)


class RandomSolarize(_Chosen):
    """Values from a threshold on inverted, with the probability p."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__(p)
        self.threshold = threshold

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.solarize(img, self.threshold)


class RandomAdjustSharpness(_Chosen):
    """Sharper (above 1) or blurred (below 1), with the probability p."""

    def __init__(self, sharpness_factor: float, p: float = 0.5) -> None:
        super().__init__(p)
        if not sharpness_factor >= 0:
            raise OptionError(f"RandomAdjustSharpness: {sharpness_factor!r} is below 0")
        self.sharpness_factor = sharpness_factor

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.adjust_sharpness(img, self.sharpness_factor)


class RandomAutocontrast(_Chosen):
    """Each channel stretched from black to white, with the probability p."""

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.autocontrast(img)


class RandomEqualize(_Chosen):
    """Each channel of bytes with its values spread evenly, with the probability p."""

    def changed(self, img: Picture) -> Picture:
        """See `_Chosen.changed`."""
        return colour.equalize(img)


class GaussianBlur(Transform):
    """A mean over a window, weighted by a bell of a random width.

    kernel_size: odd, one number or (x, y). sigma: (low, high) in pixels, or one number.
    Raises: OptionError for other options.
    """

    is_random = True

    def __init__(
        self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)
    ) -> None:
        super().__init__()
        sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else [*kernel_size]
        if len(sizes) != 2 or any(k < 1 or k % 2 == 0 for k in sizes):
            raise OptionError(f"GaussianBlur: kernel_size={kernel_size!r} is not odd, 1 or (x, y)")
        self.kernel_size = sizes
        limits = (sigma, sigma) if isinstance(sigma, (int, float)) else sigma
        self.sigma = span(limits, "GaussianBlur: sigma", 1e-6)

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Draws a width."""
        return HostDraws().uniform(sigma_min, sigma_max)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        sigma = draws.uniform(*self.sigma)
        if isinstance(sigma, Tensor):
            return blurred(img, self.kernel_size, sigma)
        return colour.gaussian_blur(img, self.kernel_size, sigma)


class GaussianNoise(Transform):
    """Normal noise added to a floating tensor. clip: the result stays from 0 to 1. Raises
    OptionError for a sigma below 0."""

    is_random = True

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        if not sigma >= 0:
            raise OptionError(f"GaussianNoise: sigma={sigma!r} is below 0")
        self.mean, self.sigma, self.clip = mean, sigma, clip

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        x = checked(img, "GaussianNoise")
        white = bound(x.dtype)
        found = working(x) + (f.randn(x.shape) * self.sigma + self.mean) * white
        found = f.clip(found, 0, white) if self.clip or not x.dtype.is_floating else found
        return restored(found, x.dtype)
