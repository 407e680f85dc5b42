"""Transforms of sizes: resized, cut, mirrored and padded images, erased parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from . import geometry
from .borders import PADDING_MODES
from .draws import HostDraws, part_of, place
from .geometry import check_fits, flipped_where, moved_crop, sides_of
from .images import (
    Fill,
    InterpolationMode,
    Picture,
    checked,
    dimensions,
    interpolation_of,
    is_pil,
    pair,
)
from .resampling import resized_part
from .transform import Source, Transform, probability, span


class Resize(Transform):
    """The image at another size. Options and errors as `functional.resize`."""

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: Any = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        pair(size, "Resize")
        self.size, self.max_size, self.antialias = size, max_size, antialias
        self.interpolation = interpolation_of(interpolation, "Resize")

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return geometry.resize(img, self.size, self.interpolation, self.max_size, self.antialias)


class _Sized(Transform):
    """What takes a size (h, w), or one number for a square."""

    def __init__(self, size: int | Sequence[int]) -> None:
        super().__init__()
        self.size = pair(size, type(self).__name__)


class CenterCrop(_Sized):
    """The middle of the image, with 0 around one that is smaller."""

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return geometry.center_crop(img, self.size)


class FiveCrop(_Sized):
    """A tuple of the four corners and the middle."""

    host_only = True

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return geometry.five_crop(img, self.size)


class TenCrop(_Sized):
    """A tuple of FiveCrop of the image and of its mirror image."""

    host_only = True

    def __init__(self, size: int | Sequence[int], vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.vertical_flip = vertical_flip

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return geometry.ten_crop(img, self.size, self.vertical_flip)


class Pad(Transform):
    """The image with a border. Options and errors as `functional.pad`."""

    def __init__(
        self, padding: int | Sequence[int], fill: Fill = 0, padding_mode: str = "constant"
    ) -> None:
        super().__init__()
        sides_of(padding, "Pad")
        _check_padding_mode(padding_mode, "Pad")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return geometry.pad(img, self.padding, self.fill, self.padding_mode)


def _check_padding_mode(mode: str, what: str) -> None:
    if mode not in PADDING_MODES:
        listed = ", ".join(PADDING_MODES)
        raise OptionError(f"{what}: the padding_mode {mode!r} is not one of {listed}")


class RandomCrop(_Sized):
    """A part of the image, (h, w), at a random place.

    padding: a border that comes first, as `functional.pad`; pad_if_needed: one that is as wide as
    an image needs that is too small. fill, padding_mode: of the border.
    Raises: OptionError for other options, ShapeError for a part that is larger than the image.
    """

    is_random = True

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Fill = 0,
        padding_mode: str = "constant",
    ) -> None:
        super().__init__(size)
        if padding is not None:
            sides_of(padding, "RandomCrop")
        _check_padding_mode(padding_mode, "RandomCrop")
        self.padding, self.pad_if_needed = padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    @staticmethod
    def get_params(img: Picture, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Draws (top, left, height, width)."""
        _, h, w = dimensions(img, "RandomCrop")
        check_fits("RandomCrop", output_size, (h, w))
        draws, (height, width) = HostDraws(), output_size
        return draws.integer(0, h - height + 1), draws.integer(0, w - width + 1), height, width

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        height, width = self.size
        if self.padding is not None:
            img = geometry.pad(img, self.padding, self.fill, self.padding_mode)
        _, h, w = dimensions(img, "RandomCrop")
        if self.pad_if_needed:
            wide, tall = max(width - w, 0), max(height - h, 0)
            if wide or tall:
                img = geometry.pad(img, [wide, tall], self.fill, self.padding_mode)
                _, h, w = dimensions(img)
        check_fits("RandomCrop", self.size, (h, w))
        top, left = draws.integer(0, h - height + 1), draws.integer(0, w - width + 1)
        if is_pil(img):
            return geometry.crop(img, cast(int, top), cast(int, left), height, width)
        return moved_crop(checked(img, "RandomCrop"), top, left, height, width)


class RandomResizedCrop(_Sized):
    """A random part of the image, resized to (h, w), as the Inception networks were trained
    (Szegedy et al. 2015).

    scale: how much of the area the part has, (low, high). ratio: its width / height, (low, high).
    interpolation, antialias: as `functional.resize`.
    Raises: OptionError for other options.
    """

    is_random = True

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: Any = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__(size)
        self.scale = span(scale, "RandomResizedCrop: scale", 0)
        self.ratio = span(ratio, "RandomResizedCrop: ratio", 1e-6)
        self.interpolation = interpolation_of(interpolation, "RandomResizedCrop")
        self.antialias = antialias

    @staticmethod
    def get_params(
        img: Picture, scale: Sequence[float], ratio: Sequence[float]
    ) -> tuple[int, int, int, int]:
        """Draws (top, left, height, width)."""
        _, h, w = dimensions(img, "RandomResizedCrop")
        found = _resized_part(HostDraws(), (h, w), (scale[0], scale[1]), (ratio[0], ratio[1]))
        return cast(tuple[int, int, int, int], found)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        _, h, w = dimensions(img, "RandomResizedCrop")
        part = _resized_part(draws, (h, w), self.scale, self.ratio)
        if isinstance(draws, HostDraws):
            top, left, height, width = part
            options = self.size, self.interpolation, self.antialias
            return geometry.resized_crop(img, top, left, height, width, *options)
        mode = interpolation_of(
            self.interpolation, "RandomResizedCrop", ("nearest", "bilinear", "bicubic")
        )
        return resized_part(img, *part, self.size, mode.value, self.antialias is not False)


def _resized_part(
    draws: Source, size: tuple[int, int], scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[Any, Any, Any, Any]:
    """Top, left, height and width; if no try fits, the middle of the image, with a ratio that is
    as near as possible."""
    h, w = size
    height, width, down, across, fits = part_of(draws, size, scale, ratio)
    rest_h, rest_w = h, w
    if w / h < ratio[0]:
        rest_h = round(w / ratio[0])
    elif w / h > ratio[1]:
        rest_w = round(h * ratio[1])
    middle = (h - rest_h) // 2, (w - rest_w) // 2
    if not isinstance(fits, Tensor):
        if not fits:
            return *middle, rest_h, rest_w
        return place(draws, down), place(draws, across), height, width
    found = place(draws, down), place(draws, across), height, width
    instead = *middle, rest_h, rest_w
    return tuple(  # type: ignore[return-value]
        f.where(fits, one, float(other)) for one, other in zip(found, instead, strict=True)
    )


class _Flip(Transform):
    is_random = True
    _axis = -1

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = probability(p, type(self).__name__)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        return flipped_where(draws.chance(self.p), img, self._axis)


class RandomHorizontalFlip(_Flip):
    """Left and right exchanged, with the probability p."""


class RandomVerticalFlip(_Flip):
    """Top and bottom exchanged, with the probability p."""

    _axis = -2
