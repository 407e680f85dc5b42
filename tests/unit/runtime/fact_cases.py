"""Functions under `@tl.jit`, what they read, and how that changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import tallow as tl
from tallow import nn, optim
from tallow.nn.utils import parametrize

X = np.array([[1.0, -2.0], [3.0, 4.0]], np.float32)


def nothing() -> None:
    pass


@dataclass
class Case:
    """What a function reads. change: sets it to something else; back: to what it was. reset: gives
    states the values with which a call begins."""

    function: Callable[[tl.Tensor], Any]
    change: Callable[[], Any]
    back: Callable[[], Any]
    reset: Callable[[], Any] = nothing


def attribute(owner: Any, name: str, value: Any, **options: Any) -> Case:
    """A case in which an attribute of a module is set."""
    before = getattr(owner, name)
    return Case(owner, partial(setattr, owner, name, value), partial(setattr, owner, name, before),
                **options)  # fmt: skip


class Scaled(nn.Module):
    """A user's module, whose attributes are of many kinds."""

    power = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.scale: Any = 2.0
        self.layers = [nn.Linear(2, 2)]
        self.table: dict[str, Any] = {"shift": 1.0}
        self.mask = tl.asarray([1.0, 0.5])
        self.act: Any = nn.functional.softplus
        self.other = 0
        self.register_buffer("shift", tl.asarray([1.0, 2.0]))

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        y = self.layers[0](x) * self.scale**self.power + self.shift
        return self.helped(self.act(y) * self.mask + self.table["shift"] + self.twice)

    def helped(self, x: tl.Tensor) -> tl.Tensor:
        return x if getattr(self, "whole", True) else x[:1]

    @property
    def twice(self) -> float:
        return 2.0 * self.other


def on_class(name: str, value: Any) -> Case:
    """Something that is found on the class of a module."""
    kind: Any = type("Own", (Scaled,), {"power": 1.0})
    there = name in vars(kind)
    before = vars(kind).get(name)
    back = partial(setattr, kind, name, before) if there else partial(delattr, kind, name)
    return Case(kind(), partial(setattr, kind, name, value), back)


def in_table() -> Case:
    model = Scaled()
    return Case(model, partial(model.table.update, shift=3.0),
                partial(model.table.update, shift=1.0))  # fmt: skip


def in_list() -> Case:
    model, before, other = Scaled(), None, nn.Linear(2, 2)
    before = model.layers[0]
    return Case(model, partial(model.layers.__setitem__, 0, other),
                partial(model.layers.__setitem__, 0, before))  # fmt: skip


def absent() -> Case:
    model = Scaled()
    return Case(model, partial(setattr, model, "whole", False), partial(delattr, model, "whole"))


def module_where_none_was() -> Case:
    class Net(nn.Module):
        def forward(self, x: tl.Tensor) -> tl.Tensor:
            extra = getattr(self, "extra", None)
            return x if extra is None else extra(x)

    model = Net()
    return Case(model, partial(setattr, model, "extra", nn.Linear(2, 2)),
                partial(delattr, model, "extra"))  # fmt: skip


def forward_of_the_instance() -> Case:
    model: Any = nn.Linear(2, 2)
    return Case(model, partial(setattr, model, "forward", lambda x: x * 3.0),
                partial(delattr, model, "forward"))  # fmt: skip


def forward_of_a_class_of_ours() -> Case:
    before = nn.Tanh.forward
    return Case(nn.Tanh(), partial(setattr, nn.Tanh, "forward", lambda self, x: x * 3.0),
                partial(setattr, nn.Tanh, "forward", before))  # fmt: skip


def buffer_of(how: str) -> Case:
    model = Scaled()
    before = model.shift

    def change() -> None:
        value = tl.asarray([5.0, 6.0])
        if how == "attribute":
            model.shift = value
        else:
            model.register_buffer("shift", value)

    return Case(model, change, partial(setattr, model, "shift", before))


def running(name: str, value: Any) -> Case:
    layer = nn.BatchNorm1d(2)

    def function(x: tl.Tensor) -> Any:
        return layer(x), layer.running_mean + 0.0, layer.running_var + 0.0

    case = attribute(layer, name, value, reset=layer.reset_running_stats)
    case.function = function
    return case


def type_of_parameters() -> Case:
    model = nn.Linear(2, 2)
    nn.init.constant_(model.weight, 0.1)
    nn.init.zeros_(model.bias)

    def function(x: tl.Tensor) -> tl.Tensor:
        return (model.weight * 2.0).astype("float32") + x

    return Case(function, partial(model.to, "float16"), partial(model.to, "float32"))


def gradient(
    frozen: bool = False,
    hook: Callable[[Any], Any] | None = None,
    register: str = "register_hook",
) -> Case:
    weight = nn.Parameter(np.ones(2, np.float32))
    handles: list[Any] = []

    def function(x: tl.Tensor) -> Any:
        weight.grad = None
        (x * weight * (2.0 * x)).sum().backward() if weight.requires_grad else None
        return x * 0.0 if weight.grad is None else weight.grad

    def change() -> None:
        if frozen:
            weight.requires_grad = False
        else:
            handles.append(getattr(weight, register)(hook))

    def back() -> None:
        if frozen:
            weight.requires_grad = True
        else:
            handles.pop().remove()

    return Case(function, change, back)


def hook_of_a_module(kind: str) -> Case:
    model, handles = nn.Linear(2, 2), []
    hooks = {
        "register_forward_pre_hook": lambda module, args: (args[0] * 2.0,),
        "register_forward_hook": lambda module, args, result: result * 2.0,
        "register_full_backward_pre_hook": lambda module, gradient: (gradient[0] * 2.0,),
        "register_full_backward_hook": lambda module, given, gradient: (given[0] * 2.0,),
    }

    def function(x: tl.Tensor) -> Any:
        y = (x * 1.0).requires_grad_()
        result = model(y)
        (result * result).sum().backward()
        found, model.weight.grad, model.bias.grad = y.grad, None, None
        return result, found

    return Case(function, lambda: handles.append(getattr(model, kind)(hooks[kind])),
                lambda: handles.pop().remove())  # fmt: skip


def group(name: str, value: Any) -> Case:
    first, second = (nn.Parameter(np.ones(2, np.float32)) for _ in range(2))
    optimizer = optim.SGD([first, second], lr=0.1)

    def function(x: tl.Tensor) -> Any:
        optimizer.zero_grad()
        ((x * first).sum() - (x * second).sum()).backward()
        optimizer.step()
        return first + 0.0, second + 0.0

    def reset() -> None:
        first.assign([1.0, 2.0])
        second.assign([3.0, 4.0])

    (settings,) = optimizer.param_groups
    if name == "params":
        listed = settings["params"]
        return Case(function, lambda: listed.pop(), lambda: listed.append(second), reset)
    if name == "param_groups":
        groups = optimizer.param_groups
        return Case(function, lambda: groups.pop(), lambda: groups.append(settings), reset)
    before = settings[name]
    return Case(function, partial(settings.__setitem__, name, value),
                partial(settings.__setitem__, name, before), reset)  # fmt: skip


def scaler(name: str, value: Any) -> Case:
    weight = nn.Parameter(np.ones(2, np.float32))
    optimizer, scaler = optim.SGD([weight], lr=0.1), tl.amp.GradScaler(growth_interval=1)
    start = scaler.state_dict()

    def function(x: tl.Tensor) -> Any:
        optimizer.zero_grad()
        scaler.scale((x * weight).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        return scaler.scale(weight.detach())

    given = dict(start)

    def reset() -> None:
        scaler.load_state_dict({**given, "scale": 4.0})
        weight.assign([1.0, 2.0])

    infinite = np.full_like(X, np.inf)
    return Case(
        lambda x: function(x if name != "backoff_factor" else x * tl.asarray(infinite)),
        lambda: given.update({name: value}),
        lambda: given.update({name: start[name]}),
        reset,
    )


def hook_of_a_step() -> Case:
    case = group("maximize", True)
    weight = nn.Parameter(np.ones(2, np.float32))
    optimizer, handles = optim.SGD([weight], lr=0.1), []

    def function(x: tl.Tensor) -> Any:
        optimizer.zero_grad()
        (x * weight).sum().backward()
        optimizer.step()
        return weight + 0.0

    def twice(*_: Any) -> None:
        weight.grad = tl.asarray(weight.grad) * 2.0

    case.function, case.reset = function, lambda: weight.assign([1.0, 2.0])
    case.change = lambda: handles.append(optimizer.register_step_pre_hook(twice))
    case.back = lambda: handles.pop().remove()
    return case


def part(kind: str) -> Case:
    """Another module or parameter in a container."""
    held: Any = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    if kind == "parameters":
        held = nn.ParameterDict({"0": tl.asarray([1.0, 2.0])})
        before, other = held["0"], nn.Parameter(np.ones(2, np.float32))
        return Case(lambda x: x * held["0"], partial(held.__setitem__, "0", other),
                    partial(held.__setitem__, "0", before))  # fmt: skip
    if kind == "removed":
        last = held[1]
        return Case(lambda x: [layer(x) for layer in held], partial(held.pop, 1),
                    lambda: held.append(last))  # fmt: skip
    layer = nn.Linear(2, 2)
    before, other = layer.weight, nn.Parameter(np.ones((2, 2), np.float32))
    return Case(layer, partial(setattr, layer, "weight", other),
                partial(setattr, layer, "weight", before))  # fmt: skip


def parametrized() -> Case:
    layer = nn.Linear(2, 2)

    class Doubled(nn.Module):
        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return x * 2.0

    return Case(layer, lambda: parametrize.register_parametrization(layer, "weight", Doubled()),
                lambda: parametrize.remove_parametrizations(layer, "weight", False))  # fmt: skip


CASES: dict[str, Callable[[], Case]] = {
    "dropout.p": lambda: attribute(nn.Dropout(0.0), "p", 1.0),
    "norm.eps": lambda: attribute(nn.LayerNorm(2), "eps", 3.0),
    "training": lambda: running("training", False),
    "bn.momentum": lambda: running("momentum", 0.5),
    "bn.eps": lambda: running("eps", 2.0),
    "buffer by attribute": lambda: buffer_of("attribute"),
    "buffer by register_buffer": lambda: buffer_of("register_buffer"),
    "plain attribute": lambda: attribute(Scaled(), "scale", 5.0),
    "attribute of another type": lambda: attribute(Scaled(), "scale", tl.asarray([3.0, 4.0])),
    "plain function": lambda: attribute(Scaled(), "act", nn.functional.sigmoid),
    "plain tensor": lambda: attribute(Scaled(), "mask", tl.asarray([0.25, 4.0])),
    "behind a property": lambda: attribute(Scaled(), "other", 3),
    "attribute that is not there": absent,
    "module where none was": module_where_none_was,
    "dict of a module": in_table,
    "module in a plain list": in_list,
    "constant of the class": lambda: on_class("power", 2.0),
    "method of the class": lambda: on_class("helped", lambda self, x: x * 7.0),
    "property of the class": lambda: on_class("twice", property(lambda self: 9.0)),
    "forward of the class": lambda: on_class("forward", lambda self, x: x * 7.0),
    "forward of a class of Tallow's": forward_of_a_class_of_ours,
    "forward of the instance": forward_of_the_instance,
    "attribute instead of the class's": lambda: Case(
        model := Scaled(), partial(setattr, model, "power", 2.0), partial(delattr, model, "power")
    ),
    "type of parameters": type_of_parameters,
    "requires_grad": lambda: gradient(frozen=True),
    "hook of a gradient": lambda: gradient(hook=lambda g: g * 2.0),
    "hook of an added gradient": lambda: gradient(
        hook=lambda weight: setattr(weight, "grad", weight.grad * 2.0),
        register="register_post_accumulate_grad_hook",
    ),
    "forward_pre_hook": lambda: hook_of_a_module("register_forward_pre_hook"),
    "forward_hook": lambda: hook_of_a_module("register_forward_hook"),
    "backward_pre_hook": lambda: hook_of_a_module("register_full_backward_pre_hook"),
    "backward_hook": lambda: hook_of_a_module("register_full_backward_hook"),
    "maximize": lambda: group("maximize", True),
    "weight_decay": lambda: group("weight_decay", 0.5),
    "parameters of a group": lambda: group("params", None),
    "groups": lambda: group("param_groups", None),
    "hook of a step": hook_of_a_step,
    "growth_factor": lambda: scaler("growth_factor", 16.0),
    "backoff_factor": lambda: scaler("backoff_factor", 0.25),
    "growth_interval": lambda: scaler("growth_interval", 5),
    "parameter": lambda: part("parameter"),
    "parameter in a dict": lambda: part("parameters"),
    "module less": lambda: part("removed"),
}


def values(found: Any) -> list[np.ndarray]:
    return [each.numpy() for each in (found if isinstance(found, (tuple, list)) else [found])]


def check(case: Case, jitted: Any, plans: int) -> list[np.ndarray]:
    """The compiled function gives what the function gives, twice, with so many plans."""
    case.reset()
    expected = values(case.function(tl.asarray(X)))
    for _ in range(2):
        case.reset()
        found = values(jitted(tl.asarray(X)))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert jitted.plans == plans
    return expected
