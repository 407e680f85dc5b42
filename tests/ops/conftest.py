"""What the op suite needs inside the browser."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def python(browser_python: Callable[[str], Any]) -> Any:
    """The browser's Python on WebGPU, which can import the cases and references of this folder."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(HERE.rglob("*.py")):
            if not path.name.startswith(("test_", "conftest")):
                archive.write(path, path.relative_to(HERE).as_posix())
    python = browser_python("webgpu")
    python.write("suite.zip", packed.getvalue())
    python.run("import sys; sys.path.insert(0, 'suite.zip')")
    return python
