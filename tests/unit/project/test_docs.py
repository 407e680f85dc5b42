"""docs/ and each README.md: links lead to files, and to headings, that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallow_build.paths import ROOT

DOCS = sorted((ROOT / "docs").rglob("*.md"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
READMES = [
    ROOT / "README.md",
    *(
        ROOT / name / "README.md"
        for name in ("deploy", "examples", "kernels_wgsl", "models", "web", "tests")
    ),
    *sorted((ROOT / "py").rglob("README.md")),
]
PAGES = [*READMES, *DOCS]
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """The headings of a page, as GitHub names them in addresses."""
    text = CODE.sub("", path.read_text("utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links(page: Path) -> None:
    text = CODE.sub("", page.read_text("utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


def test_the_index_has_every_page() -> None:
    """A folder's pages are in its README.md, which docs/index.md has."""
    docs = ROOT / "docs"
    for page in DOCS:
        top = page.parent == docs or page.name == "README.md"
        index = docs / "index.md" if top else page.with_name("README.md")
        name = page.relative_to(index.parent)
        assert page == index or f"]({name})" in index.read_text("utf-8"), page


def test_every_page_is_short_enough_to_read() -> None:
    for page in DECISIONS:
        assert page.read_text("utf-8").count("\n") < 300, page


def test_every_decision_has_its_reason_and_its_price() -> None:
    text = "\n".join(page.read_text("utf-8") for page in DECISIONS if page.name != "README.md")
    records = re.findall(r"^## ([^\n]+)\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    assert len(records) > 200
    assert len({decision for decision, _ in records}) == len(records)
    for decision, record in records:
        points = re.findall(r"^\* (Why|Cost|Instead of):", record, re.M)
        assert points[0] == "Why", decision
        assert {"Cost", "Instead of"} & set(points), decision


def headings(page: str) -> set[str]:
    text = (ROOT / "docs" / "decisions" / page).read_text("utf-8")
    return set(re.findall(r"^## (.+)$", text, re.M))


def test_code_cites_decisions_that_are_there() -> None:
    """Each says `Why:`, the page, and its heading, which may go on in the next line."""
    mark = "docs/" + "decisions/"
    cited = re.compile(mark + r"([\w-]+\.md)(?:,\s*[#/*]*\s*\"([^\"]+)\")?")
    files = [
        path
        for folder in ("py", "web", "tests", "kernels_wgsl", "bench")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".js", ".mjs", ".wgsl", ".in")
        and "node_modules" not in path.parts
    ]
    found = []
    for path in files:
        for page, heading in cited.findall(path.read_text("utf-8")):
            words = re.sub(r"\s*\n\s*[#/*]*\s*", " ", heading)
            assert words in headings(page), f"{path}: {page}, {words!r}"
            found.append(words)
    assert len({*found}) > 50


def test_readmes_cite_decisions_that_are_there() -> None:
    cited = re.compile(r"\"([^\"]+)\"[^\"\[]*\[[\w.-]+\]\([^)]*docs/decisions/([\w-]+\.md)\)")
    found = [pair for page in READMES for pair in cited.findall(page.read_text("utf-8"))]
    assert len(found) > 5
    for heading, page in found:
        assert " ".join(heading.split()) in headings(page), heading


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_named_exist(page: Path) -> None:
    top = "bench|docs|examples|kernels_wgsl|models|py|samples|tests|web"
    found = re.findall(rf"`((?:{top})/[\w./-]+\.\w+)`", page.read_text("utf-8"))
    assert not [path for path in found if "NAME" not in path and not (ROOT / path).exists()]
