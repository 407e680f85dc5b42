"""The autotuner in the browser: choices are saved in IndexedDB and used after a reload; refused
storage and a missing clock are reported."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tallow_build.serving.script import BrowserPython

CODE = """
import json, js, tallow as tl
from tallow.graph import Graph, input_node
from tallow.runtime.compiling import limits_of
from tallow.runtime.device import backend

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
    output: list[str] = []
    ended = python.run(code, "tuning.py", lambda _, text: output.append(text))
    assert ended.status == 0, "".join(output)
    return ended.result


ANSWER = """
import warnings
async def answer():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = await tl.compile_session_async(product())
        feeds = {name: [[1.0] * 64] * 64 for name in "ab"}
        result = float((await session.run_async(feeds))["y"][0, 0])
        session.close()
    kinds = {warning.category for warning in caught}
    return [result, [str(w.message) for w in caught], kinds <= {tl.TuningWarning}]
"""
TUNE = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = await tl.tune(product())
[[[result.chosen, result.clock] for result in results], [str(w.message) for w in caught]]
"""
CHOICES = "dict(limits_of(backend()).traits.choices)"


def booted(page: Page, server: str) -> BrowserPython:
    """Python in a new page, on WebGPU."""
    python = BrowserPython(page, server)
    assert python.boot("webgpu").device == "webgpu"
    return python


def test_a_damaged_record_is_discarded_and_new_choices_outlive_the_page(
    page: Page, server: str
) -> None:
    python = booted(page, server)
    damage = """await js.tallowGpu.keepTuning('{"choices": {"a": "b"}, "checksum": "wrong"}')"""
    value, output, _ = run(python, CODE + ANSWER + damage + "\nawait answer()")
    assert value == 64
    assert any("discarded" in text for text in output)
    (((chosen, clock),), _) = run(python, TUNE)
    assert clock == "timestamp"
    choices = run(python, CHOICES)
    assert list(choices.values()) == [chosen]
    again = booted(page, server)
    assert run(again, CODE + CHOICES) == choices
    assert run(again, ANSWER + "await answer()") == [64, [], True]


def test_refused_storage_and_a_missing_clock_change_no_answer(
    page: Page, server: str, patch: Any
) -> None:
    """Refused storage causes warnings; without timestamp-query the host's clock is used, which
    causes none."""
    refuse = "indexedDB.open = () => { throw new DOMException('no storage here'); };"
    first = "/** @type {Promise<Gpu> | undefined} */"
    patch(page, "worker/gpu.js", first, f"{refuse}\n{first}")
    patch(page, "gpu/device.js", ', "timestamp-query"', "")
    python = booted(page, server)
    value, output, all_ours = run(python, CODE + ANSWER + "await answer()")
    assert value == 64
    assert all_ours
    (text,) = output
    assert "cannot be read: this browser refuses storage: no storage here" in text
    (((_, clock),), output) = run(python, TUNE)
    assert clock == "counted"
    assert all("this browser refuses storage: no storage here" in text for text in output)
    assert any("not kept: this browser refuses storage" in text for text in output)
    # The choices last as long as this worker.
    assert len(run(python, CHOICES)) == 1
    assert run(python, "await answer()") == [64, [], True]
