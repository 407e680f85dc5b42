"""Habits of exporters, each in a small graph: the same as onnxruntime, on both devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import tallow as tl

from ..graphs import model, node, value, weight
from ..oracle import runtime

BOOL, INT = TensorProto.BOOL, TensorProto.INT64
LOWEST = np.finfo(np.float32).min


def numbers(*shape: int, seed: int = 11) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def integers(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def int8(*shape: int) -> np.ndarray:
    return np.random.default_rng(12).integers(-100, 100, shape).astype(np.int8)


def weights(**arrays: Any) -> list[TensorProto]:
    return [weight(name, np.asarray(array)) for name, array in arrays.items()]


@dataclass(frozen=True)
class Habit:
    """A model and its inputs, one set after the other."""

    proto: onnx.ModelProto
    feeds: tuple[dict[str, np.ndarray], ...]


def scalar_of_convolution() -> Habit:
    """A head that returns one number, without axes."""
    nodes = [
        node("Conv", "x w", "c"),
        node("Reshape", "c s", "r"),
        node("Sigmoid", "r", "y"),
    ]
    proto = model(nodes, [value("x", [1, 3, 5, 5])], "y",
                  weights(w=numbers(1, 3, 5, 5), s=integers()))  # fmt: skip
    return Habit(proto, ({"x": numbers(1, 3, 5, 5, seed=1)},))


def scalar_of_pooling() -> Habit:
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[5, 5]),
        node("Squeeze", "p", "q"),
        node("Neg", "q", "y"),
    ]
    proto = model(nodes, [value("x", [1, 1, 5, 5])])
    return Habit(proto, ({"x": numbers(1, 1, 5, 5)},))


def indices_beyond_one_row() -> Habit:
    """Indices that are valid for its input, but not in a batch of one."""
    nodes = [
        node("Shape", "x", "s"),
        node("ConstantOfShape", "s", "zeros"),
        node("ScatterND", "zeros indices updates", "m"),
        node("Add", "x m", "y"),
    ]
    held = weights(indices=integers([0, 1], [1, 3]), updates=numbers(2))
    return Habit(
        model(nodes, [value("x", ["n", 4])], "y", held),
        ({"x": numbers(2, 4)}, {"x": numbers(3, 4)}),
    )


def causal_mask() -> Habit:
    """As in text models: from the ids' shape and from the padding."""
    nodes = [
        node("Shape", "ids", "s"),
        node("Gather", "s zero", "b"),
        node("Gather", "s one", "t"),
        node("Range", "zero t one", "r"),
        node("Unsqueeze", "r axis1", "rows"),
        node("Unsqueeze", "r axis0", "columns"),
        node("LessOrEqual", "columns rows", "causal"),
        node("Cast", "mask", "there", to=BOOL),
        node("Unsqueeze", "there axes12", "there4"),
        node("Unsqueeze", "b axis0", "bu"),
        node("Unsqueeze", "t axis0", "tu"),
        node("Concat", "bu axis1 tu tu", "wide", axis=0),
        node("Expand", "there4 wide", "spread"),
        node("And", "spread causal", "both"),
        node("Where", "both none lowest", "added"),
        node("Softmax", "added", "y", axis=-1),
    ]
    held = weights(zero=np.int64(0), one=np.int64(1), axis0=integers(0), axis1=integers(1),
                   axes12=integers(1, 2), none=np.float32(0), lowest=LOWEST)  # fmt: skip
    inputs = [value(name, ["b", "t"], INT) for name in ("ids", "mask")]
    ids, mask = integers([1, 2, 3], [4, 5, 0]), integers([1, 1, 1], [1, 1, 0])
    return Habit(
        model(nodes, inputs, "y", held),
        ({"ids": ids, "mask": mask}, {"ids": ids[:1, :2], "mask": mask[:1, :2]}),
    )


def quantised_chain() -> Habit:
    """Scales for which many sums are halfway between two steps: they must round like others."""
    nodes = [
        node("QLinearConv", "x s0 z0 w sw zw s1 z1 b", "c"),
        node("QLinearMatMul", "c s1 z1 m s1 z1 s2 z2", "q"),
        node("DequantizeLinear", "q s2 z2", "y"),
    ]
    random = np.random.default_rng(13)
    small, step = np.uint8, np.float32
    held = weights(s0=step(0.03), z0=small(120), w=int8(4, 3, 3, 3), sw=step(0.01), zw=np.int8(0),
                   s1=step(0.06), z1=small(125), b=random.integers(-50, 50, 4).astype(np.int32),
                   m=random.integers(0, 255, (6, 5)).astype(small), s2=step(0.2),
                   z2=small(128))  # fmt: skip
    proto = model(nodes, [value("x", ["n", 3, 8, 8], TensorProto.UINT8)], "y", held)
    return Habit(proto, ({"x": random.integers(0, 255, (40, 3, 8, 8)).astype(small)},))


def flat_sound() -> Habit:
    """STFT of sound without the axis of length 1."""
    nodes = [
        node("STFT", "x step window length", "f", onesided=1),
        node("ReduceSumSquare", "f", "y", axes=[-1], keepdims=0),
    ]
    held = weights(step=np.int64(4), window=abs(numbers(16)), length=np.int64(16))
    proto = model(nodes, [value("x", ["n", "length"])], "y", held)
    return Habit(proto, ({"x": numbers(2, 64)}, {"x": numbers(1, 40)}))


def odd_names() -> Habit:
    nodes = [
        onnx.helper.make_node("Relu", ["/in put/é"], ["层/a.b::c d"], name="/x y/"),
        onnx.helper.make_node("Neg", ["层/a.b::c d"], ["out;\"'{}"]),
    ]
    proto = model(nodes, [value("/in put/é", ["batch size", 3])], [value("out;\"'{}", None)])
    return Habit(proto, ({"/in put/é": numbers(2, 3)},))


def passed_through() -> Habit:
    """Outputs that are an input and a weight; an unused input and an unused weight."""
    inputs = [value("x", ["n", 3]), value("unused", ["k"])]
    outputs = [value("y", None), value("x", ["n", 3]), value("c", [2])]
    held = weights(c=numbers(2), never=numbers(9))
    proto = model([node("Relu", "x", "y")], inputs, outputs, held)
    return Habit(proto, ({"x": numbers(2, 3), "unused": numbers(4)},))


HABITS: list[Callable[[], Habit]] = [
    scalar_of_convolution, scalar_of_pooling, indices_beyond_one_row, causal_mask,
    quantised_chain, flat_sound, odd_names, passed_through,
]  # fmt: skip


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("make", HABITS, ids=lambda make: make.__name__)
def test_agrees_with_onnxruntime(make: Callable[[], Habit], device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    habit = make()
    data = habit.proto.SerializeToString()
    other = runtime(data)
    loaded = tl.onnx.load(data)
    assert not loaded.summary().unsupported
    with loaded.session(device) as session:
        for feeds in habit.feeds:
            wanted = other.run(None, feeds)
            for mine, theirs in zip(session.run(feeds).values(), wanted, strict=True):
                assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
                np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
        assert session.device == device
