"""Makes formats/onnx/type_table.py from the schemas of the onnx package; `python -m` writes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from onnx import defs

import tallow.onnx  # noqa: F401  (registers the operators)
from tallow.formats.onnx import type_check
from tallow.formats.onnx.registry import NEWEST, control_operators, host_operators, operators

FILE = Path(type_check.__file__).with_name("type_table.py")
_CODES = {name: code for code, name in type_check.NAMES.items()} | {
    "float": "f", "double": "d", "float8e4m3fn": "q", "float8e4m3fnuz": "Q", "float8e5m2": "r",
    "float8e5m2fnuz": "R", "float4e2m1": "g", "float8e8m0": "e", "complex64": "", "complex128": "",
    "float6e2m3": "", "float6e3m2": "",
}  # fmt: skip


def supported() -> set[tuple[str, str]]:
    """The domain and name of each operator of the standard that Tallow has."""
    have = {*operators(), *host_operators(), *control_operators()}
    return {(s.domain, s.name) for s in defs.get_all_schemas()} & have


def encoded(types: Iterable[str]) -> str:
    """A set of types, as the table has it; "." for one with maps, which are not checked."""
    found: dict[str, str] = {}
    for text in types:
        match = re.fullmatch(r"((?:seq\(|optional\()*)tensor\((\w+)\)+", text)
        if not match:
            return "."
        around = match[1].replace("seq(", "[").replace("optional(", "?")
        found[around] = found.get(around, "") + _CODES[match[2]]
    return "/".join(around + "".join(sorted(set(found[around]))) for around in sorted(found))


def rows() -> dict[tuple[str, str], list[tuple[int, str, tuple[str, ...]]]]:
    """For each operator its versions: since, the parameters, and the set of each type variable."""
    made: dict[tuple[str, str], list[tuple[int, str, tuple[str, ...]]]] = {}
    history = sorted(defs.get_all_schemas_with_history(), key=lambda s: s.since_version)
    wanted = supported()
    for schema in history:
        key = schema.domain, schema.name
        new = not schema.domain and schema.since_version > NEWEST
        if key not in wanted or schema.deprecated or new:
            continue
        sets = {c.type_param_str: encoded(c.allowed_type_strs) for c in schema.type_constraints}
        letters: dict[str, str] = {}
        sides = []
        for side in (schema.inputs, schema.outputs):
            text = ""
            for formal in side:
                variadic = formal.option == defs.OpSchema.FormalParameterOption.Variadic
                apart = variadic and not formal.is_homogeneous
                letter = letters.setdefault(
                    formal.type_str + "+" * apart, chr(ord("A") + len(letters))
                )
                text += letter + ("+" if apart else "*" if variadic else "")
            sides.append(text)
        names = [key.rstrip("+") for key in letters]
        allowed = tuple(sets.get(name) or encoded([name]) for name in names)
        row = schema.since_version, ">".join(sides), allowed
        versions = made.setdefault(key, [])
        if versions and versions[-1][1:] == row[1:]:
            continue
        versions.append(row)
    return made


def table() -> str:
    """The text of the file."""
    made = rows()
    count = Counter(s for versions in made.values() for row in versions for s in row[2])
    long = [s for s, _ in sorted(count.items(), key=lambda x: (-x[1], x[0])) if len(s) > 5]
    short = {s: str(number) for number, s in enumerate(long)}
    lines = []
    for (domain, name), versions in sorted(made.items()):
        parts = [
            f"{since} {formals} {','.join(short.get(s, s) for s in sets)}"
            for since, formals, sets in versions
        ]
        lines.append(f"{domain}:{name} ".lstrip(":") + "; ".join(parts))
    return (
        '"""The type constraints of the ONNX standard, for the operators that Tallow has; see '
        "type_check.py.\n\ntests/onnx/read/made_types.py makes this file from the standard's "
        'schemas.\n"""\n\n# ruff: noqa: E501\n\nSETS = """\\\n' + "\n".join(long) + '\n"""\n'
        '"""Sets of types, which TABLE calls by their number. Types have the codes of type_check.'
        'NAMES; "[" is\na sequence of the types that follow, "?" an optional, "/" separates."""\n\n'
        'TABLE = """\\\n' + "\n".join(lines) + '\n"""\n'
        '"""A line has an operator and its versions: since, a letter for the type variable of each '
        "input\nand output, and the set of each variable. A letter with * or + takes all "
        'that follow; with\n+ each has a type of its own."""\n'
    )


if __name__ == "__main__":
    FILE.write_text(table(), "utf-8")
