"""Every hand-written kernel on desktop WebGPU, on odd shapes, also where no rule chooses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_cases import MAKERS, TOLERANCE, run_schedule

from tallow.devices.webgpu.codegen.kernels import SCHEDULES
from tallow.devices.webgpu.codegen.schedule import kernel_file
from tallow.devices.webgpu.native.device import open_device

FOLDER = Path(__file__).resolve().parents[3] / "kernels_wgsl"


def test_every_kernel_has_a_schedule_and_cases() -> None:
    """A file without a case is a gap with a name."""
    files = {path.stem for path in FOLDER.glob("*.wgsl")}
    assert files == set(SCHEDULES)
    assert files == set(MAKERS)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("file", SCHEDULES)
def test_schedule(file: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_schedule(file))
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["kernels"] == [file] * outcome["cases"]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
    assert (outcome["rounding"] > TOLERANCE) == file.endswith("_f16")


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("file", SCHEDULES)
def test_file_is_a_whole_module(file: str) -> None:
    """It compiles as it stands, before the generator writes its memory access anew."""
    gpu = open_device()
    text = kernel_file(file).text.replace("enable subgroups;", "")
    if "enable f16;" in text and "shader-f16" not in gpu.adapter.features:
        pytest.skip(f"{gpu.adapter.name} has no shader-f16")
    with gpu.checked(file):
        gpu.handle.create_shader_module(code=text, label=file)
