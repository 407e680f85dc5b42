"""`Transform`: what all transforms share, and what they check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...errors import OptionError
from ...nn import Module
from ...tensor import Tensor
from .draws import DeviceDraws, HostDraws
from .geometry import Crops
from .images import Picture

Source = HostDraws | DeviceDraws


class Transform(Module):
    """The base of all transforms. One of your own defines `transform`.

    A call takes an image, and gives it transformed; what stands beside it, such as a label, comes
    back as it was: transform(image, label), transform((image, label)).
    """

    is_random: ClassVar[bool] = False

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """The image, transformed. draws: what a random transform draws from."""
        raise OptionError(f"{type(self).__name__} must define transform(img, draws)")

    def forward(self, *inputs: Any) -> Any:
        """The image, transformed, and what was given beside it. A random transform draws once."""
        if isinstance(inputs[0], Crops):
            raise OptionError(
                f"{type(self).__name__}: FiveCrop and TenCrop give several images; "
                "Lambda(lambda crops: tl.stack([transform(crop) for crop in crops])) takes them"
            )
        if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
            img, *others = inputs[0]
            return type(inputs[0])([self._transformed(img), *others])
        img, *others = inputs
        found = self._transformed(img)
        return (found, *others) if others else found

    def _transformed(self, img: Picture) -> Any:
        return self.transform(img, HostDraws() if self.is_random else None)

    def of_batch(self, images: Tensor, draws: DeviceDraws) -> Tensor:
        """Images (n, c, h, w), each with parameters of its own."""
        found: Tensor = self.transform(images, draws)
        return found

    def extra_repr(self) -> str:
        """Its options."""
        shown = [
            f"{key}={value!r}"
            for key, value in vars(self).items()
            if not key.startswith("_") and key != "training"
        ]
        return ", ".join(shown)


def listed(transforms: Any, what: str) -> list[Any]:
    """Transforms in a list. Raises OptionError for what is none."""
    if not isinstance(transforms, (Sequence, Module)) or isinstance(transforms, Transform):
        raise OptionError(f"{what}: give a list of transforms, not {type(transforms).__name__}")
    found = [*transforms]
    for each in found:
        if not callable(each):
            raise OptionError(f"{what}: {each!r} is no transform, as it cannot be called")
    return found


def apply(transform: Any, img: Any, draws: Source | None) -> Any:
    """An image through a transform of this package, or a function."""
    if isinstance(transform, Transform) and isinstance(draws, DeviceDraws):
        return transform.of_batch(img, draws)
    return transform(img)


def probability(p: Any, what: str) -> float:
    """p. Raises OptionError unless it is a number from 0 to 1."""
    if not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise OptionError(f"{what}: p={p!r} is no probability from 0 to 1")
    return float(p)


def span(given: Any, what: str, least: float | None = None) -> tuple[float, float]:
    """(low, high) of two numbers. Raises OptionError for others, and for low below `least`."""
    values = [*given] if isinstance(given, Sequence) and not isinstance(given, str) else []
    if (
        len(values) != 2
        or not all(isinstance(each, (int, float)) for each in values)
        or not values[0] <= values[1]
        or (least is not None and values[0] < least)
    ):
        rest = "" if least is None else f", from {least:g} on"
        raise OptionError(f"{what}={given!r} is not (low, high){rest}")
    return float(values[0]), float(values[1])
