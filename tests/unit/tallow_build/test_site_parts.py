"""The parts of the build that make dist/ from files: names, documents, compression, budget."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tallow_build.content import small
from tallow_build.environment import node_env
from tallow_build.errors import BuildError
from tallow_build.page import budget, bundled, compressed, dist, documents
from tallow_build.page.headers import headers_for
from tallow_build.page.site import Site, is_hashed
from tallow_build.paths import WEB


def test_a_name_changes_with_the_content_and_only_then(tmp_path: Path) -> None:
    site = Site(tmp_path)
    first = site.put_hashed("models/labels.zh.json", b"one")
    assert re.fullmatch(r"models/labels-[0-9a-f]{10}\.zh\.json", first)
    assert (tmp_path / first).read_bytes() == b"one"
    assert site.names == {"models/labels.zh.json": first}
    assert site.put_hashed("models/labels.zh.json", b"one") == first
    assert site.put_hashed("models/labels.zh.json", b"two") != first


@pytest.mark.parametrize("linked", [True, False])
def test_a_large_file_is_linked_or_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    if not linked:  # as between two disks

        def refuse(source: Path, target: Path) -> None:
            raise OSError("Invalid cross-device link")

        monkeypatch.setattr("os.link", refuse)
    large = tmp_path / "large"
    large.write_bytes(b"many")
    site = Site(tmp_path / "site")
    site.put_linked("models/published/a/large", large)
    found = site.folder / "models" / "published" / "a" / "large"
    assert found.read_bytes() == b"many"
    assert found.samefile(large) == linked


def test_a_folder_changes_with_any_of_its_files(tmp_path: Path) -> None:
    site = Site(tmp_path / "site")
    files = {name: tmp_path / name for name in ("a", "b")}
    folders = set()
    for content in ("one", "two"):
        files["a"].write_text("same")
        files["b"].write_text(content)
        folder = site.put_in_hashed_folder("runtime/parts", files)
        assert (site.folder / folder / "b").read_text() == content
        assert is_hashed(f"{folder}/b")
        folders.add(folder)
    assert len(folders) == 2
    assert not is_hashed("runtime/numpy-2.4.3-cp314.whl")


def test_bundles_name_workers_and_files_by_their_hashes(tmp_path: Path) -> None:
    web = tmp_path / "web"
    for folder in ("boot", "wasm", "widgets/engine", "worker"):
        (web / folder).mkdir(parents=True)
    for name in ("begin.js", "start.js", "python.js"):
        (web / "boot" / name).write_text("console.log(1);\n")
    (web / "home.js").write_text('export const HOME = new URL("./", import.meta.url);\n')
    (web / "boot" / "main.js").write_text(
        'import { HOME } from "../home.js";\n'
        'new Worker(new URL("../worker/main.js", import.meta.url));\nconsole.log(HOME);\n'
    )
    (web / "wasm" / "thread.js").write_text("console.log(2);\n")
    (web / "widgets" / "engine" / "machine.js").write_text("console.log(4);\n")
    (web / "worker" / "photographs.js").write_text("console.log(3);\n")
    (web / "worker" / "pdf.js").write_text("console.log(5);\n")
    (web / "worker" / "script.py").write_text("1")
    (web / "worker" / "main.js").write_text(
        'import { HOME } from "../home.js";\n'
        'fetch(new URL("./script.py", import.meta.url));\nconsole.log(HOME);\n'
        'new Worker(new URL("../wasm/thread.js", import.meta.url));\n'
    )
    (web / "worker" / "script.js").write_text(
        'import facts from "../made/facts.js"; console.log(facts);\n'
    )
    site = Site(tmp_path / "site")
    site.put("made/facts.js", b"export default [1, 2];")
    names = bundled.put_modules(site, web)
    page = (site.folder / names["boot/main.js"]).read_text()
    assert f'new URL("../{names["worker/main.js"]}", import.meta.url)' in page
    assert 'HOME = new URL("../", import.meta.url)' in page
    worker = (site.folder / names["worker/main.js"]).read_text()
    script = names["worker/script.py"].removeprefix("worker/")
    assert f'new URL("./{script}", import.meta.url)' in worker
    assert f'new URL("../{names["wasm/thread.js"]}", import.meta.url)' in worker
    assert 'HOME = new URL("../", import.meta.url)' in worker
    script = (site.folder / names["worker/script.js"]).read_text()
    assert "[1, 2]" in script
    assert all(is_hashed(name) for name in names.values())

    (web / "worker" / "main.js").write_text('import { gone } from "./nowhere.js"; gone();\n')
    with pytest.raises(BuildError, match="nowhere"):
        bundled.put_modules(site, web)


PAGE = """<!doctype html>
<html>
  <head>
    <meta charset="utf-8" />
    <link rel="icon" href="icon.svg" />
    <script type="module" src="main.js"></script>
  </head>
</html>
"""


@pytest.mark.parametrize("name", dist.PAGES)
def test_a_document_says_its_policy_before_it_loads_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The header's policy, without what browsers accept only in a header."""
    (tmp_path / name).write_text(PAGE)
    monkeypatch.setattr(documents, "WEB", tmp_path)
    site = Site(tmp_path / "site")
    site.put("main.js", b"1")
    documents.put_page(site, name)
    made = (site.folder / name).read_text("utf-8")
    (told,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)" />', made)
    header = headers_for(name)["Content-Security-Policy"].split("; ")
    assert "frame-ancestors 'none'" in header
    assert told.split("; ") == [each for each in header if not each.startswith("frame-ancestors")]
    before = made[: made.index("<meta http-equiv")]
    assert "<link" not in before
    assert "<script" not in before

    (tmp_path / name).write_text(PAGE.replace('charset="utf-8"', 'name="nothing"'))
    with pytest.raises(BuildError, match=f"{name} has 0 lines <meta charset>"):
        documents.put_page(site, name)


def test_every_document_of_the_page_is_put_through_that() -> None:
    found = {path.relative_to(WEB).as_posix() for path in WEB.rglob("*.html")}
    assert {path for path in found if not path.startswith("views/")} == set(dist.PAGES)


WITH_VIEWS = """<head>
    <!-- styles of the views -->
</head>
<nav>
    <!-- menu -->
</nav>
    <!-- views -->
"""
SECTION = '<section id="view-{0}" class="view" lang="en">{1}</section>\n'


def test_the_views_are_put_into_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = tmp_path / "views"
    for name, word in (("two", "Two"), ("one", "One"), ("late", "Late")):
        (views / name / "parts").mkdir(parents=True)
        (views / name / f"{name}.html").write_text(SECTION.format(name, word))
        (views / name / f"{name}.css").touch()
        (views / name / "parts" / "a.css").touch()
    said = '{{"place": {}, "model": null, "menu": {{"en": "{}"}}{}}}'
    (views / "two" / "view.json").write_text(said.format(1, "Two", ""))
    (views / "one" / "view.json").write_text(said.format(2.5, "One", ""))
    (views / "late" / "view.json").write_text(said.format(3, "Late", ', "lazy": true'))
    monkeypatch.setattr(documents, "WEB", tmp_path)
    made = documents.with_views(WITH_VIEWS)
    assert re.findall(r'href="([^"]*)"', made) == [
        *("views/two/two.css", "views/two/parts/a.css"),
        *("views/one/one.css", "views/one/parts/a.css"),
        *("#two", "#one", "#late"),
    ]
    assert '<a id="to-two" href="#two" aria-current="page" data-text="toTwo">Two</a>' in made
    assert '<a id="to-one" href="#one" data-text="toOne">One</a>' in made
    assert '<section id="view-two" class="view" lang="en">Two</section>' in made
    assert '<section id="view-one" class="view" hidden lang="en">One</section>' in made
    assert '<section id="view-late" class="view" hidden></section>' in made
    assert documents.with_views("<html></html>") == "<html></html>"

    (views / "one" / "one.html").write_text("<p>One</p>")
    with pytest.raises(BuildError, match="does not start with"):
        documents.with_views(WITH_VIEWS)
    (views / "one" / "view.json").write_text('{"model": null}')
    with pytest.raises(BuildError, match=r"one/view\.json says no place"):
        documents.with_views(WITH_VIEWS)


def test_what_pays_is_compressed_once(tmp_path: Path) -> None:
    text = b"so it goes, " * 100
    noise = bytes(i * i * 7919 % 251 for i in range(300))
    site = tmp_path / "site"
    site.mkdir()
    for name, content in {"a.js": text, "b.json": noise, "c.whl": text}.items():
        (site / name).write_bytes(content)
    compressed.compress(site, tmp_path / "kept")
    made = {path.name for path in site.iterdir()}
    assert made - {"b.json.br", "b.json.gz"} == {"a.js", "a.js.br", "a.js.gz", "b.json", "c.whl"}
    assert gzip.decompress((site / "a.js.gz").read_bytes()) == text
    back = "process.stdout.write(require('zlib').brotliDecompressSync(require('fs')"
    back += ".readFileSync(process.argv[1])))"
    program = [node_env.program(), "-e", back, str(site / "a.js.br")]
    assert subprocess.run(program, capture_output=True, check=True).stdout == text

    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    for path in site.glob("a.js.*"):
        path.unlink()
    (site / "b.json").unlink()
    compressed.compress(site, tmp_path / "kept")
    assert {"a.js.br", "a.js.gz"} <= {path.name for path in site.iterdir()}
    left = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert left.items() < kept.items()  # nothing was rewritten, and unused files are gone


def test_large_files_are_compressed_quickly_unless_they_will_be_published(tmp_path: Path) -> None:
    site, kept = tmp_path / "site", tmp_path / "kept"
    site.mkdir()
    words = b"".join(b"%d squared is %d\n" % (n, n * n) for n in range(50_000))
    (site / "large.bin").write_bytes(words)
    (site / "small.js").write_bytes(words[:10_000])

    def sizes(*, tight: bool) -> list[int]:
        compressed.compress(site, kept, tight=tight)
        return [budget.wire_bytes(site / name) for name in ("large.bin", "small.js")]

    quick, tight = sizes(tight=False), sizes(tight=True)
    assert tight[0] < quick[0] < len(words)
    assert tight[1] == quick[1]
    times = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert sizes(tight=False) == quick
    assert {path: path.stat().st_mtime_ns for path in kept.iterdir()} == times  # both are kept


LINES = """
[[part]]
name = "code"
files = ["*.js"]
bytes = {code}
[[part]]
name = "models"
files = ["models/*"]
bytes = 100
[[sum]]
name = "all"
parts = ["code", "models"]
bytes = {all}
"""


@pytest.fixture
def held(tmp_path: Path):
    """held(code, all): compares a site with a budget of these numbers of bytes."""
    site = tmp_path / "site"
    (site / "models").mkdir(parents=True)
    (site / "main.js").write_bytes(bytes(90))
    (site / "main.js.br").write_bytes(bytes(40))
    (site / "models" / "a.onnx").write_bytes(bytes(50))

    def check(code: int, all_: int) -> list[str]:
        (tmp_path / "budget.toml").write_text(LINES.format(code=code, all=all_))
        return budget.check(site, tmp_path / "budget.toml")

    return check


def test_what_keeps_to_its_budget_is_told(held) -> None:
    assert [line.split() for line in held(40, 90)] == [
        ["40", "of", "40", "code"],
        ["50", "of", "100", "models"],
        ["90", "of", "90", "all"],
    ]


def test_what_outgrows_its_line_is_named(held) -> None:
    with pytest.raises(BuildError, match="code has 40 bytes, but the budget is 39"):
        held(39, 90)
    with pytest.raises(BuildError, match="all has 90 bytes, but the budget is 89"):
        held(40, 89)


def test_a_file_without_a_line_is_named(held, tmp_path: Path) -> None:
    (tmp_path / "site" / "new.wasm").write_bytes(b"1")
    with pytest.raises(BuildError, match=r"new\.wasm belongs to no part"):
        held(40, 90)


@pytest.mark.parametrize("text", ["", "[[part]]", LINES.format(code='"many"', all=1)])
def test_a_budget_that_can_not_be_read(held, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(BuildError, match=r"bad\.toml"):
        budget.check(tmp_path / "site", tmp_path / "bad.toml")


@pytest.mark.parametrize("mode", ["RGB", "L", "P"])
def test_a_small_picture_is_the_same_bytes_each_time(tmp_path: Path, mode: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (300, 600, 3), np.uint8)
    photograph = tmp_path / "photograph.png"
    Image.fromarray(pixels).convert(mode).save(photograph)
    made = [tmp_path / name for name in ("one.webp", "two.webp")]
    for path in made:
        small.make(photograph, path)
    assert made[0].read_bytes() == made[1].read_bytes()
    with Image.open(made[0]) as picture:
        assert (picture.format, picture.size) == ("WEBP", (352, 176))
        assert not {"icc_profile", "exif", "xmp"} & picture.info.keys()
