"""The cases, a file per family; each file is recorded in a file of the same name."""

from importlib import import_module
from pkgutil import iter_modules

from ..case import CASES, Case

FAMILIES: dict[str, list[str]] = {}
"""The names of each family's cases."""

for _module in sorted(iter_modules(__path__), key=lambda each: each.name):
    _known = set(CASES)
    import_module(f"{__name__}.{_module.name}")
    FAMILIES[_module.name] = [name for name in CASES if name not in _known]

__all__ = ["CASES", "FAMILIES", "Case"]
