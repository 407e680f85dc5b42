"""Pictures with labels in a zip file."""

from __future__ import annotations

import io
import os
import zipfile
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from ...data.rows import checked
from ...errors import DataError, MissingDataError
from ..io.decoding import decode_picture
from .base import Transform, VisionDataset
from .folder import IMG_EXTENSIONS, warn_of_one_class


class ImageZip(VisionDataset):
    """Pictures in a zip file, whose folders are the classes: cat/1.png, dog/2.jpg. Folders that
    hold all of them, as photos/cat/1.png, do not count.

    file: a path, or the bytes of a zip file. transform, target_transform: functions of a picture,
    and of a class's number. `samples` has the paths and numbers, `targets` the numbers, `classes`
    the names in order. Raises DataError for a damaged file or picture, naming it, MissingDataError
    if no folder has a picture. One class alone is a warning.
    """

    def __init__(
        self,
        file: str | os.PathLike[str] | bytes,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        root = None if isinstance(file, bytes) else file
        super().__init__(root, None, transform, target_transform)
        self._name = "the zip file" if root is None else str(root)
        content = file if isinstance(file, bytes) else Path(file).read_bytes()
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile as error:
            raise DataError(f"{self._name} is damaged, or no zip file: {error}") from error
        paths = [PurePosixPath(name) for name in sorted(self._archive.namelist())]
        found = [
            path
            for path in paths
            if path.suffix.lower() in IMG_EXTENSIONS and "__MACOSX" not in path.parts
        ]
        parents = [path.parent.parts for path in found]
        depth = sum(
            1 for _ in takewhile(lambda same: len(set(same)) == 1, zip(*parents, strict=False))
        )
        if len(set(parents)) == 1:  # one class alone
            depth -= 1
        if not found or depth < 0 or any(len(each) <= depth for each in parents):
            raise MissingDataError(
                f"{self._name}: its pictures must be in folders, one for each class"
            )
        names = [each[depth] for each in parents]
        self.classes = sorted(set(names))
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.targets = [self.class_to_idx[name] for name in names]
        self.samples = list(zip(map(str, found), self.targets, strict=True))
        warn_of_one_class("ImageZip", self._name, self.classes)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        (number,) = checked([index], len(self), "ImageZip")
        name, target = self.samples[number]
        where = f"{self._name}, {name}"
        try:
            content = self._archive.read(name)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise DataError(f"{where} is damaged: {error}") from error
        return self._changed(decode_picture(content, where), target)

    def __len__(self) -> int:
        return len(self.samples)
