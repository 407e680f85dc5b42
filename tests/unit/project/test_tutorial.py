"""docs/tutorial.md: its Python runs in order on NumPy, and so does the Python of its page."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tutorial import BLOCKS, PYTHON_OF_PAGE

import tallow as tl


@pytest.fixture
def ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """What the blocks define, and as `said` what they print."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    tl.set_default_device("numpy")
    try:
        for number, block in enumerate(BLOCKS):
            exec(compile(block, f"tutorial.md, block {number}", "exec"), names)
    finally:
        tl.set_default_device(None)
    names["said"] = capsys.readouterr().out
    return names


def test_the_examples_hold_what_the_text_says(ran: dict[str, Any]) -> None:
    assert len(BLOCKS) == 9
    first, *_ = ran["said"].splitlines()
    assert f"print(y.described())  # {first}\n" in BLOCKS[0]
    assert ran["step"].plans == 1
    assert ran["right"] > 0.97
    assert ran["yellow"].item() > 0.95
    assert ran["navy"].item() < 0.05


def test_the_page_has_the_models_answer(ran: dict[str, Any], run_async: Callable[..., Any]) -> None:
    code = PYTHON_OF_PAGE.replace('open_device("webgpu")', 'open_device("numpy")')
    assert code != PYTHON_OF_PAGE
    names: dict[str, Any] = {}
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    module = compile(code, "tutorial.md, page", "exec", flags)

    async def run() -> float:
        started = eval(module, names)
        assert inspect.isawaitable(started)
        await started
        answer: float = await names["predict"](1, 1, 0)
        return answer

    tl.set_default_device("numpy")
    try:
        answer = run_async(run())
    finally:
        tl.set_default_device(None)
    np.testing.assert_allclose(answer, ran["yellow"].item(), rtol=1e-6)
