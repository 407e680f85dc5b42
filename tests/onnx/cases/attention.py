"""Attention of every kind, rotary embeddings, caches."""

from typing import Any

import numpy as np

from ..case import Case, bools, floats, integers

Q, K, V = floats(2, 4, 5, 8), floats(2, 2, 6, 8), floats(2, 2, 6, 7)
SAME_K, SAME_V = floats(2, 4, 6, 8), floats(2, 4, 6, 7)
PAST = [floats(2, 2, 3, 8), floats(2, 2, 3, 7)]
LENGTHS = np.array([6, 3], np.int64)
_HEADS = {"q_num_heads": 4, "kv_num_heads": 2}
_FLAT = [floats(2, 5, 32), floats(2, 6, 16), floats(2, 6, 14)]


def _attention(*inputs: Any, first: int = 23, note: str = "", **attributes: Any) -> Case:
    return Case("Attention", inputs, attributes, (first, 28), note=note, oracle="reference")


def _shown(mode: int, *inputs: Any, **attributes: Any) -> Case:
    attributes = {"qk_matmul_output_mode": mode, **attributes}
    return Case("Attention", inputs, attributes, (23, 28), outputs=4, oracle="reference")


ATTENTION = [
    _attention(Q, SAME_K, SAME_V),
    _attention(Q, K, V),
    _attention(Q, K, V, scale=0.2),
    _attention(*_FLAT, **_HEADS),
    _attention(Q, K, V, bools(5, 6), note="bools"),
    _attention(Q, K, V, np.zeros((5, 6), bool), note="nothing-seen"),
    _attention(Q, K, V, floats(2, 1, 5, 6), note="added"),
    _attention(Q, K, V, is_causal=1),
    _attention(Q, K, V, bools(2, 1, 5, 6), is_causal=1, note="bools"),
    _attention(Q, K, V, softcap=2.0),
    _attention(Q, K, V, floats(5, 6), is_causal=1, softcap=2.0, note="added"),
    _attention(Q, K, V, None, *PAST, is_causal=1, note="past"),
    _attention(*_FLAT, floats(5, 9), *PAST, **_HEADS, note="past"),
    _attention(Q, K, V, softmax_precision=11),
    _attention(Q, K, V, None, None, None, LENGTHS, first=24, note="lengths"),
    _attention(Q, K, V, None, None, None, LENGTHS, first=24, is_causal=1, note="lengths"),
    _attention(Q, K, V, bools(5, 4), first=24, note="short"),
    _attention(Q, K, V, left_window_size=2, first=25),
    _attention(Q, K, V, left_window_size=1, right_window_size=1, first=25),
    _attention(Q, K, V, None, *PAST, left_window_size=2, is_causal=1, first=25, note="past"),
    _attention(*[x.astype(np.float64) for x in (Q, K, V)]),
    Case(
        "Attention",
        [Q.astype(np.float16), K.astype(np.float16), V],
        opsets=(23, 28),
        note="values-wider",
        oracle="reference",
        rtol=4e-3,
        atol=4e-3,
    ),
    Case(
        "Attention",
        [Q, K, V.astype(np.float16)],
        opsets=(23, 28),
        note="values-narrower",
        oracle="reference",
        rtol=4e-3,
        atol=4e-3,
    ),
    *[_shown(mode, Q, K, V, floats(5, 9), *PAST) for mode in range(4)],
    *[_shown(mode, Q, K, V, floats(5, 9), *PAST, softcap=2.0) for mode in (1, 2, 3)],
]

_X, _COS, _SIN = floats(2, 3, 4, 8), floats(10, 4), floats(10, 4) / 2
_POSITIONS = integers(2, 4, low=0, high=10)


def _rotary(*inputs: Any, **attributes: Any) -> Case:
    return Case("RotaryEmbedding", inputs, attributes, oracle="reference")


ROTARY = [
    _rotary(_X, _COS, _SIN, _POSITIONS),
    _rotary(_X, _COS, _SIN, _POSITIONS, interleaved=1),
    _rotary(_X, floats(2, 4, 4), floats(2, 4, 4) / 2),
    _rotary(_X, floats(10, 2), floats(10, 2) / 2, _POSITIONS, rotary_embedding_dim=4),
    _rotary(floats(2, 4, 24), _COS, _SIN, _POSITIONS, num_heads=3),
]

_B, _T = 2, 5
_QUERY, _KEY, _VALUE = floats(_B, _T, 24), floats(_B, _T, 12), floats(_B, _T, 10)
_STATE, _RULED = floats(_B, 2, 6, 5), {"q_num_heads": 4, "kv_num_heads": 2}
_DECAY, _BETA = floats(_B, _T, 12, low=-1, high=0), floats(_B, _T, 2, low=0, high=0.3)


def _linear(rule: str, *others: Any, note: str = "", **attributes: Any) -> Case:
    attributes = {"update_rule": rule, **_RULED, **attributes}
    return Case(
        "LinearAttention", [_QUERY, _KEY, _VALUE, *others], attributes, outputs=2, note=note,
        oracle="reference", rtol=1e-3, atol=1e-3,
    )  # fmt: skip


LINEAR = [
    _linear("linear"),
    _linear("linear", _STATE, note="past", scale=0.5),
    _linear("gated", None, _DECAY),
    _linear("gated", _STATE, floats(_B, _T, 2, low=-1, high=0), note="heads"),
    _linear("delta", _STATE, None, _BETA),
    _linear("gated_delta", _STATE, _DECAY, _BETA),
    _linear("gated_delta", None, _DECAY, floats(_B, _T, 1, low=0, high=0.3), note="one"),
]

_CACHE = floats(3, 2, 6, 4)
_STARTS = np.array([0, 2, 4], np.int64)
CACHE = [
    Case("TensorScatter", inputs, attributes, oracle="reference")
    for inputs, attributes in [
        ([_CACHE, floats(3, 2, 2, 4), _STARTS], {}),
        ([_CACHE, floats(3, 2, 2, 4)], {}),
        ([_CACHE, floats(3, 2, 3, 4), _STARTS], {"mode": "circular"}),
        ([_CACHE, floats(3, 2, 1, 4), _STARTS + 1], {"mode": "circular"}),
        ([_CACHE, floats(3, 2, 5, 4), _STARTS + 1], {"mode": "circular"}),
        ([_CACHE, floats(3, 2, 6, 4), _STARTS], {"mode": "circular"}),
        ([integers(2, 5), integers(2, 3), np.array([4, 2], np.int64)],
         {"axis": 1, "mode": "circular"}),
        ([_CACHE, floats(3, 2, 6, 1), np.array([0, 1, 3], np.int64)], {"axis": 3}),
        ([integers(2, 5), integers(2, 2), np.array([3, 1], np.int64)], {"axis": 1}),
    ]
]  # fmt: skip

_PREVIEW = "ai.onnx.preview"
FLEX = [
    Case("FlexAttention", inputs, attributes, oracle="reference", domain=_PREVIEW)
    for inputs, attributes in [
        ([Q, SAME_K, SAME_V], {}),
        ([Q, K, V], {"scale": 0.2}),
        ([x.astype(np.float64) for x in (Q, K, V)], {}),
    ]
]

GATED = [Case("SwiGLU", [floats(3, 4), floats(3, 4) * 2], a) for a in ({}, {"alpha": 1.5})]

CASES = [*ATTENTION, *ROTARY, *LINEAR, *CACHE, *FLEX, *GATED]
