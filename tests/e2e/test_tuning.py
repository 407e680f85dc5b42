"""The autotuner in the browser: choices are saved in IndexedDB and used after a reload; refused
storage and a missing clock are reported."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tallow_build.script import BrowserPython

CODE = """
import json, js, tallow as tl
from tallow.graph import Graph, input_node
from tallow.runtime.tuning import limits_of
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


def test_a_damaged_record_is_discarded_with_a_warning(page: Page, server: str) -> None:
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
    value, output = run(python, CODE + code)
    assert value == 64
    assert any("discarded" in text for text in output)


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
TUNE_AND_LISTEN = """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = await tl.tune(product())
[[result.clock for result in results], [str(w.message) for w in caught]]
"""


def test_refused_storage_causes_a_warning_and_changes_no_answer(
    page: Page, server: str, patch: Any
) -> None:
    refuse = "indexedDB.open = () => { throw new DOMException('no storage here'); };"
    first = "/** @type {Promise<Gpu> | undefined} */"
    patch(page, "worker/gpu.js", first, f"{refuse}\n{first}")
    python = BrowserPython(page, server)
    assert python.boot("webgpu").device == "webgpu"
    value, output, all_ours = run(python, CODE + ANSWER + "await answer()")
    assert value == 64
    assert all_ours
    assert any("cannot be read: this browser refuses storage: no storage here" in t for t in output)
    clocks, output = run(python, TUNE_AND_LISTEN)
    assert clocks == ["timestamp"]
    assert any("not kept: this browser refuses storage: no storage here" in text for text in output)
    # The choices last as long as this worker.
    assert len(run(python, "dict(limits_of(backend()).traits.choices)")) == 1
    assert run(python, "await answer()") == [64, [], True]


def test_without_timestamp_query_the_host_clock_is_used(
    page: Page, server: str, patch: Any
) -> None:
    patch(page, "gpu/device.js", ', "timestamp-query"', "")
    python = BrowserPython(page, server)
    assert python.boot("webgpu").device == "webgpu"
    clocks, output = run(python, CODE + ANSWER + TUNE_AND_LISTEN)
    assert clocks == ["counted"]
    assert output == []
    assert run(python, "await answer()") == [64, [], True]
