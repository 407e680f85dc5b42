"""Modules as ONNX files: onnxruntime computes what the module does, from initializers that have the
names and values of its state_dict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError

from .saving import answers, numbers, saved

MODULES: dict[str, tuple[Callable[[], nn.Module], tuple[np.ndarray, ...]]] = {
    "linear": (lambda: nn.Linear(4, 3), (numbers(2, 4),)),
    "linear-of-sequences": (lambda: nn.Linear(4, 3), (numbers(2, 5, 4),)),
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 2)),
            (numbers(2, 4),)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False),
                                          nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
                    (numbers(1, 3, 8, 8),)),
    "layer-norm": (lambda: nn.LayerNorm(4), (numbers(2, 3, 4),)),
    "gru": (lambda: nn.GRU(3, 4, 2, bidirectional=True), (numbers(5, 2, 3),)),
    "lstm": (lambda: nn.LSTM(3, 4, batch_first=True), (numbers(2, 5, 3),)),
    "attention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True),
                  (numbers(2, 3, 8), numbers(2, 4, 8), numbers(2, 4, 8))),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
                    (numbers(2, 3, 8),)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_onnxruntime_computes_what_the_module_does(name: str, tmp_path: Path) -> None:
    make, inputs = MODULES[name]
    module = make().eval()
    # Values of their own: equal ones, such as the zeros of biases, would be stored once.
    module.load_state_dict(
        {k: abs(numbers(*v.shape)) + 0.5 for k, v in module.state_dict().items()}
    )
    proto = saved(tmp_path / "m.onnx", module, inputs=inputs)
    feeds = dict(zip([info.name for info in proto.graph.input], inputs, strict=True))
    result = module(*map(tl.asarray, inputs))
    flat = [result] if isinstance(result, tl.Tensor) else [
        x for each in result for x in (each if isinstance(each, tuple) else [each])
    ]  # fmt: skip
    got = answers(tmp_path / "m.onnx", feeds)
    for expected, value in zip(flat, got.values(), strict=True):
        np.testing.assert_allclose(value, expected.numpy(), rtol=1e-4, atol=1e-5)
    state = {key: value.numpy() for key, value in module.state_dict().items()}
    for tensor in proto.graph.initializer:
        if tensor.name in state:
            np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), state[tensor.name])
    unread = {key for key in state if key.endswith("num_batches_tracked")}
    assert set(state) - unread <= {tensor.name for tensor in proto.graph.initializer}


def test_inputs_have_the_names_of_forward(tmp_path: Path) -> None:
    proto = saved(tmp_path / "m.onnx", nn.Linear(2, 1).eval(), inputs=[((3, 2), "float32")])
    assert [info.name for info in proto.graph.input] == ["input"]


def test_a_module_in_training_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="eval"):
        tl.onnx.save(nn.Linear(2, 1), tmp_path / "m.onnx", inputs=[((3, 2), "float32")])
