"""What a function changes itself while it is traced, and what other threads change."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from tests.unit.runtime.fact_cases import Case, Scaled, X, check, nothing, values

import tallow as tl
from tallow import nn


def test_a_function_that_changes_what_it_read() -> None:
    class Net(nn.Module):
        calls = 0

        def forward(self, x: tl.Tensor) -> tl.Tensor:
            self.calls += 1
            return x * self.calls

    model = Net()
    jitted = tl.jit(lambda x: model(x), device="numpy")
    with pytest.raises(tl.TracingError, match=r"test_facts.*read Net\.calls, which was 0.* to 1 "):
        jitted(tl.asarray(X))
    model = Net()
    model.calls = 3
    with pytest.raises(tl.TracingError, match=r"Net\.calls, which was 3, and it set it to 4"):
        jitted(tl.asarray(X))
    assert jitted.plans == 0


def test_a_list_that_a_function_fills() -> None:
    model = Scaled()

    def function(x: tl.Tensor) -> tl.Tensor:
        model.layers.append(nn.Linear(2, 2))
        return x

    with pytest.raises(tl.TracingError, match=r"Scaled\.layers, which was a list of 1.*list of 2"):
        tl.jit(function, device="numpy")(tl.asarray(X))


def test_a_mode_and_a_part_that_a_function_changes() -> None:
    model = nn.Sequential(nn.Dropout(0.5))

    def mode(x: tl.Tensor) -> tl.Tensor:
        y = model(x)
        model.eval()
        return y + model(x)

    with pytest.raises(tl.TracingError, match=r"Dropout\.training, which was True.*to False"):
        tl.jit(mode, device="numpy")(tl.asarray(X))
    model.train()

    def more(x: tl.Tensor) -> tl.Tensor:
        y = model(x)
        model.append(nn.ReLU())
        return y

    with pytest.raises(tl.TracingError, match=r"Sequential\._modules"):
        tl.jit(more, device="numpy")(tl.asarray(X))


def test_a_parameter_that_a_function_freezes() -> None:
    weight = nn.Parameter(X)

    def function(x: tl.Tensor) -> tl.Tensor:
        y = x * weight
        weight.requires_grad = False
        return y

    with pytest.raises(tl.TracingError, match=r"Parameter\.requires_grad, which was True"):
        tl.jit(function, device="numpy")(tl.asarray(X))


def test_another_thread_changes_what_was_read() -> None:
    model = Scaled()

    def change(value: float) -> None:
        thread = threading.Thread(target=setattr, args=(model, "scale", value))
        thread.start()
        thread.join()

    def once(x: tl.Tensor) -> tl.Tensor:
        y = x * model.scale
        change(3.0)
        return y

    with pytest.raises(tl.TracingError, match=r"Scaled\.scale, which was 2\.0.*another thread"):
        tl.jit(once, device="numpy")(tl.asarray(X))

    def there_and_back(x: tl.Tensor) -> tl.Tensor:
        y = x * model.scale
        change(4.0)
        y = y * model.scale
        change(3.0)
        return y

    with pytest.raises(tl.TracingError, match=r"which was 3\.0.*set it to 4\.0"):
        tl.jit(there_and_back, device="numpy")(tl.asarray(X))


def test_another_thread_reads_and_changes_what_was_not_read() -> None:
    model, seen = Scaled(), []

    def beside() -> None:
        model.note = 1
        seen.append((model.scale, model.note))

    def function(x: tl.Tensor) -> tl.Tensor:
        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
        return x + 1.0

    jitted = tl.jit(function, device="numpy")
    jitted(tl.asarray(X))
    model.note, model.scale = 2, 9.0
    jitted(tl.asarray(X))
    assert seen == [(2.0, 1)] and jitted.plans == 1


def test_setting_first_an_equal_value_or_the_old_one_again_is_allowed() -> None:
    model = Scaled()

    def function(x: tl.Tensor) -> tl.Tensor:
        model.note = 1  # set first
        model.note += 1
        y = model(x) * model.note
        model.scale = 2.0  # as it is
        model.other = 5
        y = y + model(x)
        model.other = 0  # as it was
        return y + model(x)

    case = Case(function, nothing, nothing)
    jitted = tl.jit(function, device="numpy")
    check(case, jitted, 1)
    model.note = 7
    check(case, jitted, 1)
    model.scale = 3.0
    with pytest.raises(tl.TracingError, match=r"Scaled\.scale"):
        jitted(tl.asarray(X))


def test_layers_that_change_themselves(device: str) -> None:
    model = nn.Sequential(nn.LazyLinear(2), nn.LazyBatchNorm1d())
    model.eval()
    jitted = tl.jit(lambda x: model(x))
    jitted(tl.asarray(X))
    assert type(model[0]) is nn.Linear and jitted.plans == 1
    jitted(tl.asarray(X))
    assert jitted.plans == 1
    model[0].register_parameter("bias", None)
    check(Case(model, nothing, nothing), jitted, 2)


def test_functional_call_is_no_change(device: str) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    inner = tl.jit(lambda x: model(x))

    def function(x: tl.Tensor) -> Any:
        given = {name: p * 2.0 for name, p in model.named_parameters()}
        return tl.func.functional_call(model, given, x), model(x)

    jitted = tl.jit(function)
    case = Case(function, nothing, nothing)
    check(case, jitted, 1)
    check(Case(model, nothing, nothing), inner, 1)
    values(function(tl.asarray(X)))
    check(case, jitted, 1)
    check(Case(model, nothing, nothing), inner, 1)
    model[0].weight = nn.Parameter(X)
    check(case, jitted, 2)
    check(Case(model, nothing, nothing), inner, 2)
    model[2].weight.assign(model[2].weight * 3.0)
    check(case, jitted, 2)


def test_a_compiled_function_within_functional_call(device: str) -> None:
    """It was compiled for the parameters that the module has otherwise."""
    layer = nn.Linear(2, 2)
    inner = tl.jit(layer.forward)
    inner(tl.asarray(X))
    given = {"weight": tl.asarray(X), "bias": tl.asarray([1.0, 2.0])}

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return inner(x)

    found = tl.func.functional_call(
        Outer(), {f"layer.{n}": v for n, v in given.items()}, tl.ones(2)
    )
    np.testing.assert_allclose(found.numpy(), X.sum(1) + np.array([1.0, 2.0]))
    np.testing.assert_allclose(inner(tl.ones(2)).numpy(), layer(tl.ones(2)).numpy(), rtol=1e-5)
