"""Modules and functions beside PyTorch's in Chromium, on WebGPU and on WebAssembly.

Every twelfth case on WebAssembly and every 24th on WebGPU, which compiles five times as long, since
the desktop's devices run all of them (test_modules.py). They run different ones.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Notebook

from .test_modules import OF

HERE = Path(__file__).parent
CHOICE = {"webgpu": slice(0, None, 24), "wasm": slice(6, None, 12)}

RUN = """
import sys
sys.path.insert(0, "parity.zip")
from tests.parity.cases import CASES
from tests.parity.run import differences, recorded
import tallow as tl
wrong = {}
for name, family in CHOSEN.items():
    found = await differences(CASES[name], recorded(family)[name], DEVICE)
    if found or tl.default_device() != DEVICE:
        wrong[name] = found
wrong
"""


def packed() -> bytes:
    """The cases and what PyTorch gave for them, as a package."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("tests/__init__.py", "")
        for path in sorted(HERE.rglob("*")):
            if path.suffix in (".py", ".npz") and "test_" not in path.name:
                archive.write(path, f"tests/parity/{path.relative_to(HERE).as_posix()}")
    return content.getvalue()


@pytest.mark.parametrize("device", CHOICE)
def test_agrees_with_pytorch(device: str, browser_python: Callable[[str], Notebook]) -> None:
    python = browser_python(device)
    python.write("parity.zip", packed())
    plain = [name for name, family in OF.items() if family != "autocast"]  # it needs shader-f16
    chosen = {name: OF[name] for name in plain[CHOICE[device]]}
    assert python.run(f"CHOSEN, DEVICE = {chosen!r}, {device!r}\n{RUN}") == {}
