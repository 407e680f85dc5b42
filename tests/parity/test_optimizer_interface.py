"""What all optimisers share: hooks, groups, states, one's own; means of models and their
schedule."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.optim import swa_utils


@pytest.fixture(autouse=True)
def usual_device():
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(None)


def stepping(make=optim.SGD, **options):
    p = nn.Parameter([1.0])
    optimizer = make([p], **{"lr": 0.5, **options})
    p.grad = tl.asarray([1.0])
    return p, optimizer


# ---- hooks ---------------------------------------------------------------------------------------


def test_hooks_around_a_step() -> None:
    p, optimizer = stepping()
    seen: list = []
    before = optimizer.register_step_pre_hook(lambda o, a, k: seen.append(("before", o, a, k)))
    after = optimizer.register_step_post_hook(lambda o, a, k: seen.append(("after", o, p.item())))
    optimizer.step()
    assert seen == [("before", optimizer, (optimizer,), {}), ("after", optimizer, 0.5)]
    before.remove()
    optimizer.step()
    assert len(seen) == 3
    with after:
        pass
    optimizer.step()
    assert len(seen) == 3 and p.item() == -0.5


def test_a_hook_gives_other_arguments() -> None:
    _, optimizer = stepping()

    def closure(value: float):
        return lambda: tl.asarray(value)

    optimizer.register_step_pre_hook(lambda o, a, k: ((o, closure(7.0)), {}))
    assert optimizer.step(closure(1.0)).item() == 7.0
    wrong = optimizer.register_step_pre_hook(lambda o, a, k: 3)
    with pytest.raises(tl.OptionError, match=r"\(args, kwargs\), not 3"):
        optimizer.step(closure(1.0))
    wrong.remove()
    assert optimizer.step(closure(1.0)).item() == 7.0


def test_a_compiled_step_is_traced_again_for_other_hooks() -> None:
    p, optimizer = stepping()

    @tl.jit
    def step() -> None:
        p.grad = tl.asarray([1.0])
        optimizer.step()

    step()

    def double(o, args, kwargs) -> None:
        p.grad = p.grad * 2.0

    handle = optimizer.register_step_pre_hook(double)
    step()
    assert p.item() == -0.5
    handle.remove()
    step()
    assert p.item() == -1.0


class Twice(optim.SGD):
    """A step that calls the step of its base."""

    def step(self, closure=None):
        super().step()
        return super().step(closure)


def test_hooks_of_derived_optimisers_are_called_once() -> None:
    p, optimizer = stepping(Twice)
    count: list = []
    optimizer.register_step_pre_hook(lambda *_: count.append("before"))
    optimizer.register_step_post_hook(lambda *_: count.append("after"))
    optimizer.step()
    assert p.item() == 0.0 and count == ["before", "after"]
    p = nn.Parameter([1.0])
    lbfgs = optim.LBFGS([p], max_iter=2)
    lbfgs.register_step_post_hook(lambda *_: count.append("lbfgs"))

    def closure():
        lbfgs.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    lbfgs.step(closure)
    assert count[2:] == ["lbfgs"]


def test_hooks_around_states() -> None:
    _, optimizer = stepping(momentum=0.9)
    optimizer.step()
    seen: list = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, found: seen.append(set(found)))
    optimizer.register_state_dict_post_hook(lambda o, found: {**found, "more": 1})
    state = optimizer.state_dict()
    assert seen == ["first", "second", {"state", "param_groups"}] and state["more"] == 1
    other = stepping(momentum=0.9)[1]

    def changed(o, given):
        given["param_groups"] = [{**given["param_groups"][0], "lr": 0.25}]  # of a copy

    other.register_load_state_dict_pre_hook(changed)
    other.register_load_state_dict_post_hook(lambda o: seen.append(o.param_groups[0]["lr"]))
    other.load_state_dict(state)
    assert seen[-1] == 0.25 and state["param_groups"][0]["lr"] == 0.5
    other.register_load_state_dict_pre_hook(lambda o, given: {"state": {}})
    with pytest.raises(tl.OptionError, match="'param_groups'"):
        other.load_state_dict(state)


def test_copies_have_no_hooks() -> None:
    _, optimizer = stepping()
    optimizer.register_step_pre_hook(lambda *_: 1 / 0)
    copied = copy.deepcopy(optimizer)
    copied.step()
    with pytest.raises(ZeroDivisionError):
        optimizer.step()


# ---- groups and states ---------------------------------------------------------------------------


def test_what_groups_may_be() -> None:
    p, q = nn.Parameter([1.0]), nn.Parameter([2.0])
    for given, message in (
        ({p, q}, "a set"), ([{"params": {p}}], "a set"), ([("p", p), q], "all without"),
        ([q, ("p", p)], "all without"),
        ([{"params": [("p", p)]}, {"params": [q]}], "all without"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optim.SGD(given, lr=0.1)
    optimizer = optim.SGD([("p", p)], lr=tl.asarray(0.5))
    optimizer.add_param_group({"params": [q], "param_names": ["q"], "lr": 0.1})
    assert [group["param_names"] for group in optimizer.param_groups] == [["p"], ["q"]]
    assert optimizer.param_groups[0]["lr"] == 0.5
    with pytest.raises(tl.ShapeError):
        optim.SGD([p], lr=tl.asarray([0.5, 0.5]))


def test_groups_of_a_state_that_do_not_fit() -> None:
    optimizer = stepping()[1]
    for groups, message in (
        ([], r"groups of \[\] parameters; this optimiser has \[1\]"),
        ([{"params": [0]}, {"params": [1]}], r"groups of \[1, 1\]"),
        ([{"params": [0, 1]}], r"groups of \[2\]"), ([{"lr": 0.1}], "with 'params'"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optimizer.load_state_dict({"state": {}, "param_groups": groups})


def test_states_become_of_the_parameters_type() -> None:
    p, optimizer = stepping(optim.Adam)
    moments = {"step": 3, "exp_avg": np.ones(1), "exp_avg_sq": np.ones(1, np.float16)}
    groups = [{"params": [0], "lr": 0.5}]
    optimizer.load_state_dict({"state": {0: moments}, "param_groups": groups})
    assert {value.dtype for value in optimizer.state[p].values()} == {tl.float32}
    optimizer.step()
    half = nn.Parameter([1.0], dtype="float16")
    optimizer = optim.Adam([half])
    optimizer.load_state_dict({"state": {0: moments}, "param_groups": groups})
    kinds = {name: value.dtype for name, value in optimizer.state[half].items()}
    assert kinds == {"step": tl.float32, "exp_avg": tl.float16, "exp_avg_sq": tl.float16}


class Counting(optim.Optimizer):
    """A step of its own, which keeps numbers and tensors."""

    def __init__(self, params, lr: float = 0.5) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure=None) -> None:
        with tl.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if not state:
                        state["times"], state["mean"] = 0, tl.zeros_like(p)
                    state["times"] += 1
                    state["mean"] = state["mean"] * 0.5 + p.grad
                    p.add_(state["mean"], alpha=-group["lr"] / state["times"])


def test_an_optimiser_of_ones_own_goes_on_from_a_state() -> None:
    p, one = stepping(Counting)
    for _ in range(2):
        one.step()
    q, other = stepping(Counting)
    q.assign(p.numpy())
    other.load_state_dict(one.state_dict())
    assert other.state[q]["times"] == 2
    assert other.state[q]["mean"] is not one.state[p]["mean"]
    for optimizer in (one, other):
        optimizer.step()
    assert p.item() == q.item() and other.state[q]["times"] == 3


def test_a_loss_scale_leaves_out_steps_of_an_optimiser_of_ones_own() -> None:
    p = nn.Parameter([1.0])
    optimizer, scaler = Counting([p]), tl.amp.GradScaler(init_scale=8.0)
    for factor in (1.0, math.inf):
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert p.item() == 0.5 and optimizer.state[p]["times"] == 1 and scaler.get_scale() == 4.0


def test_a_step_is_computed_in_one_way() -> None:
    with pytest.raises(tl.OptionError, match="exclude each other"):
        optim.Adam([nn.Parameter([1.0])], fused=True, foreach=True)


def test_a_line_search_has_25_turns() -> None:
    """As in PyTorch, however few evaluations a step may have."""
    p = nn.Parameter([100.0])
    optimizer = optim.LBFGS([p], lr=1e-3, max_iter=1, max_eval=2, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert optimizer.state[p]["func_evals"] > 4
    assert abs(p.item()) <= 90.0


# ---- means of models -----------------------------------------------------------------------------


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
