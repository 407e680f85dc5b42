"""`PerSample`: random transforms of whole batches, on the device, within a compiled step."""

from __future__ import annotations

from typing import Any

from ...errors import OptionError, ShapeError
from ...nn import Module
from ...tensor import Tensor
from .containers import Compose
from .draws import DeviceDraws
from .images import checked
from .transform import Transform, listed


class PerSample(Module):
    """Transforms of a batch (n, c, h, w), each image with parameters of its own, which the device
    draws: also within a function under `@tl.jit` and within a model, where they are part of the
    step's plan.

    In evaluation (`eval()`) random transforms are left out, and the others remain. ColorJitter
    changes brightness, contrast, saturation and hue in this order.

    *transforms: transforms of this package, or functions of tensors (n, c, h, w).
    Raises: OptionError for a transform that has no form per sample, ShapeError for other images.
    """

    def __init__(self, *transforms: Any) -> None:
        super().__init__()
        self.transforms = _flat(listed(transforms, "PerSample"))
        for each in self.transforms:
            _check(each)

    def forward(self, images: Tensor) -> Tensor:
        """The images, transformed."""
        if checked(images, "PerSample").ndim != 4:
            raise ShapeError(f"PerSample: {images.shape} is no batch (n, c, h, w)")
        draws = DeviceDraws(images.shape[0])
        for each in self.transforms:
            if not isinstance(each, Transform):
                images = each(images)
            elif self.training or not each.is_random:
                images = each.of_batch(images, draws)
        return images

    def extra_repr(self) -> str:
        """The transforms."""
        return ", ".join(map(repr, self.transforms))


def _flat(transforms: list[Any]) -> list[Any]:
    """The transforms, those within Compose one by one."""
    found = []
    for each in transforms:
        found += _flat(each.transforms) if isinstance(each, Compose) else [each]
    return found


def _check(transform: Any) -> None:
    """OptionError for a transform that cannot differ within a batch."""
    if getattr(transform, "host_only", False):
        raise OptionError(
            f"PerSample: {type(transform).__name__} is for single images; use it in the dataset"
        )
    for each in getattr(transform, "transforms", []):
        _check(each)
