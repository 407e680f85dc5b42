"""The autotuner in the browser: what won is kept in IndexedDB and used after a reload."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tallow_build.script import BrowserPython

CODE = """
import json, js, tallow as tl
from tallow.graph import Graph, input_node
from tallow.tuning import limits_of
from tallow.device import backend

def product():
    a, b = (input_node(name, (64, 64), tl.float32) for name in "ab")
    return Graph((a, b), {"y": (tl.Tensor(a) @ tl.Tensor(b)).node}, "product")
"""
TUNE = """
results = await tl.tune(product())
[result.chosen for result in results], dict(limits_of(backend()).traits.choices)
"""


def run(python: BrowserPython, code: str) -> Any:
    """The value of the last expression."""
    said: list[str] = []
    ended = python.run(code, "tuning.py", lambda _, text: said.append(text))
    assert ended.status == 0, "".join(said)
    return ended.result


def test_choices_outlive_the_page(page: Page, server: str) -> None:
    python = BrowserPython(page, server)
    assert python.boot("webgpu").device == "webgpu"
    chosen, choices = run(python, CODE + TUNE)
    assert len(chosen) == 1
    assert list(choices.values()) == chosen
    again = BrowserPython(page, server)
    assert again.boot("webgpu").device == "webgpu"
    kept = run(again, CODE + "dict(limits_of(backend()).traits.choices)")
    assert kept == choices


def test_a_damaged_record_is_thrown_away_and_said(page: Page, server: str) -> None:
    python = BrowserPython(page, server)
    assert python.boot("webgpu").device == "webgpu"
    code = """
import warnings
await js.tallowGpu.keepTuning('{"choices": {"a": "b"}, "checksum": "wrong"}')
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    session = await tl.compile_session_async(product())
feeds = {name: [[1.0] * 64] * 64 for name in "ab"}
answer = (await session.run_async(feeds))["y"]
[float(answer[0, 0]), [str(warning.message) for warning in caught]]
"""
    value, said = run(python, CODE + code)
    assert value == 64
    assert any("thrown away" in text for text in said)
