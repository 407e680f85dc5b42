"""Whole programs written for PyTorch run as they are, and lose what they lose with PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.programs.programs import (
    BROWSERS,
    LOOSER,
    NEAR_ZERO,
    ON_WEBGPU,
    PRINTED,
    PROGRAMS,
    RECORDED,
    losses,
    tolerance,
)

from tallow_build.paths import ROOT

EXPECTED: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text("utf-8"))


def test_every_program_is_recorded() -> None:
    assert list(EXPECTED) == sorted(PROGRAMS)
    assert {name for name, found in EXPECTED.items() if "printed" in found} == set(PRINTED)
    assert all(found["losses"] or name in PRINTED for name, found in EXPECTED.items())


def test_the_table_is_of_programs() -> None:
    assert {*LOOSER, *PRINTED, *BROWSERS} <= set(PROGRAMS)
    assert 4 * len(BROWSERS) >= len(PROGRAMS)
    kinds = {name.split("/")[0] for name in PROGRAMS}
    for some in (BROWSERS, ON_WEBGPU):
        assert {name.split("/")[0] for name in some} == kinds
    assert set(ON_WEBGPU) <= set(BROWSERS)


def test_losses_of_an_output() -> None:
    output = "Loss: 1.5 loss 2...\nD loss: -3e-05, loss = 4.25|\nlosses 5 CrossEntropyLoss() 6"
    assert losses(output) == [1.5, 2, -3e-05, 4.25]


ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join([str(ROOT / "py"), str(ROOT)]),
    "OMP_NUM_THREADS": "1",
}

Run = Callable[[str, Path], str]


@pytest.fixture(scope="module")
def forked() -> Iterator[Run]:
    """forked(name, folder): what a program prints in a process of its own; it must not fail."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.programs.forked"],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asked, answers = process.stdin, process.stdout
        assert asked and answers

        def run(name: str, folder: Path) -> str:
            print(json.dumps([str(PROGRAMS[name]), str(folder)]), file=asked, flush=True)
            status, output, errors = json.loads(answers.readline())
            assert status == 0, errors[-2000:]
            return output

        yield run
        asked.close()


def check(name: str, output: str) -> None:
    """A program's output is PyTorch's."""
    expected = EXPECTED[name]
    near = pytest.approx(expected["losses"], rel=tolerance(name), abs=NEAR_ZERO, nan_ok=True)
    assert losses(output) == near
    if name in PRINTED:
        assert output == expected["printed"]


# On NumPy, which is told, so that no program looks for a GPU, which takes half a second.


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked")
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_with_pytorch(name: str, tmp_path: Path, forked: Run) -> None:
    check(name, forked(name, tmp_path))


def test_by_the_command_line(tmp_path: Path) -> None:
    name = "images/mnist"
    command = ["tallow", "run", str(PROGRAMS[name]), "--as-torch", "--device", "numpy"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    check(name, done.stdout)
