"""Saving and loading weights: sound files of every format, and what happens to the others."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import FormatError, OptionError
from tallow.formats import npz

DATA = Path(__file__).parent / "data"

CHECKPOINTS = ["zip.pt", "legacy.pt"]


def saved(state: dict[str, Any], format: str, **options: Any) -> bytes:
    target = io.BytesIO()
    tl.save(target, state, format=format, **options)
    return target.getvalue()


ARRAYS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b.c": np.array([True, False]),
    "half": np.array([0.5], np.float16),
    "long": np.array(-(1 << 40)),
    "none": np.zeros((0, 2), np.uint8),
}


@pytest.mark.parametrize("format", ["safetensors", "npz"])
def test_what_is_saved_is_loaded(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{format}"
    tl.save(path, ARRAYS)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    found = tl.load(path)
    assert set(found) == set(ARRAYS)
    for name, value in ARRAYS.items():
        got = found[name].numpy()
        assert got.dtype == value.dtype
        np.testing.assert_array_equal(got, value)


def test_a_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)

    def training() -> tuple[Any, ...]:
        tl.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
        optimizer = tl.optim.AdamW(model.parameters(), lr=0.1, amsgrad=True)
        schedule = tl.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)

        def steps(count: int) -> list[float]:
            found = []
            for _ in range(count):
                loss = (model(tl.asarray(x)) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                found.append(loss.item())
            return found

        return model, optimizer, schedule, steps

    *parts, steps = training()
    steps(3)
    path = tmp_path / "checkpoint.safetensors"
    states = [part.state_dict() for part in parts]
    state = {"states": states, "epoch": 3, "name": "test", "best": float("inf")}
    tl.save(state, path)  # as PyTorch has it
    content = path.read_bytes()
    tl.save(path, state)
    assert path.read_bytes() == content
    wanted = steps(3)
    *others, other_steps = training()
    found = tl.load(path)
    assert (found["epoch"], found["name"], found["best"]) == (3, "test", float("inf"))
    assert found["states"][1]["param_groups"] == states[1]["param_groups"]
    assert found["states"][2] == states[2]
    for part, state in zip(others, found["states"], strict=True):
        part.load_state_dict(state)
    assert other_steps(3) == wanted


def test_what_a_checkpoint_cannot_hold(tmp_path: Path) -> None:
    linear = nn.Linear(2, 1)
    nested = {"model": linear.state_dict(), "epoch": 1}
    with pytest.raises(OptionError, match=r"\.safetensors"):
        tl.save(tmp_path / "x.npz", nested)
    for state, message in (
        (linear, r"not Linear; give its state_dict\(\)"), ([1], "not list"),
        ({"a": {"b": linear}}, r"a\.b is Linear, not a tensor; give its state_dict\(\)"),
        ({"a": {1.5: None}}, "keys"),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=message):
            tl.save(tmp_path / "x.safetensors", state)
    for given in (nn.Linear(1, 1), tmp_path / "x.safetensors"):
        with pytest.raises(OptionError, match="the state is a dict"):
            tl.save(given, tmp_path / "x.safetensors")
    with pytest.raises(OptionError, match="'pt' is none of"):
        tl.save(nested, tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())
    same = {"a.b": {"c": tl.asarray(1.0)}, "a": {"b.c": tl.asarray(2.0), "none": None}}
    found = tl.load(saved(same, "safetensors"))
    assert found["a.b"]["c"].item() == 1.0 and found["a"]["b.c"].item() == 2.0


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"dict": 3}', '{"tensor": "b"}', '{"value": [1]}', '{"list": []}',
     '{"list": [{"tensor": "a"}, {"tensor": "a"}]}', '{"tuple": {"a": 1}}', '{"run": "a"}',
     '{"dict": [["x", {"value": 1}], ["x", {"tensor": "a"}]]}', '{"dict": [[[], {"value": 1}]]}',
     '{"tensor": "a", "value": 1}', '{"list": [' * 5000 + "]}" * 5000],
)  # fmt: skip
def test_a_structure_that_does_not_fit(text: str) -> None:
    with pytest.raises(FormatError, match=r"tallow\.structure"):
        tl.load(saved({"a": np.zeros(2)}, "safetensors", metadata={"tallow.structure": text}))


def test_tensors_are_computed_when_they_are_saved() -> None:
    x = tl.asarray([1.0, 2.0])
    found = tl.load(saved({"x": x * 2, "v": tl.Variable(3)}, "safetensors"))
    assert found["x"].tolist() == [2.0, 4.0]
    assert found["v"].item() == 3


def test_bfloat16_goes_through_safetensors() -> None:
    x = tl.asarray([0.5, -2.0]).astype("bfloat16")
    found = tl.load(saved({"x": x}, "safetensors"))["x"]
    assert found.dtype.name == "bfloat16"
    assert found.tolist() == [0.5, -2.0]
    with pytest.raises(OptionError, match="bfloat16"):
        saved({"x": x}, "npz")


def test_numpy_reads_and_writes_the_same_archives() -> None:
    with np.load(io.BytesIO(saved(ARRAYS, "npz"))) as file:
        assert {name: file[name].tolist() for name in file.files} == {
            name: value.tolist() for name, value in ARRAYS.items()
        }
    target = io.BytesIO()
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez_compressed(target, fortran=fortran, big=np.array([1, 2], ">i4"))
    found = tl.load(target.getvalue())
    assert found["fortran"].tolist() == fortran.tolist()
    assert found["big"].tolist() == [1, 2]


def test_metadata_of_safetensors() -> None:
    data = saved({"x": np.zeros(1)}, "safetensors", metadata={"format": "pt"})
    assert tl.open_weights(data).metadata == {"format": "pt"}
    assert set(tl.load(data)) == {"x"}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_checkpoint_of_pytorch(name: str) -> None:
    found = tl.load(DATA / name)
    lists = {key: x.tolist() for key, x in found.items() if isinstance(x, tl.Tensor)}
    assert lists == {
        "parameter": [1.5, 2.5],
        "transposed": [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]],
        "part": [4.0, 6.0, 8.0],
        "expanded": [[7.0, 7.0], [7.0, 7.0]],
        "half": [0.5, -2.0],
        "bfloat16": [0.5, -2.0],
        "double": [[1.25]],
        "long": [1 << 40, -1],
        "byte": [1, 255],
        "bool": [True, False],
        "scalar": 5,
        "empty": [],
    }
    assert found["bfloat16"].dtype.name == "bfloat16"
    assert found["empty"].shape == (0, 3)
    assert found["size"] == (2, 3)
    rest = {key: found[key] for key in ("epoch", "lr", "name", "flags", "ordered")}
    assert rest == {"epoch": 3, "lr": 0.5, "name": "net", "flags": (True, None, [1, -2]),
                    "ordered": {"a": 1}}  # fmt: skip
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    report = tl.load_into(net, found["model"])
    assert len(report.loaded) == 7
    assert net[0].weight.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_a_checkpoint_of_float8() -> None:
    assert tl.load(DATA / "float8.pt")["x"].tolist() == [0.5, 2.0]


def test_a_whole_module_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match=r"torch\.nn\.modules\.container\.Sequential"):
        tl.load(DATA / "whole_module.pt")


# ---- pickles with something else in them -------------------------------------------------------


def checkpoint(program: bytes, **entries: bytes) -> bytes:
    """A ZIP checkpoint with this pickle."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("x/data.pkl", program)
        for name, data in entries.items():
            file.writestr(f"x/data/{name}", data)
    return target.getvalue()


class Evil:
    def __reduce__(self) -> Any:
        return print, ("the file ran code",)


def pickled(function: str, *args: Any, storage: tuple[Any, ...] | None = None) -> bytes:
    """A pickle that calls a function by its name, with a storage as its first argument."""
    module, _, name = function.rpartition(".")
    code = f"c{module}\n{name}\n".encode()
    if storage is not None:
        kind, key, count = storage
        code += b"((" + _plain("storage") + f"ctorch\n{kind}\n".encode()
        code += _plain(key) + _plain("cpu") + _plain(count) + b"tQ"
        return b"\x80\x02" + code + b"".join(map(_plain, args)) + b"tR."
    return b"\x80\x02" + code + b"(" + b"".join(map(_plain, args)) + b"tR."


def _plain(value: Any) -> bytes:
    return pickle.dumps(value, 2)[2:-1]


def tensor(lengths: Any, strides: Any, offset: Any = 0, count: Any = 4, kind: str = "Float",
           key: str = "0") -> bytes:  # fmt: skip
    data = np.arange(4, dtype=np.float32).tobytes()
    storage = f"{kind}Storage", key, count
    program = pickled("torch._utils._rebuild_tensor_v2", offset, lengths, strides, False,
                      OrderedDict(), storage=storage)  # fmt: skip
    return checkpoint(program, **{"0": data})


def test_the_pickles_of_these_tests_are_sound() -> None:
    assert tl.load(tensor((2, 2), (1, 2))).tolist() == [[0.0, 2.0], [1.0, 3.0]]


FORBIDDEN = {
    "REDUCE": checkpoint(pickle.dumps({"x": Evil()}, 2)),
    "STACK_GLOBAL": checkpoint(pickle.dumps({"x": Evil()}, 4)),
    "os.system": checkpoint(b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR."),
    "builtins.eval": checkpoint(pickled("builtins.eval", "1")),
    "INST": checkpoint(b"(ios\nsystem\n."),
    "OBJ": checkpoint(b"(cbuiltins\nprint\no."),
    "NEWOBJ": checkpoint(b"\x80\x02ccollections\nOrderedDict\n)\x81."),
    "EXT1": checkpoint(b"\x80\x02\x82\x01."),
    "PERSID": checkpoint(b"Pabc\n."),
    "numpy": checkpoint(pickle.dumps(np.float64(1.0), 2)),
    "attribute of a function": checkpoint(
        b"\x80\x02ctorch\nSize\nN}X\x05\x00\x00\x00valueK\x01s\x86b."
    ),
    "attribute of a type": checkpoint(
        b"\x80\x02ctorch\nfloat32\n(X\x01\x00\x00\x00xK\x01K\x01tb."
    ),
    "attribute of a tensor": checkpoint(
        pickled("torch._utils._rebuild_tensor_v2", 0, (4,), (1,), False, {},
                storage=("FloatStorage", "0", 4))[:-1] + b"N}X\x04\x00\x00\x00nodeK\x01s\x86b.",
        **{"0": bytes(16)},
    ),
    "deep tuples": checkpoint(b"\x80\x02N" + b"\x85" * 100_000 + b"."),
    "huge memo": checkpoint(b"\x80\x02Nr\xff\xff\xff\x7f."),
    "huge text": checkpoint(b"\x80\x02X\xff\xff\xff\x7f."),
    "huge long": checkpoint(b"\x80\x02\x8b\xff\xff\xff\x7f."),
    "no storage": checkpoint(pickled("torch._utils._rebuild_tensor_v2", 1, 0, (), (), False, {})),
    "wrong id": checkpoint(b"\x80\x02K\x01Q."),
    "empty": checkpoint(b""),
    "no stop": checkpoint(b"\x80\x02N"),
    "stack underflow": checkpoint(b"\x80\x02\x87."),
    "beyond the storage": tensor((5,), (1,)),
    "offset": tensor((2,), (1,), offset=3),
    "negative offset": tensor((1,), (1,), offset=-1),
    "negative stride": tensor((2,), (-1,), offset=1),
    "negative length": tensor((-1,), (1,)),
    "huge": tensor((1 << 40, 1 << 40), (0, 0)),
    "expanded": tensor((1 << 40,), (0,)),
    "text as a length": tensor(("a",), (1,)),
    "other strides": tensor((2, 2), (1,)),
    "storage of another length": tensor((2,), (1,), count=5),
    "unknown storage": tensor((2,), (1,), kind="Evil"),
    "missing storage": tensor((2,), (1,), key="1"),
    "path as a key": tensor((2,), (1,), key="../data"),
    "no boolean": tensor((16,), (1,), count=16, kind="Bool"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORBIDDEN)
def test_pickles_with_something_else(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FormatError) as caught:
        tl.load(FORBIDDEN[name])
    assert capsys.readouterr().out == ""
    if "." in name:
        assert name in str(caught.value)


# ---- damage ------------------------------------------------------------------------------------


def header(**entries: Any) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


def entry(start: int, end: int, shape: list[Any] | None = None, dtype: str = "F32") -> Any:
    wanted = [(end - start) // 4] if shape is None else shape
    return {"dtype": dtype, "shape": wanted, "data_offsets": [start, end]}


DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "neither"),
    "text": (b"hello, this is no model", "neither"),
    "long header": (struct.pack("<Q", 1 << 60) + b"{}", "a header of"),
    "no JSON": (struct.pack("<Q", 2) + b"{x", "not JSON"),
    "deep JSON": (struct.pack("<Q", 200_000) + b'{"a":' + b"[" * 199_995, "not JSON"),
    "overlap": (header(a=entry(0, 8), b=entry(4, 12)) + bytes(12), "overlaps"),
    "same bytes": (header(a=entry(0, 8), b=entry(0, 8)) + bytes(8), "overlaps"),
    "gap": (header(a=entry(0, 4), b=entry(8, 12)) + bytes(12), "gap"),
    "rest": (header(a=entry(0, 4)) + bytes(8), "behind the last"),
    "out of range": (header(a=entry(0, 8)) + bytes(4), "0 to 8 of 4"),
    "backwards": (header(a=entry(4, 0, [1])) + bytes(4), "4 to 0"),
    "negative": (header(a=entry(-4, 0, [1])) + bytes(4), "-4 is not a length"),
    "other shape": (header(a=entry(0, 8, [3])) + bytes(8), "do not hold"),
    "huge shape": (header(a=entry(0, 4, [1 << 40, 1 << 40])) + bytes(4), "no memory"),
    "many axes": (header(a=entry(0, 4, [1] * 100)) + bytes(4), "100 axes"),
    "boolean shape": (header(a=entry(0, 4, [True])) + bytes(4), "not a length"),
    "unknown type": (header(a=entry(0, 4, dtype="C64")) + bytes(4), "C64"),
    "no entry": (header(a=3), "has no dtype"),
    "metadata": (header(__metadata__={"a": 1}), "not a text"),
    "twice": (struct.pack("<Q", 13) + b'{"a":1,"a":2}', "twice"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_safetensors(name: str) -> None:
    data, words = DAMAGED[name]
    with pytest.raises(FormatError) as caught:
        tl.load(data)
    assert words in str(caught.value)


def archive(**entries: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(f"{name}.npy", data)
    return target.getvalue()


def npy(descr: str = "'<f4'", shape: str = "(2,)", body: bytes = bytes(8)) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def test_an_archive_of_these_tests_is_sound() -> None:
    assert tl.load(archive(a=npy()))["a"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (archive(a=b"text"), "not an .npy"),
        (archive(a=npy("'|O'")), "not an array of numbers"),
        (archive(a=npy("[('a', '<f4')]")), "not an array of numbers"),
        (archive(a=npy("'<f4'", "(2, __import__('os').getpid())")), "not an array of numbers"),
        (archive(a=npy("'<c8'")), "<c8"),
        (archive(a=npy(shape="(3,)")), "8 bytes do not hold"),
        (archive(a=npy(shape="(1000000000000, 1000000000000)")), "no memory"),
        (archive(a=npy()[:9]), "not an .npy"),
        (archive(a=npy()[:20]), "a header of"),
    ],
)
def test_damaged_archives_of_numpy(data: bytes, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        tl.load(data)
    assert words in str(caught.value)


def test_an_archive_that_unpacks_to_too_much() -> None:
    size = 1 << 22
    data = archive(a=npy(shape=f"({size},)", body=bytes(4 * size)))
    assert len(data) < 1 << 16
    assert tl.load(data)["a"].shape == (size,)
    with pytest.raises(FormatError, match="max_bytes"):
        tl.load(data, max_bytes=1 << 20)


def test_an_archive_whose_entries_share_their_bytes() -> None:
    body = zlib.compress(npy(), 9)[2:-4]
    crc = zlib.crc32(npy())
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 33, crc, len(body), len(npy()),
                        5, 0) + b"a.npy" + body  # fmt: skip
    central = b"".join(
        struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 8, 0, 33, crc, len(body),
                    len(npy()), 5, 0, 0, 0, 0, 0, 0) + name
        for name in (b"a.npy", b"b.npy")
    )  # fmt: skip
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 2, 2, len(central), len(local), 0)
    with pytest.raises(FormatError, match="overlap"):
        tl.load(local + central + end)


@pytest.mark.parametrize(
    ("state", "options"),
    [({"x": 1.0}, {"format": "pt"}), ({1: 1.0}, {}), ({"__metadata__": 1.0}, {}),
     ({"x": 1.0}, {"format": "npz", "metadata": {"a": "b"}}), ({}, {"metadata": {"a": 1}})],
)  # fmt: skip
def test_what_cannot_be_saved(state: dict[Any, Any], options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        tl.save(io.BytesIO(), state, **options)


@pytest.mark.parametrize(
    "header",
    [
        "{'fortran_order': False, 'shape': (2,), 'descr': '<f4'}",
        '{ "shape" :(2L ,),\n"descr":"<f4" , "fortran_order" : False , }',
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,),}",
    ],
)
def test_an_npy_header_may_have_any_order(header: str) -> None:
    text = header.encode() + b"\n"
    data = b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text
    data += np.array([1, 2], np.float32).tobytes()
    assert npz.read_array(memoryview(data), "x").numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    "header",
    [
        "{'fortran_order': False, 'shape': (2), 'descr': '<f4'}",
        "{'shape': (2,), 'descr': '<f4'}",
        "{'shape': (2,), 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'shape': (2,), 'descr': True, 'fortran_order': False}",
        "{'shape': (2,), 'descr': '<f4' 'fortran_order': False}",
        "{'shape': (2,), 'descr': '<f4', 'fortran_order': False, 'more': True}",
    ],
)
def test_an_npy_header_that_is_none(header: str) -> None:
    text = header.encode() + b"\n"
    data = b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + bytes(8)
    with pytest.raises(FormatError, match="not an array of numbers"):
        npz.read_array(memoryview(data), "x")
