"""No leaks: after hundreds of runs and forty sessions in one worker, including failed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.conftest import watched_page
from tests.e2e.leaks.collector import COUNT_BUFFERS, Collector

from tallow_build.paths import ROOT
from tallow_build.serving.script import BrowserPython

RUNS = 300
SESSIONS = 40
FAILURES = 40

# Allowances for the engines of Python and JavaScript: caches, free lists, code.
OBJECTS = 25  # objects that Python's collector tracks
BLOCKS = 100  # of Python's memory
REFERENCES = 2  # from Python to JavaScript's objects
JS_BYTES = 600_000  # of JavaScript's heap; as many answers of a kilobyte fit, no buffer does

SETUP = """
import gc, js, sys, pyodide_js
import tallow as tl
from dataclasses import replace
from tallow.compile import compile_graph
from tallow.core.drivers import run_async
from tallow.runtime.device import backend
from tallow.runtime.compiling import limits_of

"""
SETUP += f"js.eval({COUNT_BUFFERS!r})\n"
SETUP += """
module = pyodide_js._module
module.enable_pyproxy_allocation_tracing()

def state():
    for _ in range(3):
        gc.collect()
    return {
        "gpu_bytes": js.held.bytes,
        "gpu_buffers": js.held.buffers,
        "heap": module.HEAPU8.length,
        "objects": len(gc.get_objects()),
        "blocks": sys.getallocatedblocks(),
        "proxies": module.pyproxy_alloc_map.size,
        "references": module._hiwire_num_refs(),
    }

model = tl.onnx.load("mnist.onnx")
graph = model.graph()
(port,) = graph.inputs
name = port.attrs["name"]
feeds = {name: memoryview(bytes(4 * 28 * 28)).cast("f", port.shape)}

async def refused(awaitable, kind):
    try:
        await awaitable
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")
"""
SESSION_RUNS = """
session = await model.session_async()
async def many(count):
    for _ in range(count):
        await session.run_async(feeds)
"""
SHORT_RUNS = """
session = await model.session_async()
async def many(count):
    pixels = bytes(4 * 28 * 28)
    for _ in range(count):
        await session.run_ordered([pixels])
"""
SESSIONS_MADE = """
async def many(count):
    for _ in range(count):
        session = await model.session_async()
        await session.run_async(feeds)
        session.close()
"""
WRONG_FEEDS = """
session = await model.session_async()
async def many(count):
    for _ in range(count):
        await refused(session.run_async({"x": [1.0]}), tl.FeedError)
        await refused(session.run_async({name: [1.0]}), tl.FeedError)
        await refused(run_async(session._only()._program.run([bytes(8)])), tl.DeviceError)
        await refused(run_async(session._only()._program.profile([])), tl.DeviceError)
    await session.run_async(feeds)
"""
FAILED_LOADS = """
compiled = compile_graph(graph, "webgpu", limits_of(backend()))
modules = (*compiled.plan.modules[:-1], "this is no WGSL")
broken = replace(compiled, plan=replace(compiled.plan, modules=modules))
async def many(count):
    for _ in range(count):
        await refused(run_async(backend().load(broken)), tl.DeviceError)
"""
PROFILES = """
session = await model.session_async()
async def many(count):
    for _ in range(count):
        await run_async(session._only()._program.profile([bytes(4 * 28 * 28)], 0.0))
"""
FIRST = "await many({count})\nstate()"
# Nothing of a test is left for the next one.
LAST = """
if "session" in globals():
    session.close()
    del session
del many
"""


Measure = Callable[[str, int], None]


@pytest.fixture(scope="module")
def python(browser: Browser, server: str) -> Iterator[tuple[Callable[[str], Any], Collector]]:
    """Runs code in the one worker of all these tests; measures its JavaScript heap."""
    for page, _ in watched_page(browser, server):
        python = BrowserPython(page, server)
        assert python.boot("webgpu").device == "webgpu"
        python.write("mnist.onnx", (ROOT / "models" / "mnist" / "mnist.onnx").read_bytes())

        def run(code: str, python: BrowserPython = python) -> Any:
            output: list[str] = []
            ended = python.run(code, "leaks.py", lambda _, text: output.append(text))
            assert ended.status == 0, "".join(output)
            return ended.result

        run(SETUP)
        yield run, Collector(page)


@pytest.fixture
def leaves_nothing(python: tuple[Callable[[str], Any], Collector]) -> Iterator[Measure]:
    """leaves_nothing(code, count): all `count` runs of the code leave no more behind than its
    first ten runs."""
    run, collector = python

    def measure(code: str, count: int) -> None:
        run(code)
        before, js_before = run(FIRST.format(count=10)), collector.bytes_used()
        after = run(FIRST.format(count=count - 10))
        js_after = collector.bytes_used(most=js_before + JS_BYTES - 1)
        print(before, after, js_before, js_after)
        for exact in ("gpu_bytes", "gpu_buffers", "heap", "proxies"):
            assert after[exact] == before[exact], exact
        assert after["objects"] - before["objects"] < OBJECTS
        assert after["blocks"] - before["blocks"] < BLOCKS
        assert after["references"] - before["references"] < REFERENCES
        assert js_after - js_before < JS_BYTES

    yield measure
    run(LAST)


def test_runs(leaves_nothing: Measure) -> None:
    leaves_nothing(SESSION_RUNS, RUNS)


def test_runs_by_the_short_road(leaves_nothing: Measure) -> None:
    leaves_nothing(SHORT_RUNS, RUNS)


def test_sessions(leaves_nothing: Measure) -> None:
    leaves_nothing(SESSIONS_MADE, SESSIONS)


def test_runs_that_fail(leaves_nothing: Measure) -> None:
    leaves_nothing(WRONG_FEEDS, FAILURES)


def test_profiles(leaves_nothing: Measure) -> None:
    leaves_nothing(PROFILES, FAILURES)


def test_loads_that_fail(leaves_nothing: Measure) -> None:
    leaves_nothing(FAILED_LOADS, FAILURES)
