"""docs/training/: its examples run, print what they say, and its tables are those of the code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from tests.unit.nn import tables

import tallow as tl

BLOCKS = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.M)


@pytest.mark.parametrize("page", sorted(tables.PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_examples_print_what_they_say(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run_async: Callable[..., Any],
) -> None:
    blocks = BLOCKS.findall(page.read_text("utf-8"))
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    async def run() -> None:
        for number, block in enumerate(blocks):
            where = f"{page.name}, block {number}"
            code = compile(block, where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            started = eval(code, names)
            if inspect.isawaitable(started):
                await started

    tl.set_default_device("numpy")
    try:
        run_async(run())
    finally:
        tl.set_default_device(None)
    said = iter(capsys.readouterr().out.splitlines())
    for expected in PRINTED.findall("".join(blocks)):
        assert expected in said  # in this order, with other lines between


def test_each_name_on_the_pages_is_there() -> None:
    text = "".join(page.read_text("utf-8") for page in tables.PAGES.glob("*.md"))
    found = set(re.findall(r"`(tl|nn|optim)((?:\.[a-zA-Z_]\w*)+)\b", text))
    assert len(found) > 40
    starts = {"tl": "tallow", "nn": "tallow.nn", "optim": "tallow.optim"}
    for start, path in found:
        resolve_name(starts[start] + path)


@pytest.mark.parametrize("name", tables.TABLES)
def test_the_tables_are_those_of_the_code(name: str) -> None:
    page = (tables.PAGES / tables.TABLES[name][0]).read_text("utf-8")
    assert tables.written(name, page) == page, "python -m tests.unit.nn.tables writes it"


def test_every_layer_optimiser_and_schedule_is_in_a_table() -> None:
    from tallow import nn, optim

    text = "".join(make() for _, make in tables.TABLES.values())
    assert text.count("\n| `") > 230
    rooms = (nn, optim, optim.lr_scheduler, tl.distributions)
    for name in (name for room in rooms for name in room.__all__):
        made = next(getattr(room, name) for room in rooms if hasattr(room, name))
        if (
            isinstance(made, type)
            and made not in tables.BASES
            and "transforms" not in made.__module__
        ):
            assert f"| `{name}(" in text, name
