"""The op suite: the cases of cases/op_cases/, each on every device that a run of the tests has.

A device in a browser runs its cases in one page. On WebGPU, which most visitors have, a case is a
test of its own; the other devices there run theirs in one test, since the cases themselves take
less time than the messages to the page. Chromium takes ten times as long to compile a kernel as the
desktop's WebGPU, which runs all cases: there every sixth runs, and some case of each op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from op_cases import CASES
from playwright.sync_api import Playwright
from run_case import difference, feeds_of, graph_of, run_case
from tests.conftest import Notebook, watched_page
from tests.ops.conftest import with_cases
from tests.ops.toy.lists import is_for_lists

from tallow.compile import compile_graph
from tallow.core.devices import KINDS
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow_build.environment import debian, firefox

Outcome = dict[str, Any]
"""What run_case gives."""
Run = Callable[[Sequence[str]], dict[str, Outcome]]
"""Runs the cases of these names."""


# ---- the devices ---------------------------------------------------------------------------------


def here(device: str, request: pytest.FixtureRequest) -> Run:
    """A device of this process."""
    run_async = request.getfixturevalue("run_async")
    return lambda names: {name: run_async(run_case(name, device)) for name in names}


def numpy(request: pytest.FixtureRequest) -> Run:
    return here("numpy", request)


def webgpu_plan(request: pytest.FixtureRequest) -> Run:
    """NumPy executes the steps that the GPU would: the passes are right apart from WGSL."""

    def outcome(name: str) -> Outcome:
        program = NumpyProgram(compile_graph(graph_of(name), "webgpu"))
        (output,) = run_sync(program.run(list(feeds_of(name).values())))
        return {"wrong": difference(CASES[name], output.numpy()), "device": "numpy"}

    return lambda names: {name: outcome(name) for name in names}


def toy(request: pytest.FixtureRequest) -> Run:
    """A device made of the records of ops alone: a folder, and this line in the registry."""
    request.getfixturevalue("monkeypatch").setitem(KINDS, "toy", "tests.ops.toy")
    return here("toy", request)


def wasm(request: pytest.FixtureRequest) -> Run:
    """Generated WebAssembly, run by wasmtime."""
    return here("wasm", request)


def native(request: pytest.FixtureRequest) -> Run:
    """Desktop WebGPU (the package `wgpu`), a second compiler of our WGSL."""
    request.getfixturevalue("native")
    return here("webgpu", request)


def inside(python: Notebook, device: str) -> Run:
    """A device of a browser's Python, which has the cases."""
    code = "import run_case\n{name: await run_case.run_case(name, DEVICE) for name in NAMES}"
    return lambda names: python.run(f"NAMES, DEVICE = {list(names)!r}, {device!r}\n{code}")


def chromium_webgpu(request: pytest.FixtureRequest) -> Run:
    return inside(request.getfixturevalue("python"), "webgpu")


def chromium_numpy(request: pytest.FixtureRequest) -> Run:
    """NumPy in Pyodide, where an index has 32 bits and products have no BLAS."""
    return inside(request.getfixturevalue("python"), "numpy")


def chromium_wasm(request: pytest.FixtureRequest) -> Run:
    """Generated WebAssembly on V8."""
    return inside(with_cases(request.getfixturevalue("browser_python")("wasm")), "wasm")


def firefox_wasm(request: pytest.FixtureRequest) -> Run:
    """Generated WebAssembly on SpiderMonkey."""
    return inside(with_cases(request.getfixturevalue("firefox_python")), "wasm")


@pytest.fixture
def firefox_python(playwright: Playwright, server: str) -> Iterator[Notebook]:
    """Firefox's Python, on WebAssembly. Skips if there is no Firefox and none can be installed."""
    path = firefox.find()
    if path is None:
        assert not debian.available(), "build.py test has not installed Debian's firefox-esr"
        pytest.skip("there is no Firefox here, and no root on Debian to install one")
    open_page: Any = contextmanager(watched_page)
    with (
        firefox.running(playwright, path, webgpu=False) as browser,
        open_page(browser, server) as (page, _),
    ):
        yield Notebook(page, server, "wasm")


# ---- which device runs which cases ---------------------------------------------------------------

ALL = list(CASES)
THIRD = ALL[::3]
"""For engines of WebAssembly other than wasmtime, which runs all cases."""


def _of_each_op() -> Iterator[str]:
    """Every sixth case, and those with an op that no case before them has."""
    seen: set[str] = set()
    for number, name in enumerate(ALL):
        ops = {node.op.name for node in graph_of(name).nodes()}
        if number % 6 == 0 or not ops <= seen:
            yield name
        seen |= ops


OF_EACH_OP = list(_of_each_op())
OF_LISTS = [name for name in ALL if all(map(is_for_lists, graph_of(name).nodes()))]


@dataclass(frozen=True)
class Device:
    """open(request): makes what runs cases, from fixtures. ran: the device that a session has to
    name. cases: those that it runs. at_once: in one test."""

    open: Callable[[pytest.FixtureRequest], Run]
    ran: str
    cases: list[str]
    browser: bool = False
    at_once: bool = False

    def parameters(self) -> Iterator[Any]:
        """For each test of this device: the device and the names of its cases."""
        tests = {"all": self.cases} if self.at_once else {name: [name] for name in self.cases}
        marks = [pytest.mark.browser] if self.browser else []
        for label, names in tests.items():
            # tests/conftest.py groups tests by what is before the first hyphen.
            yield pytest.param(self, names, marks=marks, id=f"{self.open.__name__}-{label}")


# The fast ones first.
ORDER = (
    Device(numpy, "numpy", ALL),
    Device(webgpu_plan, "numpy", ALL),
    Device(toy, "toy", OF_LISTS),
    Device(wasm, "wasm", ALL),
    Device(native, "webgpu", ALL),
    Device(chromium_webgpu, "webgpu", OF_EACH_OP, browser=True),
    Device(chromium_numpy, "numpy", ALL, browser=True, at_once=True),
    Device(chromium_wasm, "wasm", THIRD, browser=True, at_once=True),
    Device(firefox_wasm, "wasm", THIRD, browser=True, at_once=True),
)


# ---- the tests -----------------------------------------------------------------------------------


def fault(outcome: Outcome, device: str) -> str:
    """What is wrong with an outcome; "" if nothing is, and this device computed it."""
    if outcome["wrong"] is not None:
        return str(outcome["wrong"])
    ran = outcome["device"] == device
    if device == "webgpu":
        ran = ran and outcome["dispatches"] > 0 and outcome["runs"] == 1 and outcome["adapter"]
    return "" if ran else f"{device} did not compute it once: {outcome}"


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Callable[[Sequence[str]], dict[str, str]]:
    """A device, by its record: gives the faults of cases by their names."""
    record: Device = request.param
    run = record.open(request)

    def faults(names: Sequence[str]) -> dict[str, str]:
        outcomes = run(names)
        assert list(outcomes) == list(names)
        found = {name: fault(outcome, record.ran) for name, outcome in outcomes.items()}
        return {name: text for name, text in found.items() if text}

    return faults


@pytest.mark.parametrize(
    ("device", "names"), [each for one in ORDER for each in one.parameters()], indirect=["device"]
)
def test_cases(device: Callable[[Sequence[str]], dict[str, str]], names: list[str]) -> None:
    assert device(names) == {}
