"""Modules that hold others: in order, by number, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from ..errors import OptionError
from .module import Module
from .parameter import Parameter

T = TypeVar("T")


Pairs = Mapping[str, T] | Iterable[Sequence[Any]]
"""Values by name, in a dict or in pairs."""


def _pairs(given: Pairs[T]) -> Iterable[Sequence[Any]]:
    return given.items() if isinstance(given, Mapping | ModuleDict | ParameterDict) else given


class _Numbered(Module):
    """Modules in an order, each named by its number."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._modules.values()))

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        del modules[index]
        _refill(self, modules)

    def append(self, module: Module | None) -> Self:
        """Adds a module behind the last one."""
        self.add_module(str(len(self)), module)
        return self


def _refill(holder: Module, modules: Iterable[Module | None]) -> None:
    """Replaces the modules of a holder; the new ones are numbered from 0."""
    given = list(modules)
    holder._modules.clear()
    for number, module in enumerate(given):
        holder.add_module(str(number), module)


class Sequential(_Numbered):
    """Modules that are called one after the other. Takes modules, or one dict of them by name.

    `a + b` joins two, `a * n` repeats one: the same modules, not copies.
    """

    @overload
    def __init__(self, *args: Module | None) -> None: ...

    @overload
    def __init__(self, arg: Mapping[str, Module | None], /) -> None: ...

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for number, module in enumerate(args):
                self.add_module(str(number), module)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Iterator[Module]:
        return iter([module for module in self._modules.values() if module is not None])

    def __getitem__(self, index: int | slice) -> Any:
        names = list(self._modules)
        if isinstance(index, slice):
            return type(self)({name: self._modules[name] for name in names[index]})
        return self._modules[names[index]]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[index], module)

    def __add__(self, other: Iterable[Module]) -> Sequential:
        return Sequential(*self, *other)

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def __mul__(self, count: int) -> Sequential:
        return Sequential(*list(self) * count)

    __rmul__ = __mul__

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Adds modules behind the last one."""
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Adds a module before the one at an index."""
        modules = list(self)
        modules.insert(index, module)
        _refill(self, modules)
        return self

    def pop(self, key: int) -> Module:
        """Takes the module at an index out, and gives it."""
        found: Module = self[key]
        del self[key]
        return found


class ModuleList(_Numbered):
    """Modules in a list, which the module that holds it calls itself. An entry may be None, where
    there is no module. Its text shows equal ones in a row as one."""

    def __repr__(self) -> str:
        rows: list[tuple[int, int, str]] = []  # first, last, text
        for number, module in enumerate(self):
            text = repr(module)
            same = bool(rows) and rows[-1][2] == text
            rows[len(rows) - same :] = [(rows[-1][0] if same else number, number, text)]
        lines = [
            f"({first}): {text}" if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in rows
        ]  # fmt: skip
        inner = "\n".join(lines).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  {inner}\n)" if lines else f"{type(self).__name__}()"

    def __init__(self, modules: Iterable[Module | None] | None = None) -> None:
        super().__init__()
        self.extend(modules or [])

    def __getitem__(self, index: int | slice) -> Any:
        modules = list(self)
        return ModuleList(modules[index]) if isinstance(index, slice) else modules[index]

    def __setitem__(self, index: int, module: Module | None) -> None:
        self.add_module(str(range(len(self))[index]), module)

    def __add__(self, other: Iterable[Module | None]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module | None]) -> Self:
        return self.extend(other)

    def pop(self, key: int) -> Module:
        """Takes the module at an index out, and gives it."""
        found: Module = self[key]
        del self[key]
        return found

    def extend(self, modules: Iterable[Module | None]) -> Self:
        """Adds modules behind the last one."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module | None) -> None:
        """Adds a module before the one at an index."""
        modules = list(self)
        modules.insert(index, module)
        _refill(self, modules)


def _kept(value: object) -> object:
    """A value of a list of parameters: what has numbers is a parameter from now on."""
    numbers = hasattr(value, "__array__") or isinstance(value, int | float | list | tuple)
    return Parameter(value) if numbers and not isinstance(value, Parameter) else value


class _Named(Module, Generic[T]):
    """Modules or parameters by name: those in the dict `_held` of the module itself."""

    @property
    def _held(self) -> dict[str, T | None]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def __getitem__(self, name: str) -> Any:
        return self._held[name]

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def pop(self, key: str) -> T:
        """Removes the value of a name, and returns it."""
        found: T = self[key]
        del self[key]
        return found

    def clear(self) -> None:
        """Removes all values."""
        self._held.clear()

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._held.keys()

    def values(self) -> Iterable[T | None]:
        """The values."""
        return self._held.values()

    def items(self) -> Iterable[tuple[str, T | None]]:
        """Names and values."""
        return self._held.items()


class ModuleDict(_Named[Module]):
    """Modules by name, which the module that holds it calls itself."""

    def __init__(self, modules: Pairs[Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    @property
    def _held(self) -> dict[str, Module | None]:
        return self._modules

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def update(self, modules: Pairs[Module]) -> None:
        """Adds modules by name."""
        for name, module in _pairs(modules):
            self[name] = module


class ParameterList(Module):
    """Parameters in a list; tensors and arrays become parameters. Anything else, such as another
    list of parameters, is kept as it is."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or [])

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[index] for index in range(self._size)])

    def __getitem__(self, index: int | slice) -> Any:
        numbers = range(self._size)[index]
        if isinstance(numbers, range):
            return ParameterList([self[number] for number in numbers])
        return getattr(self, str(numbers))

    def __setitem__(self, index: int, value: object) -> None:
        setattr(self, str(range(self._size)[index]), _kept(value))

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        named = self.named_parameters(recurse=False)
        return ", ".join(f"({name}): {parameter.described()}" for name, parameter in named)

    def append(self, value: object) -> Self:
        """Adds a value behind the last one."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Adds values behind the last one."""
        for value in values:
            self.append(value)
        return self


class ParameterDict(_Named[Parameter]):
    """Parameters by name; values that are none become parameters."""

    def __init__(self, parameters: Pairs[Any] | None = None) -> None:
        super().__init__()
        self.update(parameters or {})

    @property
    def _held(self) -> dict[str, Parameter | None]:
        return self._parameters

    def __setitem__(self, name: str, value: object) -> None:
        if "." in name:
            raise OptionError(f"a name in a module has no dots: {name!r}")
        self._parameters[name] = value if isinstance(value, Parameter) else Parameter(value)

    def get(self, key: str, default: object = None) -> Any:
        """A parameter, or the default if there is none of that name."""
        return self[key] if key in self._parameters else default

    def setdefault(self, key: str, default: object = None) -> Any:
        """A parameter, which is the default from now on if there was none of that name."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, parameters: Pairs[Any]) -> None:
        """Adds parameters by name."""
        for name, value in _pairs(parameters):
            self[name] = value
