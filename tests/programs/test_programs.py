"""Whole programs written for PyTorch run as they are, and lose what they lose with PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_with_pytorch(name: str, tmp_path: Path) -> None:
    """On NumPy, which is told, so that no program looks for a GPU, which takes half a second."""
    command = ["tallow", "run", str(PROGRAMS[name]), "--as-torch", "--device", "numpy"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "py"), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    expected = EXPECTED[name]
    near = pytest.approx(expected["losses"], rel=tolerance(name), abs=NEAR_ZERO, nan_ok=True)
    assert losses(done.stdout) == near
    if name in PRINTED:
        assert done.stdout == expected["printed"]
