"""Hooks around steps and states of optimisers."""

from __future__ import annotations

import copy

import pytest

import tallow as tl
from tallow import nn, optim

from .one_parameter import stepping

pytestmark = pytest.mark.usefixtures("usual_device")


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
