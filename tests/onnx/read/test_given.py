"""External data given as bytes: which given name matches a location of the model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import model, node, value


def _weight(name: str, location: str, **entries: int) -> TensorProto:
    tensor = TensorProto(name=name, dims=[1], data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    for key, entry in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(entry))
    return tensor


def _model(locations: Sequence[str]) -> bytes:
    """A model that joins a weight from each location."""
    weights = [_weight(f"w{i}", location) for i, location in enumerate(locations)]
    nodes = [node("Concat", " ".join(tensor.name for tensor in weights), "y", axis=0)]
    return model(nodes, [], "y", weights).SerializeToString()


def _read(locations: Sequence[str], given: Mapping[str, float]) -> list[float]:
    """The first element of the file that each location matched."""
    files = {name: np.float32([first]).tobytes() for name, first in given.items()}
    loaded = tl.onnx.load(_model(locations), files)
    found: list[float] = loaded.session("numpy").run({})["y"].tolist()
    return found


TWINS = ("enc/w.bin", "dec/w.bin")


@pytest.mark.parametrize(
    ("locations", "given", "expected"),
    [
        (TWINS, {"enc/w.bin": 1, "dec/w.bin": 2}, [1, 2]),
        (TWINS, {"enc\\w.bin": 1, "./dec/w.bin": 2}, [1, 2]),
        (("enc\\w.bin", "./dec//w.bin"), {"enc/w.bin": 1, "dec/w.bin": 2}, [1, 2]),
        (TWINS, {"net/enc/w.bin": 1, "net/dec/w.bin": 2}, [1, 2]),
        (TWINS, {"enc/w.bin": 1, "dec/w.bin": 2, "w.bin": 3, "old/dec/w.bin": 4}, [1, 2]),
        (("w.bin", "dec/w.bin"), {"w.bin": 1, "dec/w.bin": 2}, [1, 2]),
        (("enc/w.bin", "enc/w.bin", "./enc/w.bin"), {"w.bin": 1}, [1, 1, 1]),
        (("enc/v.bin", "dec/w.bin"), {"w.bin": 2, "v.bin": 1}, [1, 2]),
        (("w.bin",), {"weights/w.bin": 1}, [1]),
        (("a/b/w.bin",), {"b/w.bin": 1, "c/w.bin": 2}, [1]),
        (("w.bin",), {"w.bin": 1, "W.bin": 2}, [1]),
    ],
)
def test_which_file_is_meant(
    locations: Sequence[str], given: Mapping[str, float], expected: list[float]
) -> None:
    for order in itertools.permutations(range(len(locations))):
        found = _read([locations[i] for i in order], given)
        assert found == [expected[i] for i in order]


@pytest.mark.parametrize(
    ("locations", "given", "message"),
    [
        (TWINS, ["w.bin"], r"'enc/w\.bin' and 'dec/w\.bin', and 'w\.bin' could be either: "),
        # Otherwise the file given first would be taken for this one.
        (TWINS, ["w.bin", "dec/w.bin"], r"'enc/w\.bin' and 'dec/w\.bin', and 'w\.bin' could"),
        (("w.bin", "enc/w.bin"), ["w.bin"], r"'w\.bin' and 'enc/w\.bin', and 'w\.bin' could"),
        (("w.bin", "enc/w.bin"), ["net/enc/w.bin"], r"and 'net/enc/w\.bin' could be either"),
        (("w.bin",), ["a/w.bin", "b/w.bin"], r"and 'a/w\.bin' and 'b/w\.bin' could each be it"),
        (("enc/w.bin",), ["w.bin", "net/enc/w.bin"], "could each be it"),
        (("w.bin",), ["w.bin", "./w.bin"], r"'w\.bin' and '\./w\.bin' could each be it"),
    ],
)
def test_names_that_do_not_say_which_file_is_which(
    locations: Sequence[str], given: Sequence[str], message: str
) -> None:
    for order in (locations, locations[::-1]):
        with pytest.raises(tl.OnnxAmbiguousDataError, match="paths from the model's folder") as at:
            _read(order, dict.fromkeys(given, 1.0))
        assert set(at.value.files) == set(locations)
        assert set(at.value.given) <= set(given)
    with pytest.raises(tl.OnnxAmbiguousDataError, match=message):
        _read(locations, dict.fromkeys(given, 1.0))


@pytest.mark.parametrize(
    ("locations", "given", "missing"),
    [
        (TWINS, ["dec/w.bin"], ("enc/w.bin",)),
        (("enc/w.bin",), ["dec/w.bin"], ("enc/w.bin",)),
        (("w.bin",), ["W.bin", "W.BIN"], ("w.bin",)),
        (("w.bin",), ["aw.bin", "w.bin/x"], ("w.bin",)),
    ],
)
def test_files_that_are_not_there(
    locations: Sequence[str], given: Sequence[str], missing: tuple[str, ...]
) -> None:
    with pytest.raises(tl.OnnxMissingDataError) as caught:
        _read(locations, dict.fromkeys(given, 1.0))
    assert caught.value.files == missing


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("../w.bin", "outside the model's folder"),
        ("enc\\..\\..\\w.bin", "outside the model's folder"),
        ("/enc/w.bin", "not a relative path"),
        ("\\enc\\w.bin", "not a relative path"),
        ("C:\\enc\\w.bin", "not a relative path"),
        ("c:w.bin", "not a relative path"),
        ("", "not a relative path"),
        (".", "not a relative path"),
    ],
)
def test_locations_that_the_standard_forbids(location: str, message: str) -> None:
    """Like files in a model's folder."""
    with pytest.raises(tl.OnnxFormatError, match=message):
        _read([location], {location: 1.0, "w.bin": 2.0})


def test_several_tensors_of_one_file() -> None:
    """Offsets count from the start of the file; two tensors may share bytes."""
    data = np.arange(4, dtype=np.float32).tobytes()
    ranges = [{"offset": 8, "length": 4}, {"offset": 4}, {"offset": 8}, {}]

    def load(*entries: dict[str, int]) -> tl.onnx.Model:
        weights = [_weight(f"w{i}", "w.bin", **each) for i, each in enumerate(entries)]
        names = " ".join(weight.name for weight in weights)
        made = model([node("Concat", names, "y", axis=0)], [], "y", weights)
        return tl.onnx.load(made.SerializeToString(), {"w.bin": data})

    assert load(*ranges).session("numpy").run({})["y"].tolist() == [2, 1, 2, 0]
    for wrong, message in (
        ({"offset": 16}, r"'w1', float32 \(1,\), needs 4 bytes at 16 of 'w\.bin', which has 16"),
        ({"offset": 13}, "needs 4 bytes at 13"),
        ({"offset": 10**18}, "needs 4 bytes at 1,0"),
        ({"offset": -4}, "offset '-4'"),
        ({"length": 8}, "needs 4 bytes, but claims 8"),
    ):
        with pytest.raises(tl.OnnxFormatError, match=message):
            load({}, wrong)


def test_names_that_do_not_say_which_file_is_which_in_a_body() -> None:
    def body(name: str, location: str) -> onnx.GraphProto:
        result = [value("r", [1])]
        return helper.make_graph([node("Identity", name, "r")], name, [], result,
                                 [_weight(name, location)])  # fmt: skip

    branches = {"then_branch": body("v", TWINS[0]), "else_branch": body("w", TWINS[1])}
    condition = value("c", [], TensorProto.BOOL)
    made = model([node("If", "c", "y", **branches)], [condition], "y").SerializeToString()
    with pytest.raises(tl.OnnxAmbiguousDataError):
        tl.onnx.load(made, {"w.bin": bytes(4)})
