"""Lighthouse gives the page full marks for accessibility and for best practices."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from playwright.sync_api import Playwright

from tallow_build.environment import browser

SCRIPT = Path(__file__).with_name("lighthouse.js")
PATIENCE = 180


def report(address: str, chromium: str) -> dict[str, Any]:
    """What lighthouse.js prints about the page at this address."""
    node = shutil.which("node")
    assert node, "Node.js is not on PATH, though node_modules was made with it"
    arguments = {
        "address": address,
        "chromium": chromium,
        "args": browser.arguments(webgpu=True),
    }
    with Popen([node, str(SCRIPT), json.dumps(arguments)], stdout=PIPE, stderr=PIPE) as process:
        try:
            output, errors = process.communicate(timeout=PATIENCE)
        except TimeoutExpired:
            process.terminate()  # which also ends its Chromium
            raise
    assert process.returncode == 0, errors.decode(errors="replace")
    answer: dict[str, Any] = json.loads(output)
    return answer


def test_full_marks(server: str, playwright: Playwright) -> None:
    found = report(server, browser.find() or playwright.chromium.executable_path)
    assert found["device"] == "wasm"
    problems = [f"{step['name']}: {it}" for step in found["steps"] for it in step["problems"]]
    assert not problems, "\n".join(problems)
    assert {step["name"]: step["scores"] for step in found["steps"]} == {
        "Draw": {"accessibility": 1, "best-practices": 1},
        "Classify, while it computes": {"best-practices": 1},
        "Classify, with an answer": {"accessibility": 1, "best-practices": 1},
    }
