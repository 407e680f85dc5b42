"""What may import what in the page: the order of the folders in web/README.md, the lowest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.unit.project.test_layers import Import, circles

from tallow_build.paths import WEB

_COMMENT = re.compile(r"/\*.*?\*/", re.S)

# Imports of modules, of types in comments, and those at run time. A worker's address is no import.
_IMPORT = re.compile(r'(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)"(\.[^"]+)"')


def imports(web: Path, types: bool = True) -> Iterator[Import]:
    """All imports between the modules below a folder; names have dots. types: whether those of
    types count, which comments have, and files of types alone."""
    for path in sorted([*web.rglob("*.js"), *(web.rglob("*.ts") if types else ())]):
        text = path.read_text("utf-8")
        if not types:
            text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        for found in _IMPORT.finditer(text):
            target = (path.parent / found[1]).resolve().relative_to(web.resolve())
            line = text.count("\n", 0, found.start()) + 1
            yield Import(_name(path.relative_to(web)), _name(target), f"{path}:{line}")


def _name(path: Path) -> str:
    """ "web.gpu.errors" of gpu/errors.js; types of a module lie beside it."""
    return ".".join(["web", *path.parts[:-1], path.name.partition(".")[0]])


def order() -> list[str]:
    """The folders that web/README.md lists."""
    return re.findall(r"^\| `(\w+)/` \|", (WEB / "README.md").read_text("utf-8"), re.M)


def upward(found: list[Import], folders: list[str]) -> list[str]:
    """The imports of lower folders, as text."""
    rank = {name: index for index, name in enumerate(folders)}
    pairs = [(each, each.by.split(".")[1], each.of.split(".")[1]) for each in found]
    return [
        f"{each.where}: {by} imports {of}, which stands below it"
        for each, by, of in pairs
        if rank[by] < rank[of]
    ]


@cache
def all_imports() -> list[Import]:
    return list(imports(WEB))


def test_every_folder_with_modules_stands_in_the_list() -> None:
    folders = [path for path in WEB.iterdir() if path.is_dir()]
    with_modules = {path.name for path in folders if any(path.rglob("*.[jt]s"))}
    assert len(set(order())) == len(order())
    assert set(order()) == with_modules


def test_no_folder_imports_one_below_it() -> None:
    assert len(all_imports()) > 300
    assert upward(all_imports(), order()) == []


def test_no_circle_inside_a_folder() -> None:
    """Of modules; types that refer to one another within a folder are no circle."""
    found = list(imports(WEB, types=False))
    folders = {name.rpartition(".")[0] for each in found for name in (each.by, each.of)}
    assert len(found) > 200 and len(folders) > 10
    assert not [line for folder in sorted(folders) for line in circles(found, folder)]


@pytest.mark.parametrize("view", sorted(path.name for path in (WEB / "views").glob("*/")))
def test_a_view_knows_no_other_view_and_its_sides_each_other_by_messages(view: str) -> None:
    """Its worker.js, and what of its folder that imports, is a part of the worker's bundle: it
    imports nothing that is the page's, and the page nothing of it."""
    own, worker = f"web.views.{view}.", f"web.views.{view}.worker"
    mine = [each for each in all_imports() if each.by.startswith(own)]
    assert {each.by == worker for each in mine} == {True, False}
    run = [each for each in imports(WEB, types=False) if each.by.startswith(own)]
    side, before = {worker}, 0
    while len(side) > before:
        before = len(side)
        side |= {each.of for each in run if each.by in side and each.of.startswith(own)}
    others = ("web.views.", "web.worker.", "web.boot.")
    allowed = (own, "web.views.view")
    page = [each for each in mine if each.by not in side]
    bad = [each for each in page if each.of.startswith(others) and not each.of.startswith(allowed)]
    bad += [each for each in run if each.of in side and each.by not in side]
    elsewhere = ("web.engine.", "web.widgets.", "web.views.", "web.boot.")
    bad += [
        each
        for each in run
        if each.by in side and each.of not in side and each.of.startswith(elsewhere)
    ]
    assert [each.where for each in bad] == []


def test_these_tests_find_steps_upwards_and_circles(tmp_path: Path) -> None:
    texts = {
        "low/a.js": 'import { b } from "../high/b.js";\n',
        "low/c.js": '/** @typedef {import("../high/b.js").B} B */\nimport { d } from "./d.js";\n',
        "low/d.js": 'const late = () => import("./c.js");\nnew URL("../high/b.js", "");\n',
        "high/b.js": 'import {\n  c,\n} from "../low/c.js";\nimport "./b.js";\n',
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = list(imports(tmp_path))
    assert upward(found, ["low", "high"]) == [
        f"{tmp_path}/low/{where}: low imports high, which stands below it"
        for where in ("a.js:1", "c.js:1")
    ]
    modules = list(imports(tmp_path, types=False))
    assert len(modules) == len(found) - 1
    inside = [line.rpartition("/")[2] for line in circles(modules, "web.low")]
    assert inside == ["c.js:2: c imports d, and d c", "d.js:1: d imports c, and c d"]
    between = [line.rpartition("/")[2] for line in circles(modules, "web")]
    assert between == ["b.js:3: high imports low, and low high",
                       "a.js:1: low imports high, and high low"]  # fmt: skip
