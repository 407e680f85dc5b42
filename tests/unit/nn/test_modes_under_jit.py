"""A compiled function follows the modes of modules, and which parameters are trained."""

from __future__ import annotations

import numpy as np

import tallow as tl
from tallow import nn


def test_training_and_evaluation_are_plans_of_their_own() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5))

    @tl.jit(device="numpy")
    def apply(x: tl.Tensor) -> tl.Tensor:
        result: tl.Tensor = model(x)
        return result

    x = tl.ones(1000)
    assert (apply(x).numpy() == 0).any()
    model.eval()
    np.testing.assert_array_equal(apply(x).numpy(), x.numpy())
    model.train()
    assert (apply(x).numpy() == 0).any()
    assert apply.plans == 2
    model[1].eval()
    assert 350 < (apply(x).numpy() == 0).sum() < 650
    assert apply.plans == 3


def test_a_mode_that_the_function_sets_itself_is_no_condition() -> None:
    model = nn.Dropout(0.5)

    @tl.jit(device="numpy")
    def both(x: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor]:
        kept = model.eval()(x)
        return kept, model.train()(x)

    for _ in range(2):
        kept, dropped = both(tl.ones(100))
        assert (kept.numpy() == 1).all()
        assert (dropped.numpy() == 0).any()
        model.eval()
    assert both.plans == 1


def test_frozen_parameters_get_no_gradient() -> None:
    layer = nn.Linear(2, 1)

    @tl.jit(device="numpy")
    def step(x: tl.Tensor) -> tl.Tensor:
        layer.zero_grad()
        loss = layer(x).sum()
        loss.backward()
        return loss

    x = tl.ones((3, 2))
    step(x)
    assert layer.weight.grad is not None
    layer.weight.requires_grad_(False)
    step(x)
    assert layer.weight.grad is None
    assert layer.bias.grad is not None
    layer.weight.requires_grad_(True)
    step(x)
    assert layer.weight.grad is not None
    assert step.plans == 2
