"""DynamicQuantizeLSTM: the same numbers as onnxruntime, which defines it, in one plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.devices.webgpu.passes import dynamic as passes
from tallow.errors import TallowError
from tallow.ops import dynamic_recurrence

from ..graphs import model, value, weight
from ..oracle import runtime

NAMES = ("w", "r", "b", "lens", "h", "c", "p", "w_scale", "w_zero", "r_scale", "r_zero")


def inputs_of(
    sizes: tuple[int, int, int, int],
    directions: int = 1,
    *,
    kind: str = "int8",
    columns: bool = False,
    zeros: bool = False,
    given: str = "b",
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Arrays for the inputs of a node. columns: a scale for each column of the weights. given: the
    inputs that may be absent."""
    rng = np.random.default_rng(seed)
    time, batch, features, size = sizes
    info = np.iinfo(kind)
    each: tuple[int, ...] = (directions, 4 * size) if columns else (directions,)

    def numbers(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    made: dict[str, np.ndarray] = {"x": numbers(time, batch, features)}
    for name, rows in (("w", features), ("r", size)):
        whole = rng.integers(info.min, info.max + 1, (directions, rows, 4 * size))
        made[name] = whole.astype(kind)
        made[f"{name}_scale"] = (rng.random(each) * 0.004 + 0.002).astype(np.float32)
        middle = 0 if kind == "int8" else 128
        held = np.full(each, middle + (int(rng.integers(1, 9)) if zeros else 0))
        made[f"{name}_zero"] = held.astype(kind)
    for name, shape in (
        ("b", (directions, 8 * size)), ("h", (directions, batch, size)),
        ("c", (directions, batch, size)), ("p", (directions, 3 * size)),
    ):  # fmt: skip
        if name in given.split():
            made[name] = numbers(*shape) * np.float32(0.5)
    if "lens" in given.split():
        made["lens"] = rng.integers(1, time + 1, batch).astype(np.int32)
    return made


def network(inputs: dict[str, np.ndarray], **attributes: Any) -> bytes:
    """A network of one node, which is fed x and, if they are there, the lengths."""
    names = ["x", *(name if name in inputs else "" for name in NAMES)]
    node = helper.make_node(
        "DynamicQuantizeLSTM", names, ["y", "y_h", "y_c"], domain="com.microsoft",
        hidden_size=inputs["r"].shape[1], **attributes,
    )  # fmt: skip
    fed = [value("x", inputs["x"].shape)]
    if "lens" in inputs:
        fed.append(value("lens", inputs["lens"].shape, TensorProto.INT32))
    made: bytes = model(
        [node],
        fed,
        [value(name, None, TensorProto.FLOAT) for name in ("y", "y_h", "y_c")],
        [weight(name, inputs[name]) for name in NAMES if name in inputs and name != "lens"],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
    ).SerializeToString()
    return made


hard: dict[str, Any] = {
    "activations": ["HardSigmoid", "Relu", "Softsign"], "activation_alpha": [0.25],
    "activation_beta": [0.5],
}  # fmt: skip
CASES: dict[str, tuple[dict[str, np.ndarray], dict[str, Any]]] = {
    "one": (inputs_of((6, 1, 7, 8)), {}),
    "reverse": (inputs_of((5, 2, 3, 5), columns=True, zeros=True), {"direction": "reverse"}),
    "both": (
        inputs_of((4, 3, 4, 9), 2, columns=True, given="b h c"), {"direction": "bidirectional"},
    ),
    "unsigned": (inputs_of((5, 1, 6, 11), kind="uint8", zeros=True, given="b h"), {}),
    "lengths": (
        inputs_of((6, 4, 5, 10), 2, given="b lens h c", seed=3), {"direction": "bidirectional"},
    ),
    "lengths-reverse": (inputs_of((5, 3, 4, 8), given="lens", seed=5), {"direction": "reverse"}),
    "peepholes": (inputs_of((5, 2, 4, 6), given="b p c", seed=6), {}),
    "clipped": (inputs_of((4, 2, 5, 12), kind="uint8", columns=True), {"clip": 0.75}),
    "activations": (inputs_of((4, 1, 6, 10), seed=8), hard),
    "two-activations": (
        inputs_of((4, 2, 6, 8), 2, seed=9),
        {
            "activations": ["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Softsign", "Relu"],
            "direction": "bidirectional",
        },
    ),
    "forgets": (inputs_of((4, 1, 3, 7), seed=10), {"input_forget": 1}),
    "large": (inputs_of((3, 1, 40, 300), columns=True, zeros=True, seed=11), {}),
}  # fmt: skip


def run(data: bytes, inputs: dict[str, np.ndarray], device: str) -> list[np.ndarray]:
    feeds = {name: inputs[name] for name in ("x", "lens") if name in inputs}
    with tl.onnx.load(data).session(device) as session:
        result = session.run(feeds)
        report = session.report()
        assert (report.parts, report.host) == (1, ())
    return [np.asarray(each) for each in result.values()]


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_onnxruntime(name: str, device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    inputs, attributes = CASES[name]
    data = network(inputs, **attributes)
    feeds = {each: inputs[each] for each in ("x", "lens") if each in inputs}
    wanted = runtime(data).run(None, feeds)
    for mine, theirs in zip(run(data, inputs, device), wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize(
    ("limit", "kernels"),
    [({}, 1), ({"MAX_TURNS": 72}, 6), ({"WORDS": 16}, 0), ({"_SHARED": 1}, 14)],
    ids=["whole", "in parts", "states without room", "one by one"],
)
def test_a_gpu_has_a_kernel_for_the_steps(
    native: None, limit: dict[str, int], kernels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in limit.items():
        module = dynamic_recurrence if name == "WORDS" else passes
        monkeypatch.setattr(module, name, most)
    inputs = inputs_of((7, 2, 3, 5), 2, columns=True, zeros=True, given="b h c lens")
    data = network(inputs, direction="bidirectional")
    feeds = {name: inputs[name] for name in ("x", "lens")}
    with tl.onnx.load(data).session("webgpu") as session:
        got = session.run(feeds).values()
        names = [step.name for step in session.plan.run]
    assert sum("word_step" in name for name in names) == kernels
    for mine, theirs in zip(got, run(data, inputs, "numpy"), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
def test_an_empty_batch(device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    inputs = inputs_of((4, 0, 3, 5), given="b")
    y, y_h, y_c = run(network(inputs), inputs, device)
    assert (y.shape, y_h.shape, y_c.shape) == ((4, 1, 0, 5), (1, 0, 5), (1, 0, 5))


def changed(name: str, array: np.ndarray | None) -> dict[str, np.ndarray]:
    inputs = inputs_of((3, 1, 4, 5), given="b")
    if array is None:
        del inputs[name]
    else:
        inputs[name] = array
    return inputs


WRONG: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "zero's type": (changed("w_zero", np.zeros(1, np.uint8)), "zero point of W is uint8"),
    "zero's shape": (changed("r_zero", np.zeros(3, np.int8)), "zero point of R is \\(3,\\)"),
    "scale's type": (changed("w_scale", np.ones(1, np.float64)), "scale of W is float64"),
    "scale's shape": (changed("r_scale", np.ones(20, np.float32)), "scale of R is \\(20,\\)"),
    "scale of 0": (changed("w_scale", np.zeros(1, np.float32)), "scale of W is 0"),
    "scale of NaN": (changed("r_scale", np.full(1, np.nan, np.float32)), "scale of R is nan"),
    "no scale": (changed("r_scale", None), "scale of R is missing"),
    "weights' type": (changed("w", np.zeros((1, 4, 20), np.float32)), "W is float32"),
    "weights' shape": (changed("r", np.zeros((1, 5, 24), np.int8)), "R is \\(1, 5, 24\\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_named(name: str) -> None:
    inputs, line = WRONG[name]
    with pytest.raises(TallowError, match=line) as caught:
        run(network(inputs), inputs, "numpy")
    assert "\n" not in str(caught.value)
