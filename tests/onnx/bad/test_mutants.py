"""Damaged files, by the hundred: each ends in an answer or a TallowError, in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..case import model_of
from ..cases import CASES
from ..graphs import model, network, node, value, weight
from . import mutants


def operators() -> onnx.ModelProto:
    """Operators whose attributes and number lists could cause excessive work."""
    nodes = [
        node("AveragePool", "x", "a", kernel_shape=[2, 2], pads=[1, 0, 1, 1], ceil_mode=1),
        node("LRN", "a", "l", size=3),
        node("Pad", "l pads", "p", mode="reflect"),
        node("Split", "p sizes", "s1 s2", axis=3),
        node("Slice", "s1 starts ends axes steps", "c"),
        node("Tile", "c repeats", "t"),
        node("Expand", "t shape", "e"),
        node("Transpose", "e", "f", perm=[0, 2, 3, 1]),
        node("Flatten", "f", "g", axis=2),
        node("ArgMax", "g", "h", axis=1),
        node("OneHot", "h depth onoff", "o", axis=-1),
        node("Gather", "o index", "i", axis=1),
        node("ConstantOfShape", "shape", "zeros"),
        node("ReduceSum", "i", "y", keepdims=0),
    ]
    lists = {
        "pads": [0, 0, 1, 1, 0, 0, 1, 0], "sizes": [3, 2], "starts": [0, -1], "ends": [3, -100],
        "axes": [2, 3], "steps": [1, -2], "repeats": [1, 2, 1, 1], "shape": [2, 4, 3, 2],
        "depth": 5, "index": [0, -1],
    }  # fmt: skip
    weights = [weight(name, np.int64(numbers)) for name, numbers in lists.items()]
    weights.append(weight("onoff", np.float32([0, 1])))
    return model(nodes, [value("x", [1, 2, 4, 4])], "y zeros", weights)


def control() -> onnx.ModelProto:
    """Branches in loops in functions, sequences, an optional, strings."""
    floats, texts = TensorProto.FLOAT, TensorProto.STRING

    def graph(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> onnx.GraphProto:
        return helper.make_graph(nodes, "inner", inputs, outputs)

    then = graph([node("Add", "v one", "a")], [], [value("a", None)])
    other = graph([node("Mul", "v two", "b")], [], [value("b", None)])
    turn = graph(
        [
            node("Identity", "c", "on"),
            node("If", "flag", "w", then_branch=then, else_branch=other),
            node("SequenceInsert", "q w", "r"),
        ],
        [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [2]),
         helper.make_tensor_sequence_value_info("q", floats, None)],
        [value("on", [], TensorProto.BOOL), value("w", [2]),
         helper.make_tensor_sequence_value_info("r", floats, None), value("v", [2])],
    )  # fmt: skip
    step = graph([node("Add", "s r", "t")], [value("s", [2]), value("r", [2])], [value("t", [2])])
    each = graph([node("half", "m", "h", domain="own")], [value("m", [2])], [value("h", [2])])
    nodes = [
        node("SequenceEmpty", "", "none"),
        node("Loop", "n _ x none", "last all rows", body=turn),
        node("Scan", "x rows", "sum", body=step, num_scan_inputs=1),
        node("SequenceMap", "all", "halves", body=each),
        node("ConcatFromSequence", "halves", "stack", axis=0, new_axis=1),
        node("Optional", "sum", "maybe"),
        node("OptionalGetElement", "maybe", "got"),
        node("SplitToSequence", "got", "parts", axis=0),
        node("SequenceAt", "parts one64", "part"),
        node("Add", "stack part", "y"),
        node("StringConcat", "s s", "twice"),
        node("StringSplit", "twice", "words counts"),
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    inner = [node("Div", "p q", "h"), node("Constant", "", "q", value_float=2.0)]
    half = helper.make_function("own", "half", ["p"], ["h"], inner[::-1], opsets)
    weights = [weight("n", np.int64(3)), weight("one", np.float32(1)), weight("two", np.float32(2)),
               weight("one64", np.int64(1))]  # fmt: skip
    inputs = [value("x", [2]), value("flag", [], TensorProto.BOOL), value("s", [2], texts)]
    return model(nodes, inputs, "y words", weights, opset_imports=opsets, functions=[half])


def report_on(
    paths: list[Path], count: int, protobuf: str, device: str = "numpy"
) -> dict[str, Any]:
    """How `count` mutants of each file ended. protobuf: its compiled implementation, "upb", or
    "python", the one that browsers have."""
    command = [sys.executable, "-m", mutants.__name__, device, str(count), *map(str, paths)]
    root = Path(__file__).parents[3]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(Path(tl.__file__).parents[1]), str(root))),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": protobuf,
    }
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    assert sum(report["outcomes"].values()) + len(report["offences"]) == count * len(paths)
    assert {"ran", "OnnxFormatError", "OnnxUnsupportedError"} <= report["outcomes"].keys()
    return report


@pytest.mark.parametrize("protobuf", ["upb", "python"])
@pytest.mark.parametrize("make", [network, operators, control])
def test_mutants_of_networks(
    make: Callable[[], onnx.ModelProto], protobuf: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{make.__name__}.onnx"
    path.write_bytes(make().SerializeToString())
    assert report_on([path], 150, protobuf)["offences"] == []


def test_mutants_on_webgpu(native: str, tmp_path: Path) -> None:
    """A wrong plan must not crash the process."""
    path = tmp_path / "control.onnx"
    path.write_bytes(control().SerializeToString())
    assert report_on([path], 100, "upb", "webgpu")["offences"] == []


def test_mutants_of_every_operator(tmp_path: Path) -> None:
    """One of each case, a valid file with other contents."""
    paths = []
    for number, case in enumerate(CASES):
        paths.append(tmp_path / f"{number:03}-{case.op}.onnx")
        paths[-1].write_bytes(model_of(case, case.versions[-1]).SerializeToString())
    assert report_on(paths, 1, "upb")["offences"] == []
