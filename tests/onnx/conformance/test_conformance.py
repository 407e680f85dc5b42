"""The official ONNX cases on NumPy, in Chromium on WebGPU, and those of single operators on
WebAssembly through wasmtime: a test per operator type, or set.

NumPy runs all. A function body is a graph of other operators, which have cases of their own, so of
the 480 bodies the other two run the first of each operator type; `build.py conformance` runs all.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from . import listed, report
from .cases import Case, collect
from .runners import BrowserRunner, ProcessRunner, Runner

ENTRIES = listed.read(listed.LIST.read_text("utf-8"))
ROWS = report.parse(report.PAGE.read_text("utf-8"))

# NumPy's runner is a process, WebGPU's is Chromium.
DEVICES = [
    pytest.param(device, marks=pytest.mark.browser) if device == "webgpu" else device
    for device in listed.DEVICES
]


NETWORKS_ON_WEBGPU = {"light/test_shufflenet", "light/test_squeezenet"}
"""Of the whole networks, those that Chromium runs here: the other seven take over a minute of
processor time. NumPy runs all, `build.py conformance` all on both, and tests/models runs networks
with real weights on WebGPU."""


def chosen(cases: list[Case]) -> list[Case]:
    """The cases of an operator type, or set, without the function bodies that follow its first."""
    bodies = [case for case in cases if "_expanded" in case.id]
    return [case for case in cases if case not in bodies[1:]]


@pytest.fixture(scope="module")
def groups() -> dict[str, list[Case]]:
    """The cases of each operator type, or set of whole models."""
    found: dict[str, list[Case]] = {}
    for case in collect():
        found.setdefault(case.group, []).append(case)
    return found


@pytest.fixture(scope="module", params=DEVICES)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """The runner of a device; NumPy's is a process, WebGPU's is Chromium."""
    started: Runner
    if request.param == "numpy":
        started = ProcessRunner("numpy")
    else:
        browser: Browser = request.getfixturevalue("browser")
        started = BrowserRunner("webgpu", browser, request.getfixturevalue("server"))
    yield started
    started.close()


@pytest.mark.parametrize("group", report.groups(ROWS))
def test_cases_are_as_listed(group: str, groups: dict[str, list[Case]], runner: Runner) -> None:
    if (runner.device, group) == ("webgpu", "light"):
        some = [case for case in groups[group] if case.id in NETWORKS_ON_WEBGPU]
        assert [o.passed and o.dispatches > 0 for o in runner.run(some)] == [True, True]
        return
    cases = groups[group] if runner.device == "numpy" else chosen(groups[group])
    outcomes = listed.settled(runner.run(cases), runner.device, ENTRIES)
    assert listed.deviations(outcomes, runner.device, ENTRIES) == []
    counted = report.count(outcomes, runner.device)[runner.device, group]
    row = ROWS[runner.device, group]
    assert row.leaves(len(groups[group]) - len(cases), counted), (
        f"{row}, but {counted}: build.py conformance writes the page anew"
    )


@pytest.fixture(scope="module")
def wasm() -> Iterator[Runner]:
    started = ProcessRunner("wasm")
    yield started
    started.close()


@pytest.mark.parametrize("group", report.groups(ROWS))
def test_webassembly_passes_what_numpy_does(
    group: str, groups: dict[str, list[Case]], wasm: Runner
) -> None:
    cases = [case for case in chosen(groups[group]) if case.set == "node"]
    outcomes = listed.settled(wasm.run(cases), "numpy", ENTRIES)
    assert listed.deviations(outcomes, "numpy", ENTRIES) == []


def test_the_page_has_every_operator_type(groups: dict[str, list[Case]]) -> None:
    assert report.groups(ROWS) == sorted(groups, key=str.lower)
    assert report.page(ROWS) == report.PAGE.read_text("utf-8")


def test_every_entry_of_the_list_is_about_a_case() -> None:
    assert listed.idle(collect(), ENTRIES) == []


def test_all_official_cases_are_there() -> None:
    cases = collect()
    assert sum(case.set == "node" for case in cases) == 1884
    assert {case.set for case in cases} == {
        "node", "light", "simple", "pytorch-converted", "pytorch-operator",
    }  # fmt: skip
    assert len({case.id for case in cases}) == len(cases)
