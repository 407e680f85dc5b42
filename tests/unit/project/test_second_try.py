"""The second try of browser tests, in a run of toy tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.second_try import MAX_TRIES

from tallow_build.paths import ROOT
from tallow_build.process import environment

SETTINGS = """[pytest]
markers = browser: in a browser
addopts = -p no:cacheprovider -p no:hypothesispytest
"""

TOYS = '''
from pathlib import Path
import threading
import pytest

def times(name):
    """How often this was called, with this call."""
    count = Path(f"{name}.count")
    so_far = int(count.read_text()) if count.exists() else 0
    count.write_text(str(so_far + 1))
    return so_far + 1

def test_right():
    times("right")

@pytest.mark.browser
def test_late(tmp_path):
    assert times("late") == 2

@pytest.fixture
def page():
    yield
    assert times("page") == 2

@pytest.mark.browser
def test_ends_late(page):
    pass

@pytest.mark.browser
def test_broken():
    times("broken")
    raise AssertionError

def test_quick():
    assert times("quick") == 2

@pytest.mark.browser
def test_stuck():
    if times("stuck") == 1:
        threading.Event().wait()

def test_sleeps():
    times("sleeps")
    threading.Event().wait()

@pytest.mark.browser
@pytest.mark.parametrize("number", range(99))
def test_many(number):
    times("many")
    raise AssertionError
'''


class Run:
    """A run of some of the toy tests, from an empty folder."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        (folder / "pytest.ini").write_text(SETTINGS)
        (folder / "test_toys.py").write_text(TOYS)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.second_try", *arguments],
            cwd=folder,
            env=environment({"PYTHONPATH": str(ROOT)}),
            capture_output=True,
            text=True,
            timeout=380,
        )
        self.status = done.returncode
        self.lines = done.stdout.splitlines()
        self.counts = {path.stem: int(path.read_text()) for path in folder.glob("*.count")}


def test_those_that_pass_then_are_named_and_the_run_has_passed(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "2", "-k", "right or late")
    assert run.status == 0, run.lines
    assert run.counts == {"right": 1, "late": 2, "page": 2}
    assert sorted(run.lines[-3:]) == [
        "All other tests passed at once; 2 needed a second try.",
        "PASSED: test_toys.py::test_ends_late",
        "PASSED: test_toys.py::test_late",
    ]


def test_one_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "0", "-k", "test_late or broken")
    assert run.status == 1
    assert run.counts == {"late": 2, "broken": 2}
    assert run.lines[-2:] == [
        "PASSED: test_toys.py::test_late",
        "FAILED: test_toys.py::test_broken",
    ]


def test_one_of_no_browser_is_not_tried_again_and_fails_the_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "0", "-k", "test_late or quick")
    assert run.status == 1
    assert run.counts == {"late": 2, "quick": 1}
    assert run.lines[-1] == "PASSED: test_toys.py::test_late"


GIVING_UP = ("-o", "faulthandler_timeout=3", "-o", "faulthandler_exit_on_timeout=true")


def test_one_that_never_ends_ends_its_worker_and_is_tried_again(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "2", "-k", "right or stuck", *GIVING_UP)
    assert run.status == 0, run.lines
    assert run.counts == {"right": 1, "stuck": 2}
    assert run.lines[-2] == "PASSED: test_toys.py::test_stuck"


def test_one_of_no_browser_that_never_ends_fails_the_run(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "2", "-k", "right or sleeps", *GIVING_UP)
    assert run.status == 1
    assert run.counts == {"right": 1, "sleeps": 1}
    assert run.lines[-1] == "FAILED: test_toys.py::test_sleeps"


def test_nothing_is_tried_again_where_many_fail(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "0", "-k", "many")
    assert run.status == 1
    assert run.counts == {"many": 99}
    assert MAX_TRIES < 99


def test_nor_where_some_were_left_out(tmp_path: Path) -> None:
    run = Run(tmp_path, "-n", "0", "-k", "late or right", "--maxfail=1")
    assert run.status == 1
    assert run.counts == {"right": 1, "late": 1}
