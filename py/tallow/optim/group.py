"""`Group`: settings of an optimiser that a compiled step reads as its state."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

from ..core import context
from ..errors import OptionError
from ..facts import Items, Table
from ..runtime.variable import Variable
from ..tensor import Tensor

_FORMS: dict[str, Callable[[float], float]] = {
    "": lambda x: x,
    "1 -": lambda x: 1.0 - x,
    "log": lambda x: math.log(max(x, 1e-300)),  # e to a multiple of that is 0 too
}


class Group(Table[str, Any]):
    """The settings of some parameters, and the parameters under "params".

    A setting that a step reads by `tensor`, `rest` or `log` has a variable beside it, which follows
    later changes: of `group["lr"] = 0.1`, by a schedule for one. What it reads by `fixed` or `used`
    is a constant of compiled steps; when that changes, the step is compiled anew.
    """

    def __init__(self, owner: str, settings: Mapping[str, Any]) -> None:
        super().__init__(owner, "settings", settings)
        self._fit("params", self["params"])
        self._variables: dict[tuple[str, int | None, str], Variable] = {}

    def __setitem__(self, name: str, value: object) -> None:
        if isinstance(value, Tensor):
            value = value.item()
        self.check(name, value)
        self._fit(name, value)
        for (of, index, form), variable in self._variables.items():
            if of == name:
                variable.set_number(self._value(name, index, form))

    def _fit(self, name: str, value: object) -> None:
        """Sets what is checked. Parameters are kept in a list that counts its own changes."""
        if name == "params" and isinstance(value, list) and not isinstance(value, Items):
            value = Items(value)
        super().__setitem__(name, value)

    def update(  # type: ignore[override]
        self, other: Mapping[str, Any] | None = None, /, **settings: object
    ) -> None:
        """Sets several settings."""
        for name, value in {**(other or {}), **settings}.items():
            self[name] = value

    def __ior__(self, other: Mapping[str, Any]) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self

    def check(self, name: str, value: object) -> None:
        """OptionError if a setting cannot be changed to this now."""
        if context.trace.get() and any(of == name for of, _, _ in self._variables):
            raise OptionError(
                f"{self.owner}: {name!r} is set within a function under @tl.jit, which would set "
                "it to the same at each call; set it, or step the schedule, outside of it"
            )

    def _value(self, name: str, index: int | None, form: str) -> float:
        found = dict.__getitem__(self, name)  # not noted: the variable follows it
        value = found if index is None else found[index]
        return float(_FORMS[form](float(value)))

    def _read(self, name: str, index: int | None, form: str) -> Tensor:
        key = name, index, form
        found = self._variables.get(key)
        if found is None:
            found = Variable(self._value(*key), name=f"{form} {name}".strip())
            self._variables[key] = found
        return Tensor(found.node)

    def tensor(self, name: str, index: int | None = None) -> Tensor:
        """A setting, or one of a tuple, as a float32 tensor without axes."""
        return self._read(name, index, "")

    def rest(self, name: str, index: int | None = None) -> Tensor:
        """1 minus a setting. Settings are often near to 1, and float32 would lose digits of this
        difference: it is taken in Python."""
        return self._read(name, index, "1 -")

    def log(self, name: str, index: int | None = None) -> Tensor:
        """The logarithm of a setting, taken in Python as `rest` is."""
        return self._read(name, index, "log")

    def fixed(self, name: str) -> Any:
        """A setting as a constant."""
        return self[name]

    def used(self, name: str) -> bool:
        """Whether a setting is not 0, so that a step needs what it does."""
        return self.is_true(name)
