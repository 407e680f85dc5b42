"""docs/pytorch.md: its list of names is fresh, its examples hold, and no name is lost."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import tallow as tl

from . import support

LEAST = 1690
"""How many of PyTorch's names there are at least."""

BLOCKS = re.findall(r"^```python\n(.*?)^```", support.PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def lacking() -> dict[str, list[str]]:
    return support.missing()


def test_the_page_lists_the_names(lacking: dict[str, list[str]]) -> None:
    page = support.PAGE.read_text("utf-8")
    assert support.written(page, lacking) == page, "python -m tests.unit.torch.support writes it"


def test_no_name_is_lost(lacking: dict[str, list[str]]) -> None:
    total = sum(map(len, support.NAMES.values()))
    assert total - sum(map(len, lacking.values())) >= LEAST


def test_the_examples_of_the_page(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert BLOCKS
    monkeypatch.chdir(tmp_path)
    tl.set_default_device("numpy")
    names: dict[str, Any] = {}
    try:
        for number, block in enumerate(BLOCKS):
            exec(compile(block, f"pytorch.md, block {number}", "exec"), names)
    finally:
        torch.uninstall()
        tl.set_default_device(None)


def test_the_cheat_sheet_names_what_is_there(torch: Any) -> None:
    sheet = support.PAGE.read_text("utf-8").partition("## Cheat sheet")[2].partition("\n## ")[0]
    found = re.findall(r"\b(torch|tl|F)((?:\.[a-z_]\w*)+)", sheet)
    assert len(found) > 50
    starts = {"torch": torch, "tl": tl, "F": torch.nn.functional}
    for start, path in found:
        attrgetter(path[1:])(starts[start])
