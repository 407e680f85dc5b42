"""What may block is written once: `x` and `x_async` are drivers' calls on the same generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallow_build.paths import ROOT

Function = ast.FunctionDef | ast.AsyncFunctionDef

FILES = sorted([*(ROOT / "py/tallow").rglob("*.py"), *(ROOT / "py/tallow_page").rglob("*.py")])


def twins(tree: ast.AST) -> Iterator[tuple[Function, Function]]:
    """Pairs of `x` and `x_async` of one module or class."""
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, ast.ClassDef)):
            continue
        named = {x.name: x for x in scope.body if isinstance(x, Function)}
        for name, function in named.items():
            if f"{name}_async" in named:
                yield function, named[f"{name}_async"]


def body(function: Function) -> list[ast.stmt]:
    """The statements, without the docstring."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if documented else function.body


def driven(function: Function, driver: str) -> list[str]:
    """The generators that a function gives to a driver."""
    calls = [x for x in ast.walk(function) if isinstance(x, ast.Call)]
    return [
        ast.dump(x.args[0].func)
        for x in calls
        if isinstance(x.func, ast.Name) and x.func.id == driver and isinstance(x.args[0], ast.Call)
    ]


def wrong(source: str) -> list[str]:
    """The names of twins that are two implementations."""
    found = []
    for blocking, awaited in twins(ast.parse(source)):
        if not body(blocking) and not body(awaited):  # of a protocol
            continue
        steps = driven(awaited, "run_async")
        if len(body(awaited)) != 1 or len(steps) != 1:
            found.append(awaited.name)
        elif len(body(blocking)) == 1 and driven(blocking, "run_sync") not in ([], steps):
            found.append(blocking.name)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_twins_are_one_implementation(path: Path) -> None:
    assert wrong(path.read_text("utf-8")) == []


def test_there_are_twins_and_this_sees_them() -> None:
    assert sum(len([*twins(ast.parse(path.read_text("utf-8")))]) for path in FILES) > 15


@pytest.mark.parametrize(
    "bodies",
    [
        ("return self.read().numpy()", "return (await self.read_async()).numpy()"),
        (
            "found = run_sync(steps())\n  return found",
            "found = await run_async(steps())\n  return 1",
        ),
        ("return run_sync(steps(x))", "return await run_async(others(x))"),
    ],
    ids=["two bodies", "two long bodies", "two generators"],
)
def test_two_implementations_are_found(bodies: tuple[str, str]) -> None:
    first, second = bodies
    assert wrong(f"def x():\n  {first}\nasync def x_async():\n  {second}\n")
