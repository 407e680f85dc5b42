"""Python is restored from a memory snapshot; if that fails, it starts normally at once."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.runtime import known, retell

from tallow_build.browser import until

SNAPSHOT = "**/runtime/snapshot-*.bin"


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


def serve_as_right(page: Page, content: bytes) -> None:
    """Serves another snapshot with its hash."""
    facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    retell(page, lambda runtime: runtime["snapshot"].update(facts))
    page.route(SNAPSHOT, lambda route: route.fulfill(body=content))


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


def cut_off(page: Page, content: bytes) -> None:
    page.route(SNAPSHOT, lambda route: route.fulfill(body=content[:-100_000]))


def changed(page: Page, content: bytes) -> None:
    page.route(SNAPSHOT, lambda route: route.fulfill(body=content[:-4] + b"oops"))


def no_server(page: Page, content: bytes) -> None:
    page.route(SNAPSHOT, lambda route: route.abort())


def of_another_tallow(page: Page, content: bytes) -> None:
    retell(page, lambda runtime: runtime.update(version="9.9.9"))


def of_another_pyodide(page: Page, content: bytes) -> None:
    at = content.index(b'{"hiwireKeys"')
    serve_as_right(page, content[: at - 8] + bytes(8) + content[at:])


def without_python(page: Page, content: bytes) -> None:
    """Its memory is that of a new instance, in which nothing has run."""
    serve_as_right(page, content[:8] + bytes(4) + content[content.index(b'{"hiwireKeys"') - 48 :])


FAULTS = {
    cut_off: "is damaged: it has",
    changed: "its sha256 is",
    no_server: "can’t be reached",
    of_another_tallow: "The snapshot contains another version of Tallow, 0.1.0",
    of_another_pyodide: "mismatch",
    without_python: "Python could not be started",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_if_it_fails_python_starts_normally(visitor, dist, fault):
    fault(visitor.page, image(dist).read_bytes())
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    log = visitor.hook("boot-log")
    expect(log.locator("[data-stage=snapshot]")).to_have_attribute("data-state", "failed")
    expect(log.locator("[data-stage=snapshot]")).to_contain_text(FAULTS[fault])
    for name in ("python", "tallow"):
        expect(log.locator(f"[data-stage={name}]")).to_have_attribute("data-state", "done")


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


NUMPY = "**/runtime/numpy-*.bin"
LIBRARY = "**/runtime/_umath_linalg-*.wasm"


def no_numpy(page: Page) -> None:
    page.route(NUMPY, lambda route: route.abort())


def numpy_changed(page: Page) -> None:
    page.route(NUMPY, lambda route: route.fulfill(body=route.fetch().body()[:-4] + b"oops"))


def no_library(page: Page) -> None:
    page.route(LIBRARY, lambda route: route.fulfill(status=404))


def library_that_is_none(page: Page) -> None:
    page.route(LIBRARY, lambda route: route.fulfill(body=bytes(1_056_155)))


def no_room_for_a_library(page: Page) -> None:
    def change(runtime) -> None:
        runtime["numpy"]["libraries"][1]["slots"][0] -= 1

    retell(page, change)


NUMPY_FAULTS = {
    no_numpy: "can’t be reached",
    numpy_changed: "its sha256 is",
    no_library: "is missing from the server",
    library_that_is_none: "its sha256 is",
    no_room_for_a_library: "the table has",
}


@pytest.mark.parametrize("fault", NUMPY_FAULTS, ids=lambda fault: fault.__name__)
def test_if_numpy_s_snapshot_fails_the_wheel_is_installed(visitor, fault):
    fault(visitor.page)
    visitor.open("?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    log = visitor.hook("boot-log")
    failed = log.locator("[data-stage=numpySnapshot]")
    expect(failed).to_have_attribute("data-state", "failed")
    expect(failed).to_contain_text(NUMPY_FAULTS[fault])
    for name in ("snapshot", "numpy"):
        expect(log.locator(f"[data-stage={name}]")).to_have_attribute("data-state", "done")
    expect(log.locator("[data-stage=python]")).to_have_count(0)


def test_a_browser_that_refuses_it(visitor, patch):
    patch(visitor.page, "worker/snapshot.js", "memory.set(fresh)", "memory.refuse(fresh)")
    visitor.open()
    log = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(log).to_have_attribute("data-state", "failed")
    visitor.hook("language-select").select_option("zh")
    expect(log).to_contain_text("失败")


EXEC = """async (code) => (await tallow.call("exec", { code })).result"""


def open_python(page: Page) -> None:
    page.goto("python.html")
    until(page, "window.tallow")
    page.evaluate('async () => { await tallow.call("boot", { device: "numpy" }); }')


def test_each_python_has_random_numbers_of_its_own(page):
    code = """
import os, random, secrets, uuid, tallow as tl, numpy as np
[random.random(), secrets.token_hex(), os.urandom(8).hex(), str(uuid.uuid4()),
 np.random.default_rng().random(), tl.random.fresh_bytes(8).hex()]
"""
    drawn = []
    for _ in range(2):
        open_python(page)
        drawn.append(page.evaluate(EXEC, code))
    assert len(drawn[0]) == 6
    assert not set(drawn[0]) & set(drawn[1])


def test_modules_not_in_it_are_fetched_when_they_are_imported(page):
    asked = asked_of_runtime(page)
    open_python(page)
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


def test_modules_of_numpy_not_in_it_are_fetched_when_they_are_imported(page):
    asked = asked_of_runtime(page)
    open_python(page)
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


def test_calls_use_this_browser_s_trampoline(page):
    code = """
import pyodide_js
module = pyodide_js._module
at = module.__PyRuntime + module.HEAP32.at(module.__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET // 4)
module.HEAP32.at(at // 4)
"""
    open_python(page)
    slot = page.evaluate(EXEC, code)
    assert slot > 10_000  # of the table; without one, each call of a C function is JavaScript's


def test_python_can_wait_for_a_promise(page):
    open_python(page)
    code = "import asyncio, pyodide.ffi; pyodide.ffi.run_sync(asyncio.sleep(0, 'waited'))"
    assert page.evaluate(EXEC, code) == "waited"


def test_warnings_and_tracebacks_work_without_source_files(page):
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
    open_python(page)
    output = page.evaluate(EXEC, code)
    assert "look out" in output
    assert re.search(r'File ".*tallow/.*\.py", line \d+, in \w+', output)


def test_its_listed_facts_are_right(dist):
    listed = known(dist)
    assert listed["version"] == "0.1.0"
    assert listed["snapshot"]["bytes"] == image(dist).stat().st_size
