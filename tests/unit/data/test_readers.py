"""tl.data: tables of files, windows, characters and sound."""

from __future__ import annotations

import io
import struct
import sys
import wave
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.data import (
    CharDataset,
    DataLoader,
    WindowDataset,
    from_arrays,
    from_csv,
    from_parquet,
    read_wav,
    tables,
)
from tallow.errors import DataError, IndexRangeError, MissingError, OptionError, ShapeError

TABLE = 'a,b,kind\n1,2.5,"cat, big"\n3,-4e1,dog\n\n5,6,"cat, big"\n'


def arrays(dataset: Any) -> list[Any]:
    return [each.numpy().tolist() for each in dataset.tensors]


def test_a_table_of_numbers_and_classes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    found = from_csv(path, "kind")
    assert found.columns == ["a", "b"] and found.classes == ["cat, big", "dog"]
    assert arrays(found) == [[[1, 2.5], [3, -40], [5, 6]], [0, 1, 0]]
    assert [each.dtype for each in found.tensors] == [tl.float32, tl.int64]
    assert arrays(from_csv(io.StringIO(TABLE), -1, columns=["b"]))[0] == [[2.5], [-40], [6]]
    ((rows, kinds),) = DataLoader(found, batch_size=8)
    assert rows.shape == (3, 2) and kinds.shape == (3,)


def test_targets_that_are_numbers() -> None:
    whole = from_csv(io.StringIO("x;y\n1;2\n3;0\n"), "y", delimiter=";")
    assert whole.tensors[1].dtype == tl.int64 and whole.classes == []
    broken = from_csv(io.StringIO("1,2\n3,0.5\n"), 1, header=False)
    assert broken.columns == ["0"] and arrays(broken) == [[[1], [3]], [[2], [0.5]]]
    assert broken.tensors[1].dtype == tl.float32
    assert arrays(from_csv(io.StringIO("x,y\n1,\n3,4\n"), missing=-1)) == [[[1, -1], [3, 4]]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n3\n", "the text, line 3: 1 fields, and 2 columns"),
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 fields"),
        ("a,b\n1,x\n", "line 2, column 'b': 'x' is no finite number"),
        ("a,b\n1,inf\n", "line 2, column 'b': 'inf' is no finite number"),
        ("a,b\n\n1,2\n1,\n", "line 4, column 'b': it is empty; give missing="),
        ('a,b\n1,2\n"1,2\n', "line 3: unexpected end of data"),
        ("a,b\n", "it has no rows"),
        ("", "it has no rows"),
    ],
)
def test_a_damaged_line_is_named(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        from_csv(io.StringIO(text))


def test_damaged_targets(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 3, column 'y': it is empty"):
        from_csv(io.StringIO("x,y\n1,2\n3,\n"), "y", missing=0)
    with pytest.raises(DataError, match="a target is not finite"):
        from_csv(io.StringIO("x,y\n1,2.5\n3,nan\n"), "y")
    with pytest.raises(OptionError, match="has no column 'z'; it has x, y"):
        from_csv(io.StringIO("x,y\n1,2\n"), "z")
    with pytest.raises(OptionError, match="has no column 2"):
        from_csv(io.StringIO("x,y\n1,2\n"), columns=[2])
    with pytest.warns(UserWarning, match=r"all targets are 2, so that"):
        from_csv(io.StringIO("x,y\n1,2\n3,2\n"), "y")
    (tmp_path / "a.csv").write_bytes(b"x,y\n1,\xff\n")
    with pytest.raises(DataError, match=r"a\.csv, line 2: .*utf-8"):
        from_csv(tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError):
        from_csv(tmp_path / "absent.csv")


def test_arrays(tmp_path: Path) -> None:
    x, y = np.ones((4, 2), np.float32), np.arange(4)
    np.savez(tmp_path / "a.npz", x=x, y=y)
    np.save(tmp_path / "a.npy", x)
    assert arrays(from_arrays(tmp_path / "a.npz")) == [x.tolist(), y.tolist()]
    assert arrays(from_arrays(tmp_path / "a.npz", "y")) == [y.tolist()]
    assert arrays(from_arrays(tmp_path / "a.npy")) == [x.tolist()]
    with pytest.raises(OptionError, match=r"no array 'z'; it has x, y"):
        from_arrays(tmp_path / "a.npz", "z")
    with pytest.raises(OptionError, match="one array without a name"):
        from_arrays(tmp_path / "a.npy", "z")
    np.savez(tmp_path / "b.npz", x=x, y=y[:2])
    with pytest.raises(ShapeError):
        from_arrays(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", np.array([{}]), allow_pickle=True)
    for name, content in (("d.npz", (tmp_path / "a.npz").read_bytes()[:99]), ("e.npy", b"no")):
        (tmp_path / name).write_bytes(content)
    for name in ("c.npy", "d.npz", "e.npy"):
        with pytest.raises(DataError, match=rf"{name} is damaged, or holds no arrays"):
            from_arrays(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        from_arrays(tmp_path / "absent.npz")


class Column:
    """What is used of pyarrow's."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values
        self.null_count = values.count(None)
        self.type = type(values[0]).__name__ if values else "null"

    def to_numpy(self) -> np.ndarray:
        return np.array(self._values)

    def to_pylist(self) -> list[Any]:
        return self._values


class Table:
    def __init__(self, **columns: list[Any]) -> None:
        self._columns = [Column(each) for each in columns.values()]
        self.column_names = list(columns)
        self.num_rows = len(next(iter(columns.values())))

    def column(self, number: int) -> Column:
        return self._columns[number]


def test_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a stand-in for pyarrow, which is too large to install for this."""

    class InvalidError(ValueError):
        pass

    kept = {
        "a": Table(x=[1, 2], t=["b", "a"], y=[1.5, 2.5]), "nulls": Table(x=[1, None]),
        "empty": Table(x=[]),
    }  # fmt: skip

    def read_table(path: str) -> Table:
        if path not in kept:
            raise InvalidError("no magic bytes")
        return kept[path]

    arrow, parquet = ModuleType("pyarrow"), ModuleType("pyarrow.parquet")
    arrow.ArrowInvalid, arrow.parquet, parquet.read_table = InvalidError, parquet, read_table
    monkeypatch.setitem(sys.modules, "pyarrow", arrow)
    monkeypatch.setattr(tables, "find_spec", lambda name: object())
    found = from_parquet("a", "t")
    assert found.columns == ["x", "y"] and found.classes == ["a", "b"]
    assert arrays(found) == [[[1, 1.5], [2, 2.5]], [1, 0]]
    assert found.tensors[0].dtype == tl.float32
    for path, said in {
        "a": "column 't': str, no numbers", "nulls": "column 'x': 1 empty",
        "empty": "it has no rows", "bad": "is damaged, or no Parquet file: no magic",
    }.items():  # fmt: skip
        with pytest.raises(DataError, match=said):
            from_parquet(path)
    monkeypatch.setattr(tables, "find_spec", lambda name: None)
    with pytest.raises(MissingError, match="pip install pyarrow"):
        from_parquet("a")


def test_windows(device: str) -> None:
    data = np.arange(22, dtype=np.float32).reshape(11, 2)
    found = WindowDataset(data, length=4, stride=3, horizon=1)
    assert len(found) == 3
    for index in (0, 2, -1):
        window, target = found[index]
        start = 3 * (index % 3)
        assert window.numpy().tolist() == data[start : start + 4].tolist()
        assert target.numpy().tolist() == data[start + 4 : start + 5].tolist()
    ((windows, targets),) = DataLoader(found, batch_size=3)
    assert windows.shape == (3, 4, 2) and targets.shape == (3, 1, 2)
    assert windows.numpy()[1].tolist() == data[3:7].tolist()
    alone = WindowDataset(data, length=11)
    assert len(alone) == 1 and alone[0].shape == (11, 2)
    with pytest.raises(IndexRangeError):
        found[3]


def test_windows_that_cannot_be() -> None:
    for options, said in (
        ({"length": 0}, "length=0"), ({"length": 1, "stride": 0}, "stride=0"),
        ({"length": 1, "horizon": -1}, "horizon=-1"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=said):
            WindowDataset(np.ones(5), **options)
    with pytest.raises(DataError, match=r"\(5,\), are shorter than one sample, 6"):
        WindowDataset(np.ones(5), 4, horizon=2)


def test_characters() -> None:
    text = "hello world"
    found = CharDataset(text, length=4, stride=2)
    assert found.vocabulary == sorted(set(text)) and len(found) == 4
    inputs, targets = found[1]
    assert inputs.dtype == targets.dtype == tl.int64
    assert (found.decode(inputs), found.decode(targets)) == ("llo ", "lo w")
    assert found.decode(found.encode("dell").tolist()) == "dell"
    ((inputs, targets),) = DataLoader(found, batch_size=4)
    assert inputs.shape == targets.shape == (4, 4)
    assert found.decode(targets.numpy()[3].tolist()) == "orld"
    own = CharDataset("abab", 2, vocabulary="ba")
    assert own[0][0].tolist() == [1, 0]
    with pytest.raises(DataError, match="'c', character 2 of the text, is not in the vocabulary"):
        CharDataset("abc", 1, vocabulary="ab")
    with pytest.raises(DataError, match="shorter than one sample, 4"):
        CharDataset("abc", 3)


def wav(width: int, values: list[int], channels: int = 1) -> bytes:
    target = io.BytesIO()
    with wave.open(target, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(8000)
        pad = 128 if width == 1 else 0
        sound.writeframes(b"".join(struct.pack("<i", each + pad)[:width] for each in values))
    return target.getvalue()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_sound(tmp_path: Path, width: int) -> None:
    path = tmp_path / "a.wav"
    half = 1 << (8 * width - 2)
    path.write_bytes(wav(width, [0, half, -half, -2 * half if width > 1 else -128]))
    sound, rate = read_wav(path)
    assert rate == 8000
    assert sound.numpy().tolist() == [[0], [0.5], [-0.5], [-1]]
    path.write_bytes(wav(2, [0, 1 << 14, 0, -(1 << 14)], channels=2))
    assert read_wav(path)[0].numpy().tolist() == [[0, 0.5], [0, -0.5]]


def test_damaged_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF")
    with pytest.raises(DataError, match=r"a\.wav is damaged, or no WAV file"):
        read_wav(path)
    path.write_bytes(wav(2, [1] * 100)[:-50])
    with pytest.raises(DataError, match=r"a\.wav is damaged: 150 of 200 bytes"):
        read_wav(path)
