"""Folders of files, a folder for each class."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...data.rows import checked
from ...errors import DataError, MissingDataError, OptionError
from ..io.decoding import decode_picture
from .base import Transform, VisionDataset

IMG_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
)  # fmt: skip


def default_loader(path: str) -> Any:
    """The coloured picture in a file: Pillow's image, or without Pillow a uint8 tensor (3, height,
    width). Raises DataError for a damaged one."""
    return decode_picture(Path(path).read_bytes(), path)


def warn_of_one_class(name: str, where: str, classes: list[str]) -> None:
    """Warns if there is one class alone."""
    if len(classes) == 1:
        warnings.warn(
            f"{name}: {where} has one class alone, {classes[0]!r}, so that there is nothing to "
            "tell apart",
            stacklevel=3,
        )


class DatasetFolder(VisionDataset):
    """Files in folders: the name of the folder below `root` is the class.

    loader: a function of a path that gives the sample. extensions: of the files that are taken; or
    is_valid_file: a function of a path that says so. transform, target_transform: functions of a
    sample, and of a class's number. allow_empty: whether a class may have no file. skip_damaged:
    loads all files at the beginning, and leaves those out whose loader raises DataError or OSError.

    `samples` has the paths and numbers, `targets` the numbers, `classes` the names in order. Raises
    MissingDataError for no folders or a class without files. One class alone is a warning.
    Source: torchvision, `DatasetFolder`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        loader: Callable[[str], Any],
        extensions: tuple[str, ...] | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
        *,
        skip_damaged: bool = False,
    ) -> None:
        super().__init__(root, None, transform, target_transform)
        self.loader, self.extensions = loader, extensions
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(
            self.root, self.class_to_idx, extensions, is_valid_file, allow_empty
        )
        if skip_damaged:
            self._skip_damaged()
        self.targets = [number for _, number in self.samples]
        warn_of_one_class(type(self).__name__, self.root, self.classes)

    def find_classes(self, directory: str) -> tuple[list[str], dict[str, int]]:
        """The classes in order, and their numbers. Raises MissingDataError if there are none."""
        folder = Path(directory)
        names = (
            sorted(each.name for each in folder.iterdir() if each.is_dir())
            if (folder.is_dir())
            else []
        )
        if not names:
            raise MissingDataError(
                f"{type(self).__name__}: {directory} has no folders; it needs one for each class"
            )
        return names, {name: number for number, name in enumerate(names)}

    @staticmethod
    def make_dataset(
        directory: str,
        class_to_idx: dict[str, int],
        extensions: tuple[str, ...] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
    ) -> list[tuple[str, int]]:
        """The paths of all files and the numbers of their classes, in order."""
        if (extensions is None) == (is_valid_file is None):
            raise OptionError("DatasetFolder: give extensions or is_valid_file, one of the two")
        ends = tuple(each.lower() for each in extensions or ())
        valid = is_valid_file or (lambda path: path.lower().endswith(ends))
        found: list[tuple[str, int]] = []
        empty: list[str] = []
        for name, number in sorted(class_to_idx.items()):
            paths = [
                str(Path(folder) / file)
                for folder, _, files in sorted(os.walk(Path(directory) / name, followlinks=True))
                for file in sorted(files)
            ]
            own = [(path, number) for path in paths if valid(path)]
            found += own
            empty += [] if own else [name]
        if empty and not allow_empty:
            kinds = f" with {', '.join(extensions)}" if extensions else ""
            raise MissingDataError(
                f"DatasetFolder: {directory} has no file{kinds} for the class {', '.join(empty)}; "
                "allow_empty=True takes it as it is"
            )
        return found

    def _skip_damaged(self) -> None:
        good, bad = [], []
        for path, number in self.samples:
            try:
                self.loader(path)
            except (DataError, OSError) as error:
                bad.append(str(error))
            else:
                good.append((path, number))
        if bad:
            warnings.warn(
                f"{type(self).__name__}: {len(bad)} of {len(self.samples)} files are left out: "
                f"{'; '.join(bad[:3])}{'; ...' if len(bad) > 3 else ''}",
                stacklevel=3,
            )
        if not good and self.samples:
            raise DataError(f"{type(self).__name__}: all files of {self.root} are damaged")
        self.samples = good

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        (number,) = checked([index], len(self), type(self).__name__)
        path, target = self.samples[number]
        return self._changed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Pictures in folders: root/cat/1.png, root/dog/a/2.jpg. See `DatasetFolder`; `imgs` is another
    name for `samples`. A damaged picture is a DataError that names its file.

    Source: torchvision, `ImageFolder`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: Callable[[str], bool] | None = None,
        allow_empty: bool = False,
        *,
        skip_damaged: bool = False,
    ) -> None:
        extensions = IMG_EXTENSIONS if is_valid_file is None else None
        super().__init__(
            root, loader, extensions, transform, target_transform, is_valid_file, allow_empty,
            skip_damaged=skip_damaged,
        )  # fmt: skip
        self.imgs = self.samples
