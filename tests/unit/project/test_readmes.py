"""The README.md of each package: there, short, and right about files and imports."""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path
from subprocess import run

import pytest
from tests.unit.project.test_layers import FILES, all_imports, module_of

from tallow_build.paths import ROOT

LIBRARY = ROOT / "py" / "tallow"
PACKAGES = sorted(path.parent for path in LIBRARY.glob("*/__init__.py"))
READMES = [
    *(path / "README.md" for path in PACKAGES),
    LIBRARY / "formats" / "onnx" / "README.md",
    *(LIBRARY / "devices" / name / "README.md" for name in ("webgpu", "wasm", "numpy")),
    *(ROOT / name / "README.md" for name in ("py/tallow_page", "py/tallow_build", "web", "tests")),
]
MODULES = {module_of(path) for path in FILES}


def named(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


@pytest.mark.parametrize("readme", READMES, ids=named)
def test_it_is_there_and_short(readme: Path) -> None:
    text = readme.read_text("utf-8")
    assert re.match(rf"# (formats/|devices/)?{readme.parent.name}\n", text)
    assert 15 <= len(text.splitlines()) <= 40
    assert "ay import" in text and "| to change | go to |" in text


@pytest.mark.parametrize("readme", READMES, ids=named)
def test_every_file_and_folder_that_it_names_exists(readme: Path) -> None:
    """In its own folder, in py/tallow, or at the top."""
    text = re.sub(r"^```.*?^```", "", readme.read_text("utf-8"), flags=re.M | re.S)
    names = [
        name
        for name in re.findall(r"`([^`\s]+)`", text)
        if re.fullmatch(r"[\w./-]+(\.(py|js|mjs|json|toml|md|wgsl|txt)|/)", name)
    ]
    assert len(names) > 4
    places = (readme.parent, LIBRARY, ROOT)
    for name in names:
        found = [place / name for place in places if (place / name).exists()]
        beside = readme.parent.name if "/" not in name else ""
        assert found or any((ROOT / "tests").glob(f"unit/{beside}/{name}")), name
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        assert (readme.parent / target).exists(), target


@pytest.mark.parametrize("readme", [one for one in READMES if LIBRARY in one.parents], ids=named)
def test_nothing_is_imported_that_it_forbids(readme: Path) -> None:
    text = " ".join(readme.read_text("utf-8").split("\n"))
    package = module_of(readme.parent / "__init__.py")
    for said in re.findall(r"\*\*May\s+not\s+import:\*\*(.*?\.)(?: \*\*|  |$| [A-Z])", text):
        for name in re.findall(r"`(\w+)(?:/|\.py)`", said):
            forbidden = f"tallow.{name}"
            assert forbidden in MODULES or name == "torch"
            for each in all_imports():
                if f"{each.by}.".startswith(f"{package}."):
                    assert not f"{each.of}.".startswith(f"{forbidden}."), each.where


def test_a_folder_of_the_page_imports_what_its_readme_allows() -> None:
    web = ROOT / "web"
    rows = re.findall(r"^\| `(\w+)/` \|.*\|([^|]*)\|$", (web / "README.md").read_text(), re.M)
    allowed = {name: set(re.findall(r"`(\w+)/`", others)) for name, others in rows}
    found: dict[str, set[str]] = {
        path.name: set() for path in web.iterdir() if any(path.rglob("*.js"))
    }
    assert {*found, "runtime"} == {*allowed}
    for path in web.rglob("*.js"):
        own = path.relative_to(web).parts[0]
        lines = re.findall(
            r"^(?:import|export|\}).* from \"(\.[^\"]+)\"", path.read_text("utf-8"), re.M
        )
        for line in lines:
            found[own].add((path.parent / line).resolve().relative_to(web).parts[0])
    for name, others in found.items():
        assert others - {name} == allowed[name], name


def test_no_readme_is_in_the_wheel(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    assert run(build, cwd=ROOT, capture_output=True).returncode == 0
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith(".md")]
    for name in ("__init__.py", "kernels_wgsl/trees.wgsl", "runtime/web/gpu/runner.js"):
        assert f"tallow/{name}" in names
