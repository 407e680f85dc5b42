"""Docstrings of public functions: a line for each argument, and one for what is returned."""

from __future__ import annotations

import ast
import re

import pytest

from tallow.names import NAMES

from .stubs import file_of

PUBLIC = {
    home: {
        name.partition("=")[2] or name
        for forms, names in groups.items()
        if forms != "internal"
        for name in names.split()
    }
    for home, groups in NAMES.items()
}


def functions(home: str) -> list[ast.FunctionDef]:
    """The public functions that are defined in the file of a home, overloads aside."""
    tree = ast.parse(file_of(home).read_text("utf-8"))
    return [
        each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
        and each.name in PUBLIC[home]
        and not any("overload" in ast.unparse(line) for line in each.decorator_list)
    ]


def arguments(function: ast.FunctionDef) -> list[str]:
    """The names of its arguments."""
    of = function.args
    several = [each for each in (of.vararg, of.kwarg) if each]
    return [each.arg for each in (*of.posonlyargs, *of.args, *of.kwonlyargs, *several)]


def explained(text: str) -> set[str]:
    """The names with which lines of a docstring begin: "axis, keepdims: ..."."""
    lines = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): \S", text, re.M)
    return {name.lstrip("*") for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("home", PUBLIC)
def test_each_argument_has_a_line(home: str) -> None:
    missing = {}
    for function in functions(home):
        known = explained(ast.get_docstring(function) or "")
        lacks = [name for name in (*arguments(function), "Returns") if name not in known]
        if lacks:
            missing[function.name] = lacks
    assert not missing


def test_public_functions_were_found() -> None:
    assert sum(len(functions(home)) for home in PUBLIC) > 450
    assert explained("Sums.\n\nx: numbers.\ndim, keepdim: as axis.\nReturns: a sum.") == {
        "x", "dim", "keepdim", "Returns",
    }  # fmt: skip
