"""Which tests share a process, and what becomes of a run whose processes die."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.side_by_side import OP_SUITE, process_group

from tallow_build.paths import ROOT
from tallow_build.process import environment

SETTINGS = """[pytest]
addopts = -p no:cacheprovider -p no:hypothesispytest -p tests.second_try -p tests.side_by_side
"""
DIES = "import os, signal\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
LIVES = "".join(f"def test_{name}():\n    pass\n" for name in ("one", "two", "three"))


def test_a_file_is_a_group_but_the_op_suite_is_one_for_each_device() -> None:
    assert process_group("tests/ops/test_packed.py::test_a[x-y]") == "tests/ops/test_packed.py"
    wasm = {process_group(f"{OP_SUITE}wasm-{case}]") for case in ("add", "argsort-many-int64")}
    assert wasm == {f"{OP_SUITE}wasm"}


def test_the_op_suite_has_its_name() -> None:
    path, _, name = OP_SUITE.partition("::")
    assert f"def {name[:-1]}(" in (ROOT / path).read_text("utf-8")


class Run:
    """A run of files of toy tests, whose names order them, in two workers."""

    def __init__(self, folder: Path, *files: str) -> None:
        (folder / "pytest.ini").write_text(SETTINGS)
        for number, text in enumerate(files):
            (folder / f"test_{number}.py").write_text(text)
        side_by_side = ("-n", "2", "--dist=loadfile", "--no-loadscope-reorder")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rA", *side_by_side],
            cwd=folder,
            env=environment({"PYTHONPATH": str(ROOT)}),
            capture_output=True,
            text=True,
            timeout=380,
        )
        self.status = done.returncode
        self.output = done.stdout

    def those(self, outcome: str) -> list[str]:
        """The tests with this outcome, as the summary names them, in the order of their names."""
        summary = self.output.partition("short test summary info")[2].partition("\n===")[0]
        lines = [line.split() for line in summary.splitlines()]
        return sorted(words[1] for words in lines if words and words[0] == outcome)


def test_a_test_that_kills_its_worker_fails_once_and_the_others_run(tmp_path: Path) -> None:
    run = Run(tmp_path, LIVES, DIES + LIVES, LIVES, LIVES)
    assert run.status == 1, run.output
    assert run.those("FAILED") == ["test_1.py::test_dies"]
    lived = [f"test_{n}.py::test_{name}" for n in range(4) for name in ("one", "three", "two")]
    assert run.those("PASSED") == lived


def test_a_replacement_starts_though_its_files_have_one_test_each(tmp_path: Path) -> None:
    one = "def test_one():\n    pass\n"
    run = Run(tmp_path, DIES, DIES, one, one, one)
    assert run.status == 1, run.output
    assert run.those("FAILED") == ["test_0.py::test_dies", "test_1.py::test_dies"]
    assert run.those("PASSED") == [f"test_{number}.py::test_one" for number in (2, 3, 4)]


def test_so_it_is_where_the_last_test_of_all_dies(tmp_path: Path) -> None:
    run = Run(tmp_path, LIVES, LIVES, LIVES + DIES)
    assert run.status == 1, run.output
    assert run.those("FAILED") == ["test_2.py::test_dies"]
    assert len(run.those("PASSED")) == 9


def test_a_replacement_that_finds_other_tests_ends_the_run(tmp_path: Path) -> None:
    changes = """
from pathlib import Path
import pytest
seen = Path(__file__).with_suffix(".seen")

@pytest.mark.parametrize("number", range(2 if seen.exists() else 3))
def test_number(number):
    pass
"""
    marks = "from pathlib import Path\ndef test_marks():\n    Path('test_0.seen').touch()\n"
    run = Run(tmp_path, changes, marks + DIES + LIVES)
    assert run.status not in (0, 1), run.output
    assert "Different tests were collected" in run.output
    assert "test_1.py::test_dies" in run.output
