"""What a Python that was restored from a snapshot can do, as one that started normally."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page
from tests.conftest import watched_page
from tests.e2e.runtime import asked_of_runtime

from tallow_build.environment.browser import until

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
