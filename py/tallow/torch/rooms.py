"""Rooms that are only other names for modules, and `install()`, which has `import torch` find
`tallow.torch`, and `import torchvision` find `tallow.vision`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..binding import imported
from ..errors import MissingNameError, OptionError
from .names import INSTEAD, ROOMS, VISION_ROOMS

_HOMES = {"torch": "tallow.torch", "torchvision": "tallow.vision"}
_ROOMS = {
    **{f"tallow.torch.{name}": sources for name, sources in ROOMS.items()},
    **{f"tallow.vision.{name}": sources for name, sources in VISION_ROOMS.items()},
}


def _home(path: str) -> str | None:
    """Where Tallow has a module of PyTorch's or torchvision's; None for another's."""
    root, dot, rest = path.partition(".")
    return f"{_HOMES[root]}{dot}{rest}" if root in _HOMES else None


def _theirs(path: str) -> str:
    """What a module of Tallow's is called there."""
    for root, home in _HOMES.items():
        if path == home or path.startswith(f"{home}."):
            return root + path.removeprefix(home)
    return path


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
            if f"{self.__name__}.{name}" in _ROOMS:
                return imported(f"{self.__name__}.{name}")
            for source in self._sources:
                found = imported(source)
                if hasattr(found, name):
                    return getattr(found, name)
        raise missing(_theirs(self.__name__), name)

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
    """Finds the rooms of names.py below `tallow.torch` and `tallow.vision`."""

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        if fullname not in _ROOMS:
            return None
        room = Room(fullname, _ROOMS[fullname])
        return ModuleSpec(fullname, _Opening(room), is_package=True)


class _Door(MetaPathFinder):
    """Finds `torch`, `torchvision` and what is below them in Tallow."""

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        home = _home(fullname)
        if home is None:
            return None
        try:
            module = imported(home)
        except ModuleNotFoundError as error:
            if error.name is None or not home.startswith(error.name):
                raise
            raise ModuleNotFoundError(
                f"{missing(fullname.rpartition('.')[0], fullname.rpartition('.')[2])}",
                name=fullname,
            ) from None
        # What the room has imported is there under PyTorch's name too: an import of it later would
        # put the module in place of what the room calls so, such as the function models.alexnet.
        for name in [name for name in sys.modules if name.startswith(f"{home}.")]:
            sys.modules.setdefault(fullname + name.removeprefix(home), sys.modules[name])
        return ModuleSpec(fullname, _Opening(module), is_package=hasattr(module, "__path__"))


_door = _Door()


def install() -> None:
    """Has `import torch`, `import torchvision`, and imports of their submodules, find Tallow from
    now on.

    Raises OptionError if one of the real ones has been imported already: modules that use it would
    mix the two.
    """
    for name, home in _HOMES.items():
        there = sys.modules.get(name)
        if there is not None and there is not sys.modules.get(home):
            who = "PyTorch" if name == "torch" else name
            raise OptionError(
                f"install: {who} has been imported already, so that its modules and Tallow's would "
                f"mix; call tallow.torch.install() before anything imports {name}"
            )
    if _door not in sys.meta_path:
        sys.meta_path.insert(0, _door)


def uninstall() -> None:
    """Takes `install()` back: `import torch` finds PyTorch again, where it is installed."""
    if _door in sys.meta_path:
        sys.meta_path.remove(_door)
    for name in [name for name in sys.modules if name.partition(".")[0] in _HOMES]:
        del sys.modules[name]


def prepare() -> None:
    """Has the rooms of names.py found; called once, by `tallow.torch`."""
    sys.meta_path.append(_Rooms())


__all__ = ["Room", "install", "missing", "prepare", "uninstall"]
