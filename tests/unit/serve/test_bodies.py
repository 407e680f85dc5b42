"""Bodies of requests and answers, arrays in them, pictures; without a server."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tallow.errors import DataError, FeedError, OptionError
from tallow.serve.bodies import LENGTH, read, written
from tallow.serve.datatypes import from_bytes, from_list, to_bytes, to_list
from tallow.serve.models import Port
from tallow.serve.pictures import Preparation, feeds_of, preparation_of, ranked

from . import running


def body(**changes: Any) -> bytes:
    one = {"name": "x", "datatype": "FP32", "shape": [2], "data": [1.5, 2]}
    return json.dumps({"inputs": [one | changes]}).encode()


def binary(shape: Any, data: bytes, size: int | None = None, **more: Any) -> tuple[bytes, Any]:
    one = {"name": "x", "datatype": "FP32", "shape": shape,
           "parameters": {"binary_data_size": len(data) if size is None else size}}  # fmt: skip
    text = json.dumps({"inputs": [one], **more}).encode()
    return text + data, {LENGTH: str(len(text))}


def test_json_and_binary_are_the_same_array() -> None:
    given = np.array([1.5, 2], np.float32)
    nested = body(shape=[2, 1], data=[[1.5], [2]])
    assert np.array_equal(read(body(), {}).feeds["x"], given)
    assert np.array_equal(read(nested, {}).feeds["x"], given[:, None])
    found = read(*binary([2], given.tobytes())).feeds["x"]
    assert found.dtype == np.float32 and np.array_equal(found, given)


def test_binary_nan_is_a_value() -> None:
    found = read(*binary([1], np.float32(np.nan).tobytes())).feeds["x"]
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"{", "no JSON"),
        (b"[]", "not an object"),
        (b"{}", "no list of inputs"),
        (b'{"inputs": []}', "no list of inputs"),
        (b'{"inputs": [3]}', "not an object"),
        (body().replace(b"1.5", b"NaN"), "NaN and infinity are no numbers of JSON"),
        (body().replace(b"1.5", b"-Infinity"), "NaN and infinity"),
        (body(data=[1, None]), "not all of FP32"),
        (body(data=["a", "b"]), "not all of FP32"),
        (body(data=[1]), r"has 1 values; \[2\] needs 2"),
        (body(data=[[1], [2, 3]]), "no array"),
        (body(data=[1e300, 1]), "go beyond FP32"),
        (body(datatype="FP31"), "'FP31', which is none"),
        (body(datatype=None), "no datatype"),
        (body(shape=[-1]), "which is none"),
        (body(shape="2"), "no shape"),
        (body(shape=[1] * 65, data=[1]), "too large for any array"),
        (body(shape=[0, 1 << 40, 1 << 40], data=[]), "too large for any array"),
        (b'{"id": {}, ' + body()[1:], "the id is {}; give a string"),
        (body(datatype="INT8", data=[1, 300]), "beyond INT8"),
        (body(datatype="INT8", data=[1, 1.5]), "not all of INT8"),
        (body(datatype="BOOL", data=[1, 0]), "not all of BOOL"),
        (body(datatype="BYTES", data=["a", 1]), "not all texts"),
        (body(data="@").replace(b'"@"', b"[" * 900 + b"1" + b"]" * 900), "no array"),
        (
            body(datatype="BYTES", data="@").replace(b'"@"', b"[" * 900 + b'"a"' + b"]" * 900),
            "nested too deeply",
        ),
        (b'{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1]}]}', "neither data nor"),
    ],
)
def test_json_that_is_wrong(given: bytes, words: str) -> None:
    with pytest.raises(FeedError, match=words):
        read(given, {})


def test_binary_that_is_wrong() -> None:
    text, headers = binary([2], bytes(4), 8)
    with pytest.raises(FeedError, match="cut short, 4 are left"):
        read(text, headers)
    with pytest.raises(FeedError, match=r"has 4 bytes; FP32 \[2\] needs 8"):
        read(*binary([2], bytes(4)))
    text, headers = binary([1], bytes(4))
    with pytest.raises(FeedError, match="3 bytes follow"):
        read(text + b"abc", headers)
    with pytest.raises(FeedError, match="neither 0 nor 1, for BOOL"):
        from_bytes("x", "BOOL", [2], b"\1\2")
    for length in ("-1", "x", "9999999", "9" * 5000):
        with pytest.raises(FeedError, match="inference-header-content-length"):
            read(text, {LENGTH: length})
    with pytest.raises(FeedError, match="extension that is not served"):
        read(*binary([1], bytes(4), outputs=[{"name": "y", "parameters": {"classification": 3}}]))
    with pytest.raises(FeedError, match="true or false"):
        read(*binary([1], bytes(4), parameters={"binary_data_output": 1}))
    with pytest.raises(FeedError, match="microseconds"):
        read(*binary([1], bytes(4), parameters={"timeout": -1}))
    with pytest.raises(FeedError, match="given twice"):
        read(b'{"inputs": [' + b",".join([json.dumps(json.loads(body())["inputs"][0]).encode()] * 2)
             + b"]}", {})  # fmt: skip


@pytest.mark.parametrize("name", ["FP16", "FP64", "INT8", "INT64", "UINT64", "BOOL", "BYTES"])
def test_types_there_and_back(name: str) -> None:
    texts: Any = np.array([b"ab", b"", "\u00e9".encode()], object)
    kinds = {"FP16": "e", "FP64": "d", "INT8": "b", "INT64": "q", "UINT64": "Q", "BOOL": "?"}
    array = texts if name == "BYTES" else np.array([0, 1, 7]).astype(kinds[name])
    assert np.array_equal(from_bytes("x", name, [3, 1], to_bytes(array)), array[:, None])
    assert np.array_equal(from_list("x", name, [3], to_list("x", array)), array)


def test_texts_that_are_cut_short() -> None:
    data = to_bytes(np.array([b"abc"], object))
    for end in (2, 5):
        with pytest.raises(FeedError, match="cut short"):
            from_bytes("x", "BYTES", [1], data[:end])
    with pytest.raises(FeedError, match="1 texts"):
        from_bytes("x", "BYTES", [2], data)


def test_an_answer_is_binary_where_it_was_asked() -> None:
    outputs = {"y": np.array([1.0], np.float32), "z": np.array([2, 3])}
    chosen = [{"name": "y", "parameters": {"binary_data": True}}, {"name": "z"}]
    request = read(*binary([1], bytes(4), outputs=chosen, id="7"))
    text, length = written(request, "m", 3, outputs)
    found = json.loads(text[:length])
    assert (found["id"], found["model_name"], found["model_version"]) == ("7", "m", "3")
    assert found["outputs"][0]["parameters"] == {"binary_data_size": 4}
    assert found["outputs"][1]["data"] == [2, 3]
    assert text[length:] == outputs["y"].tobytes()
    with pytest.raises(FeedError, match="'y' has NaN or infinite"):
        written(read(body(), {}), "m", 1, {"y": np.array([np.nan])})
    with pytest.raises(FeedError, match="no text"):
        to_list("y", np.array([b"\xff"], object))


def picture(size: tuple[int, int], colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def test_a_picture_becomes_an_input() -> None:
    how = Preparation((10.0, 20.0, 30.0), (2.0,), 0.5)
    for shape, axis in (((-1, 3, 8, 6), 1), ((-1, 8, 6, 3), 3)):
        port = Port("x", "FP32", shape)
        found = feeds_of(port, picture((50, 40), (30, 60, 90)), "image/png", how, "it")["x"]
        assert found.dtype == np.float32 and found.shape == (1, *shape[1:])
        assert np.moveaxis(found, axis, -1).reshape(-1, 3).tolist() == [[10, 20, 30]] * 48
    whole = Port("x", "UINT8", (-1, 1, 4, 4))
    found = feeds_of(whole, picture((4, 4), (7, 7, 7)), "image/png", Preparation(), "it")["x"]
    assert found.dtype == np.uint8 and (found == 7).all()


def test_a_picture_is_scaled_and_cut_in_one_step() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (50, 90, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(noise).save(out, "PNG")
    port = Port("x", "UINT8", (-1, 20, 24, 3))
    found = feeds_of(port, out.getvalue(), "image/png", Preparation(crop=0.8), "it")["x"][0]
    whole = Image.fromarray(noise).resize((45, 25), Image.Resampling.BICUBIC)
    expected = np.asarray(whole.crop((10, 2, 34, 22))).astype(int)
    assert np.abs(found.astype(int) - expected).max() <= 1


def test_a_thin_picture_takes_no_memory() -> None:
    """Grown as a whole to the input's width it would have 3,000 million pixels."""
    port = Port("x", "FP32", (-1, 3, 224, 224))
    thin = picture((1, 60_000), (255, 0, 0))
    found = feeds_of(port, thin, "image/png", Preparation(), "it")["x"][0]
    assert (found[0] == 1).all() and (found[1:] == 0).all()


def test_a_picture_with_too_many_pixels_is_not_decoded() -> None:
    out = io.BytesIO()
    Image.new("1", (8200, 8200)).save(out, "PNG")
    assert len(out.getvalue()) < 50_000
    port = Port("x", "FP32", (-1, 3, 8, 8))
    with pytest.raises(DataError, match="8200 by 8200 pixels; 67,108,864 in all are allowed"):
        feeds_of(port, out.getvalue(), "image/png", Preparation(), "it")


def test_what_is_no_picture() -> None:
    port = Port("x", "FP32", (-1, 3, 8, 8))
    whole = picture((9, 9), (1, 2, 3))
    for data in (b"", b"hello", whole[: len(whole) // 2]):
        with pytest.raises(DataError):
            feeds_of(port, data, "image/png", Preparation(), "it")
    with pytest.raises(FeedError, match="takes no pictures"):
        feeds_of(Port("x", "FP32", (-1, 9)), whole, "image/png", Preparation(), "it")
    with pytest.raises(FeedError, match="takes no pictures"):
        feeds_of(Port("x", "BYTES", (-1, 3, 8, 8)), whole, "image/png", Preparation(), "it")
    with pytest.raises(FeedError, match="one per channel"):
        feeds_of(port, whole, "image/png", Preparation((1.0, 2.0)), "it")
    with pytest.raises(FeedError, match="list of numbers"):
        feeds_of(port, b'{"x": 1}', "application/json", Preparation(), "it")
    with pytest.raises(FeedError, match="open lengths"):
        feeds_of(Port("x", "FP32", (-1, -1)), b"[1]", "application/json", Preparation(), "it")


def test_classes_are_ranked() -> None:
    scores = np.array([[0.0, 3.0, 1.0]], np.float32)
    found = ranked({"y": scores}, 2, ["a", "b"])
    assert [(each["label"], each["index"]) for each in found] == [("b", 1), ("2", 2)]
    assert found[0]["probability"] == pytest.approx(np.exp(3) / np.exp([0, 3, 1]).sum())
    given = ranked({"y": np.array([0.25, 0.75])}, 5, [])
    assert [each["probability"] for each in given] == [0.75, 0.25]
    with pytest.raises(FeedError, match="NaN"):
        ranked({"y": np.array([np.nan])}, 1, [])


def test_how_pictures_are_prepared(tmp_path: Path) -> None:
    card = preparation_of(running.MNIST, None, None, None)
    assert card == Preparation((0.0,), (255.0,), 1.0, tuple("0123456789"))
    labels = tmp_path / "labels.txt"
    labels.write_text("cat\ndog\n")
    own = preparation_of(running.MNIST, [1.0], [2.0], str(labels))
    assert own == Preparation((1.0,), (2.0,), 1.0, ("cat", "dog"))
    assert preparation_of(tmp_path / "x.onnx", None, None, None) == Preparation()
    with pytest.raises(OptionError, match="--std"):
        preparation_of(running.MNIST, None, [0.0], None)
    labels = tmp_path / "labels.json"
    for wrong in (b'{"a": 1}', b"[1]", b"[", b"\xff\xfe"):
        labels.write_bytes(wrong)
        with pytest.raises(OptionError, match="no list of labels"):
            preparation_of(running.MNIST, None, None, str(labels))
    (tmp_path / "card.json").write_text("[")
    with pytest.raises(OptionError, match="no card"):
        preparation_of(tmp_path / "x.onnx", None, None, None)
