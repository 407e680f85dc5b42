"""Means of models, statistics of batches anew, and a schedule for means (`optim.swa_utils`)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.optim import swa_utils

pytestmark = pytest.mark.usefixtures("usual_device")


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


def fill(model: nn.Module, value: float) -> None:
    with tl.no_grad():
        for p in model.parameters():
            p.fill_(value)


WAYS = {
    "mean": ({}, [1.0, 1.5, 3.0]),
    "mean of all": ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, [1.0, 1.5, 3.0]),
    "ema": ({"avg_fn": swa_utils.get_ema_avg_fn(0.9)}, [1.0, 1.1, 1.59]),
    "ema of all": ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.9)}, [1.0, 1.1, 1.59]),
    "own": ({"avg_fn": lambda mean, value, n: mean + value * n}, [1.0, 3.0, 15.0]),
}


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("mode", ["eager", "jit"])
@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_means_of_a_model(way: str, use_buffers: bool, mode: str, device: str) -> None:
    tl.set_default_device(device)
    options, wanted = WAYS[way]
    model = network()
    averaged = swa_utils.AveragedModel(model, **options, use_buffers=use_buffers)
    norm = averaged.get_submodule("module.1")

    def update() -> None:
        averaged.update_parameters(model)

    jitted = tl.jit(update)
    for value, mean in zip((1.0, 2.0, 6.0), wanted, strict=True):
        fill(model, value)
        model[1].running_mean.assign(tl.full((3,), value))
        model[1].num_batches_tracked.assign(tl.asarray(int(10 * value), "int64"))
        (jitted if mode == "jit" else update)()
        for p in averaged.module.parameters():
            np.testing.assert_allclose(p.numpy(), mean, rtol=1e-6)
        kept = mean if use_buffers else value
        np.testing.assert_allclose(norm.running_mean.numpy(), kept, rtol=1e-6)
        if way != "own":
            tracked = norm.num_batches_tracked.item()
            assert tracked == pytest.approx(10 * kept, abs=1)
    assert jitted.plans == (mode == "jit")
    assert averaged.n_averaged.item() == 3
    np.testing.assert_array_equal(next(model.parameters()).numpy(), 6.0)


def test_a_mean_goes_on_from_its_state() -> None:
    model = network()
    one, other = swa_utils.AveragedModel(model), swa_utils.AveragedModel(model)
    fill(model, 1.0)
    one.update_parameters(model)
    assert {"n_averaged", "module.0.weight"} <= set(one.state_dict())
    other.load_state_dict(one.state_dict())
    fill(model, 2.0)
    other.update_parameters(model)
    assert next(other.parameters()).numpy()[0, 0] == 1.5
    x = tl.ones((4, 2))
    np.testing.assert_array_equal(other(x).numpy(), other.module(x).numpy())
    with pytest.raises(tl.OptionError, match="not both"):
        average = swa_utils.get_swa_avg_fn()
        swa_utils.AveragedModel(model, avg_fn=average, multi_avg_fn=lambda a, b, n: None)
    for make in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(tl.OptionError, match="decay"):
            make(1.5)


def test_statistics_of_batches_anew() -> None:
    model = network()
    model.eval()
    model[1].momentum = 0.3
    batches = np.random.default_rng(0).normal(size=(5, 8, 2)).astype(np.float32)
    swa_utils.update_bn([(tl.asarray(x), "label") for x in batches], model)
    rows = [model[0](tl.asarray(x)).numpy() for x in batches]
    mean = np.mean([x.mean(0) for x in rows], 0)
    variance = np.mean([x.var(0, ddof=1) for x in rows], 0)
    np.testing.assert_allclose(model[1].running_mean.numpy(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model[1].running_var.numpy(), variance, rtol=1e-5)
    assert (model[1].momentum, model.training) == (0.3, False)
    with pytest.raises(tl.TallowError):
        swa_utils.update_bn([tl.ones((8, 5))], model)
    assert (model[1].momentum, model.training) == (0.3, False)
    swa_utils.update_bn(iter(()), nn.Linear(1, 1))


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_a_rate_for_means(strategy: str) -> None:
    optimizer = optim.SGD(
        [{"params": [nn.Parameter([0.0])]}, {"params": [nn.Parameter([0.0])], "lr": 0.2}], lr=1.0
    )
    schedule = swa_utils.SWALR(optimizer, [0.1, 0.4], 4, strategy)
    for step in range(7):
        t = min(step / 4, 1.0)
        share = t if strategy == "linear" else (1 - math.cos(math.pi * t)) / 2
        wanted = [1.0 + (0.1 - 1.0) * share, 0.2 + 0.2 * share]
        assert schedule.get_last_lr() == pytest.approx(wanted)
        schedule.step()
    state = schedule.state_dict()
    assert (state["anneal_epochs"], state["_anneal_strategy"]) == (4, strategy)
    assert optimizer.state_dict()["param_groups"][1]["swa_lr"] == 0.4
    at_once = swa_utils.SWALR(optimizer, 0.3, 0, strategy)
    assert at_once.get_last_lr() == pytest.approx([0.3, 0.3])
    for options in ({"anneal_strategy": "x"}, {"anneal_epochs": -1}, {"anneal_epochs": 1.5}):
        with pytest.raises(tl.OptionError, match="SWALR"):
            swa_utils.SWALR(optimizer, 0.1, **options)
    with pytest.raises(tl.OptionError, match="3 of swa_lr for 2 groups"):
        swa_utils.SWALR(optimizer, [0.1] * 3)
