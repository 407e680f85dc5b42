"""Host operators for cases that composition rejects: the same cases, directly on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow.errors import OnnxUnsupportedError
from tallow.formats.onnx.call import Call
from tallow.formats.onnx.records import NodeRecord
from tallow.formats.onnx.registry import host_operators, operators
from tallow.tensor import Tensor

from ..case import Case, Known, assert_agrees, expected, model_of
from ..cases import recurrent, signal, sums
from ..cases.attention import LINEAR

CASES = [
    case
    for case in [*recurrent.CASES, *signal.CASES, *sums.CASES, *LINEAR]
    if ("", case.op) in host_operators()
]


def call_of(case: Case, opset: int) -> Call:
    """The Call for the operator's function."""
    attributes = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in case.attributes.items()
    }
    names = tuple("" if x is None else f"x{i}" for i, x in enumerate(case.inputs))
    outputs = tuple(f"y{i}" for i in range(case.outputs))
    return Call(NodeRecord("node", case.op, "", opset, names, outputs, attributes), opset)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_host_agrees(case: Case) -> None:
    opset = case.versions[-1]
    wanted = expected(case, model_of(case, opset))
    call = call_of(case, opset)
    values = [x.value if isinstance(x, Known) else x for x in case.inputs]
    made = host_operators()["", case.op].function(call, np, *values)
    results = made if isinstance(made, tuple) else (made,)
    assert_agrees(case, results[: case.outputs], wanted)
    assert not call.unknown_attributes()


def _refused(op: str, *inputs: Tensor, **attributes: object) -> str:
    case = Case(op, [], attributes)
    with pytest.raises(OnnxUnsupportedError) as caught:
        operators()["", op].function(call_of(case, 28), *inputs)
    return str(caught.value)


def test_long_sequences_are_left_to_the_host() -> None:
    values = [tl.zeros((1, 600, 4))] * 3
    attributes = {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "delta"}
    beta = tl.zeros((1, 600, 1))
    assert "600 steps" in _refused("LinearAttention", *values, None, None, beta, **attributes)


def test_large_states_are_left_to_the_host() -> None:
    weights = tl.zeros((1, 9000, 2)), tl.zeros((1, 9000, 3000))
    assert "a state of 3000" in _refused("GRU", tl.zeros((6, 1, 2)), *weights)


def test_large_matrices_and_long_transforms_are_left_to_the_host() -> None:
    assert "25 rows" not in _refused("Det", tl.zeros((30, 30)))
    assert "a large prime" in _refused("DFT", tl.zeros((1, 4099, 1)))
    assert "longer than" in _refused("DFT", tl.zeros((1, 1 << 21, 1)))
