"""Random transforms that turn, shear and bend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from . import warps
from .blur import blurred
from .containers import chosen_image
from .draws import HostDraws
from .images import Fill, InterpolationMode, Number, Picture, dimensions, fed, interpolation_of
from .transform import Source, Transform, probability, span

_MODES = ("nearest", "bilinear", "bicubic")


def _degrees(given: Any, what: str) -> tuple[float, float]:
    """(low, high) of angles; one number is (-number, number)."""
    if isinstance(given, (int, float)):
        if given < 0:
            raise OptionError(f"{what}={given!r}: one number must not be below 0")
        return -float(given), float(given)
    return span(given, what)


def _sampled(mode: InterpolationMode, what: str) -> str:
    """The name of a mode in which tensors are read. Raises OptionError for another."""
    return interpolation_of(mode, what, ("nearest", "bilinear")).value


def _center(center: Sequence[float] | None, what: str) -> Sequence[float] | None:
    if center is not None and len(center) != 2:
        raise OptionError(f"{what}: center={center!r} is not (x, y)")
    return center


class RandomRotation(Transform):
    """The image turned counter-clockwise by a random angle.

    degrees: (low, high), or one number for (-number, number). The others, and errors: as
    `functional.rotate`.
    """

    is_random = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Any = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.degrees = _degrees(degrees, "RandomRotation: degrees")
        self.interpolation = interpolation_of(interpolation, "RandomRotation", _MODES)
        self.expand, self.fill = expand, fill
        self.center = _center(center, "RandomRotation")

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draws an angle."""
        return HostDraws().uniform(degrees[0], degrees[1])

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        angle = draws.uniform(*self.degrees)
        if not isinstance(angle, Tensor):
            options = self.interpolation, self.expand, self.center, self.fill
            return warps.rotate(img, angle, *options)
        if self.expand or self.center is not None:
            raise OptionError("RandomRotation: expand and center are not for PerSample")
        zero = f.zeros_like(angle)
        matrices = warps.inverse_matrices(-angle, (zero, zero), zero + 1.0, (zero, zero))
        return warps.warped(
            img, matrices, _sampled(self.interpolation, "RandomRotation"), self.fill
        )


class RandomAffine(Transform):
    """The image turned clockwise, moved, scaled and sheared at random.

    degrees: angles (low, high), or one number for (-number, number). translate: how far at most, as
    parts of (width, height). scale: (low, high). shear: angles along x, as degrees, or four numbers
    along x and y. interpolation, fill, center: as `functional.affine`.
    Raises: OptionError for other options.
    """

    is_random = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.degrees = _degrees(degrees, "RandomAffine: degrees")
        self.interpolation = interpolation_of(interpolation, "RandomAffine", _MODES)
        if translate is not None and (
            len(translate) != 2 or not all(0 <= each <= 1 for each in translate)
        ):
            raise OptionError(f"RandomAffine: translate={translate!r} is not two parts from 0 to 1")
        self.translate = translate
        self.scale = None if scale is None else span(scale, "RandomAffine: scale", 1e-6)
        self.shear: tuple[float, ...] | None = None
        if isinstance(shear, Sequence) and len(shear) == 4:
            self.shear = (*_degrees(shear[:2], "RandomAffine: shear"),
                          *_degrees(shear[2:], "RandomAffine: shear"))  # fmt: skip
        elif shear is not None:
            self.shear = _degrees(shear, "RandomAffine: shear")
        self.fill, self.center = fill, _center(center, "RandomAffine")

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """Draws (angle, translation, scale, shears); img_size: (width, height)."""
        found = _affine(HostDraws(), degrees, translate, scale_ranges, shears, img_size)
        return cast(tuple[float, tuple[int, int], float, tuple[float, float]], found)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        _, h, w = dimensions(img, "RandomAffine")
        options = self.degrees, self.translate, self.scale, self.shear, (w, h)
        angle, moved, scale, shear = _affine(draws, *options)
        if isinstance(draws, HostDraws):
            given = self.interpolation, self.fill, self.center
            return warps.affine(img, angle, moved, scale, shear, *given)
        if self.center is not None:
            raise OptionError("RandomAffine: center is not for PerSample")
        zero = f.zeros_like(angle)
        matrices = warps.inverse_matrices(
            angle,
            (zero + moved[0], zero + moved[1]),
            zero + scale,
            (zero + shear[0], zero + shear[1]),
        )
        return warps.warped(img, matrices, _sampled(self.interpolation, "RandomAffine"), self.fill)


def _affine(
    draws: Source,
    degrees: Sequence[float],
    translate: Sequence[float] | None,
    scale: Sequence[float] | None,
    shear: Sequence[float] | None,
    size: Sequence[int],
) -> tuple[Any, tuple[Any, Any], Any, tuple[Any, Any]]:
    angle = draws.uniform(degrees[0], degrees[1])
    moved: list[Number] = [0, 0]
    if translate is not None:
        for axis, (share, length) in enumerate(zip(translate, size, strict=True)):
            most = float(share * length)
            moved[axis] = draws.rounded(draws.uniform(-most, most))
    factor = 1.0 if scale is None else draws.uniform(scale[0], scale[1])
    along: list[Number] = [0.0, 0.0]
    if shear is not None:
        along = [draws.uniform(*pair) for pair in zip(shear[::2], shear[1::2], strict=True)]
    return angle, (moved[0], moved[1]), factor, (along[0], along[1] if len(along) > 1 else 0.0)


class RandomPerspective(Transform):
    """The image seen from elsewhere, with the probability p.

    distortion_scale: how far corners move at most, as a part of half the image. interpolation,
    fill: as `functional.perspective`.
    Raises: OptionError for other options.
    """

    is_random = True
    host_only = True

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Any = InterpolationMode.BILINEAR,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.p = probability(p, "RandomPerspective")
        if not 0 <= distortion_scale <= 1:
            raise OptionError(
                f"RandomPerspective: distortion_scale={distortion_scale!r} is not from 0 to 1"
            )
        self.distortion_scale, self.fill = distortion_scale, fill
        self.interpolation = interpolation_of(interpolation, "RandomPerspective", _MODES)

    @staticmethod
    def get_params(
        width: int, height: int, distortion_scale: float
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Draws (startpoints, endpoints)."""
        return _corners(HostDraws(), width, height, distortion_scale)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        _, h, w = dimensions(img, "RandomPerspective")
        points = _corners(draws, w, h, self.distortion_scale)
        options = self.interpolation, self.fill
        return chosen_image(
            draws.chance(self.p), lambda: warps.perspective(img, *points, *options), img
        )


def _corners(
    draws: HostDraws, width: int, height: int, scale: float
) -> tuple[list[list[int]], list[list[int]]]:
    start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    reach = int(scale * (width // 2)) + 1, int(scale * (height // 2)) + 1
    end = [
        [at - draws.integer(0, most) if at else draws.integer(0, most)
         for at, most in zip(corner, reach, strict=True)]
        for corner in start
    ]  # fmt: skip
    return start, end


class ElasticTransform(Transform):
    """The image read beside each pixel, at smooth random distances (Simard et al. 2003).

    alpha: how far, in pixels, one number or (along x, along y). sigma: how smooth, in pixels, one
    or two. interpolation, fill: as `functional.elastic_transform`.
    Raises: OptionError for other options.
    """

    is_random = True
    host_only = True

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: Any = InterpolationMode.BILINEAR,
        fill: Fill = 0,
    ) -> None:
        super().__init__()
        self.alpha, self.sigma = _two(alpha, "alpha"), _two(sigma, "sigma")
        self.interpolation = interpolation_of(interpolation, "ElasticTransform", _MODES)
        self.fill = fill

    @staticmethod
    def get_params(alpha: Sequence[float], sigma: Sequence[float], size: Sequence[int]) -> Tensor:
        """Draws a displacement (1, h, w, 2), x first; size: (h, w)."""
        h, w = size
        parts = []
        for way, smooth, length in zip(alpha, sigma, (w, h), strict=True):
            field = f.rand(1, 1, h, w) * 2 - 1
            if smooth > 0:
                kernel = int(8 * smooth + 1) // 2 * 2 + 1
                kernel = min(kernel, 2 * min(h, w) - 1)  # as far as the field can be mirrored
                field = blurred(field, kernel, float(smooth))
            parts.append(field * fed(way / length))
        return f.permute_dims(f.concat(parts, 1), (0, 2, 3, 1))

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        _, h, w = dimensions(img, "ElasticTransform")
        field = self.get_params(self.alpha, self.sigma, (h, w))
        return warps.elastic_transform(img, field, self.interpolation, self.fill)


def _two(given: Any, what: str) -> tuple[float, float]:
    values = [given] * 2 if isinstance(given, (int, float)) else [*given]
    values = values * 2 if len(values) == 1 else values
    if len(values) != 2 or any(not each >= 0 or math.isinf(each) for each in values):
        raise OptionError(f"ElasticTransform: {what}={given!r} is not one number or two from 0 on")
    return float(values[0]), float(values[1])
