"""Pictures of noise, to try a program with."""

from __future__ import annotations

from random import Random
from typing import Any

from ...data.rows import checked
from .base import Transform, VisionDataset, picture_of


class FakeData(VisionDataset):
    """Pictures of noise with labels by chance, the same in each run.

    size: how many. image_size: channels (1 or 3), height, width. num_classes: labels are below it.
    random_offset: begins with other ones.
    Source: torchvision, `FakeData`, for the name and its arguments; its pixels are others.
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(None, None, transform, target_transform)
        self.size, self.image_size, self.num_classes = size, image_size, num_classes
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        import numpy as np

        (number,) = checked([index], self.size, "FakeData")
        draw = Random(number + self.random_offset)
        channels, height, width = self.image_size
        noise = np.frombuffer(draw.randbytes(channels * height * width), np.uint8)
        pixels = noise.reshape(height, width, channels)
        picture = picture_of(pixels[..., 0].copy() if channels == 1 else pixels)
        return self._changed(picture, draw.randrange(self.num_classes))

    def __len__(self) -> int:
        return self.size
