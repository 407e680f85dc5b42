"""Writes web/shared/contract.d.ts: the records of py/tallow_page/contract/ as TypeScript.

    PYTHONPATH=py python -m tallow_build.contract

tests/unit/project/test_contract.py checks that it is fresh.
"""

from __future__ import annotations

import collections.abc
import inspect
import textwrap
import types
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from tallow_page.contract import answers, devices, models, texts, train

from .paths import WEB

FILE: Path = WEB / "shared" / "contract.d.ts"

_NOTE = "// Written by tallow_build/contract.py from tallow_page/contract/: do not change it.\n"
_COLUMNS = 100
"""Characters of a line; Prettier breaks a longer one behind the name."""
_NAMES = {int: "number", float: "number", str: "string", bool: "boolean", Any: "any"}


def records() -> list[type]:
    """The classes of the contract, module by module, in their order."""
    return [
        each
        for module in (devices, models, texts, train, answers)
        for each in vars(module).values()
        if inspect.isclass(each) and each.__module__ == module.__name__
    ]


def text() -> str:
    """The file."""
    return _NOTE + "".join(map(_declared, records()))


def _declared(record: type) -> str:
    lines = [*_comment(inspect.getdoc(record) or ""), f"export type {record.__name__} = {{"]
    for name, hint in get_type_hints(record, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        (shown,) = get_args(hint) if optional else (hint,)
        line = f"  {name}{'?' * optional}: {_type(shown)};"
        lines.append(line if len(line) <= _COLUMNS else line.replace(": ", ":\n    ", 1))
    return "\n" + "\n".join([*lines, "};"]) + "\n"


def _comment(words: str) -> list[str]:
    one = f"/** {' '.join(words.split())} */"
    if len(one) <= _COLUMNS:
        return [one]
    wrapped = textwrap.wrap(words, _COLUMNS, initial_indent=" * ", subsequent_indent=" * ")
    return ["/**", *wrapped, " */"]


def _type(hint: Any) -> str:
    """A Python type as TypeScript. Raises TypeError for one that JSON lacks."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _NAMES:
        return _NAMES[hint]
    if hint is type(None):
        return "null"
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in parts)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_type, parts)))
    if origin is tuple:
        return f"[{', '.join(map(_type, parts))}]"
    if origin is collections.abc.Sequence:
        (part,) = map(_type, parts)
        return f"({part})[]" if "|" in part else f"{part}[]"
    if origin is collections.abc.Mapping:
        key, value = map(_type, parts)
        return f"Partial<Record<{key}, {value}>>" if "|" in key else f"Record<{key}, {value}>"
    if isinstance(hint, type) and hint in records():
        return hint.__name__
    raise TypeError(f"JSON has no {hint!r}")


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
