"""`Optimizer`: what all optimisers share, with torch.optim's interface.

Settings that change, such as the learning rate, are variables on the device and are read by the
step as its state. So under `@tl.jit` a schedule compiles nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Self

from .. import functions as f
from ..core import context
from ..errors import ArgumentError, OptionError
from ..facts import Fact, Items
from ..grad_mode import enable_grad, no_grad
from ..nn.parameter import Parameter
from ..runtime.jit import Jitted
from ..runtime.variable import Variable, assign_together
from ..tensor import Tensor, asarray
from .group import Group
from .hooks import Hooked
from .leaf import Leaf
from .states import States, fitting, kept
from .steps import Scalars, same_values

Params = Iterable[Tensor] | Iterable[Mapping[str, Any]] | Iterable[tuple[str, Tensor]]
Closure = Callable[[], Tensor]
Changes = Sequence[tuple[Variable, Tensor]]


class Optimizer(Hooked):
    """The base of all optimisers. A subclass defines `_update`.

    params: parameters, or pairs of a name and one, or dicts with "params" and settings of their
    own. Tensors that require a gradient may be among the parameters; a step under `@tl.jit` cannot
    change these. defaults: the settings. Raises OptionError if there are no parameters, or if one
    is given twice.
    """

    param_groups = Fact[list[Group]]()
    _shared: tuple[str, ...] = ("step",)
    """What `_update` keeps of a parameter that is one number, and is the same for all parameters of
    a group that were always stepped together: they share it."""

    def __init__(self, params: Params, defaults: Mapping[str, Any]) -> None:
        super().__init__()
        self.defaults = dict(defaults)
        self.param_groups = Items()
        self._leaves: dict[int, Leaf] = {}  # of the parameters that are plain tensors, by identity
        self._steps: dict[str | None, Jitted] = {}  # by device
        self.state = States(self._leaves)
        self._firsts: dict[int, Tensor] = {}  # what variables of the state began with
        self._alike: Mapping[int, Hashable] = {}  # what is equal for parameters that share numbers
        self._skipped: Tensor | None = None
        self._scalars = Scalars(self._shared)
        if isinstance(params, Tensor):
            raise ArgumentError(
                f"{type(self).__name__}: the parameters must be a list, not one "
                f"{type(params).__name__}; put it into [ ]"
            )
        given: list[Any] = list(params)
        if not given:
            raise OptionError(
                f"{type(self).__name__}: there are no parameters to optimise; give those of a "
                "module, model.parameters()"
            )
        ordered = params if isinstance(params, set) else given
        groups = given if isinstance(given[0], Mapping) else [{"params": ordered}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Adds parameters, with settings of their own where the dict has them. Raises OptionError
        for a dict without "params", and for what is no parameter or is given twice."""
        if not isinstance(param_group, Mapping) or "params" not in param_group:
            raise OptionError(
                f"{type(self).__name__}: a group is a dict with the parameters under 'params', "
                f"not {param_group!r:.80}"
            )
        own = param_group["params"]
        if isinstance(own, set):
            raise OptionError(
                f"{type(self).__name__}: the parameters are a set, whose order is another one in "
                "each run; give a list"
            )
        params: list[Any] = [own] if isinstance(own, Tensor) else list(own)
        names = [each[0] for each in params if isinstance(each, tuple)]
        named: dict[str, Any] = {"param_names": names} if names else {}
        others = ["param_names" in group for group in self.param_groups]
        has_names = "param_names" in {**param_group, **named}
        if len(names) not in (0, len(params)) or (not has_names) in others:
            raise OptionError(
                f"{type(self).__name__}: give all parameters with a name, or all without"
            )
        params = [each[1] if isinstance(each, tuple) else each for each in params]
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise OptionError(
                    f"{type(self).__name__}: optimises parameters, not {type(parameter).__name__}; "
                    "make an nn.Parameter of it"
                )
            self._own(parameter)
            if id(parameter) in known:
                raise OptionError(f"{type(self).__name__}: {parameter.described()} is given twice")
            known.add(id(parameter))
        settings = {**self.defaults, **param_group, **named, "params": params}
        self.param_groups.append(Group(type(self).__name__, settings))

    def _own(self, p: Tensor) -> Parameter:
        """A parameter of a group as steps see it. Raises OptionError for a tensor that receives no
        gradient."""
        if isinstance(p, Variable):
            return p  # type: ignore[return-value]  # a step needs no more of a parameter
        found = self._leaves.get(id(p))
        if found is None:
            found = self._leaves[id(p)] = Leaf(p, type(self).__name__)
        return found

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clears the gradients; with set_to_none False they become 0."""
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None if set_to_none or p.grad is None else f.zeros_like(p)

    def step(self, closure: Closure | None = None) -> Tensor | None:
        """Changes every parameter that has a gradient; all of them in one computation.

        closure: computes the loss anew, with its gradients; the step gives its result.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            (self._compiled() or self._changed)()
        return loss

    # Why: docs/decisions/jit.md, "A step of an optimiser outside of `@tl.jit` is a plan all the
    # same"
    def _compiled(self) -> Jitted | None:
        """A step as one plan, which is found again without being built; None in a function that is
        being traced, and for parameters that are plain tensors or on several devices."""
        if context.trace.get() is not None or self._skipped is not None or self._leaves:
            return None
        devices = {p.stored_on for p in self._numbered()}
        if len(devices) != 1:
            return None
        (device,) = devices
        found = self._steps.get(device)
        if found is None:
            found = self._steps[device] = Jitted(self._changed, frozenset(), device)
        return found

    def _changed(self) -> None:
        """Changes every parameter that has a gradient."""
        pairs: list[tuple[Variable, Tensor]] = []
        with no_grad():
            stepped = [
                (number, group, p, gradient)
                for number, group in enumerate(self.param_groups)
                for p in map(self._own, group["params"])
                if (gradient := p.grad) is not None
            ]
            if not stepped:
                return
            self._begin({p.number: (number, p.stored_on) for number, _, p, _ in stepped})
            for _, group, p, gradient in stepped:
                pairs += self._update(group, p, self._ascent(group, gradient))
            pairs = list({variable.number: (variable, new) for variable, new in pairs}.values())
            # Settings are float32, and so are sums of them with a parameter of float16.
            pairs = [(variable, value.astype(variable.dtype)) for variable, value in pairs]
            if self._skipped is not None:
                pairs = [(v, f.where(self._skipped, Tensor(v.node), new)) for v, new in pairs]
            assign_together(pairs)

    def step_unless(self, skipped: Tensor) -> Tensor | None:
        """A step that changes nothing if `skipped`, a tensor of one truth value, is true. Nothing
        is read back from the device for that, so that it can be part of a plan; except for an
        optimiser with a `step` of its own, which is not asked to step then."""
        if self._keeps_its_own_state:
            return None if skipped.item() else self.step()
        self._skipped = skipped
        try:
            return self.step()
        finally:
            self._skipped = None

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        """The new values of a parameter and of its state."""
        raise OptionError(f"{type(self).__name__} does not define _update()")

    @property
    def _keeps_its_own_state(self) -> bool:
        """Whether a subclass defines `step`, and what its state is, instead of `_update`."""
        return type(self)._update is Optimizer._update

    @staticmethod
    def _ascent(group: Group, gradient: Tensor) -> Tensor:
        return -gradient if "maximize" in group and group.fixed("maximize") else gradient

    def _state(self, p: Parameter, name: str, initial: object = None) -> Variable:
        """A variable that belongs to a parameter; zeros in its shape at first."""
        own = self.state.setdefault(p.number, {})
        if name not in own or own[name].number not in self._firsts:  # none, or one of a state_dict
            first = asarray(f.zeros(p.shape, p.dtype) if initial is None else initial)
            self._firsts[self._variable(p, name, first).number] = first
        found: Variable = own[name]
        return found

    def _variable(self, p: Parameter, name: str, value: Tensor) -> Variable:
        """The variable of this name that belongs to a parameter, or a new one with this value."""
        own = self.state.setdefault(p.number, {})
        if name not in own:
            make = partial(Variable, value, device=p.stored_on, name=f"{p.name} {name}")
            if name in self._shared:
                others = (own[each].number for each in self._shared if each in own)
                alike = self._alike.get(p.number, p.number)
                own[name] = self._scalars.new((alike, *others), name, make)
            else:
                own[name] = make()
        found: Variable = own[name]
        return found

    def _begin(self, alike: Mapping[int, Hashable]) -> None:
        """Begins a step, or a loading. alike: equal for parameters to which the same is done, by
        their numbers."""
        self._alike = alike
        for variable, copy in self._scalars.begin(self.state, alike.get):
            if variable.number in self._firsts:
                self._firsts[copy.number] = self._firsts[variable.number]

    def _count(self, p: Parameter) -> tuple[Variable, Tensor]:
        """How many steps a parameter has taken, and that number after this step, in float32.
        Parameters of a group that were always stepped together have one variable for it."""
        variable = self._state(p, "step", 0.0)
        return variable, variable + 1.0

    # ---- state ---------------------------------------------------------------------------------

    def _numbered(self) -> list[Parameter]:
        return [self._own(p) for group in self.param_groups for p in group["params"]]

    def state_dict(self) -> dict[str, Any]:
        """{"state": by the number of each parameter, "param_groups": settings}, as in PyTorch."""
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self)
        order = self._numbered()
        numbers = {p.number: n for n, p in enumerate(order)}
        state = {
            numbers[key]: {name: kept(value) for name, value in own.items()}
            for key, own in self.state.items()
        }
        groups = [
            {**group, "params": [numbers[self._own(p).number] for p in group["params"]]}
            for group in self.param_groups
        ]
        found: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in list(self._state_dict_post_hooks.values()):
            given = hook(self, found)
            found = found if given is None else given
        return found

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`, of this library or of PyTorch. Raises OptionError if it is
        none, or if its groups or what it keeps of a parameter are of other sizes; nothing is
        changed then."""
        if isinstance(state_dict, Mapping):
            state_dict = dict(state_dict)
        for hook in list(self._load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= set(state_dict):
            raise OptionError(
                "load_state_dict: an optimiser's state is a dict with 'state' and 'param_groups', "
                f"not {state_dict!r:.80}"
            )
        groups = state_dict["param_groups"]
        if not all(isinstance(g, Mapping) and "params" in g for g in groups):
            raise OptionError("load_state_dict: each of 'param_groups' is a dict with 'params'")
        sizes = [len(group["params"]) for group in self.param_groups]
        given_sizes = [len(group["params"]) for group in groups]
        if given_sizes != sizes:
            raise OptionError(
                f"load_state_dict: groups of {given_sizes} parameters; this optimiser has {sizes}"
            )
        if context.trace.get():
            raise OptionError("load_state_dict: call it outside of functions under @tl.jit")
        loaded = [{k: v for k, v in given.items() if k != "params"} for given in groups]
        for own, given in zip(self.param_groups, loaded, strict=True):
            for name, value in given.items():
                own.check(name, value)
        order = self._numbered()
        # The dict numbers the parameters by its own groups.
        numbers = [number for group in groups for number in group["params"]]
        of = {str(number): p for number, p in zip(numbers, order, strict=True)}
        for number, values in state_dict["state"].items():
            if str(number) not in of:
                raise OptionError(f"load_state_dict: state of {number!r}, which is in no group")
            self._check_state(of[str(number)], number, values)
        given_state = {of[str(n)].number: values for n, values in state_dict["state"].items()}
        for own, given in zip(self.param_groups, loaded, strict=True):
            own.update(given)
        given_state = {p.number: self._given(given_state.get(p.number, {})) for p in order}
        if not self._keeps_its_own_state:
            self._begin({
                p.number: (number, p.stored_on, same_values(given_state[p.number], self._shared))
                for number, group in enumerate(self.param_groups)
                for p in map(self._own, group["params"])
            })  # fmt: skip
        for p in order:
            self._load_state(p, given_state[p.number])
        for hook in list(self._load_state_dict_post_hooks.values()):
            hook(self)

    def _check_state(self, p: Parameter, number: object, values: Mapping[str, Any]) -> None:
        """OptionError if what is kept of a parameter is neither a number nor of its shape."""
        if self._keeps_its_own_state:
            return
        for name, value in values.items():
            shape = tuple(getattr(value, "shape", ()))
            if shape not in ((), p.shape):
                raise OptionError(
                    f"load_state_dict: {name!r} of parameter {number} has the shape {shape}, the "
                    f"parameter {p.shape}; the order of parameters may be another one"
                )

    def _given(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a step keeps of a parameter, from what a `state_dict` has of it."""
        return values

    def _load_state(self, p: Parameter, values: Mapping[str, Any]) -> None:
        """Gives the variables of a parameter these values; the others what they began with. They
        stay the same variables, since compiled steps have them as their state."""
        if self._keeps_its_own_state:
            self.state[p] = {name: fitting(p, name, value) for name, value in values.items()}
            return
        given = {name: value for name, value in values.items() if value is not None}
        for name, value in given.items():
            # Older files of PyTorch have numbers where there are tensors now.
            tensor = fitting(p, name, asarray(value))
            variable = self._variable(p, name, tensor)
            variable.assign(tensor.astype(variable.dtype))
        for name, variable in list(self.state.get(p.number, {}).items()):
            if name in given:
                continue
            first = self._firsts.get(variable.number)
            if first is None:  # no step has used it yet
                del self.state[p.number][name]
            else:
                variable.assign(first.astype(variable.dtype))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another optimiser with copies of the parameters, those of a model that is copied together
        with it, and of what is kept of them."""
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        Hooked.__init__(copied)  # PyTorch's copies have no hooks either
        apart = ("param_groups", "state", "_firsts", "_leaves", "_steps", "_scalars", *vars(copied))
        rest = {name: value for name, value in vars(self).items() if name not in apart}
        vars(copied).update(deepcopy(rest, memo))
        copied._leaves, copied._steps, copied._firsts = {}, {}, {}
        copied.param_groups, copied.state = Items(), States(copied._leaves)
        copied._scalars = Scalars(copied._shared)
        for group in self.param_groups:
            settings = {name: deepcopy(v, memo) for name, v in group.items() if name != "params"}
            settings["params"] = [deepcopy(p, memo) for p in group["params"]]
            copied.param_groups.append(Group(type(self).__name__, settings))
        numbers = [p.number for p in self._numbered()]
        for number, p in zip(numbers, copied._numbered(), strict=True):
            if number not in self.state:
                continue
            own = copied.state[p] = deepcopy(self.state[number], memo)
            for name, value in self.state[number].items():
                if isinstance(value, Variable) and value.number in self._firsts:
                    copied._firsts[own[name].number] = self._firsts[value.number]
        return copied

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([f"{type(self).__name__} (", *lines, ")"])
