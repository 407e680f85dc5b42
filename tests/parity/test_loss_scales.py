"""Losses that are scaled for float16, and steps that are left out (`amp.GradScaler`)."""

from __future__ import annotations

import math

import pytest

import tallow as tl
from tallow import nn, optim
from tallow.amp import GradScaler

from .one_parameter import Counting
from .training import MODES

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize(("mode", "device"), MODES)
def test_loss_scale(mode: str, device: str) -> None:
    tl.set_default_device(device)
    p = nn.Parameter([1.0, 2.0])
    optimizer = optim.SGD([p], lr=0.5)
    scaler = GradScaler(init_scale=8.0, growth_interval=2)

    def step(factor) -> None:
        optimizer.zero_grad()
        loss = (p * factor).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    run = tl.jit(step) if mode == "jit" else step
    scales, values = [], []
    for factor in (1.0, 1.0, float("inf"), 1.0):
        run(tl.asarray([factor, 1.0], dtype="float32"))
        scales.append(scaler.get_scale())
        values.append(p.tolist())
    assert scales == [8.0, 16.0, 8.0, 8.0]
    assert values == [[0.5, 1.5], [0.0, 1.0], [0.0, 1.0], [-0.5, 0.5]]
    assert mode == "eager" or run.plans == 1
    other = GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    off = GradScaler(enabled=False)
    assert off.scale(p) is p and off.get_scale() == 1.0


def test_bad_input() -> None:
    with pytest.raises(tl.OptionError, match="growth_factor"):
        GradScaler(growth_factor=1.0)
    with pytest.raises(tl.OptionError, match="step"):
        GradScaler().update()


def test_a_loss_scale_leaves_out_steps_of_an_optimiser_of_ones_own() -> None:
    p = nn.Parameter([1.0])
    optimizer, scaler = Counting([p]), GradScaler(init_scale=8.0)
    for factor in (1.0, math.inf):
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert p.item() == 0.5 and optimizer.state[p]["times"] == 1 and scaler.get_scale() == 4.0
