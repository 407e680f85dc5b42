"""Optimisers and schedules with all their options beside trajectories of PyTorch: eager and as one
plan; what changes without compiling again; states; LBFGS, Muon, clipping, loss scales."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.amp import GradScaler
from tallow.errors import ArgumentError
from tallow.optim import lr_scheduler
from tallow.optim.muon import orthogonalized

from .optim_problems import (
    CYCLES,
    LBFGS,
    LBFGS_STEPS,
    MUON,
    OPTIMISERS,
    PLATEAUS,
    PROBLEMS,
    RECORDED,
    RECORDED_AFTER,
    SCHEDULES,
    STEPS,
    matrices,
    rates,
    rates_by_measure,
    two_groups,
)

MODES = [("eager", "numpy"), ("jit", "numpy"), ("jit", "wasm")]


@pytest.fixture(autouse=True)
def usual_device():
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(None)


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    with np.load(RECORDED) as file:
        return dict(file)


class Run:
    """Training of a problem, eager or as one plan."""

    def __init__(self, make, problem, mode: str = "eager", starts=None) -> None:
        given, self.loss_of = problem(tl)
        self.params = [nn.Parameter(x) for x in (starts or given)]
        self.optimizer = make(optim, self.params)
        self.jitted = tl.jit(self._step)
        self.mode = mode

    def evaluated(self) -> tl.Tensor:
        self.optimizer.zero_grad()
        loss = self.loss_of(self.params)
        loss.backward()
        return loss

    def _step(self) -> tl.Tensor:
        loss = self.evaluated()
        self.optimizer.step()
        return loss

    def step(self, count: int = 1, plans: int = 1) -> None:
        for _ in range(count):
            (self.jitted if self.mode == "jit" else self._step)()
        assert self.jitted.plans == (plans if self.mode == "jit" else 0)

    def values(self) -> np.ndarray:
        return np.concatenate([p.numpy().ravel() for p in self.params])


def compare(run: Run, wanted: np.ndarray, rtol: float = 1e-4, atol: float = 2e-5) -> None:
    done = 0
    for row, step in zip(wanted, RECORDED_AFTER, strict=True):
        run.step(step - done)
        done = step
        np.testing.assert_allclose(run.values(), row, rtol=rtol, atol=atol, err_msg=f"step {step}")


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", OPTIMISERS)
def test_trajectory(name: str, problem: str, mode: str, device: str, expected) -> None:
    tl.set_default_device(device)
    compare(Run(OPTIMISERS[name], PROBLEMS[problem], mode), expected[f"{problem}/{name}"])


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("name", MUON)
def test_muon(name: str, mode: str, device: str, expected) -> None:
    tl.set_default_device(device)
    # PyTorch iterates in bfloat16, of which numbers have 8 bits.
    compare(Run(MUON[name], matrices, mode), expected[f"matrices/{name}"], rtol=0.02, atol=0.01)


def test_muon_follows_its_description() -> None:
    x = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    y = x.T.astype(np.float64) / np.linalg.norm(x)
    for _ in range(5):
        a = y @ y.T
        y = 3.4445 * y + (-4.775 * a + 2.0315 * a @ a) @ y
    got = orthogonalized(tl.asarray(x), (3.4445, -4.775, 2.0315), 5, 1e-7).numpy()
    np.testing.assert_allclose(got, y.T, rtol=1e-4, atol=1e-5)
    sizes = np.linalg.svd(got, compute_uv=False)
    assert sizes.min() > 0.5 and sizes.max() < 1.5


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", LBFGS)
def test_lbfgs(name: str, problem: str, expected) -> None:
    run = Run(LBFGS[name], PROBLEMS[problem])
    wanted = expected[f"{problem}/{name}"]
    assert len(wanted) == LBFGS_STEPS
    for row in wanted:
        run.optimizer.step(run.evaluated)
        np.testing.assert_allclose(run.values(), row, rtol=1e-3, atol=5e-4)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", ["sgd momentum", "adam", "lbfgs wolfe"])
def test_tensors_that_require_a_gradient_are_optimised_as_parameters_are(name, device) -> None:
    tl.set_default_device(device)
    one, other = (Run({**OPTIMISERS, **LBFGS}[name], PROBLEMS["quadratic"]) for _ in range(2))
    other.params = [p.detach().requires_grad_() for p in other.params]
    other.optimizer = type(one.optimizer)(other.params, lr=0.05)
    one.optimizer = type(one.optimizer)(one.params, lr=0.05)
    for _ in range(3):
        for run in (one, other):
            run.optimizer.step(run.evaluated)
        np.testing.assert_allclose(one.values(), other.values(), rtol=1e-6)
    assert all(p.requires_grad and p.grad is not None for p in other.params)
    again = type(one.optimizer)(other.params, lr=0.05)
    again.load_state_dict(other.optimizer.state_dict())
    one.optimizer.step(one.evaluated)
    again.step(other.evaluated)
    np.testing.assert_allclose(one.values(), other.values(), rtol=1e-6)


def test_gradients_of_one_tensor_are_clipped() -> None:
    x = tl.asarray([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    assert float(nn.utils.clip_grad_norm_(x, 5.0)) == 10.0
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 4.0], rtol=1e-6)
    nn.utils.clip_grad_value_(x, 3.5)
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 3.5], rtol=1e-6)


def test_what_an_optimiser_cannot_change() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    for given, message in (
        ([x, x], "twice"), ([x * 2], "computed from other tensors"), ([2.0], "not float"),
        ([x.detach()], "requires no gradient"), ([{"lr": 0.1}], "under 'params'"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optim.SGD(given, lr=0.1)
    optimizer = optim.SGD([x], lr=0.1)
    with pytest.raises(tl.OptionError, match="twice"):
        optimizer.add_param_group({"params": x})

    @tl.jit
    def step() -> None:
        (x * x).sum().backward()
        optimizer.step()

    with pytest.raises(tl.OptionError, match=r"nn\.Parameter"):
        step()
    assert x.tolist() == [1.0, 2.0]


def test_lbfgs_goes_on_from_a_state_and_says_what_it_needs() -> None:
    make = LBFGS["lbfgs"]
    one = Run(make, PROBLEMS["quadratic"])
    one.optimizer.step(one.evaluated)
    other = Run(make, PROBLEMS["quadratic"], starts=[p.numpy() for p in one.params])
    other.optimizer.load_state_dict(one.optimizer.state_dict())
    for run in (one, other):
        run.optimizer.step(run.evaluated)
    np.testing.assert_array_equal(one.values(), other.values())
    with pytest.raises(tl.OptionError, match="closure"):
        one.optimizer.step()
    with pytest.raises(tl.OptionError, match=r"@tl\.jit"):
        tl.jit(lambda: one.optimizer.step(one.evaluated))()


@pytest.mark.parametrize("optimiser", CYCLES)
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str, optimiser: str, expected) -> None:
    optimizer = two_groups(tl, optim, optimiser)
    got = rates(SCHEDULES[name](lr_scheduler, optimizer), optimizer)
    np.testing.assert_allclose(got, expected[f"schedule {optimiser}/{name}"], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", PLATEAUS)
def test_plateau(name: str, expected) -> None:
    optimizer = two_groups(tl, optim, "SGD")
    got = rates_by_measure(PLATEAUS[name](lr_scheduler, optimizer), optimizer)
    np.testing.assert_allclose(got, expected[f"plateau/{name}"], rtol=1e-9)


def test_plateau_takes_tensors_goes_on_and_says_what_is_wrong() -> None:
    make = PLATEAUS["min"]
    first, second = (two_groups(tl, optim, "SGD") for _ in range(2))
    one, other = make(lr_scheduler, first), make(lr_scheduler, second)
    for measure in (1.0, 0.5, 0.6, 0.7):
        one.step(tl.asarray(measure))
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    for _ in range(4):
        one.step(0.6)
        other.step(0.6)
        assert other.get_last_lr() == one.get_last_lr()
    assert one.get_last_lr()[0] == 0.25
    with pytest.raises(tl.OptionError, match="needs the measure"):
        one.step()
    for options in ({"factor": 1.0}, {"mode": "low"}, {"threshold_mode": "x"}, {"min_lr": [0.1]}):
        with pytest.raises(tl.OptionError, match="ReduceLROnPlateau"):
            lr_scheduler.ReduceLROnPlateau(first, **options)
    first.add_param_group({"params": [nn.Parameter(np.zeros(2, np.float32))]})
    for _ in range(5):
        one.step(0.7)
    assert one.get_last_lr() == pytest.approx([0.0625, 0.025, 0.125])


def test_steps_of_no_length() -> None:
    with pytest.raises(tl.OptionError, match="step_size 0"):
        lr_scheduler.StepLR(two_groups(tl, optim, "SGD"), step_size=0)


def test_restarts_at_fractions_of_an_epoch() -> None:
    optimizer = two_groups(tl, optim, "SGD")
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    found = {}
    for epoch in (0, 1, 1.5, 2, 4, 6, 14):
        schedule.step(epoch)
        found[epoch] = schedule.get_last_lr()[0]
    half = 0.25 * (1 + np.cos(np.pi * 0.75))
    assert found == pytest.approx({0: 0.5, 1: 0.25, 1.5: half, 2: 0.5, 4: 0.25, 6: 0.5, 14: 0.5})
    schedule.step(1.5)
    schedule.step()
    assert schedule.get_last_lr()[0] == pytest.approx(0.25 * (1 + np.cos(np.pi / 8)))
    with pytest.raises(tl.OptionError, match="no step -1"):
        schedule.step(-1)
    for options in ({"T_0": 0}, {"T_0": 2, "T_mult": 1.5}):
        with pytest.raises(tl.OptionError, match="whole number"):
            lr_scheduler.CosineAnnealingWarmRestarts(optimizer, **options)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_state(name: str) -> None:
    first, second = (two_groups(tl, optim, "SGD") for _ in range(2))
    one = SCHEDULES[name](lr_scheduler, first)
    for _ in range(5):
        one.step()
    other = SCHEDULES[name](lr_scheduler, second)
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        one.step()
        other.step()
        assert other.get_last_lr() == one.get_last_lr()


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", ["sgd momentum", "adam", "adamw", "rmsprop momentum"])
def test_schedules_compile_nothing_and_take_effect(name: str, device: str) -> None:
    tl.set_default_device(device)
    found = []
    for mode in ("eager", "jit"):
        run = Run(OPTIMISERS[name], PROBLEMS["quadratic"], mode)
        scheduler = lr_scheduler.OneCycleLR(run.optimizer, 0.2, total_steps=12)
        for _ in range(10):
            run.step()
            scheduler.step()
        assert run.jitted.plans == (mode == "jit")
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-6)
    plain = Run(OPTIMISERS[name], PROBLEMS["quadratic"])
    plain.step(10)
    assert not np.allclose(plain.values(), found[0], rtol=1e-2)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("sgd", "lr", 1), ("sgd momentum", "momentum", 0), ("sgd decay", "weight_decay", 0.5),
     ("sgd dampening", "dampening", 0.1), ("adam", "betas", (0.5, 0.6)), ("adam", "lr", 2),
     ("adamw", "weight_decay", 0.0), ("adagrad all", "lr_decay", 0.4), ("rmsprop", "alpha", 0.5),
     ("rmsprop momentum", "momentum", 0.1)],
)  # fmt: skip
def test_a_setting_changes_in_a_compiled_step(name: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = Run(OPTIMISERS[name], PROBLEMS["network"], mode)
        run.step(2)
        run.optimizer.param_groups[0][setting] = value
        assert run.optimizer.param_groups[0][setting] == value
        run.step(3, plans=1 if value else 2)  # without what a setting of 0 leaves out
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("adam", "eps", 1e-2), ("adam", "amsgrad", True), ("adam", "maximize", True),
     ("adam", "weight_decay", 0.5), ("sgd momentum", "nesterov", True), ("sgd", "momentum", 0.9)],
)  # fmt: skip
def test_a_constant_of_a_compiled_step_changes(name: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = Run(OPTIMISERS[name], PROBLEMS["network"], mode)
        (group,) = run.optimizer.param_groups
        before = group[setting]
        run.step(2)
        group[setting] = value
        run.step(3, plans=2)
        group[setting] = before
        run.step(2, plans=2)  # with the first plan
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


def test_a_setting_on_the_device_is_not_set_within_a_compiled_step() -> None:
    run = Run(OPTIMISERS["adam"], PROBLEMS["quadratic"], "jit")
    group = run.optimizer.param_groups[0]
    run.step()
    with pytest.raises(tl.OptionError, match="outside"):
        tl.jit(lambda: lr_scheduler.ExponentialLR(run.optimizer, 0.5).step())()
    assert group["lr"] == 0.05


@pytest.mark.parametrize("mode", ["eager", "jit"])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_state_round_trip(name: str, mode: str) -> None:
    one = Run(OPTIMISERS[name], PROBLEMS["quadratic"], mode)
    one.step(3)
    state = one.optimizer.state_dict()
    assert set(state) == {"state", "param_groups"}
    numbers = [n for group in state["param_groups"] for n in group["params"]]
    assert numbers == [0, 1] and set(state["state"]) <= {0, 1}
    other = Run(OPTIMISERS[name], PROBLEMS["quadratic"], mode, [p.numpy() for p in one.params])
    other.optimizer.load_state_dict(state)
    for run in (one, other):
        run.step(3)
    np.testing.assert_array_equal(one.values(), other.values())
    # A compiled step goes on from what is loaded later, too.
    for p, start in zip(one.params, PROBLEMS["quadratic"](tl)[0], strict=True):
        p.assign(start)
    one.optimizer.load_state_dict(
        Run(OPTIMISERS[name], PROBLEMS["quadratic"]).optimizer.state_dict()
    )
    one.step(2)
    fresh = Run(OPTIMISERS[name], PROBLEMS["quadratic"], mode)
    fresh.step(2)
    np.testing.assert_allclose(one.values(), fresh.values(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["adam", "sgd momentum", "adagrad all"])
def test_an_empty_state_is_a_new_beginning(name: str) -> None:
    used, fresh, wanted = (Run(OPTIMISERS[name], PROBLEMS["quadratic"]) for _ in range(3))
    empty = wanted.optimizer.state_dict()
    used.step(3)
    for steps in (0, 1):
        fresh.optimizer.load_state_dict(used.optimizer.state_dict())
        fresh.step(steps)
        fresh.optimizer.load_state_dict(empty)
        for p, start in zip(fresh.params, PROBLEMS["quadratic"](tl)[0], strict=True):
            p.assign(start)
        again = Run(OPTIMISERS[name], PROBLEMS["quadratic"])
        for run in (fresh, again):
            run.step(2)
        np.testing.assert_allclose(fresh.values(), again.values(), rtol=1e-6)
        fresh = Run(OPTIMISERS[name], PROBLEMS["quadratic"])


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    run = Run(OPTIMISERS["adam"], PROBLEMS["quadratic"])
    run.step(2)
    optimizer = run.optimizer

    def state() -> dict:
        return {**optimizer.state_dict(), "param_groups": [{"params": [0, 1], "lr": 9.0}]}

    other = state()
    other["state"][1]["exp_avg"] = tl.zeros((9, 9))
    unknown = state()
    unknown["state"][7] = {}
    for given, message in (
        (other, r"'exp_avg' of parameter 1 has the shape \(9, 9\)"), (unknown, "7, which is in no"),
        ({}, "with 'state' and 'param_groups'"), ([1], "not \\[1\\]"),
    ):  # fmt: skip
        for each in (optimizer, OPTIMISERS["adam"](optim, run.params)):
            before = each.state_dict()
            with pytest.raises(tl.OptionError, match=message):
                each.load_state_dict(given)
            after = each.state_dict()
            assert after["param_groups"] == before["param_groups"]
            for own, kept in zip(after["state"].values(), before["state"].values(), strict=True):
                assert all((own[name] == kept[name]).all() for name in kept)
    optimizer.param_groups[0].update(lr=0.5)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_states_of_pytorch() -> None:
    """As torch.save keeps them: no steps of SGD, an integer of them in old files."""
    run = Run(OPTIMISERS["sgd dampening"], PROBLEMS["quadratic"])
    run.step(4)
    state = run.optimizer.state_dict()
    for own in state["state"].values():
        del own["step"]
    other = Run(OPTIMISERS["sgd dampening"], PROBLEMS["quadratic"],
                starts=[p.numpy() for p in run.params])  # fmt: skip
    other.optimizer.load_state_dict(state)
    run.step()
    other.step()
    np.testing.assert_allclose(run.values(), other.values(), rtol=1e-6)
    adam = Run(OPTIMISERS["adam"], PROBLEMS["quadratic"])
    zeros = [np.zeros(p.shape, np.float32) for p in adam.params]
    moments = {n: {"step": 7, "exp_avg": z, "exp_avg_sq": z} for n, z in enumerate(zeros)}
    groups = [{"params": [0, 1], "lr": 1, "betas": [0.8, 0.9], "foreach": None}]
    adam.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    assert adam.optimizer.state[adam.params[0]]["step"].item() == 7.0
    adam.step()
    assert adam.optimizer.state[adam.params[0]]["step"].item() == 8.0


def test_clipping(expected) -> None:
    for name in [key for key in expected if key.startswith("clip/")]:
        norm, norm_type = map(float, name[5:].split())
        run = Run(OPTIMISERS["sgd"], PROBLEMS["network"])
        run.evaluated()
        total = nn.utils.clip_grad_norm_(run.params, norm, norm_type)
        got = np.concatenate([[total.item()], *(p.grad.numpy().ravel() for p in run.params)])
        np.testing.assert_allclose(got, expected[name], rtol=1e-4, atol=1e-6)
    p = nn.Parameter([1.0])
    p.grad = tl.asarray([np.inf], dtype="float32")
    with pytest.raises(tl.NonFiniteError, match="norm of the gradients is inf"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert nn.utils.clip_grad_norm_([nn.Parameter([1.0])], 1.0).item() == 0.0


def test_closure_and_parameters_without_gradients() -> None:
    used, unused = nn.Parameter([1.0]), nn.Parameter([2.0])
    optimizer = optim.AdamW([used, unused], lr=0.5)

    def closure() -> tl.Tensor:
        optimizer.zero_grad()
        loss = (used * used).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert unused.tolist() == [2.0] and used.item() < 1.0
    assert used in optimizer.state and unused not in optimizer.state
    optimizer.zero_grad(set_to_none=False)
    assert used.grad.tolist() == [0.0] and unused.grad is None


def test_float16_parameters_stay_float16() -> None:
    p = nn.Parameter([1.0, 2.0], dtype="float16")
    for make in (optim.SGD, optim.Adam, optim.Lion):
        optimizer = make([p], lr=0.25, weight_decay=0.1)
        p.grad = tl.ones((2,), "float16")
        optimizer.step()
        assert p.dtype == tl.float16 and p.numpy()[0] < 1.0


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
    p = nn.Parameter([1.0])
    for make, what in [
        (lambda: optim.SGD(p), "list"),
        (lambda: optim.Adam([p], betas=(1.0, 0.9)), "beta1"),
        (lambda: optim.Adam([p], differentiable=True), "differentiable"),
        (lambda: optim.Adagrad([p], initial_accumulator_value=-1.0), "initial_accumulator_value"),
        (lambda: optim.Muon([p]), "matrices"),
        (lambda: optim.Muon([nn.Parameter([[1.0]])], adjust_lr_fn="x"), "adjust_lr_fn"),
        (lambda: optim.LBFGS([p], line_search_fn="x"), "line_search_fn"),
        (lambda: optim.LBFGS([{"params": [p]}, {"params": [nn.Parameter([1.0])]}]), "one group"),
        (lambda: lr_scheduler.OneCycleLR(optim.Adagrad([p]), 1.0, 5), "cycle_momentum"),
        (lambda: lr_scheduler.OneCycleLR(optim.SGD([p]), 1.0), "total_steps"),
        (lambda: lr_scheduler.StepLR(optim.SGD([p]), 1, last_epoch=3), "initial_lr"),
        (lambda: GradScaler(growth_factor=1.0), "growth_factor"),
        (lambda: GradScaler().update(), "step"),
    ]:
        with pytest.raises((tl.OptionError, ArgumentError), match=what):
            make()


def test_signatures_have_names() -> None:
    for make in (optim.SGD, optim.Adam, optim.AdamW, optim.LBFGS, optim.Muon, optim.RMSprop):
        kinds = {each.kind for each in inspect.signature(make).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    assert RECORDED_AFTER[-1] == STEPS
