"""A pytest plugin that reruns failed browser tests, one at a time, after all other tests.

A browser on a busy machine may miss a moment that no state announces, or stop answering; other
tests get no second try. `build.py test` loads this with `-p tests.second_try`. If all failures pass
the second time, the run has passed, and its last lines name them. If many tests fail, or the run
was cut short, a busy machine is not the reason, and nothing is rerun.

A test that takes longer than `faulthandler_timeout` (pyproject.toml) ends its worker, which prints
where every thread is; pytest-xdist starts another worker, and reports that test as a crash.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest

# More failures than this are not due to a busy machine.
MAX_TRIES = 20


def may_be_tried_again(report: Any) -> bool:
    """Whether a failure belongs to a test with the marker "browser". The report of a crash does not
    tell: it may."""
    if not isinstance(report, pytest.TestReport):
        return False
    return "browser" in report.keywords or str(report.when) == "???"


def passes_alone(config: pytest.Config, test: str) -> bool:
    """Whether a browser test passes in a separate pytest, whose output is shown. Others do not run
    there."""
    command = [sys.executable, "-m", "pytest", "--numprocesses=0", "-m", "browser", test]
    return subprocess.call(command, cwd=config.rootpath) == pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, Any, Any]:
    """Runs after the summary, in the main process."""
    result = yield
    config = session.config
    whole = not (session.shouldstop or session.shouldfail)  # for example by --maxfail
    if (
        session.exitstatus != pytest.ExitCode.TESTS_FAILED
        or not whole
        or hasattr(config, "workerinput")
    ):
        return result
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    assert terminal and capture
    failures = [*terminal.getreports("failed"), *terminal.getreports("error")]
    # A test and its fixtures' teardown may both fail.
    tests = list(dict.fromkeys(each.nodeid for each in failures if may_be_tried_again(each)))
    if not 0 < len(tests) <= MAX_TRIES:
        return result
    with capture.global_and_fixture_disabled():
        terminal.section("second try of browser tests, each alone")
        passed = [test for test in tests if passes_alone(config, test)]
        terminal.section("second try")
        for test in tests:
            outcome = "PASSED" if test in passed else "FAILED"
            terminal.line(f"{outcome}: {test}")
        if len(passed) == len(tests) and all(map(may_be_tried_again, failures)):
            terminal.line(f"All other tests passed at once; {len(passed)} needed a second try.")
            session.exitstatus = pytest.ExitCode.OK
    return result
