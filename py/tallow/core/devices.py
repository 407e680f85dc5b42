"""The kinds of device: a line for each. Nothing else says which there are.

A kind of device is a package with two things that others ask for by its name: `target.TARGET`, what
the compiler asks of it (compile/target.py), and `device.DEVICE`, what opens it (runtime/device.py).
The package is imported when one of them is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

KINDS: dict[str, str] = {
    "webgpu": "tallow.devices.webgpu",
    "wasm": "tallow.devices.wasm",
    "numpy": "tallow.devices.numpy",
}
"""The package of each kind, by its name."""

EXACT = "numpy"
"""The device for what others compute in fewer bits, or not at all."""

REMOTE = "remote:"
"""Begins the name of a device of another machine, which is known by its address."""

LENT = "tallow.devices.remote"
"""The package of those."""

T = TypeVar("T")


def part(package: str, module: str, name: str) -> Any:
    """What a device's package has for others."""
    return getattr(import_module(f"{package}.{module}"), name)


class Parts(Mapping[str, T], Generic[T]):
    """The same part of every kind's package, by the kind's name."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._found: dict[tuple[str, str], T] = {}

    def __getitem__(self, kind: str) -> T:
        key = kind, KINDS[kind]
        if key not in self._found:
            self._found[key] = part(KINDS[kind], self._module, self._name)
        return self._found[key]

    def __contains__(self, kind: object) -> bool:
        return kind in KINDS

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)
