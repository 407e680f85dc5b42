"""Every hand-written kernel on desktop WebGPU, on odd shapes, also where no rule chooses it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from kernel_cases import MAKERS, TOLERANCE, forced, missing_feature, run_schedule

from tallow.devices.webgpu.codegen.kernels import SCHEDULES
from tallow.devices.webgpu.codegen.schedule import sources
from tallow.devices.webgpu.native.device import open_device
from tallow.runtime.device import backend


def test_every_kernel_has_cases_and_every_file_is_of_a_kernel() -> None:
    """What has no case is a gap with a name."""
    assert set(SCHEDULES) == set(MAKERS)
    included = {
        name for text in sources().values() for name in re.findall(r"^//#include (.+)", text, re.M)
    }
    assert set(sources()) == {f"{s.file}.wgsl" for s in SCHEDULES.values()} | included


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_schedule(name))
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["kernels"] == [name] * outcome["cases"]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
    assert (outcome["rounding"] > TOLERANCE) == SCHEDULES[name].half


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("name", [n for n, s in SCHEDULES.items() if s.workgroup == (4, 1, 1)])
def test_kernels_compile_for_other_lanes(name: str) -> None:
    """Where a workgroup is made as wide as they are."""
    gpu = open_device()
    limits = backend("webgpu").limits
    if missing := missing_feature(name, limits.traits):
        pytest.skip(f"{gpu.adapter.name} has no {missing}")
    other = 8 if limits.traits.lanes == 4 else 4
    limits = replace(limits, traits=replace(limits.traits, lanes=other))
    texts = forced(name, MAKERS[name]()[:1], limits).plan.modules
    (text,) = [text for text in texts if text.startswith(f"// {name} (kernels_wgsl/")]
    with gpu.checked(name):
        gpu.handle.create_shader_module(code=text.replace("enable subgroups;", ""), label=name)
