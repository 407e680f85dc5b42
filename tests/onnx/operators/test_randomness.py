"""Random operators: the generator's known answers, the same numbers everywhere, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.functions.philox import normal, random_bits, uniform

from ..graphs import model, node, value, weight

# Counter 0 with two keys, from the authors' known answers and from the definition below.
KNOWN = {(0, 0): [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]}


def philox(counter: int, key: tuple[int, int]) -> list[int]:
    """The paper's definition, with Python integers."""
    c, (k0, k1) = [counter, 0, 0, 0], key
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


def test_known_answer() -> None:
    assert philox(0, (0, 0)) == KNOWN[0, 0]


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("key", [(0, 0), (0xFFFFFFFF, 12345)])
def test_words_of_the_generator(key: tuple[int, int], device: str) -> None:
    wanted = [word for counter in range(60) for word in philox(counter, key)][:239]
    with tl.onnx.load(_empty()).session(device) as session:
        assert session.device == device
    previous = tl.default_device()
    tl.set_default_device(device)
    try:
        assert random_bits((239,), key).tolist() == wanted
    finally:
        tl.set_default_device(previous)


def _empty() -> bytes:
    return model([node("Identity", "x", "y")], [value("x", [1])]).SerializeToString()


def test_distributions() -> None:
    flat = uniform((100_000,), (1, 2)).numpy()
    assert flat.min() > 0 and flat.max() < 1
    assert abs(flat.mean() - 0.5) < 0.005
    assert abs(flat.var() - 1 / 12) < 0.002
    bell = normal((100_000,), (3, 4)).numpy()
    assert abs(bell.mean()) < 0.02
    assert abs(bell.var() - 1) < 0.02
    assert abs((abs(bell) < 1).mean() - 0.6827) < 0.01


def _run(op: str, inputs: dict[str, Any], device: str = "numpy", **fields: Any) -> list[np.ndarray]:
    outputs = fields.pop("outputs", "y")
    opset = fields.pop("opset", 22)
    types = {k: helper.np_dtype_to_tensor_dtype(v.dtype) for k, v in inputs.items()}
    proto = model(
        [node(op, " ".join(inputs), outputs, **fields)],
        [value(name, x.shape, types[name]) for name, x in inputs.items()],
        outputs,
        opset=opset,
    )
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        return list(session.run(inputs).values())


LIKE = {"x": np.zeros((300, 40), np.float32)}


@pytest.mark.parametrize("opset", [7, 22])
@pytest.mark.parametrize("like", [True, False])
def test_normal_and_uniform(like: bool, opset: int) -> None:
    suffix, inputs = ("Like", LIKE) if like else ("", {})
    shape = {} if like else {"shape": [300, 40]}
    (drawn,) = _run(
        f"RandomNormal{suffix}", inputs, mean=5.0, scale=2.0, seed=1.0, opset=opset, **shape
    )
    assert drawn.dtype == np.float32 and drawn.shape == (300, 40)
    assert abs(drawn.mean() - 5) < 0.1 and abs(drawn.std() - 2) < 0.1
    (drawn,) = _run(
        f"RandomUniform{suffix}",
        inputs,
        low=-1.0,
        high=3.0,
        dtype=TensorProto.DOUBLE,
        opset=opset,
        **shape,
    )
    assert drawn.dtype == np.float64
    assert -1 <= drawn.min() < -0.9 and 2.9 < drawn.max() <= 3


def test_what_has_no_seed_is_decided_by_manual_seed() -> None:
    drawn = []
    try:
        for seed in (3, 3, 4, None):
            tl.manual_seed(seed)
            drawn.append(_run("RandomUniformLike", LIKE)[0])
    finally:
        tl.manual_seed(None)
    first, again, *others = drawn
    assert (first == again).all()
    assert all((first != other).any() for other in others)


@pytest.mark.parametrize("op", ["RandomNormalLike", "RandomUniformLike"])
def test_seeds_decide(op: str) -> None:
    first, again, other, fresh, fresher = (
        _run(op, LIKE, **seed)[0] for seed in ({"seed": 1.0}, {"seed": 1.0}, {"seed": 2.0}, {}, {})
    )
    assert (first == again).all()
    for a, b in ((first, other), (first, fresh), (fresh, fresher)):
        assert (a == b).mean() < 0.01
    (device,) = _run(op, LIKE, "webgpu", seed=1.0)
    np.testing.assert_allclose(device, first, rtol=1e-2, atol=5e-3)


@pytest.mark.parametrize("opset", [15, 22])
def test_bernoulli(opset: int) -> None:
    chances = np.repeat(np.float32([0, 0.25, 1]), 4000)
    (drawn,) = _run("Bernoulli", {"x": chances}, seed=3.0, dtype=TensorProto.INT32, opset=opset)
    never, sometimes, always = drawn.reshape(3, 4000)
    assert drawn.dtype == np.int32
    assert not never.any() and always.all()
    assert abs(sometimes.mean() - 0.25) < 0.03
    assert (drawn == _run("Bernoulli", {"x": chances}, "webgpu", seed=3.0)[0]).all()


@pytest.mark.parametrize("opset", [7, 22])
def test_multinomial(opset: int) -> None:
    odds = np.log(np.float32([[0.2, 0.5, 0.3], [1e-30, 1, 3]]))
    (drawn,) = _run("Multinomial", {"x": odds}, sample_size=9000, seed=4.0, opset=opset)
    assert drawn.dtype == np.int32 and drawn.shape == (2, 9000)
    for row, chances in zip(drawn, ([0.2, 0.5, 0.3], [0, 0.25, 0.75]), strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 9000, chances, atol=0.03)


def test_dropout_in_training() -> None:
    feeds = {"x": np.ones((100, 100), np.float32), "r": np.float32(0.3), "t": np.array(True)}
    y, mask = _run("Dropout", feeds, outputs="y m", seed=5, opset=13)
    assert mask.dtype == bool
    assert abs(mask.mean() - 0.7) < 0.02
    np.testing.assert_allclose(y, np.where(mask, 1 / 0.7, 0), rtol=1e-6)
    feeds["t"] = np.array(False)
    y, mask = _run("Dropout", feeds, outputs="y m", seed=5, opset=13)
    assert (y == 1).all() and mask.all()


def test_dropout_of_nothing_and_of_everything() -> None:
    x = np.arange(6, dtype=np.float32)
    for ratio, wanted in ((0, x), (1, 0 * x)):
        weights = [weight("r", np.float32(ratio)), weight("t", np.array(True))]
        proto = model([node("Dropout", "x r t", "y")], [value("x", [6])], weights=weights)
        with tl.onnx.load(proto.SerializeToString()).session("numpy") as session:
            np.testing.assert_array_equal(session.run({"x": x})["y"], wanted)


def test_bad_attributes() -> None:
    for op, inputs, attributes, message in (
        ("RandomNormal", [], {"shape": [2, -1]}, "negative dimension"),
        ("Multinomial", [value("x", [2, 3])], {"sample_size": -1}, "-1 samples"),
        ("RandomNormal", [], {}, "'shape' is missing"),
    ):
        proto: onnx.ModelProto = model(
            [node(op, " ".join(i.name for i in inputs), "y", **attributes)], inputs
        )
        with pytest.raises(tl.OnnxFormatError, match=message):
            tl.onnx.load(proto.SerializeToString()).graph()
