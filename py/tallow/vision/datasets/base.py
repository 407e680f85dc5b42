"""What datasets of pictures share: transforms, and batches of pictures without any."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from ... import functions as f
from ...core import dtype as dt
from ...core.drivers import Steps, run_async, run_sync
from ...data import Dataset
from ...data.rows import Samples, checked
from ...errors import DataError, OptionError
from ...files import Progress
from ...tensor import Tensor, asarray
from ..io.pixels import on_host

Transform = Callable[[Any], Any]


class StandardTransform:
    """A transform of pictures and one of targets, as one of both."""

    def __init__(
        self, transform: Transform | None = None, target_transform: Transform | None = None
    ) -> None:
        self.transform, self.target_transform = transform, target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target


class VisionDataset(Dataset[tuple[Any, Any]]):
    """The base of datasets of pictures.

    root: a folder. transforms: a function of picture and target that gives both. transform,
    target_transform: functions of one of them, instead. Without any of them a batch of a loader
    has float pictures (batch, channels, height, width) from 0 to 1, and int64 targets.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        transforms: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        name = type(self).__name__
        if transforms is not None and (transform or target_transform) is not None:
            raise OptionError(f"{name}: transforms excludes transform and target_transform")
        self.root = "" if root is None else str(Path(root).expanduser())
        self.transform, self.target_transform = transform, target_transform
        if transforms is None and (transform or target_transform) is not None:
            transforms = StandardTransform(transform, target_transform)
        self.transforms = transforms

    def _changed(self, picture: Any, target: Any) -> tuple[Any, Any]:
        """A sample after its transforms."""
        return (picture, target) if self.transforms is None else self.transforms(picture, target)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        if self.transforms is not None:
            return [self[each] for each in indices]
        return [(_floats(picture), _whole(target)) for picture, target in map(self._raw, indices)]

    def _raw(self, index: int) -> tuple[Any, Any]:
        """A sample, before any transform."""
        return self[index]

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} must define __len__")

    def extra_repr(self) -> str:
        """Further lines of the text that shows the dataset."""
        return ""

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]
        lines += [f"Root location: {self.root}"] if self.root else []
        lines += [line for line in self.extra_repr().splitlines() if line]
        lines += [f"Transforms: {self.transforms}"] if self.transforms is not None else []
        return "\n    ".join([f"Dataset {type(self).__name__}", *lines])


def _floats(picture: Any) -> Any:
    """A picture, of Pillow's or a uint8 tensor (channels, height, width), as floats from 0 to 1."""
    if not isinstance(picture, Tensor):
        import numpy as np

        array = np.asarray(picture)
        array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        return array.astype(np.float32) / 255
    return picture.astype("float32") / 255 if picture.dtype is dt.uint8 else picture


def _whole(target: Any) -> Any:
    """A target, as int64 if it is a whole number."""
    return asarray(target, dtype="int64") if isinstance(target, int) else target


class Pictures(Samples):
    """Samples of pictures of bytes, and their targets. channels_last: (height, width, channels)."""

    def __init__(
        self, tensors: Sequence[Tensor], indices: Sequence[int], channels_last: bool
    ) -> None:
        super().__init__(tensors, indices)
        self._channels_last = channels_last

    def collated(self) -> list[Tensor]:
        pictures, targets = super().collated()
        if self._channels_last:
            pictures = f.permute_dims(pictures, (0, 3, 1, 2))
        else:
            pictures = f.expand_dims(pictures, 1)
        return [pictures.astype("float32") / 255, targets.astype("int64")]


class ArrayDataset(VisionDataset):
    """A dataset whose pictures all are in one array of bytes, `data`: (number, height, width), or
    (number, height, width, channels). `targets` has the labels, `classes` their names."""

    data: Any
    targets: Any
    classes: list[str]
    _kept: tuple[Any, Any, Tensor, Tensor] | None = None
    _host: tuple[Any, Any, Any] | None = None

    def __len__(self) -> int:
        return len(self.data)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Without transforms, the samples of a batch are gathered at once: on the device that
        keeps `data`, or by the host."""
        if self.transforms is not None:
            return [self[each] for each in indices]
        kept = self._kept
        if kept is None or kept[0] is not self.data or kept[1] is not self.targets:
            kept = (self.data, self.targets, asarray(self.data), asarray(self.targets))
            self._kept = kept
        found = checked(indices, len(self), type(self).__name__)
        return Pictures(kept[2:], found, channels_last=kept[2].ndim == 4)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        (number,) = checked([index], len(self), type(self).__name__)
        host = self._host
        if host is None or host[0] is not self.data or host[1] is not self.targets:
            pixels = self.data.numpy() if isinstance(self.data, Tensor) else self.data
            targets = self.targets
            targets = targets.numpy() if isinstance(targets, Tensor) else targets
            host = self._host = (self.data, self.targets, (pixels, targets))
        pixels, targets = host[2]
        return self._changed(picture_of(pixels[number]), int(targets[number]))


class SplitDataset(ArrayDataset):
    """An `ArrayDataset` of files that are fetched, in two parts: to train and to test with.

    Subclasses read the files of a part in `_opening`, which sets `data` and `targets`.
    """

    train: bool

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, None, transform, target_transform)
        self.train = train
        run_sync(self._opening(download, None, blocks=True))

    @classmethod
    async def open_async(
        cls,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
        progress: Progress | None = None,
    ) -> Self:
        """The dataset, without blocking. progress: see `tl.files.fetch`."""
        made = cls.__new__(cls)
        ArrayDataset.__init__(made, root, None, transform, target_transform)
        made.train = train
        await run_async(made._opening(download, progress))
        return made

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.classes)}

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"

    def _opening(
        self, download: bool, progress: Progress | None, blocks: bool = False
    ) -> Steps[None]:
        """Reads the files of the part, which are fetched if they are missing."""
        raise NotImplementedError(f"{type(self).__name__} must define _opening")


def picture_of(pixels: Any) -> Any:
    """Pillow's image of an array of bytes, (height, width) or (height, width, 3); without Pillow a
    uint8 tensor (channels, height, width)."""
    from ..io.pixels import has_pillow, pillow

    if has_pillow():
        return pillow("a picture").fromarray(pixels)
    planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return on_host(planes.tobytes(), planes.shape)


def check_labels(labels: Sequence[int], pictures: int, classes: int, where: str) -> None:
    """Raises DataError for no pictures, another number of labels, and a label that no class has."""
    if not pictures:
        raise DataError(f"{where}: there is no picture")
    if len(labels) != pictures:
        raise DataError(f"{where}: {len(labels)} labels for {pictures} pictures")
    if not 0 <= min(labels) <= max(labels) < classes:
        wrong = next(n for n, each in enumerate(labels) if not 0 <= each < classes)
        raise DataError(
            f"{where}: label {wrong} is {labels[wrong]}; there are {classes} classes, from 0 on"
        )
