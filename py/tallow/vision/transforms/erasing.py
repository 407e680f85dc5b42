"""Random parts of images erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor, asarray
from .draws import HostDraws, part_of, place
from .geometry import erased
from .images import Picture, checked, dimensions, select
from .transform import Source, Transform, probability, span


class RandomErasing(Transform):
    """A random part of a tensor filled, with the probability p (Zhong et al. 2020).

    scale: how much of the area the part has, (low, high). ratio: its width / height, (low, high).
    value: what fills it, a number, one for each channel, or "random" for normal noise.
    Raises: OptionError for other options.
    """

    is_random = True

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | str | Sequence[float] = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        self.p = probability(p, "RandomErasing")
        self.scale = span(scale, "RandomErasing: scale", 0)
        self.ratio = span(ratio, "RandomErasing: ratio", 1e-6)
        if self.scale[1] > 1:
            raise OptionError(f"RandomErasing: scale={scale!r} is not from 0 to 1")
        if isinstance(value, str) and value != "random":
            raise OptionError(f"RandomErasing: value={value!r}; a number, a sequence or 'random'")
        self.value, self.inplace = value, inplace

    @staticmethod
    def get_params(
        img: Tensor,
        scale: Sequence[float],
        ratio: Sequence[float],
        value: Sequence[float] | None = None,
    ) -> tuple[int, int, int, int, Tensor]:
        """Draws (top, left, height, width, what fills); value: None is normal noise."""
        c, h, w = dimensions(img, "RandomErasing")
        draws = HostDraws()
        found = part_of(draws, (h, w), (scale[0], scale[1]), (ratio[0], ratio[1]))
        height, width, down, across, fits = cast(tuple[int, int, int, int, bool], found)
        if not fits:
            return 0, 0, h, w, img
        shape = (c, height, width)
        fill = f.randn(shape) if value is None else f.reshape(asarray([*value]), (-1, 1, 1))
        return place(draws, down), place(draws, across), height, width, fill  # type: ignore[return-value]

    def transform(self, img: Picture, draws: Source | None) -> Any:
        """See `Transform.transform`."""
        assert draws is not None
        x = checked(img, "RandomErasing")
        c, h, w = dimensions(x)
        if isinstance(self.value, str):
            fill: Any = f.randn(x.shape)
        elif isinstance(self.value, (int, float)):
            fill = float(self.value)
        else:
            if len(self.value) not in (1, c):
                raise OptionError(f"RandomErasing: {len(self.value)} values for {c} channels")
            fill = f.reshape(asarray([*map(float, self.value)]), (-1, 1, 1))
        chosen = draws.chance(self.p)
        height, width, down, across, fits = part_of(draws, (h, w), self.scale, self.ratio)
        found = erased(x, place(draws, down), place(draws, across), height, width, fill)
        if isinstance(chosen, Tensor) and isinstance(fits, Tensor):
            found = select(f.logical_and(chosen, fits), found, x)
        else:
            found = select(bool(chosen and fits), found, x)
        return img.copy_(found) if self.inplace else found
