"""A program is given its states once, and again when one of them has moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core.drivers import run_sync
from tallow.devices.numpy import runner
from tallow.devices.numpy.runner import NumpyProgram
from tallow.runtime import eager


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many states each call of `use_states` brought."""
    counts: list[int] = []
    use_states = NumpyProgram.use_states

    def counted(self: NumpyProgram, states: Any) -> None:
        counts.append(len(states))
        use_states(self, states)

    monkeypatch.setattr(NumpyProgram, "use_states", counted)
    return counts


def step_of(v: tl.Variable) -> Callable[[], None]:
    @tl.jit(device="numpy")
    def step() -> None:
        v.assign(v + 1)

    return step


def test_once(given: list[int]) -> None:
    v = tl.Variable(np.zeros(3, np.float32), device="numpy")
    step = step_of(v)
    for _ in range(5):
        step()
    assert given == [1]
    assert v.numpy().tolist() == [5, 5, 5]


def test_again_after_it_moved(given: list[int]) -> None:
    v = tl.Variable(np.zeros(3, np.float32), device="numpy")
    step = step_of(v)
    step()
    v.assign([4.0, 4.0, 4.0])
    step()
    held = +tl.Tensor(v.node)  # reads the value of now, so that the step needs another buffer
    step()
    step()
    assert given == [1, 1, 1]
    assert v.numpy().tolist() == [7, 7, 7]
    assert held.numpy().tolist() == [5, 5, 5]


def test_only_steps_of_what_moved_are_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []
    create = runner.BoundStep

    def counted(numpy: Any, step: Any, *rest: Any) -> Any:
        bound.append(step.name)
        return create(numpy, step, *rest)

    monkeypatch.setattr(runner, "BoundStep", counted)
    weight = tl.Variable(np.eye(100, dtype=np.float32), device="numpy")
    total = tl.Variable(np.zeros(100, np.float32), device="numpy")

    @tl.jit(device="numpy")
    def step(x: tl.Tensor) -> tl.Tensor:
        found = tl.sum(x @ weight, axis=0)
        weight.assign(weight * 2)
        total.assign(total + found)
        return tl.max(found)

    step(tl.ones((3, 100)))
    before = len(bound)
    total.assign(np.zeros(100, np.float32))
    assert float(step(tl.ones((3, 100)))) == 6
    assert 0 < len(bound) - before < before
    assert total.numpy().tolist() == [6] * 100
    assert weight.numpy().trace() == 400


@pytest.mark.parametrize(
    "initial",
    [
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        tl.zeros((2, 3)),
        tl.full((2, 3), 7, dtype="int32"),
        tl.ones((2, 0)),
    ],
    ids=["array", "zeros", "full", "empty"],
)
def test_known_values_need_no_program(monkeypatch: pytest.MonkeyPatch, initial: Any) -> None:
    wanted = initial if isinstance(initial, np.ndarray) else initial.numpy()
    variable = tl.Variable(initial)
    monkeypatch.setattr(eager, "compile_for", None)
    monkeypatch.setattr(eager, "compute", None)
    found = variable.buffer()
    (got,) = run_sync(found.memory.read([found]))
    np.testing.assert_array_equal(got.numpy(), wanted, strict=True)


def test_a_variable_of_an_array_has_a_copy() -> None:
    given = np.zeros(3, np.float32)
    variable = tl.Variable(given)
    variable.buffer()
    given += 1
    assert variable.numpy().tolist() == [0, 0, 0]


def test_a_setting_that_the_host_changes_is_seen_and_one_that_a_program_changes_too(
    device: str,
) -> None:
    rate = tl.Variable(0.5)
    step = tl.jit(lambda x: x * rate)
    fall = tl.jit(lambda: rate.assign(rate * 0.5))
    x = tl.ones(2)
    found = [step(x).tolist()]
    for value in (0.25, 2.0):
        rate.assign(value)
        found.append(step(x).tolist())
    for _ in range(2):
        fall()
        found.append(step(x).tolist())
    rate.assign(8.0)
    found.append(step(x).tolist())
    assert found == [[each] * 2 for each in (0.5, 0.25, 2.0, 1.0, 0.5, 8.0)]


def test_a_schedule_does_not_bind_numpys_steps_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tl.default_device()
    tl.set_default_device("numpy")
    bound: list[int] = []
    bind = NumpyProgram._bind

    def counted(self: NumpyProgram, *given: Any) -> Any:
        bound.append(1)
        return bind(self, *given)

    monkeypatch.setattr(NumpyProgram, "_bind", counted)
    try:
        model = tl.nn.Linear(2, 2)
        optimizer = tl.optim.AdamW(model.parameters(), lr=0.1)
        schedule = tl.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        counts = []
        for _ in range(6):
            optimizer.zero_grad()
            model(tl.ones((3, 2))).sum().backward()
            optimizer.step()
            schedule.step()
            counts.append(len(bound))
        assert counts[-1] == counts[3]
    finally:
        tl.set_default_device(before)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_a_function_gives_a_variable_a_value_that_nothing_computes(device: str) -> None:
    total = tl.Variable(tl.ones((3,)), device=device)

    @tl.jit(device=device)
    def clear() -> None:
        total.assign(tl.zeros((3,)))

    for _ in range(2):
        clear()
        assert total.tolist() == [0, 0, 0]
        total.assign(total + 1)
