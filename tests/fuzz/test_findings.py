"""The fuzzer's findings as regression tests: on NumPy, and in Chromium on WebGPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from ..onnx.conformance.runners import BrowserRunner
from . import findings
from .bench import WORKERS, Bench, started
from .judgement import Verdict

FILES = findings.files()


@pytest.fixture(scope="module", params=("numpy", pytest.param("webgpu", marks=pytest.mark.browser)))
def verdicts(request: pytest.FixtureRequest) -> Iterator[dict[str, Verdict]]:
    """The verdict on each finding, by its file name."""
    cases = [findings.load(path) for path in FILES]
    if request.param == "numpy":
        with started("numpy") as bench:
            judged = bench.judge(cases)
    else:
        browser: Browser = request.getfixturevalue("browser")
        runner = BrowserRunner("webgpu", browser, request.getfixturevalue("server"), WORKERS)
        bench = Bench(runner)
        judged = bench.judge(cases)
        bench.close()
        runner.close()
    yield {path.stem: verdict for path, verdict in zip(FILES, judged, strict=True)}


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_what_was_found_is_right_or_refused(name: str, verdicts: dict[str, Verdict]) -> None:
    verdict = verdicts[name]
    assert verdict.status != "finding", verdict.why


def test_there_are_findings() -> None:
    assert FILES
