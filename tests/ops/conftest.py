"""What the op suite needs inside the browser."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import wasm_runs
from tests.conftest import Notebook

CASES = Path(__file__).parent / "cases"


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Each test draws the same random numbers, whichever tests ran before it."""
    wasm_runs.draw_again()


def with_cases(python: Notebook) -> Notebook:
    """Lets a browser's Python import what is in the folder cases/."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(CASES.rglob("*.py")):
            archive.write(path, path.relative_to(CASES).as_posix())
    python.write("suite.zip", packed.getvalue())
    python.run("import sys; sys.path.insert(0, 'suite.zip')")
    return python


@pytest.fixture(scope="session")
def python(browser_python: Callable[[str], Notebook]) -> Notebook:
    """The browser's Python on WebGPU, with the cases."""
    return with_cases(browser_python("webgpu"))
