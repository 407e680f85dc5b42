"""Transforms made of transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from ...errors import OptionError, ShapeError
from ...tensor import Tensor
from .draws import HostDraws
from .images import Picture, is_pil, select
from .transform import Source, Transform, apply, listed, probability


class Compose:
    """Transforms one after the other.

    transforms: a list of transforms, or functions of an image.
    Raises: OptionError for what is none.
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = listed(transforms, "Compose")

    def __call__(self, *inputs: Any) -> Any:
        """The image, and what was given beside it, through all transforms."""
        for each in self.transforms:
            found = each(*inputs)
            inputs = found if len(inputs) > 1 else (found,)
        return inputs if len(inputs) > 1 else inputs[0]

    def __repr__(self) -> str:
        inside = "".join(f"\n    {each!r}" for each in self.transforms)
        return f"Compose({inside}\n)"


class _Several(Transform):
    """Transforms of which one, some or all are applied."""

    is_random = True

    def __init__(self, transforms: Any) -> None:
        super().__init__()
        self.transforms = listed(transforms, type(self).__name__)


class RandomApply(_Several):
    """All transforms of a list, one after the other, with the probability p; else the image as it
    is."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__(transforms)
        self.p = probability(p, "RandomApply")

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        chosen = draws.chance(self.p)
        if isinstance(draws, HostDraws) and not chosen:
            return img
        found = img
        for each in self.transforms:
            found = apply(each, found, draws)
        if isinstance(draws, HostDraws):
            return found
        if found.shape != img.shape:
            raise ShapeError(
                f"RandomApply: in PerSample transforms must keep the size, not make {found.shape}"
                f" of {img.shape}"
            )
        return select(chosen, found, img)


class RandomChoice(_Several):
    """One transform of a list. p: the weight of each; None is all alike."""

    host_only = True

    def __init__(self, transforms: Any, p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        self.p = [1.0] * len(self.transforms) if p is None else [*p]
        if len(self.p) != len(self.transforms) or any(not each >= 0 for each in self.p):
            raise OptionError(
                f"RandomChoice: p={p!r} for {len(self.transforms)} transforms; give each a weight "
                "from 0 on"
            )

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        sums = [*accumulate(self.p)]
        (chosen,) = draws.random.choices(self.transforms, cum_weights=sums)
        return chosen(img)


class RandomOrder(_Several):
    """All transforms of a list, in a random order."""

    host_only = True

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert isinstance(draws, HostDraws)
        for each in draws.random.sample(self.transforms, len(self.transforms)):
            img = each(img)
        return img


class Lambda(Transform):
    """A function of an image as a transform."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        super().__init__()
        if not callable(lambd):
            raise OptionError(f"Lambda: {lambd!r} is no function")
        self.lambd = lambd

    def forward(self, *inputs: Any) -> Any:
        """The function's result, also of a tuple such as FiveCrop's."""
        first, *others = inputs
        return (self.lambd(first), *others) if others else self.lambd(first)

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        return self.lambd(img)


def chosen_image(chosen: bool | Tensor, changed: Callable[[], Picture], img: Picture) -> Picture:
    """The image, changed if it is chosen. Both choices on a tensor share a plan."""
    if is_pil(img):
        return changed() if chosen else img
    return select(chosen, changed(), img)
