"""Initializers: every type and storage format, wrong sizes, and external files."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tallow as tl
from tallow.core.hostarray import StringArray
from tallow.formats.onnx.read import tensors
from tallow.formats.onnx.read.external import ExternalFiles

from ..graphs import model, node, value, weight

TYPES = {
    "FLOAT": (np.float32, [1.5, -2.25, 0]), "DOUBLE": (np.float64, [1.5, -2.25, 1e300]),
    "FLOAT16": (np.float16, [1.5, -2.25, 65504]), "INT8": (np.int8, [-128, 0, 127]),
    "UINT8": (np.uint8, [0, 7, 255]), "INT16": (np.int16, [-32768, 0, 32767]),
    "UINT16": (np.uint16, [0, 7, 65535]), "INT32": (np.int32, [-(2**31), 0, 2**31 - 1]),
    "UINT32": (np.uint32, [0, 7, 2**32 - 1]), "INT64": (np.int64, [-(2**63), 0, 2**63 - 1]),
    "UINT64": (np.uint64, [0, 7, 2**64 - 1]), "BOOL": (np.bool_, [True, False, True]),
}  # fmt: skip


def loaded(tensor: TensorProto) -> np.ndarray:
    """The tensor as the output of a model without nodes."""
    tensor.name = "w"
    proto = model([], [], "w", [tensor])
    return tl.onnx.load(proto.SerializeToString()).session("numpy").run({})["w"]


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "numbers"])
@pytest.mark.parametrize("name", TYPES)
def test_every_type(name: str, raw: bool) -> None:
    dtype, values = TYPES[name]
    array: np.ndarray = np.array(values, dtype)
    content: Any = array.tobytes() if raw else array
    got = loaded(helper.make_tensor("w", getattr(TensorProto, name), [3], content, raw=raw))
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "numbers"])
def test_bfloat16(raw: bool) -> None:
    bits = np.array([0x3FC0, 0xC010, 0x7F80, 0x0001], np.uint16)
    tensor = TensorProto(dims=[2, 2], data_type=TensorProto.BFLOAT16)
    if raw:
        tensor.raw_data = bits.tobytes()
    else:
        tensor.int32_data.extend(bits.tolist())
    got = loaded(tensor)
    assert got.dtype == ml_dtypes.bfloat16
    assert got.astype(np.float32).tolist() == [[1.5, -2.25], [math.inf, 2.0**-133]]


@pytest.mark.parametrize("raw", [True, False], ids=["raw", "numbers"])
@pytest.mark.parametrize("name", ["INT4", "UINT4", "FLOAT4E2M1", "UINT2", "FLOAT8E4M3FN"])
def test_few_bits(name: str, raw: bool) -> None:
    kind = getattr(TensorProto, name)
    array = np.array([[0, 1, 1], [1, 0, 1]], np.float32).astype(
        helper.tensor_dtype_to_np_dtype(kind)
    )
    tensor = numpy_helper.from_array(array, "w")
    if not raw:
        packed = tensor.raw_data
        tensor = TensorProto(name="w", dims=[2, 3], data_type=kind)
        tensor.int32_data.extend(packed)
    got = loaded(tensor)
    assert got.dtype == array.dtype
    np.testing.assert_array_equal(got.view("u1"), array.view("u1"))


def test_few_bits_of_the_wrong_length() -> None:
    tensor = TensorProto(name="w", dims=[2, 3], data_type=TensorProto.INT4, raw_data=bytes(6))
    with pytest.raises(tl.OnnxFormatError, match=r"int4 .* needs 3 bytes, but the file has 6"):
        loaded(tensor)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1)])
def test_shapes(shape: tuple[int, ...]) -> None:
    array = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    assert loaded(weight("w", array)).shape == shape


def test_raw_weights_are_not_copied() -> None:
    """A weight's bytes are not copied from protobuf's."""
    proto = model([node("Add", "x w", "y")], [value("x", [512])], weights=[
        weight("w", np.arange(512, dtype=np.float32))])  # fmt: skip
    graph = tl.onnx.load(proto.SerializeToString()).graph()
    (constant,) = [n for n in graph.nodes() if n.is_constant]
    assert type(constant.attrs["data"].data.obj) is bytes


def _claims(dims: list[int], data: bytes = b"\0" * 8, **fields: Any) -> TensorProto:
    return TensorProto(
        name="w", dims=dims, data_type=fields.pop("data_type", TensorProto.FLOAT),
        raw_data=data, **fields,
    )  # fmt: skip


LIES = {
    "too short": (_claims([3]), r"'w': float32 \(3,\) needs 12 bytes, but the file has 8"),
    "too long": (_claims([1]), r"'w': float32 \(1,\) needs 4 bytes, but the file has 8"),
    "petabytes": (
        _claims([2**20, 2**20, 2**10]),
        r"'w': float32 \(1048576, 1048576, 1024\) needs 4,503,599,627,370,496 bytes, .* has 8",
    ),
    "beyond 64 bits": (_claims([2**62, 2**62]), r"needs \d[\d,]+ bytes, but the file has 8"),
    "negative": (_claims([2, -1]), r"'w' has a negative dimension: \(2, -1\)"),
    "no data": (
        TensorProto(name="w", dims=[2], data_type=TensorProto.INT64),
        r"'w': int64 \(2,\) needs 2 elements \(16 bytes\), but the file has 0 \(0 bytes\)",
    ),
    "too few numbers": (
        TensorProto(name="w", dims=[2], data_type=TensorProto.FLOAT, float_data=[1]),
        r"'w': float32 \(2,\) needs 2 elements \(8 bytes\), but the file has 1 \(4 bytes\)",
    ),
    "numbers of another type": (
        TensorProto(name="w", dims=[1], data_type=TensorProto.INT8, int32_data=[300]),
        r"'w': a value does not fit int8",
    ),
    "no name": (_claims([2]), "an initializer has no name"),
}


@pytest.mark.parametrize("lie", LIES)
def test_sizes_that_lie(lie: str) -> None:
    tensor, message = LIES[lie]
    proto = model([node("Identity", "x", "y")], [value("x", [1])], weights=[tensor])
    if lie == "no name":
        proto.graph.initializer[0].name = ""
    with pytest.raises(tl.OnnxFormatError, match=message):
        tl.onnx.load(proto.SerializeToString())


@pytest.mark.parametrize("kind", ["STRING", "COMPLEX64"])
def test_types_that_tallow_lacks_count_only_where_they_are_read(kind: str) -> None:
    tensor = TensorProto(name="w", dims=[1], data_type=getattr(TensorProto, kind))
    tensor.string_data.append(b"text")
    x = value("x", [1])
    unread = model([node("Identity", "x", "y")], [x], weights=[tensor])
    assert tl.onnx.load(unread.SerializeToString()).graph()
    read = model([node("Add", "x w", "y"), node("Add", "y w", "z")], [x], "z", [tensor])
    with pytest.raises((tl.OnnxUnsupportedError, tl.OnnxFormatError)) as caught:
        tl.onnx.load(read.SerializeToString()).graph()
    wanted = "('w') is string" if kind == "STRING" else "initializer 'w' is of type complex64"
    assert wanted in str(caught.value)


def _texts(*texts: bytes) -> TensorProto:
    shape = [len(texts), 1]
    return TensorProto(data_type=TensorProto.STRING, dims=shape, string_data=texts)


def test_texts() -> None:
    tensor = _texts(b"one", "zwölf".encode())
    read = tensors.read(tensor, "w", ExternalFiles(None))
    assert isinstance(read, StringArray)
    assert read.numpy().tolist() == [["one"], ["zwölf"]]
    for change in (lambda: tensor.dims.append(3), lambda: tensor.string_data.append(b"\xff")):
        change()
        with pytest.raises(tl.OnnxFormatError, match=r"string \(2, 1, 3\) needs 6 strings"):
            tensors.read(tensor, "w", ExternalFiles(None))
    broken = _texts(b"\xff")
    with pytest.raises(tl.OnnxFormatError, match="not UTF-8"):
        tensors.read(broken, "w", ExternalFiles(None))


# ---- external data ----------------------------------------------------------------------------


def _external(**entries: Any) -> onnx.ModelProto:
    tensor = TensorProto(name="w", dims=[3], data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in entries.items():
        tensor.external_data.add(key=key, value=str(text))
    return model([node("Add", "x w", "y")], [value("x", [3])], weights=[tensor])


def _saved(folder: Path, proto: onnx.ModelProto, data: bytes = b"") -> Path:
    inner = folder / "model"
    (inner / "parts").mkdir(parents=True)
    for target in (inner / "weights.bin", inner / "parts" / "w.bin", folder / "secret.bin"):
        target.write_bytes(data or np.arange(5, dtype=np.float32).tobytes())
    path = inner / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize(
    ("entries", "first"),
    [
        ({"location": "weights.bin"}, 0),
        ({"location": "weights.bin", "offset": 8, "length": 12}, 2),
        ({"location": "parts/w.bin", "offset": 4}, 1),
        ({"location": "./parts\\w.bin"}, 0),
    ],
)
def test_external_data(tmp_path: Path, entries: dict[str, Any], first: int) -> None:
    path = _saved(tmp_path, _external(**entries))
    got = tl.onnx.load(path).session("numpy").run({"x": np.zeros(3, np.float32)})["y"]
    assert got.tolist() == [first, first + 1, first + 2]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "../secret.bin"}, "outside the model's folder"),
        ({"location": "parts/../../secret.bin"}, "outside the model's folder"),
        ({"location": "/etc/passwd"}, "is not a relative path"),
        ({"location": "C:\\secret.bin"}, "is not a relative path"),
        ({"location": "c:secret.bin"}, "is not a relative path"),
        ({"location": ""}, "is not a relative path"),
        ({}, "is not a relative path"),
        ({"location": "link.bin"}, "outside the model's folder"),
        ({"location": "missing.bin"}, "cannot be found, 'missing.bin': put it beside the model"),
        ({"location": "parts"}, "'parts', which cannot be read: Is a directory"),
        ({"location": "weights.bin", "offset": 12}, "needs 12 bytes at 12 of 'weights.bin', .* 20"),
        ({"location": "weights.bin", "length": 4}, "needs 12 bytes, but claims 4"),
        ({"location": "weights.bin", "offset": -4}, "offset '-4'"),
        ({"location": "weights.bin", "offset": "x"}, "offset 'x'"),
    ],
)
def test_external_data_that_cannot_be_had(
    tmp_path: Path, entries: dict[str, Any], message: str
) -> None:
    path = _saved(tmp_path, _external(**entries))
    (path.parent / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(tl.OnnxFormatError, match=message) as caught:
        tl.onnx.load(path)
    if not isinstance(caught.value, tl.OnnxMissingDataError):
        assert re.match(r"m\.onnx: initializer 'w', float32 \(3,\),", str(caught.value))


def test_external_petabytes(tmp_path: Path) -> None:
    proto = _external(location="weights.bin")
    proto.graph.initializer[0].dims[:] = [2**50]
    with pytest.raises(tl.OnnxFormatError, match=r"'weights\.bin', which has 20"):
        tl.onnx.load(_saved(tmp_path, proto))


def test_external_data_of_a_model_in_bytes() -> None:
    with pytest.raises(tl.OnnxFormatError, match=r"'w\.bin', but this model was loaded from bytes"):
        tl.onnx.load(_external(location="w.bin").SerializeToString())
