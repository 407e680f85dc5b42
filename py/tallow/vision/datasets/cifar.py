"""CIFAR-10 and CIFAR-100: small coloured pictures, in pickles."""

from __future__ import annotations

import io
import pickle
import tarfile
from pathlib import Path
from typing import Any, ClassVar

from ...core.drivers import Steps
from ...errors import DataError
from ...files import File, Progress, fetching
from .absent import absent
from .base import SplitDataset, check_labels


class CIFAR10(SplitDataset):
    """Photographs of ten kinds of thing, 32 x 32: 50,000 to train with, and 10,000.

    root: the folder in which cifar-10-batches-py/ has the files, or cifar-10-python.tar.gz is.
    train: which part. download: fetches the archive (170 MB) if both are missing. transform,
    target_transform: functions of a picture, and of a label.

    `data` is an array of bytes (number, 32, 32, 3), `targets` a list. Raises MissingDataError
    without the files, DataError for damaged ones, FetchError.
    Source: Krizhevsky 2009. torchvision, `CIFAR10`, for names and folders.
    """

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    checksum = "sha256:6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
    train_list: ClassVar[tuple[str, ...]] = tuple(f"data_batch_{each}" for each in range(1, 6))
    test_list: ClassVar[tuple[str, ...]] = ("test_batch",)
    names_in: ClassVar[tuple[str, str]] = ("batches.meta", "label_names")
    labels_in = "labels"

    def _opening(
        self, download: bool, progress: Progress | None, blocks: bool = False
    ) -> Steps[None]:
        import numpy as np

        parts = self.train_list if self.train else self.test_list
        meta, key = self.names_in
        contents = yield from self._contents((*parts, meta), download, progress, blocks)
        self.classes = list(_field(contents[meta], key, meta))
        pixels, self.targets = [], []
        for name in parts:
            found = np.asarray(_field(contents[name], "data", name))
            if found.ndim != 2 or found.shape[1:] != (3072,) or found.dtype != np.uint8:
                raise DataError(
                    f"{name}: pictures of {found.dtype} {found.shape}, not of 3072 bytes"
                )
            pixels.append(found.reshape(-1, 3, 32, 32))
            labels = _field(contents[name], self.labels_in, name)
            check_labels(labels, len(found), len(self.classes), name)
            self.targets += labels
        self.data = np.ascontiguousarray(np.concatenate(pixels).transpose(0, 2, 3, 1))

    def _contents(
        self, names: tuple[str, ...], download: bool, progress: Progress | None, blocks: bool
    ) -> Steps[Any]:
        """The unpickled files of the folder, into which the archive is unpacked."""
        folder = Path(self.root) / self.base_folder
        if not all((folder / name).is_file() for name in names):
            sources = (self.url,) if download else ()
            file = File(self.filename, sources, self.root, self.checksum)
            with absent(type(self).__name__, folder, download):
                fetched = yield from fetching(file, progress, blocks)
            content = yield from fetched.reading()
            try:
                with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                    if fetched.path is None:
                        return {
                            name: _unpickled(_member(archive, f"{self.base_folder}/{name}"), name)
                            for name in names
                        }
                    archive.extractall(self.root, filter="data")
            except (tarfile.TarError, EOFError, KeyError, OSError) as error:
                raise DataError(f"{self.filename} in {self.root} is damaged: {error}") from error
        return {name: _unpickled((folder / name).read_bytes(), name) for name in names}


class CIFAR100(CIFAR10):
    """Photographs of a hundred kinds of thing; else as `CIFAR10`, in cifar-100-python/."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    checksum = "sha256:85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"
    train_list: ClassVar[tuple[str, ...]] = ("train",)
    test_list: ClassVar[tuple[str, ...]] = ("test",)
    names_in: ClassVar[tuple[str, str]] = ("meta", "fine_label_names")
    labels_in = "fine_labels"


def _array(kind: Any, shape: tuple[int, ...], dtype: object) -> Any:
    """An array whose elements follow, as pickles of NumPy begin one."""
    return kind.__new__(kind, shape, dtype)


class _Arrays(pickle.Unpickler):
    """Makes arrays, numbers and texts; no name of another kind is looked up."""

    def find_class(self, module: str, name: str) -> Any:
        import numpy as np

        multiarray = ("numpy.core.multiarray", "numpy._core.multiarray")  # of NumPy 1 and 2
        known: dict[Any, Any] = {(each, "_reconstruct"): _array for each in multiarray}
        known |= {("numpy", "ndarray"): np.ndarray, ("numpy", "dtype"): np.dtype}
        known["_codecs", "encode"] = str.encode
        if (module, name) in known:
            return known[module, name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _member(archive: tarfile.TarFile, path: str) -> bytes:
    """A file of an archive. Raises KeyError if it is not there."""
    found = archive.extractfile(path)
    if found is None:
        raise KeyError(path)
    return found.read()


def _unpickled(content: bytes, name: str) -> Any:
    try:
        return _Arrays(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a pickle can raise anything
        raise DataError(f"{name} is damaged: {error}") from error


def _field(found: Any, key: str, name: str) -> Any:
    if not isinstance(found, dict) or key not in found:
        raise DataError(f"{name} is damaged: it has no {key!r}")
    return found[key]
