"""Batches mixed with themselves: MixUp and CutMix."""

from __future__ import annotations

from typing import Any

from ... import functions as f
from ...distributions import Beta
from ...errors import DTypeError, OptionError, ShapeError
from ...functional.lookups import one_hot
from ...nn import Module
from ...tensor import Tensor
from .geometry import erased
from .images import checked, restored, working


class _Mix(Module):
    """Mixes each image with the one before it, and the labels alike. Parameters are drawn on the
    device, also within a compiled step; in evaluation (`eval()`) nothing is mixed, and labels
    become shares.

    alpha: of Beta(alpha, alpha), from which the shares are drawn. num_classes: for labels that are
    integers (n,), which become shares (n, num_classes). per_sample: each image has a share of its
    own, where torchvision draws one for the batch. labels_getter: "default" alone.
    Raises: OptionError for other options.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        num_classes: int | None = None,
        labels_getter: str = "default",
        per_sample: bool = False,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(alpha, (int, float)) or not alpha > 0:
            raise OptionError(f"{name}: alpha={alpha!r} is not above 0")
        if num_classes is not None and (not isinstance(num_classes, int) or num_classes < 1):
            raise OptionError(f"{name}: num_classes={num_classes!r} is not a whole number above 0")
        if labels_getter != "default":
            raise OptionError(f"{name}: labels_getter must be 'default'; give (images, labels)")
        self.alpha, self.num_classes, self.per_sample = float(alpha), num_classes, per_sample

    def forward(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """(images, labels), mixed; images (n, c, h, w), labels (n,) or (n, num_classes). Raises
        ShapeError or DTypeError for others."""
        given = inputs[0] if len(inputs) == 1 else inputs
        name = type(self).__name__
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise OptionError(f"{name}: give a batch of (images, labels)")
        images, labels = checked(given[0], name), self._shares(given[1])
        if images.ndim != 4 or labels.shape[0] != images.shape[0]:
            raise ShapeError(f"{name}: images {images.shape} beside labels {labels.shape}")
        if not self.training:
            return images, labels
        share = Beta(self.alpha, self.alpha).sample((images.shape[0] if self.per_sample else 1,))
        mixed, share = self.mixed(images, share)
        column = f.reshape(share, (-1, 1))
        return mixed, labels * column + f.roll(labels, 1, 0) * (1.0 - column)

    def mixed(self, images: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        """The images, and the shares that they have in the result. share: (n,) or (1,)."""
        raise OptionError(f"{type(self).__name__} must define mixed(images, share)")

    def _shares(self, labels: Any) -> Tensor:
        name = type(self).__name__
        if not isinstance(labels, Tensor):
            raise DTypeError(f"{name}: labels are a {type(labels).__name__}, not a tensor")
        if labels.ndim == 2 and labels.dtype.is_floating:
            return labels
        if labels.ndim != 1 or not labels.dtype.is_integer:
            raise ShapeError(
                f"{name}: labels {labels.shape} of {labels.dtype.name} are neither integers (n,) "
                "nor shares (n, num_classes)"
            )
        if self.num_classes is None:
            raise OptionError(f"{name}: labels that are integers need num_classes")
        return one_hot(labels, self.num_classes).astype("float32")


class MixUp(_Mix):
    """Weighted means of each image and the one before it (Zhang et al. 2018). Options, and what a
    call takes and gives: as of `_Mix`."""

    def mixed(self, images: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        """See `_Mix.mixed`."""
        x, column = working(images), f.reshape(share, (-1, 1, 1, 1))
        found = x * column + f.roll(x, 1, 0) * (1.0 - column)
        return restored(found, images.dtype, rounded=False), share


class CutMix(_Mix):
    """A rectangle of each image is taken from the one before it (Yun et al. 2019). Options, and
    what a call takes and gives: as of `_Mix`."""

    def mixed(self, images: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        """See `_Mix.mixed`."""
        h, w = images.shape[-2:]
        reach = f.sqrt(1.0 - share) * 0.5
        edges = []
        for length in (h, w):
            middle = f.floor(f.rand(share.shape[0]) * length)
            half = f.floor(reach * length)
            edges += [f.maximum(middle - half, 0.0), f.minimum(middle + half, float(length))]
        top, bottom, left, right = edges
        found = erased(images, top, left, bottom - top, right - left, f.roll(images, 1, 0))
        kept = 1.0 - (bottom - top) * (right - left) * (1.0 / (h * w))
        return found, kept
