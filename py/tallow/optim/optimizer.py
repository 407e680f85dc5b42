"""`Optimizer`: what all optimisers share, with torch.optim's interface.

Settings that may change, such as the learning rate, are variables on the device and are read by the
step as its state. So under `@tl.jit` a schedule compiles nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import functions as f
from ..autodiff.history import enable_grad, no_grad
from ..errors import OptionError
from ..nn.parameter import Parameter
from ..runtime.variable import Variable, assign_together
from ..tensor import Tensor, asarray

Params = Iterable[Parameter] | Iterable[Mapping[str, Any]]
Closure = Callable[[], Tensor]


class Group(dict[str, Any]):
    """The settings of some parameters, and the parameters under "params".

    A setting that is a float has a variable beside it, which `tensor` gives to a step.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self._variables: dict[str, Variable] = {}
        for name, value in settings.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if isinstance(value, float) and name in self._variables:
            self._variables[name].assign(value)

    def update(self, other: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Sets several settings."""
        for name, value in other.items():
            self[name] = value

    def tensor(self, name: str) -> Tensor:
        """A setting as a tensor without axes, which follows later changes of the setting."""
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = Variable(float(self[name]), name=name)
        return Tensor(found.node)


class Optimizer:
    """The base of all optimisers. A subclass defines `_update`.

    params: parameters, or dicts with "params" and settings of their own. defaults: the settings.
    Raises OptionError if there are no parameters, or if one is given twice.
    """

    def __init__(self, params: Params, defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self.state: dict[int, dict[str, Variable]] = {}
        given: list[Any] = list(params)
        if not given:
            raise OptionError(f"{type(self).__name__}: there are no parameters to optimise")
        groups = given if isinstance(given[0], Mapping) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Adds parameters, with settings of their own where the dict has them."""
        own = param_group["params"]
        params = [own] if isinstance(own, Variable) else list(own)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Variable):
                raise OptionError(
                    f"{type(self).__name__}: optimises parameters, not {type(parameter).__name__}; "
                    "make an nn.Parameter of it"
                )
            if id(parameter) in known:
                raise OptionError(f"{type(self).__name__}: {parameter!r} is given twice")
            known.add(id(parameter))
        settings = {**self.defaults, **param_group, "params": params}
        self.param_groups.append(Group(settings))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients; with set_to_none False they become 0."""
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None if set_to_none or p.grad is None else p.grad * 0.0

    def step(self, closure: Closure | None = None) -> Tensor | None:
        """Changes every parameter that has a gradient; all of them in one computation.

        closure: computes the loss anew, with its gradients; the step gives its result.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        pairs: list[tuple[Variable, Tensor]] = []
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    gradient = p.grad
                    if gradient is not None:
                        pairs += self._update(group, p, self._ascent(group, gradient))
        assign_together(pairs)
        return loss

    def _update(
        self, group: Group, p: Parameter, gradient: Tensor
    ) -> Sequence[tuple[Variable, Tensor]]:
        """The new values of a parameter and of its state."""
        raise OptionError(f"{type(self).__name__} does not define _update()")

    @staticmethod
    def _ascent(group: Group, gradient: Tensor) -> Tensor:
        return -gradient if group.get("maximize") else gradient

    def _state(self, p: Parameter, name: str, initial: Any = None) -> Variable:
        """A variable that belongs to a parameter; zeros in its shape at first."""
        own = self.state.setdefault(p.number, {})
        if name not in own:
            first = f.zeros(p.shape, p.dtype) if initial is None else initial
            own[name] = Variable(first, device=p.stored_on, name=f"{p.name} {name}")
        return own[name]

    def _count(self, p: Parameter) -> tuple[Variable, Tensor]:
        """How many steps a parameter has taken, and that number after this step, in float32."""
        variable = self._state(p, "step", 0.0)
        return variable, variable + 1.0

    # ---- state ---------------------------------------------------------------------------------

    def _numbered(self) -> list[Parameter]:
        return [p for group in self.param_groups for p in group["params"]]

    def state_dict(self) -> dict[str, Any]:
        """{"state": by the number of each parameter, "param_groups": settings}, as in PyTorch."""
        order = self._numbered()
        numbers = {p.number: n for n, p in enumerate(order)}
        state = {
            numbers[key]: {name: Tensor(v.node).detach() for name, v in own.items()}
            for key, own in self.state.items()
        }
        groups = [
            {**group, "params": [numbers[p.number] for p in group["params"]]}
            for group in self.param_groups
        ]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`. Raises OptionError if its groups are of other sizes."""
        groups = state_dict["param_groups"]
        sizes = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in groups] != sizes:
            raise OptionError(
                f"load_state_dict: groups of {[len(g['params']) for g in groups]} parameters; "
                f"this optimiser has {sizes}"
            )
        for own, given in zip(self.param_groups, groups, strict=True):
            own.update({name: value for name, value in given.items() if name != "params"})
        order = self._numbered()
        for number, values in state_dict["state"].items():
            p = order[int(number)]
            for name, value in values.items():
                tensor = asarray(value)
                self._state(p, name, tensor).assign(tensor)

    def __repr__(self) -> str:
        lines = [
            f"  group {n}: " + ", ".join(f"{k}={v}" for k, v in g.items() if k != "params")
            for n, g in enumerate(self.param_groups)
        ]
        return "\n".join([f"{type(self).__name__} (", *lines, ")"])


def check(name: str, **limits: tuple[float, float, float]) -> None:
    """OptionError for a setting (value, least, most) that is out of range."""
    for setting, (value, least, most) in limits.items():
        if not least <= value <= most:
            raise OptionError(f"{name}: {setting} must be from {least} to {most}, not {value}")
