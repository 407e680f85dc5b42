"""Python is restored from a memory snapshot; if that fails, it starts normally at once.

NumPy has a snapshot of its own; if that fails, the first one is tried, then a normal start. Most
faults are tried in a worker that only starts Python. For other damage of downloads see
tests/js/fetch.test.js.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.conftest import watched_page
from tests.e2e.runtime import known, retell

from tallow_build.environment.browser import until

SNAPSHOT = "**/runtime/snapshot-*.bin"
NUMPY = "**/runtime/numpy-*.bin"
MODULE = "**/sources/worker/snapshot.js"
LIBRARY = "**/runtime/_umath_linalg-*.wasm"


def asked_of_runtime(page: Page) -> list[str]:
    """The names of files in runtime/ that are requested from now on, as a growing list."""
    asked: list[str] = []

    def note(request) -> None:
        if "/runtime/" in request.url:
            asked.append(request.url.rpartition("/")[2])

    page.on("request", note)
    return asked


def image(dist: Path) -> Path:
    """The snapshot."""
    return dist / "runtime" / known(dist)["snapshot"]["file"]


def test_nothing_is_loaded_that_the_snapshot_contains(visitor):
    asked = asked_of_runtime(visitor.page)
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert [name for name in asked if name.startswith("snapshot-")]
    assert not [name for name in asked if name.endswith((".zip", ".whl"))]

    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    assert visitor.read() == "7"
    assert [name[:6] for name in asked if name.endswith((".zip", ".whl"))] == ["numpy-"]


def test_numpy_comes_from_a_snapshot_too(visitor):
    asked = asked_of_runtime(visitor.page)
    visitor.open("?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    for start in ("snapshot-", "numpy-", "_multiarray_umath-", "_umath_linalg-"):
        assert len([name for name in asked if name.startswith(start)]) == 1
    assert not [name for name in asked if name.endswith((".zip", ".whl"))]
    stages = visitor.hook("boot-log").locator("[data-stage]")
    names = [stage.get_attribute("data-stage") for stage in stages.all()]
    assert names[0] == "numpySnapshot"
    assert not {"snapshot", "python", "numpy"} & set(names)
    assert int(stages.first.get_attribute("data-bytes")) > 10_000_000


def no_room_for_a_library(runtime: dict[str, Any]) -> None:
    runtime["numpy"]["libraries"][1]["slots"][0] -= 1


def of_another_tallow(runtime: dict[str, Any]) -> None:
    runtime["version"] = "9.9.9"


def stage(visitor, name: str) -> Locator:
    """The line of a stage in the boot log."""
    found: Locator = visitor.hook("boot-log").locator(f"[data-stage={name}]")
    return found


def failed(visitor, name: str, why: str) -> None:
    """This stage has failed, for this reason."""
    expect(stage(visitor, name)).to_have_attribute("data-state", "failed")
    expect(stage(visitor, name)).to_contain_text(why)


def test_if_both_snapshots_fail_python_starts_normally_and_the_boot_log_says_why(visitor):
    def change(runtime) -> None:
        no_room_for_a_library(runtime)
        of_another_tallow(runtime)

    retell(visitor.page, change)
    visitor.open("?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    failed(visitor, "numpySnapshot", "the table has")
    failed(visitor, "snapshot", "The snapshot contains another version of Tallow, 0.1.0")
    for name in ("python", "tallow", "numpy"):
        expect(stage(visitor, name)).to_have_attribute("data-state", "done")
    visitor.hook("language-select").select_option("zh")
    failed(visitor, "snapshot", "失败")


# A worker that only starts Python, as the page's worker does, and runs code.
TRY = """
import { startPython } from "./worker/python.js";
onmessage = async ({ data: { numpy, code } }) => {
  try {
    const { pyodide } = await startPython({ numpy });
    postMessage({ result: pyodide.runPython(code) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
"""
# Starts such a worker. Returns the result, and for each stage [its last state, the reason]. The
# workers stay, so that the browser need not compile Python for each.
START = """({ say }, given) => new Promise((resolve) => {
  const worker = new Worker("try.js", { type: "module" });
  (window.workers ??= []).push(worker);
  const stages = {};
  worker.onerror = ({ message }) => resolve({ failed: message });
  worker.onmessage = ({ data }) => {
    if (data.event === "stage") stages[data.name] = [data.state, data.why ? say(data.why) : ""];
    else if (!data.event) resolve({ ...data, stages });
  };
  worker.postMessage(given);
})"""
COMPUTE = """
import tallow as tl
if NUMPY:
    import numpy as np
    assert np.arange(3).sum() == 3
str(tl.zeros((2, 3)).shape)
"""


class Starts:
    """Starts Python again and again on one page, with the list of runtime/ that a test changes."""

    def __init__(self, page: Page, module: Any, listed: dict[str, Any]) -> None:
        self.page = page
        self.listed = listed
        self._module = module

        def tell(route: Route) -> None:
            body = f"export default {json.dumps(self.listed)};"
            route.fulfill(body=body, content_type="text/javascript")

        def script(route: Route) -> None:
            route.fulfill(body=TRY, content_type="text/javascript")

        page.route("**/sources/runtime/runtime.js", tell)
        page.route("**/sources/try.js", script)

    def start(self, *, numpy: bool) -> dict[str, list[str]]:
        """The stages of a start, which must succeed."""
        given = {"numpy": numpy, "code": COMPUTE.replace("NUMPY", str(numpy))}
        ended = self._module("./i18n/messages.js", START, given)
        assert ended.get("result") == "(2, 3)", ended
        stages: dict[str, list[str]] = ended["stages"]
        return stages


def cut_off(starts: Starts, content: bytes) -> str:
    starts.page.route(SNAPSHOT, lambda route: route.fulfill(body=content[:-100_000]))
    return "is damaged: it has"


def serve_as_right(starts: Starts, content: bytes) -> None:
    """Serves another snapshot with its hash."""
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    starts.listed["snapshot"].update(facts)
    starts.page.route(SNAPSHOT, lambda route: route.fulfill(body=content))


def of_another_pyodide(starts: Starts, content: bytes) -> str:
    at = content.index(b'{"hiwireKeys"')
    serve_as_right(starts, content[: at - 8] + bytes(8) + content[at:])
    return "mismatch"


def without_python(starts: Starts, content: bytes) -> str:
    """Its memory is that of a new instance, in which nothing has run."""
    at = content.index(b'{"hiwireKeys"') - 48
    serve_as_right(starts, content[:8] + bytes(4) + content[at:])
    return "Python could not be started"


def refused_by_the_browser(starts: Starts, content: bytes) -> str:
    def handle(route: Route) -> None:
        response = route.fetch()
        body = response.text()
        assert "memory.set(fresh)" in body
        body = body.replace("memory.set(fresh)", "memory.refuse(fresh)")
        route.fulfill(response=response, body=body)

    starts.page.route(MODULE, handle)
    return "Python could not be started"


def no_numpy(starts: Starts) -> str:
    starts.page.route(NUMPY, lambda route: route.abort())
    return "can’t be reached"


def numpy_changed(starts: Starts) -> str:
    starts.page.route(NUMPY, lambda route: route.fulfill(body=route.fetch().body()[:-4] + b"oops"))
    return "its sha256 is"


def no_library(starts: Starts) -> str:
    starts.page.route(LIBRARY, lambda route: route.fulfill(status=404))
    return "is missing from the server"


def library_that_is_none(starts: Starts) -> str:
    starts.page.route(LIBRARY, lambda route: route.fulfill(body=bytes(1_056_155)))
    return "its sha256 is"


def library_without_room(starts: Starts) -> str:
    no_room_for_a_library(starts.listed)
    return "the table has"


FAULTS = (cut_off, of_another_pyodide, without_python, refused_by_the_browser)
FAULTS_OF_NUMPY = (
    no_numpy,
    numpy_changed,
    no_library,
    library_that_is_none,
    library_without_room,
)


def test_whatever_is_wrong_with_a_snapshot_python_starts_without_it(page, module, dist):
    listed = known(dist)
    content = image(dist).read_bytes()
    starts = Starts(page, module, listed)
    assert starts.start(numpy=True).keys() == {"numpySnapshot"}

    for fault in FAULTS:
        starts.listed = copy.deepcopy(listed)
        why = fault(starts, content)
        stages = starts.start(numpy=False)
        page.unroute(SNAPSHOT)
        page.unroute(MODULE)
        state, reason = stages.pop("snapshot")
        assert state == "failed", fault.__name__
        assert why in reason
        assert stages == {"python": ["done", ""], "tallow": ["done", ""]}

    for fault_of_numpy in FAULTS_OF_NUMPY:
        starts.listed = copy.deepcopy(listed)
        why = fault_of_numpy(starts)
        stages = starts.start(numpy=True)
        page.unroute(NUMPY)
        page.unroute(LIBRARY)
        state, reason = stages.pop("numpySnapshot")
        assert state == "failed", fault_of_numpy.__name__
        assert why in reason
        assert stages == {"snapshot": ["done", ""], "numpy": ["done", ""]}


EXEC = """async (code) => (await tallow.call("exec", { code })).result"""


def open_python(page: Page) -> None:
    page.goto("python.html")
    until(page, "window.tallow")
    page.evaluate('async () => { await tallow.call("boot", { device: "numpy" }); }')


@pytest.fixture(scope="module")
def console_page(browser, server) -> Iterator[tuple[Page, list[str]]]:
    """A page with a Python, and the names of the files in runtime/ that were requested."""
    for page, _ in watched_page(browser, server):
        asked = asked_of_runtime(page)
        open_python(page)
        yield page, asked


@pytest.fixture
def console(console_page) -> Iterator[tuple[Page, list[str]]]:
    """The same page and names. Routes that a test has added are removed after it."""
    yield console_page
    console_page[0].unroute_all(behavior="ignoreErrors")


def test_calls_use_this_browser_s_trampoline(console):
    page, _ = console
    code = """
import pyodide_js
module = pyodide_js._module
at = module.__PyRuntime + module.HEAP32.at(module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET // 4)
module.HEAP32.at(at // 4)
"""
    slot = page.evaluate(EXEC, code)
    assert slot > 10_000  # of the table; without one, each call of a C function is JavaScript's


def test_python_can_wait_for_a_promise(console):
    page, _ = console
    code = "import asyncio, pyodide.ffi; pyodide.ffi.run_sync(asyncio.sleep(0, 'waited'))"
    assert page.evaluate(EXEC, code) == "waited"


def test_warnings_and_tracebacks_work_without_source_files(console):
    page, _ = console
    code = """
import io, traceback, warnings, tallow, contextlib
output = io.StringIO()
with contextlib.redirect_stderr(output):
    warnings.warn("look out")
    try:
        tallow.zeros((-1,))
    except tallow.TallowError:
        traceback.print_exc()
output.getvalue()
"""
    output = page.evaluate(EXEC, code)
    assert "look out" in output
    assert re.search(r'File ".*tallow/.*\.py", line \d+, in \w+', output)


def test_modules_of_numpy_not_in_it_are_fetched_when_they_are_imported(console):
    page, asked = console
    wheel = "**/numpy-*.whl"
    transform = """
try:
    import numpy as np, numpy.no_such_module
except ImportError as error:
    result = str(error)
try:
    result = np.fft.fft([1, 0, 0, 0]).real.tolist(), np.random.default_rng(1).integers(9)
except ImportError as error:
    result = str(error)
str(result)
"""
    page.route(wheel, lambda route: route.abort())
    assert "NumPy can't be fetched" in page.evaluate(EXEC, transform)
    page.unroute(wheel)
    assert page.evaluate(EXEC, transform) == "([1.0, 1.0, 1.0, 1.0], np.int64(4))"
    assert page.evaluate(EXEC, transform) == "([1.0, 1.0, 1.0, 1.0], np.int64(4))"
    assert [name[:6] for name in asked if name.endswith((".zip", ".whl"))] == ["numpy-"] * 3


def test_modules_not_in_it_are_fetched_when_they_are_imported(console):
    page, asked = console
    library = "**/python_stdlib.zip"
    tries = """
import asyncio
try:
    import wave, xml.dom.minidom, asyncio.mixins, json.tool
    result = xml.dom.minidom.parseString("<a><b/></a>").documentElement.tagName
except ImportError as error:
    result = str(error)
result
"""
    assert "python_stdlib.zip" not in asked
    page.route(library, lambda route: route.abort())
    assert "can't be fetched" in page.evaluate(EXEC, tries)
    page.unroute(library)
    page.route(library, lambda route: route.fulfill(body=b"PK another one"))
    assert "has the sha256" in page.evaluate(EXEC, tries)
    page.unroute(library)
    assert page.evaluate(EXEC, tries) == "a"
    assert asked.count("python_stdlib.zip") == 3
    assert page.evaluate(EXEC, "import no_such_module_at_all" + tries) is None
    assert page.evaluate(EXEC, "import importlib, turtledemo") is None
    assert page.evaluate(EXEC, "import calendar, ftplib; ftplib.FTP_PORT") == 21
    assert asked.count("python_stdlib.zip") == 3


def test_each_python_has_random_numbers_of_its_own(console, page):
    """The state shows one seed even if the first Python has drawn some numbers before."""
    code = """
import os, random, secrets, uuid, tallow as tl, numpy as np
[random.random(), str(random.getstate()[1][:-1]), secrets.token_hex(), os.urandom(8).hex(),
 str(uuid.uuid4()), np.random.default_rng().random(), tl.random.fresh_bytes(8).hex()]
"""
    open_python(page)
    drawn = [each.evaluate(EXEC, code) for each in (console[0], page)]
    assert len(drawn[0]) == 7
    assert not set(drawn[0]) & set(drawn[1])


def test_its_listed_facts_are_right(dist):
    listed = known(dist)
    assert listed["version"] == "0.1.0"
    assert listed["snapshot"]["bytes"] == image(dist).stat().st_size
