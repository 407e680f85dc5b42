"""Loops and scans without turns, whose rows have no type in the file."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import tallow as tl

from ..graphs import model, node, value
from .running import BOOL, INT, X, both, graph, session_of


@pytest.mark.parametrize("x", [X, X.astype(np.int32), np.array(["a", "b"], object)])
def test_a_loop_without_turns_whose_rows_have_no_type_in_the_file(x: np.ndarray) -> None:
    """The body determines the type: onnxruntime infers it, Tallow runs the body."""
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    body = graph(
        [
            node("Identity", "c", "on"),
            node("Identity", "v", "w"),
            node("Concat", "v v", "r", axis=0),
        ],
        [value("i", [], INT), value("c", [], BOOL), value("v", x.shape, kind)],
        [onnx.ValueInfoProto(name=name) for name in ("on", "w", "r")],
    )
    outputs = [onnx.ValueInfoProto(name=name) for name in ("last", "rows")]
    inputs = [value("n", [], INT), value("x", x.shape, kind)]
    proto = model([node("Loop", "n _ x", "last rows", body=body)], inputs, outputs)
    session = both(proto, *({"n": np.array(n), "x": x} for n in (2, 0)))
    rows = session.run({"n": np.array(0), "x": x})["rows"]
    assert (rows.shape, rows.dtype) == ((0, 2 * len(x), *x.shape[1:]), x.dtype)


def test_a_loop_without_turns_whose_body_fails() -> None:
    """Then nothing determines the type of its rows."""
    body = graph(
        [node("Identity", "c", "on"), node("Gather", "x i", "r"), node("Add", "r v", "w")],
        [value("i", [], INT), value("c", [], BOOL), value("v", [3])],
        [onnx.ValueInfoProto(name=name) for name in ("on", "v", "w")],
    )
    proto = model(
        [node("Loop", "n _ v", "last rows", body=body)],
        [value("n", [], INT), value("x", [None, 3]), value("v", [3])],
        [value("rows", None)],
    )
    session = session_of(proto)
    feeds = {"n": np.array(0), "v": X[0]}
    with pytest.raises(tl.OnnxFormatError, match=r"no turn, the file does not give the type .*'w'"):
        session.run({**feeds, "x": X[:0]})
    assert session.run({**feeds, "x": X})["rows"].shape == (0, 3)


def test_a_scan_of_nothing_whose_rows_have_no_type_in_the_file() -> None:
    body = graph(
        [node("Add", "s v", "t"), node("Cast", "t", "p", to=INT)],
        [value("s", [4]), value("v", [4])],
        [onnx.ValueInfoProto(name=name) for name in ("t", "p")],
    )
    scan = node("Scan", "start x", "last y", body=body, num_scan_inputs=1, scan_output_axes=[1])
    inputs = [value("start", [4]), value("x", [None, 4])]
    proto = model([scan], inputs, [value("last", [4]), value("y", [4, None], INT)])
    feeds = {"start": np.float32([1, 2, 3, 4]), "x": np.zeros((0, 4), np.float32)}
    session = session_of(proto)
    rows = session.run(feeds)["y"]
    assert (rows.shape, rows.dtype) == ((4, 0), np.int64)
