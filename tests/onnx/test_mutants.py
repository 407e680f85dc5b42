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

import tallow as tl

from . import mutants
from .case import model_of
from .cases import CASES
from .graphs import model, network, node, value, weight


def operators() -> onnx.ModelProto:
    """Operators whose attributes and lists of numbers could go out of hand."""
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


def report_on(paths: list[Path], count: int, protobuf: str) -> dict[str, Any]:
    """How `count` mutants of each file ended. protobuf: its compiled implementation, "upb", or
    "python", the one that browsers have."""
    command = [sys.executable, mutants.__file__, str(count), *map(str, paths)]
    environment = os.environ | {
        "PYTHONPATH": str(Path(tl.__file__).parents[1]),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": protobuf,
    }
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    assert sum(report["outcomes"].values()) + len(report["offences"]) == count * len(paths)
    assert {"ran", "OnnxFormatError", "OnnxUnsupportedError"} <= report["outcomes"].keys()
    return report


@pytest.mark.parametrize("protobuf", ["upb", "python"])
@pytest.mark.parametrize("make", [network, operators])
def test_mutants_of_networks(
    make: Callable[[], onnx.ModelProto], protobuf: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{make.__name__}.onnx"
    path.write_bytes(make().SerializeToString())
    assert report_on([path], 300, protobuf)["offences"] == []


def test_mutants_of_every_operator(tmp_path: Path) -> None:
    """Four of each case, all of them sound files that say something else."""
    paths = []
    for number, case in enumerate(CASES):
        paths.append(tmp_path / f"{number:03}-{case.op}.onnx")
        paths[-1].write_bytes(model_of(case, case.versions[-1]).SerializeToString())
    assert report_on(paths, 4, "upb")["offences"] == []
