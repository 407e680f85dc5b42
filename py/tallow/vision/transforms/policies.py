"""Random choices from a table of transforms: RandAugment, TrivialAugmentWide."""

from __future__ import annotations

import math
from typing import Any

from ...errors import OptionError
from . import colour, warps
from .draws import HostDraws
from .images import Fill, InterpolationMode, Picture, bound, dimensions, interpolation_of, is_pil
from .transform import Source, Transform

_SIGNED = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color",
           "Contrast", "Sharpness")  # fmt: skip
_PLAIN = ("Identity", "AutoContrast", "Equalize")

# Kind -> how strong it is at most.
_RAND = {"ShearX": 0.3, "ShearY": 0.3, "TranslateX": 150 / 331, "TranslateY": 150 / 331,
         "Rotate": 30.0, "Brightness": 0.9, "Color": 0.9, "Contrast": 0.9, "Sharpness": 0.9,
         "Posterize": 4.0, "Solarize": 1.0}  # fmt: skip
_WIDE = {"ShearX": 0.99, "ShearY": 0.99, "TranslateX": 32.0, "TranslateY": 32.0, "Rotate": 135.0,
         "Brightness": 0.99, "Color": 0.99, "Contrast": 0.99, "Sharpness": 0.99, "Posterize": 6.0,
         "Solarize": 1.0}  # fmt: skip


class _Policy(Transform):
    """What applies transforms of a table.

    num_magnitude_bins: how many steps of strength there are. interpolation, fill: of what turns
    and moves.
    """

    is_random = True
    host_only = True

    def __init__(self, num_magnitude_bins: int, interpolation: Any, fill: Fill) -> None:
        super().__init__()
        if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 2:
            raise OptionError(
                f"{type(self).__name__}: num_magnitude_bins={num_magnitude_bins!r} is not a whole "
                "number above 1"
            )
        self.num_magnitude_bins, self.fill = num_magnitude_bins, fill
        self.interpolation = interpolation_of(interpolation, type(self).__name__)

    def applied(self, img: Picture, kind: str, most: float, step: int, draws: HostDraws) -> Picture:
        """One transform of a kind, at a step of its strength."""
        share = step / (self.num_magnitude_bins - 1)
        strength = most * share
        if kind in _SIGNED and draws.chance(0.5):
            strength = -strength
        if kind in ("Brightness", "Color", "Contrast", "Sharpness"):
            change: Any = {
                "Brightness": colour.adjust_brightness, "Color": colour.adjust_saturation,
                "Contrast": colour.adjust_contrast, "Sharpness": colour.adjust_sharpness,
            }[kind]  # fmt: skip
            return change(img, 1.0 + strength)
        if kind == "Posterize":
            return colour.posterize(img, 8 - round(strength))
        if kind == "Solarize":
            white = 255.0 if is_pil(img) else bound(img.dtype)
            return colour.solarize(img, white * (1.0 - share))
        if kind == "AutoContrast":
            return colour.autocontrast(img)
        if kind == "Equalize":
            return colour.equalize(img)
        if kind == "Rotate":
            return warps.rotate(img, strength, self.interpolation, fill=self.fill)
        moved, shear = [0, 0], [0.0, 0.0]
        axis = 0 if kind.endswith("X") else 1
        if kind.startswith("Translate"):
            moved[axis] = int(strength)
            return warps.affine(img, 0.0, moved, 1.0, shear, self.interpolation, self.fill)
        shear[axis] = math.degrees(math.atan(strength))
        corner = [0, 0]
        return warps.affine(img, 0.0, moved, 1.0, shear, self.interpolation, self.fill, corner)


class RandAugment(_Policy):
    """num_ops transforms of a table, each of one strength (Cubuk et al. 2020).

    magnitude: the strength, a step below num_magnitude_bins. The image has bytes.
    Raises: OptionError for other options.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__(num_magnitude_bins, interpolation, fill)
        if num_ops < 1 or not 0 <= magnitude < num_magnitude_bins:
            raise OptionError(
                f"RandAugment: num_ops={num_ops}, magnitude={magnitude}; at least one, at a step "
                f"from 0 to {num_magnitude_bins - 1}"
            )
        self.num_ops, self.magnitude = num_ops, magnitude

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        _, h, w = dimensions(img, "RandAugment")
        for _ in range(self.num_ops):
            kind = draws.random.choice([*_RAND, *_PLAIN])
            if kind == "Identity":
                continue
            most = _RAND.get(kind, 0.0) * {"TranslateX": w, "TranslateY": h}.get(kind, 1)
            img = self.applied(img, kind, most, self.magnitude, draws)
        return img


class TrivialAugmentWide(_Policy):
    """One transform of a table, of a random strength (Mueller and Hutter 2021). The image has
    bytes."""

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__(num_magnitude_bins, interpolation, fill)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        kind = draws.random.choice([*_WIDE, *_PLAIN])
        step = draws.integer(0, self.num_magnitude_bins)
        if kind == "Identity":
            return img
        return self.applied(img, kind, _WIDE.get(kind, 0.0), step, draws)
