"""Random choices from tables of transforms: AutoAugment, RandAugment, TrivialAugmentWide."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from ...errors import OptionError
from . import colour, warps
from .draws import HostDraws
from .images import Fill, InterpolationMode, Picture, bound, dimensions, interpolation_of, is_pil
from .transform import Source, Transform

_FACTORS: dict[str, Callable[[Picture, float], Picture]] = {
    "Brightness": colour.adjust_brightness, "Color": colour.adjust_saturation,
    "Contrast": colour.adjust_contrast, "Sharpness": colour.adjust_sharpness,
}  # fmt: skip
_ALONE: dict[str, Callable[[Picture], Picture]] = {
    "AutoContrast": colour.autocontrast, "Equalize": colour.equalize, "Invert": colour.invert,
    "Identity": lambda img: img,
}  # fmt: skip
_SIGNED = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", *_FACTORS)
_PLAIN = ("Identity", "AutoContrast", "Equalize")

# Kind -> how strong it is at most.
_RAND = {"ShearX": 0.3, "ShearY": 0.3, "TranslateX": 150 / 331, "TranslateY": 150 / 331,
         "Rotate": 30.0, "Brightness": 0.9, "Color": 0.9, "Contrast": 0.9, "Sharpness": 0.9,
         "Posterize": 4.0, "Solarize": 1.0}  # fmt: skip
_WIDE = {"ShearX": 0.99, "ShearY": 0.99, "TranslateX": 32.0, "TranslateY": 32.0, "Rotate": 135.0,
         "Brightness": 0.99, "Color": 0.99, "Contrast": 0.99, "Sharpness": 0.99, "Posterize": 6.0,
         "Solarize": 1.0}  # fmt: skip


_FOUND = {
    "imagenet": """
        Posterize 0.4 8 + Rotate 0.6 9; Solarize 0.6 5 + AutoContrast 0.6; Equalize 0.8
        + Equalize 0.6; Posterize 0.6 7 + Posterize 0.6 6; Equalize 0.4 + Solarize 0.2
        4; Equalize 0.4 + Rotate 0.8 8; Solarize 0.6 3 + Equalize 0.6; Posterize 0.8 5 +
        Equalize 1; Rotate 0.2 3 + Solarize 0.6 8; Equalize 0.6 + Posterize 0.4 6;
        Rotate 0.8 8 + Color 0.4 0; Rotate 0.4 9 + Equalize 0.6; Equalize 0 + Equalize
        0.8; Invert 0.6 + Equalize 1; Color 0.6 4 + Contrast 1 8; Rotate 0.8 8 + Color 1
        2; Color 0.8 8 + Solarize 0.8 7; Sharpness 0.4 7 + Invert 0.6; ShearX 0.6 5 +
        Equalize 1; Color 0.4 0 + Equalize 0.6; Equalize 0.4 + Solarize 0.2 4; Solarize
        0.6 5 + AutoContrast 0.6; Invert 0.6 + Equalize 1; Color 0.6 4 + Contrast 1 8;
        Equalize 0.8 + Equalize 0.6
    """,
    "cifar10": """
        Invert 0.1 + Contrast 0.2 6; Rotate 0.7 2 + TranslateX 0.3 9; Sharpness 0.8 1 +
        Sharpness 0.9 3; ShearY 0.5 8 + TranslateY 0.7 9; AutoContrast 0.5 + Equalize
        0.9; ShearY 0.2 7 + Posterize 0.3 7; Color 0.4 3 + Brightness 0.6 7; Sharpness
        0.3 9 + Brightness 0.7 9; Equalize 0.6 + Equalize 0.5; Contrast 0.6 7 +
        Sharpness 0.6 5; Color 0.7 7 + TranslateX 0.5 8; Equalize 0.3 + AutoContrast
        0.4; TranslateY 0.4 3 + Sharpness 0.2 6; Brightness 0.9 6 + Color 0.2 8;
        Solarize 0.5 2 + Invert 0; Equalize 0.2 + AutoContrast 0.6; Equalize 0.2 +
        Equalize 0.6; Color 0.9 9 + Equalize 0.6; AutoContrast 0.8 + Solarize 0.2 8;
        Brightness 0.1 3 + Color 0.7 0; Solarize 0.4 5 + AutoContrast 0.9; TranslateY
        0.9 9 + TranslateY 0.7 9; AutoContrast 0.9 + Solarize 0.8 3; Equalize 0.8 +
        Invert 0.1; TranslateY 0.7 9 + AutoContrast 0.9
    """,
    "svhn": """
        ShearX 0.9 4 + Invert 0.2; ShearY 0.9 8 + Invert 0.7; Equalize 0.6 + Solarize
        0.6 6; Invert 0.9 + Equalize 0.6; Equalize 0.6 + Rotate 0.9 3; ShearX 0.9 4 +
        AutoContrast 0.8; ShearY 0.9 8 + Invert 0.4; ShearY 0.9 5 + Solarize 0.2 6;
        Invert 0.9 + AutoContrast 0.8; Equalize 0.6 + Rotate 0.9 3; ShearX 0.9 4 +
        Solarize 0.3 3; ShearY 0.8 8 + Invert 0.7; Equalize 0.9 + TranslateY 0.6 6;
        Invert 0.9 + Equalize 0.6; Contrast 0.3 3 + Rotate 0.8 4; Invert 0.8 +
        TranslateY 0 2; ShearY 0.7 6 + Solarize 0.4 8; Invert 0.6 + Rotate 0.8 4; ShearY
        0.3 7 + TranslateX 0.9 3; ShearX 0.1 6 + Invert 0.6; Solarize 0.7 2 + TranslateY
        0.6 7; ShearY 0.8 4 + Invert 0.8; ShearX 0.7 9 + TranslateY 0.8 3; ShearY 0.8 5
        + AutoContrast 0.7; ShearX 0.7 2 + Invert 0.1
    """,
}
"""The policies that AutoAugment found, tables 7 to 9 of its paper: pairs of a transform, its
probability and its step."""


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
        """One transform of a kind, at a step of its strength, in a random direction."""
        strength = most * step / (self.num_magnitude_bins - 1)
        if kind == "Posterize":
            strength = 8 - round(strength)
        elif kind == "Solarize":
            strength = (255.0 if is_pil(img) else bound(img.dtype)) * (1.0 - strength)
        elif kind in _SIGNED and draws.chance(0.5):
            strength = -strength
        return changed(img, kind, strength, self.interpolation, self.fill)


def changed(
    img: Picture, kind: str, strength: float, mode: InterpolationMode, fill: Fill
) -> Picture:
    """One transform of a table. strength: an angle for Rotate, pixels for Translate, the tangent of
    an angle for Shear, what differs from 1 for a factor, bits for Posterize, Solarize's
    threshold."""
    if kind in _FACTORS:
        return _FACTORS[kind](img, 1.0 + strength)
    if kind == "Posterize":
        return colour.posterize(img, int(strength))
    if kind == "Solarize":
        return colour.solarize(img, strength)
    if kind in _ALONE:
        return _ALONE[kind](img)
    if kind == "Rotate":
        return warps.rotate(img, strength, mode, fill=fill)
    moved, shear = [0, 0], [0.0, 0.0]
    axis = 0 if kind.endswith("X") else 1
    if kind.startswith("Translate"):
        moved[axis] = int(strength)
        return warps.affine(img, 0.0, moved, 1.0, shear, mode, fill)
    shear[axis] = math.degrees(math.atan(strength))
    return warps.affine(img, 0.0, moved, 1.0, shear, mode, fill, [0, 0])


def _most(kind: str, h: int, w: int) -> float:
    """How strong a kind of RandAugment and AutoAugment is at most, in an image (h, w)."""
    return _RAND.get(kind, 0.0) * {"TranslateX": w, "TranslateY": h}.get(kind, 1)


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
            img = self.applied(img, kind, _most(kind, h, w), self.magnitude, draws)
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
        return self.applied(img, kind, _WIDE.get(kind, 0.0), step, draws)


class AutoAugmentPolicy(Enum):
    """What AutoAugment was searched for."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class Step(NamedTuple):
    """A transform of AutoAugment: its kind, its probability, the step of its strength."""

    kind: str
    p: float
    step: int


def policy_of(policy: AutoAugmentPolicy) -> list[list[Step]]:
    """The pairs of a policy."""
    found = []
    for pair in _FOUND[policy.value].split(";"):
        rows = [each.split() for each in pair.split("+")]
        found.append([Step(kind, float(p), int(*step)) for kind, p, *step in rows])
    return found


class AutoAugment(_Policy):
    """A pair of transforms that a search found good, each with its probability (Cubuk et al. 2019).
    The image has bytes.

    policy: what it was searched for. interpolation, fill: of what turns and moves.
    Raises: OptionError for another policy.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
    ) -> None:
        super().__init__(10, interpolation, fill)
        if policy not in [*AutoAugmentPolicy]:
            listed = ", ".join(each.name for each in AutoAugmentPolicy)
            raise OptionError(f"AutoAugment: {policy!r} is no AutoAugmentPolicy, of {listed}")
        self.policy = policy
        self._pairs: Sequence[Sequence[Step]] = policy_of(policy)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        _, h, w = dimensions(img, "AutoAugment")
        for kind, p, step in draws.random.choice(self._pairs):
            if draws.chance(p):
                img = self.applied(img, kind, _most(kind, h, w), step, draws)
        return img
