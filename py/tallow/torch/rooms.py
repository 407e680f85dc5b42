"""Rooms that are only other names for modules, and `install()`, which has `import torch` find
`tallow.torch`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..binding import imported
from ..errors import MissingNameError, OptionError
from .names import INSTEAD, ROOMS

_HOME = "tallow.torch"


def missing(room: str, name: str) -> MissingNameError:
    """The error for a name of PyTorch's that is not here."""
    instead = INSTEAD.get(name)
    hint = f"; there is {instead}" if instead else ""
    return MissingNameError(f"{room}.{name} is not in Tallow{hint} (see docs/pytorch.md)")


class Room(ModuleType):
    """A module whose names are those of others."""

    def __init__(self, name: str, sources: Sequence[str]) -> None:
        super().__init__(name, f"PyTorch's names for what is in {', '.join(sources)}.")
        self.__path__: list[str] = []
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            if f"{self.__name__}.{name}".removeprefix(f"{_HOME}.") in ROOMS:
                return imported(f"{self.__name__}.{name}")
            for source in self._sources:
                found = imported(source)
                if hasattr(found, name):
                    return getattr(found, name)
        raise missing(self.__name__.removeprefix("tallow."), name)

    def __dir__(self) -> list[str]:
        return sorted({name for source in self._sources for name in dir(imported(source))})

    @property
    def __all__(self) -> list[str]:
        """What `from room import *` takes."""
        found = [imported(source) for source in self._sources]
        return [name for each in found for name in getattr(each, "__all__", ())]


class _Opening(Loader):
    """Gives a module that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """The module has run; only its own spec is put back, which the import has replaced."""
        if self._spec is not None:
            module.__spec__ = self._spec


class _Rooms(MetaPathFinder):
    """Finds the rooms of names.py below `tallow.torch`."""

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        room_name = fullname.removeprefix(f"{_HOME}.")
        if room_name == fullname or room_name not in ROOMS:
            return None
        room = Room(fullname, ROOMS[room_name])
        return ModuleSpec(fullname, _Opening(room), is_package=True)


class _Door(MetaPathFinder):
    """Finds `torch` and what is below it in `tallow.torch`."""

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        if fullname != "torch" and not fullname.startswith("torch."):
            return None
        home = "tallow." + fullname
        try:
            module = imported(home)
        except ModuleNotFoundError as error:
            if error.name is None or not home.startswith(error.name):
                raise
            raise ModuleNotFoundError(
                f"{missing(fullname.rpartition('.')[0], fullname.rpartition('.')[2])}",
                name=fullname,
            ) from None
        return ModuleSpec(fullname, _Opening(module), is_package=hasattr(module, "__path__"))


_door = _Door()


def install() -> None:
    """Has `import torch`, and imports of its submodules, find Tallow from now on.

    Raises OptionError if the real PyTorch has been imported already: modules that use it would mix
    the two.
    """
    there = sys.modules.get("torch")
    if there is not None and there is not imported(_HOME):
        raise OptionError(
            "install: PyTorch has been imported already, so that its modules and Tallow's would "
            "mix; call tallow.torch.install() before anything imports torch"
        )
    if _door not in sys.meta_path:
        sys.meta_path.insert(0, _door)


def uninstall() -> None:
    """Takes `install()` back: `import torch` finds PyTorch again, where it is installed."""
    if _door in sys.meta_path:
        sys.meta_path.remove(_door)
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]


def prepare() -> None:
    """Has the rooms of names.py found; called once, by `tallow.torch`."""
    sys.meta_path.append(_Rooms())


__all__ = ["Room", "install", "missing", "prepare", "uninstall"]
