"""Networks as ONNX, and steps of their training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.vision import models

from .cases import CASES
from .test_models import with_weights


@pytest.mark.parametrize("name", ["mobilenet_v2", "vit"])
def test_onnx_gives_the_same_scores(name: str, tmp_path: Path) -> None:
    """Of as many images as are given."""
    net = with_weights(CASES[name])
    path = tmp_path / "net.onnx"
    tl.onnx.save(net, path, inputs=[(("N", 3, 32, 32), "float32")])
    x = np.random.default_rng(0).normal(size=(3, 3, 32, 32)).astype(np.float32)
    expected = net(tl.asarray(x)).numpy()
    saved = tl.onnx.load(path)
    with saved.session(device="numpy") as session:
        (found,) = session.run({saved.inputs[0].name: x}).values()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("device", ["numpy", "wasm"], indirect=True)
@pytest.mark.parametrize("name", ["mobilenet_v2", "resnet18"])
def test_a_compiled_step_learns(name: str, device: str) -> None:
    tl.manual_seed(0)
    net: Any = (
        models.mobilenet_v2(num_classes=4, width_mult=0.25, dropout=0.0)
        if name == "mobilenet_v2"
        else models.resnet18(num_classes=4, width=8)
    )
    optimizer = optim.Adam(net.parameters(), 0.002)
    x, y = tl.randn(4, 3, 64, 64).realize(), tl.arange(4)

    @tl.jit
    def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    losses = [step(x, y).item() for _ in range(12)]
    assert losses[-1] < losses[0] / 2
