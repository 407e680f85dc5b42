"""A service in a process of its own, from the bench, and small models for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from bench.service.process import Service as Service
from onnx import TensorProto as T
from onnx import helper

ROOT = Path(__file__).resolve().parents[3]
MNIST = ROOT / "models" / "mnist" / "mnist.onnx"


def _saved(path: Path, nodes: Any, inputs: Any, outputs: Any, constants: Any = ()) -> Path:
    def infos(records: Any) -> list[Any]:
        return [helper.make_tensor_value_info(*each) for each in records]

    graph = helper.make_graph(
        nodes, path.stem, infos(inputs), infos(outputs), [helper.make_tensor(*x) for x in constants]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    opsets = [helper.make_opsetid("", 21)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path


def scaled(path: Path, factor: float) -> Path:
    """A model of one input: y = factor · x, rows of two."""
    return _saved(
        path, [helper.make_node("Mul", ["x", "f"], ["y"])], [("x", T.FLOAT, ["N", 2])],
        [("y", T.FLOAT, ["N", 2])], [("f", T.FLOAT, [], [factor])],
    )  # fmt: skip


def kinds(path: Path) -> Path:
    """A model of several inputs and outputs, of several types; without a batch."""
    types = {"h": T.FLOAT16, "i": T.INT8, "b": T.BOOL, "s": T.STRING}
    node = helper.make_node
    nodes = [node("Add", ["h", "h"], ["h2"]), node("Neg", ["i"], ["i2"]),
             node("Not", ["b"], ["b2"]), node("Identity", ["s"], ["s2"])]  # fmt: skip
    return _saved(path, nodes, [(name, kind, [3]) for name, kind in types.items()],
                  [(f"{name}2", kind, [3]) for name, kind in types.items()])  # fmt: skip


def picked(path: Path) -> Path:
    """A model of rows that picks one of five numbers; an index beyond them is an error."""
    return _saved(
        path, [helper.make_node("Gather", ["table", "i"], ["y"])], [("i", T.INT64, ["N"])],
        [("y", T.FLOAT, ["N"])], [("table", T.FLOAT, [5], [0.0, 1.0, 2.0, 3.0, 4.0])],
    )  # fmt: skip


def counted(path: Path) -> Path:
    """A model that counts to `turns`, one after the other: it takes as long as one wants."""
    body = helper.make_graph(
        [helper.make_node("Add", ["x", "one"], ["y"]), helper.make_node("Identity", ["c"], ["d"])],
        "turn",
        [helper.make_tensor_value_info("i", T.INT64, []),
         helper.make_tensor_value_info("c", T.BOOL, []),
         helper.make_tensor_value_info("x", T.FLOAT, [])],
        [helper.make_tensor_value_info("d", T.BOOL, []),
         helper.make_tensor_value_info("y", T.FLOAT, [])],
        [helper.make_tensor("one", T.FLOAT, [], [1.0])],
    )  # fmt: skip
    loop = helper.make_node("Loop", ["turns", "", "zero"], ["count"], body=body)
    return _saved(path, [loop], [("turns", T.INT64, [])], [("count", T.FLOAT, [])],
                  [("zero", T.FLOAT, [], [0.0])])  # fmt: skip
