"""The one late binding: what names.py lists is imported when it is first used.

`bind` gives the methods and operators of names.py to the class of tensors; `getter` makes the
`__getattr__` of a package. Nothing else in the library looks up a definition by its name, but for
the rooms of `tallow.torch`, which its own table lists (tests/unit/project/test_names.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from .errors import ArgumentError
from .names import ARGUMENTS, FIRST, NAMES, SECOND


def imported(path: str) -> ModuleType:
    """A module that is imported when it is first asked for, by its whole path: one of the library,
    or of another package (core/packages.py)."""
    return import_module(path)


class Row(NamedTuple):
    """A public name: the file that defines it, below `tallow`, what it is called there, its
    forms."""

    home: str
    own: str
    forms: frozenset[str]

    def find(self) -> Any:
        """The definition, which is imported."""
        found = import_module(f"tallow.{self.home}")
        for part in self.own.split("."):
            found = getattr(found, part)
        return found


@cache
def rows(form: str) -> dict[str, Row]:
    """The names that are public in a form of names.py."""
    found: dict[str, Row] = {}
    for home, groups in NAMES.items():
        for forms, names in groups.items():
            kinds = frozenset(forms.split())
            if form in kinds:
                for each in names.split():
                    name, _, own = each.partition("=")
                    found[name] = Row(home, own or name, kinds)
    return found


def public(form: str, under: str = "") -> list[str]:
    """The names of a form, in order. under: how the names of the files that define them begin."""
    return sorted(name for name, row in rows(form).items() if row.home.startswith(under))


def getter(
    package: dict[str, Any], *forms: str, under: str = "", packages: str = ""
) -> Callable[[str], Any]:
    """`__getattr__` of a package, whose globals these are: for names of some forms, the packages
    inside, and `__all__`, which has both, of the first form."""
    path = package["__name__"]

    def found(name: str) -> Any:
        inside = packages.split()
        if name in inside:
            return import_module(f"{path}.{name}")
        if name == "__all__":
            return [*public(forms[0], under), *inside]
        for form in forms:
            row = rows(form).get(name)
            if row is not None and row.home.startswith(under):
                value = row.find()
                if row.own != name and "torch" in row.forms:  # PyTorch's, with its arguments' names
                    value = _spelled(name, value)
                package[name] = value
                return value
        raise AttributeError(f"module {path!r} has no attribute {name!r}")

    return found


# ---- arguments -------------------------------------------------------------------------------


@cache
def parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """The names of a function's arguments, and whether it takes others too."""
    found = inspect.signature(function).parameters.values()
    named = [p.name for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return tuple(named), any(p.kind is p.VAR_KEYWORD for p in found)


def own_name(key: str, names: tuple[str, ...], positional: int) -> str | None:
    """What a definition, whose arguments have these names, calls an argument that is named `key`;
    None if it has no such argument. positional: how many are given by position."""
    if key in names:
        return key
    for each in ARGUMENTS.get(key, ()):
        if each in names:
            return each
    if key in FIRST and not positional and names:
        return names[0]
    if key in SECOND and positional < 2 and len(names) > 1:
        return names[1]
    return None


def _spelled(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A definition as a method, whose arguments may have PyTorch's names or the array API's."""
    names, takes_others = parameters(function)
    if takes_others or len(names) < 2:
        return function

    @wraps(function)
    def method(tensor: Any, /, *args: Any, **options: Any) -> Any:
        for key in [key for key in options if key not in names]:
            own = own_name(key, names, len(args) + 1)
            if own is None or own in options:
                known = ", ".join(names[1:])
                raise ArgumentError(f"{name}() takes no argument {key!r}; it takes {known}")
            options[own] = options.pop(key)
        return function(tensor, *args, **options)

    return method


# ---- methods ---------------------------------------------------------------------------------


def _second(function: Callable[..., Any]) -> Callable[..., Any]:
    """A definition as a method of its second argument."""

    @wraps(function)
    def method(tensor: Any, first: Any, /, *args: Any, **options: Any) -> Any:
        return function(first, tensor, *args, **options)

    return method


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that has the tensor stand for what another one gives."""

    @wraps(function)
    def method(tensor: Any, /, *args: Any, **options: Any) -> Any:
        tensor.renew()
        return tensor.become(function(tensor, *args, **options))

    return method


def _method(name: str, row: Row) -> Any:
    """The method, or the attribute, that a row says."""
    found = row.find()
    if "static" in row.forms:
        return staticmethod(found)
    if not callable(found):
        return found  # a property
    if "operator" in row.forms:
        return _second(found) if "second" in row.forms else found
    return _spelled(name, _second(found) if "second" in row.forms else found)


class _Late:
    """A method that is imported, and takes this object's place, when it is first used."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _resolve(self, owner: type) -> None:
        name = self._name
        row = rows("method").get(name) or rows("static").get(name)
        made = _method(name, row) if row else _in_place(_method(name, rows("in-place")[name[:-1]]))
        for home in owner.__mro__:
            if vars(home).get(name) is self:  # no other thread was faster
                setattr(home, name, made)

    def __get__(self, tensor: Any, owner: type) -> Any:
        self._resolve(owner)
        return getattr(owner if tensor is None else tensor, self._name)

    def __set__(self, tensor: Any, value: Any) -> None:
        self._resolve(type(tensor))
        setattr(tensor, self._name, value)


def bind(owner: type) -> None:
    """Adds the operators, methods and attributes of names.py to a class."""
    for name, row in rows("operator").items():
        setattr(owner, name, _method(name, row))
    for name in (*rows("method"), *rows("static"), *(f"{name}_" for name in rows("in-place"))):
        setattr(owner, name, _Late(name))
