"""A new view is one folder in web/views/ and one module in py/tallow_page/. toy/ beside this file
is one, which the build's own functions put into a page."""

from __future__ import annotations

import filecmp
import json
import re
import shutil
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor

from tallow_build.page import dist as building
from tallow_build.page import documents, wheels
from tallow_build.page.site import Site
from tallow_build.paths import ROOT, WEB
from tallow_build.stamps import Stamp

TOY = Path(__file__).with_name("toy")
PAGE = ROOT / "py" / "tallow_page"
_SKIP = shutil.ignore_patterns("__pycache__")

# The memory snapshot has no toy, since it takes half a minute to make: its Python gets the module
# of the wheel here.
STARTED = "this.#pyodide = python.pyodide;"
GIVEN = """
    python.pyodide.globals.set("toy", TOY);
    python.pyodide.runPython(`
import importlib, pathlib, tallow_page
folder = pathlib.Path(tallow_page.__path__[0])
folder.mkdir(parents=True, exist_ok=True)
(folder / "toy.py").write_text(toy)
importlib.invalidate_caches()
`);
"""


def unlike(found: filecmp.dircmp[str], below: str = "") -> set[str]:
    """What differs between two folders, below them."""
    names = [*found.left_only, *found.right_only, *found.diff_files, *found.funny_files]
    return {below + name for name in names}.union(
        *(unlike(part, f"{below}{name}/") for name, part in found.subdirs.items())
    )


@pytest.fixture(params=[False, True], ids=["at once", "lazy"])
def site(
    request: pytest.FixtureRequest, dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Site:
    """A page with the toy, which may be lazy: its documents, styles and bundles. The rest is
    dist/'s."""
    root = tmp_path / "root"
    shutil.copytree(WEB, root / "web")
    shutil.copytree(PAGE, root / "py" / "tallow_page", ignore=_SKIP)
    shutil.copy(ROOT / "LICENSE", root)

    view = root / "web" / "views" / "toy"
    shutil.copytree(TOY, view, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copy(TOY / "toy.py", root / "py" / "tallow_page")
    said = json.loads((view / "view.json").read_text("utf-8"))
    (view / "view.json").write_text(json.dumps(said | {"lazy": request.param}), "utf-8")
    assert unlike(filecmp.dircmp(WEB, root / "web", ignore=[])) == {"views/toy"}
    pages = filecmp.dircmp(PAGE, root / "py" / "tallow_page", ignore=["__pycache__"])
    assert unlike(pages) == {"toy.py"}

    monkeypatch.setattr(building, "WEB", root / "web")
    monkeypatch.setattr(documents, "WEB", root / "web")
    monkeypatch.setattr(wheels, "ROOT", root)
    monkeypatch.setattr(wheels, "WHEELS", tmp_path / "wheels")
    monkeypatch.setattr(wheels, "Stamp", partial(Stamp, folder=tmp_path / "stamps"))
    made = Site(tmp_path / "site")
    made.put("runtime/runtime.js", dist / "runtime" / "runtime.js")
    building._put_page(made)
    document = (made.folder / "index.html").read_text("utf-8")
    assert ("Double a number" in document) is not request.param
    assert ("views/toy.js" in made.names) is ("worker/toy.js" in made.names) is request.param
    with zipfile.ZipFile(wheels.page()) as wheel:
        toy = wheel.read("tallow_page/toy.py").decode()
    worker = made.folder / made.names["worker/main.js"]
    text = worker.read_text("utf-8")
    assert text.count(STARTED) == 1
    given = STARTED + GIVEN.replace("TOY", json.dumps(toy))
    worker.write_text(text.replace(STARTED, given), "utf-8")
    return made


def test_a_new_view_is_a_folder_and_a_module(browser: Browser, server: str, site: Site) -> None:
    def serve(route: Route) -> None:
        path = re.sub(r"[?#].*", "", route.request.url).removeprefix(server) or "index.html"
        mine = site.folder / path
        if mine.is_file():
            route.fulfill(path=mine)
        else:
            route.continue_()

    for page, _ in watched_page(browser, server):
        page.route(f"{server}**", serve)
        visitor: Any = Visitor(page)
        visitor.open("./?device=wasm")
        visitor.show("Toy")
        view = page.locator("#view-toy")
        view.get_by_label("Number").fill("10.25")
        view.get_by_role("button", name="Double it").click()
        expect(view.get_by_role("status")).to_have_text("Twice that is 20.5.", timeout=60_000)
        assert (
            view.get_by_role("status").evaluate(
                "(line) => getComputedStyle(line).fontVariantNumeric"
            )
            == "tabular-nums"
        )
        visitor.hook("language-select").select_option("zh")
        expect(view.get_by_role("status")).to_have_text("它的两倍是 20.5。")
        expect(view.get_by_role("heading")).to_have_text("把一个数加倍")
        expect(page.locator("nav a[aria-current=page]")).to_have_text("玩具")
