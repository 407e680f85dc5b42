"""onnxruntime as the oracle of tests."""

from __future__ import annotations

from collections.abc import Iterable

import onnxruntime

_PRODUCTS = ("MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv")


def runtime(model: bytes | str, *, plain: bool = False) -> onnxruntime.InferenceSession:
    """A session with one thread and without a log. plain: without graph optimizations.

    Products of uint8 and int8 are exact if it packs the weights. Otherwise, on processors without
    VNNI, it adds them in pairs of 16 bits, which saturate, unless precision is requested.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model, options)


def saturates(operators: Iterable[str], dtypes: Iterable[str]) -> bool:
    """Whether onnxruntime may give a wrong answer, depending on the processor: for products of
    uint8 and int8 operands that it does not pack."""
    return {"uint8", "int8"} <= set(dtypes) and any(op in _PRODUCTS for op in operators)
