"""Inconsistent nodes: an error in one line, before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import OnnxFormatError, OnnxUnsupportedError

from ..case import Case, Known, floats, known, scalar

X, W, R = floats(3, 2, 4), floats(1, 20, 4), floats(1, 20, 5)
Q = floats(2, 4, 5, 8)

BAD: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("LSTM", [X, W, R], {"hidden_size": 6}, "hidden_size is 6"),
    ("LSTM", [X, W, R], {"hidden_size": 5, "activations": ["Tanh"]}, "1 activations"),
    ("LSTM", [X, floats(1, 19, 4), R], {"hidden_size": 5}, "W is .1, 19, 4.; expected"),
    ("LSTM", [X, W, R], {"hidden_size": 5, "direction": "bidirectional"}, "W is .1, 20, 4.; exp"),
    ("Attention", [floats(2, 5, 9)] * 3, {"q_num_heads": 2, "kv_num_heads": 2}, "2 heads"),
    ("Attention", [Q, Q, Q, floats(7, 4, 5, 5)], {}, "do not broadcast"),
    ("Attention", [Q, Q, Q, None, Q], {}, "go together"),
    ("Attention", [Q, floats(2, 3, 5, 8), floats(2, 3, 5, 8)], {}, "not a multiple of 3"),
    ("Attention", [Q, Q, Q], {"qk_matmul_output_mode": 4}, "0 to 3, not 4"),
    ("RotaryEmbedding", [Q, floats(2, 5, 3), floats(2, 5, 3)], {}, "caches are"),
    ("TensorScatter", [Q, floats(2, 4, 6, 8)], {}, "an update"),
    ("Einsum", [floats(2, 3)], {"equation": "ij,jk->ik"}, "2 operands, not 1"),
    ("Det", [floats(2, 3)], {}, "not square"),
    ("CumSum", [floats(2, 3), scalar(2, np.int64)], {}, "axis 2 is out of range"),
    ("CumSum", [floats(2, 3), known(0, 1)], {}, "a whole number"),
    ("DFT", [floats(2, 3)], {}, "must end in 1 or 2"),
    ("DFT", [floats(2, 3, 1), None, scalar(2, np.int64)], {}, "not one of the first 2"),
    ("DFT", [floats(2, 3, 1), scalar(0, np.int64)], {}, "length of the transform is 0"),
    ("DFT", [floats(2, 3, 1), scalar(10**12, np.int64)], {}, "length of the transform is 1000"),
    ("DFT", [floats(2, 3, 2)], {"onesided": 1}, "needs a real input"),
    ("STFT", [floats(1, 9, 1), scalar(0, np.int64), floats(4)], {}, "every 0"),
    ("HannWindow", [scalar(10**12, np.int64)], {}, "a window of 1000"),
    ("MelWeightMatrix", [scalar(n, np.int64) for n in (10**6, 10**6, 8000)]
     + [scalar(0.0), scalar(4000.0)], {}, "1000000 mel bins"),
    ("MelWeightMatrix", [scalar(n, np.int64) for n in (8, 16, 8000)]
     + [scalar(0.0), scalar(np.nan)], {}, "finite"),
    ("NegativeLogLikelihoodLoss", [floats(3, 5), known(1, 2)], {}, "targets"),
    ("NegativeLogLikelihoodLoss", [floats(3, 5), known(1, 2, 7)], {}, "target 7 is not one of 5"),
    ("SoftmaxCrossEntropyLoss", [floats(3, 5), known(1, 2, 3)], {"reduction": "max"}, "'max'"),
    ("GroupNormalization", [floats(2, 6, 3), floats(6), floats(6)], {"num_groups": 4}, "4 groups"),
    ("SwiGLU", [floats(2, 3), floats(3)], {}, "the same shape"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attributes", "words"), BAD)
def test_bad_node(op: str, inputs: list[Any], attributes: dict[str, Any], words: str) -> None:
    case = Case(op, inputs, attributes)
    data = _model(case).SerializeToString()
    with pytest.raises((OnnxFormatError, OnnxUnsupportedError), match=words) as caught:
        tl.onnx.load(data).graph()
    assert op in str(caught.value)
    assert len(str(caught.value)) < 500


def _model(case: Case) -> Any:
    """Like `model_of`, without shape inference, which would reject some of these itself."""
    from onnx import TensorProto, helper, numpy_helper

    names = ["" if x is None else f"x{i}" for i, x in enumerate(case.inputs)]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in case.feeds.items()
    ]
    weights = [
        numpy_helper.from_array(x.value, f"x{i}")
        for i, x in enumerate(case.inputs)
        if isinstance(x, Known)
    ]
    ends = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    made = helper.make_node(case.op, names, ["y"], name="node", **case.attributes)
    graph = helper.make_graph([made], case.op, infos, ends, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=10)
