"""A plan of `@tl.jit` sees every change of what its function read, and of nothing else."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
import pytest
from tests.unit.runtime.fact_cases import CASES, Case, Scaled, X, check, nothing, parametrized

import tallow as tl
from tallow import nn
from tallow.facts import Fact, Table, reads
from tallow_build.paths import ROOT


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen_and_changed_back_the_old_plan_serves(name: str, device: str) -> None:
    case = CASES[name]()
    jitted = tl.jit(lambda x: case.function(x))
    before = check(case, jitted, 1)
    case.change()
    try:
        after = check(case, jitted, 2)
    finally:
        case.back()
    check(case, jitted, 2)
    assert len(before) != len(after) or any(
        a.shape != b.shape or not np.allclose(a, b) for a, b in zip(before, after, strict=True)
    )


def test_parametrizations_are_seen(device: str) -> None:
    case = parametrized()
    jitted = tl.jit(lambda x: case.function(x))
    check(case, jitted, 1)
    case.change()
    check(case, jitted, 2)
    case.back()
    check(case, jitted, 2)


def test_a_tensor_that_is_changed_in_place(device: str) -> None:
    model = Scaled()
    jitted = tl.jit(lambda x: model(x))
    case = Case(model, nothing, nothing)
    check(case, jitted, 1)
    model.mask *= 2.0
    check(case, jitted, jitted.plans + 1)
    model.mask.fill_(3.0)
    check(case, jitted, jitted.plans + 1)


# ---- every fact -------------------------------------------------------------------------------

OF_FACTS = {
    ("Module", "training"): "training",
    ("Variable", "dtype"): "type of parameters",
    ("Variable", "requires_grad"): "requires_grad",
    ("Optimizer", "param_groups"): "groups",
    ("GradScaler", "growth_factor"): "growth_factor",
    ("GradScaler", "backoff_factor"): "backoff_factor",
    ("GradScaler", "growth_interval"): "growth_interval",
}
"""The cases above that change the facts that classes declare."""


def variable_of_another_shape() -> Case:
    """No public call changes a variable's shape."""
    weight = tl.Variable([1.0, 2.0])

    def change(shape: tuple[int, ...], value: Any) -> None:
        tl.Variable.shape.put(weight, shape)
        weight.assign(value)

    return Case(lambda x: x + weight, partial(change, (1,), [5.0]),
                partial(change, (2,), [1.0, 2.0]))  # fmt: skip


def test_a_compiled_step_sees_that_parameters_no_longer_share_a_count(device: str) -> None:
    """Counts that were split are never shared again, so no older plan serves."""
    first, second = (nn.Parameter(np.ones(2, np.float32)) for _ in range(2))
    optimizer = tl.optim.Adam([first, second], lr=0.1)

    @tl.jit
    def step(x: tl.Tensor) -> Any:
        optimizer.zero_grad()
        ((first * x + second) ** 2).sum().backward()
        optimizer.step()
        return first + 0.0

    x = tl.asarray([1.0, 2.0])
    step(x)
    step(x)
    plans = step.plans
    optimizer.zero_grad()
    (first * x).sum().backward()
    optimizer.step()  # without the second one
    step(x)
    assert step.plans == plans + 1
    step(x)
    assert step.plans == plans + 1
    assert [float(optimizer.state[p]["step"]) for p in (first, second)] == [5.0, 4.0]


def test_every_declared_fact_has_a_case(device: str) -> None:
    assert tl.amp  # is imported late
    declared = {(owner.__name__, fact.name) for owner, fact in Fact.declared}
    assert declared == {*OF_FACTS, ("Variable", "shape"), ("Scalars", "splits")}
    assert set(OF_FACTS.values()) <= set(CASES)
    case = variable_of_another_shape()
    jitted = tl.jit(lambda x: case.function(x))
    check(case, jitted, 1)
    case.change()
    check(case, jitted, 2)
    case.back()
    check(case, jitted, 2)


@pytest.mark.parametrize("name", nn.module._TABLES)
def test_every_table_of_a_module_counts(name: str) -> None:
    model = nn.Linear(2, 2)
    given: dict[str, Any] = {
        "_parameters": nn.Parameter(X), "_buffers": nn.Buffer(X), "_modules": nn.Linear(2, 2),
    }  # fmt: skip
    table = vars(model)[name]
    assert isinstance(table, Table)
    jitted = tl.jit(lambda x: (len(table), x + 1.0)[1], device="numpy")
    jitted(tl.asarray(X))
    handle = None
    if name in given:
        table["new"] = given[name]
    else:
        kind = name.strip("_").removesuffix("s").replace("backward", "full_backward")
        handle = getattr(model, f"register_{kind}")(lambda *_: None)
    jitted(tl.asarray(X))
    assert jitted.plans == 2
    handle.remove() if handle else table.pop("new")
    jitted(tl.asarray(X))
    assert jitted.plans == 2


# ---- what is no reason to compile --------------------------------------------------------------


def test_what_is_not_read_is_no_reason_to_compile() -> None:
    class Net(nn.Module):
        epoch = 0

        def __init__(self) -> None:
            super().__init__()
            self.layer, self.unused, self.step = nn.Linear(2, 2), nn.Linear(2, 2), 0

        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return self.layer(x)

    model = Net()
    jitted = tl.jit(lambda x: model(x), device="numpy")
    for n in range(5):
        model.step = model.epoch = n
        model.unused.weight = nn.Parameter(X)
        model.unused.note, model.more = n, [n]
        model.register_buffer("beside", tl.asarray([float(n)]))
        Net.of_the_class = n
        jitted(tl.asarray(X))
        model.layer.bias = model.layer.bias
        model.layer.in_features = int("2")
    assert jitted.plans == 1


def test_modes_there_and_back_find_the_first_plans() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 2))
    jitted = tl.jit(lambda x: model(x), device="numpy")
    for _ in range(3):
        model.train()
        jitted(tl.asarray(X))
        model.eval()
        jitted(tl.asarray(X))
    assert jitted.plans == 2


def test_many_changes_between_two_calls() -> None:
    """More than are remembered."""
    model = Scaled()
    jitted = tl.jit(lambda x: model(x), device="numpy")
    jitted(tl.asarray(X))
    for n in range(10_000):
        model.scale = float(n)
    jitted(tl.asarray(X))
    assert jitted.plans == 2
    for n in range(10_000):
        model.other = n + 1
    model.scale, model.other = 2.0, 0
    jitted(tl.asarray(X))
    assert jitted.plans == 2


def test_a_fact_that_is_another_one_at_each_call_keeps_few_plans() -> None:
    model = Scaled()
    jitted = tl.jit(lambda x: model(x), device="numpy")
    for n in range(80):
        model.scale = float(n)
        jitted(tl.asarray(X))
    assert jitted.plans == 64


def test_modules_that_are_gone_are_let_go() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model.parts = [nn.Linear(2, 2)]
    jitted = tl.jit(lambda x: model.parts[0](model[0](x)), device="numpy")
    jitted(tl.asarray(X))
    held = [ref(model[0]), ref(model.parts[0])]
    model[0], model.parts[0] = nn.Linear(2, 2), nn.Linear(2, 2)
    gc.collect()
    assert [each() for each in held] == [None, None]
    jitted(tl.asarray(X))
    assert jitted.plans == 2


def test_reads_are_noted_during_traces_alone() -> None:
    """The class of modules is changed seldom, also by a program that alternates traces and calls:
    Python learns anew what it knows of a class some 1,000 times."""
    model = Scaled()
    jitted = tl.jit(lambda x: model(x), device="numpy")
    times = 0
    for n in range(1, 41):
        jitted(tl.ones((n, 2)))
        assert reads.installed and not reads.running
        model(tl.asarray(X))
        times += not reads.installed
    assert times <= 1
    for _ in range(256):
        model(tl.asarray(X))
    assert not reads.installed and "__getattribute__" not in vars(nn.Module)
    with pytest.raises(ZeroDivisionError):
        tl.jit(lambda x: 1 / 0)(tl.asarray(X))
    assert not reads.running


def test_a_function_may_be_traced_before_modules_are_imported() -> None:
    program = (
        "import tallow as tl\n"
        "tl.set_default_device('numpy')\n"
        "assert tl.jit(lambda x: x + 1)(tl.ones(2)).tolist() == [2, 2]\n"
        "import sys; assert 'tallow.nn.module' not in sys.modules\n"
        "from tallow import nn\n"
        "class Scaled(nn.Module):\n"
        "    scale = 2.0\n"
        "    def forward(self, x):\n"
        "        return x * self.scale\n"
        "module = Scaled(); module.scale = 3.0\n"
        "step = tl.jit(lambda x: module(x))\n"
        "assert step(tl.ones(2)).tolist() == [3, 3]\n"
        "module.scale = 4.0\n"
        "assert step(tl.ones(2)).tolist() == [4, 4]\n"
        "assert module(tl.ones(2)).tolist() == [4, 4]\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "py")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
