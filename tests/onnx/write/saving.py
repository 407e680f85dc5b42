"""What tests of saving share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import tallow as tl

RANDOM = np.random.default_rng(5)


def answers(path: Path, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """onnxruntime's outputs; the reference evaluator's if onnxruntime lacks a type or would crash:
    the processor traps when the smallest integer is divided by -1."""
    proto = onnx.load(path)
    names = [info.name for info in proto.graph.output]
    divides = not {"Div", "Mod"}.isdisjoint(node.op_type for node in proto.graph.node)
    if not (divides and any(map(has_least, feeds.values()))):
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            session = onnxruntime.InferenceSession(str(path), options)
            return dict(zip(names, session.run(names, feeds), strict=True))
        except Exception as error:
            assert "NOT_IMPLEMENTED" in str(error), error
    with np.errstate(all="ignore"):
        return dict(zip(names, ReferenceEvaluator(proto).run(names, feeds), strict=True))


def has_least(x: np.ndarray) -> bool:
    """Whether the smallest integer of its type is among the elements."""
    return x.dtype.kind == "i" and bool((x == np.iinfo(x.dtype).min).any())


def saved(path: Path, what: Any, **options: Any) -> onnx.ModelProto:
    """The written file, after a full check."""
    tl.onnx.save(what, path, **options)
    onnx.checker.check_model(str(path), full_check=True)
    return onnx.load(path, load_external_data=False)


def operators_of(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in proto.graph.node)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, dtype=np.float32)
