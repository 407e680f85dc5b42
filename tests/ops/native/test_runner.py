"""The native runner: overlapping runs, memory, where errors come from, choice of device."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, compile_graph
from tallow.core.drivers import run_sync
from tallow.devices.webgpu.native import device as native_device
from tallow.devices.webgpu.native.backend import NativeBackend
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

ROOT = Path(__file__).resolve().parents[3]
on_gpu = pytest.mark.usefixtures("native")


def network(size: int = 8, outputs: int = 2) -> Graph:
    """A few kernels, some of them in `prepare`; slots are reused."""
    node = input_node("x", (1, 4, size, size), tl.float32)
    weights = np.linspace(-1, 1, 8 * 4 * 9, dtype=np.float32).reshape(8, 4, 3, 3)
    y = F.relu(F.conv2d(Tensor(node), tl.asarray(weights), padding=1))
    y = F.conv2d(F.max_pool2d(y, 2), tl.asarray(weights[:4].repeat(2, 1)), padding=1)
    named = {"y": y.node, "total": tl.sum(y).node}
    return Graph((node,), dict(list(named.items())[:outputs]), "network")


def pictures(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=(1, 4, 8, 8)).astype(np.float32) for _ in range(count)]


@pytest.fixture(scope="module")
def wanted() -> list[np.ndarray]:
    with tl.compile_session(network(), "numpy") as session:
        return [session.run({"x": x})["y"] for x in pictures(24)]


def close_to(got: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    np.testing.assert_allclose(np.stack(got), np.stack(wanted), atol=1e-4)


@on_gpu
def test_sessions_in_threads_do_not_disturb_each_other(wanted: list[np.ndarray]) -> None:
    with (
        tl.compile_session(network(), "webgpu") as first,
        tl.compile_session(network(), "webgpu") as second,
        ThreadPoolExecutor(6) as threads,
    ):
        turns = [(first, second)[n % 2] for n in range(24)]
        held = first.stats["bytes"]
        runs = threads.map(lambda s, x: s.run({"x": x})["y"], turns, pictures(24))
        close_to(list(runs), wanted)
        assert (first.stats["runs"], second.stats["runs"]) == (12, 12)
        assert first.stats["bytes"] == held


@on_gpu
def test_overlapping_tasks_on_one_session(
    wanted: list[np.ndarray], run_async: Callable[..., Any]
) -> None:
    async def all_at_once() -> list[np.ndarray]:
        session = await tl.compile_session_async(network(), "webgpu")
        with session:
            runs = [session.run_async({"x": x}) for x in pictures(24)]
            return [result["y"] for result in await asyncio.gather(*runs)]

    close_to(run_async(all_at_once()), wanted)


@on_gpu
def test_results_stay_after_further_runs_and_close(wanted: list[np.ndarray]) -> None:
    session = tl.compile_session(network(), "webgpu")
    got = [session.run({"x": x})["y"] for x in pictures(24)]
    session.close()
    close_to(got, wanted)


@on_gpu
def test_close_while_runs_are_under_way() -> None:
    session = tl.compile_session(network(), "webgpu")
    with ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(session.run, {"x": x}) for x in pictures(24)]
        session.close()
    for run in runs:
        error = run.exception()
        assert error is None or (isinstance(error, tl.DeviceError) and "closed" in str(error))
    assert session.stats["bytes"] == 0


@on_gpu
def test_nothing_is_left_behind() -> None:
    wgpu = native_device.open_device().wgpu

    def kept() -> dict[str, int]:
        counts = wgpu.diagnostics.wgpu_native_counts.get_dict()
        return {name: figures["count"] for name, figures in counts.items()}

    before = kept()
    for _ in range(20):
        session = tl.compile_session(network(), "webgpu")
        session.run({"x": pictures(1)[0]})
        assert session.stats["bytes"] > 0
        session.close()
        session.close()
        assert session.stats["bytes"] == 0
        with pytest.raises(tl.DeviceError, match="network: the program is closed"):
            session.run({"x": pictures(1)[0]})
    del session
    assert kept() == before


@on_gpu
def test_a_weight_of_no_elements() -> None:
    empty = tl.asarray(np.zeros((0, 3), np.float32))
    x = input_node("x", (2, 3), tl.float32)
    graph = Graph((x,), {"empty": empty.node, "y": (Tensor(x) + 1).node}, "empty")
    with tl.compile_session(graph, "webgpu") as session:
        got = session.run({"x": np.zeros((2, 3), np.float32)})
    assert got["empty"].shape == (0, 3)
    assert got["y"].tolist() == [[1, 1, 1]] * 2


@on_gpu
def test_weights_that_only_prepare_reads_are_freed() -> None:
    with tl.compile_session(network(), "webgpu") as session:
        used = {slot for step in session.plan.run for slot in step.bindings}
        freed = [s.bytes for n, s in enumerate(session.plan.slots) if n not in used]
        assert freed
        whole = sum(slot.bytes for slot in session.plan.slots)
        # What is left over is params and staging.
        outputs = sum(session.plan.slots[port.slot].bytes for port in session.plan.outputs)
        assert session.stats["bytes"] - (whole - sum(freed)) - outputs < 4096


# ---- errors -----------------------------------------------------------------------------------


def broken(**changes: Any) -> Compiled:
    """The network's plan with the fields of its second step, or of that step's kernel, changed."""
    compiled = compile_graph(network(), "webgpu")
    first, second, *rest = compiled.plan.run
    if "bindings" not in changes:
        changes = {"kernel": {**second.kernel, **changes}}
    plan = replace(compiled.plan, run=[first, replace(second, **changes), *rest])
    return Compiled(plan, compiled.weights)


@on_gpu
@pytest.mark.parametrize(
    "changes",
    [
        {"workgroups": (1 << 20, 1, 1)},
        {"bindings": [0]},
        {"bindings": [0, 999]},
        {"params": [1]},
        {"constants": {"NO_SUCH": 1}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_wrong_step_is_named(changes: dict[str, Any]) -> None:
    compiled = broken(**changes)
    with pytest.raises(tl.DeviceError) as caught:
        run_sync(NativeBackend().load(compiled))
    assert f"network: the step {compiled.plan.run[1].name}: " in str(caught.value)


@on_gpu
def test_wrong_wgsl_is_named_with_its_line() -> None:
    compiled = compile_graph(network(), "webgpu")
    module = compiled.plan.run[1].kernel["module"]
    modules = list(compiled.plan.modules)
    modules[module] += "\nfn wrong() -> f32 { return nothing; }\n"
    with pytest.raises(tl.DeviceError) as caught:
        run_sync(
            NativeBackend().load(
                Compiled(replace(compiled.plan, modules=modules), compiled.weights)
            )
        )
    assert compiled.plan.run[1].name in str(caught.value)
    assert "return nothing;" in str(caught.value)


@on_gpu
def test_inputs_that_do_not_fit_the_plan() -> None:
    program = run_sync(NativeBackend().load(compile_graph(network(), "webgpu")))
    with pytest.raises(tl.DeviceError, match="the input x has 2048 bytes instead of 1024"):
        run_sync(program.run([bytes(2048)]))
    with pytest.raises(tl.DeviceError, match="got 0 inputs instead of 1"):
        run_sync(program.run([]))
    program.close()


@on_gpu
def test_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = native_device.open_device()

    def refuse(**_: Any) -> None:
        raise gpu.wgpu.GPUOutOfMemoryError("not enough memory left")

    monkeypatch.setattr(gpu.handle, "create_buffer", refuse)
    with pytest.raises(
        tl.DeviceMemoryError, match="network: allocating: the device is out of memory"
    ):
        tl.compile_session(network(), "webgpu")


@on_gpu
def test_a_lost_device_is_told_and_replaced(wanted: list[np.ndarray]) -> None:
    session = tl.compile_session(network(), "webgpu")
    native_device.open_device().handle.destroy()
    for _ in range(2):
        with pytest.raises(tl.DeviceLostError, match="network"):
            session.run({"x": pictures(1)[0]})
    session.close()
    with tl.compile_session(network(), "webgpu") as session:
        close_to([session.run({"x": pictures(1)[0]})["y"]], wanted[:1])


# ---- which device -----------------------------------------------------------------------------

ASK = """
import json, sys, tallow as tl
from tallow.runtime.device import backend
{before}
imported = sorted({{"wgpu", "numpy"}} & set(sys.modules))
try:
    backend("webgpu")
    reason = None
except tl.DeviceUnavailableError as error:
    reason = str(error)
print(json.dumps([imported, tl.devices(), tl.default_device(), reason]))
"""


def ask(before: str = "", **environment: str) -> list[Any]:
    """What a fresh Python says: what `import tallow` imported, the devices, why not WebGPU."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(before=before)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "py")} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer: list[Any] = json.loads(done.stdout)
    return answer


def test_without_the_package() -> None:
    imported, devices, default, reason = ask("sys.modules['wgpu'] = None")
    assert imported == ["wgpu"]  # the None above
    assert ("webgpu" in devices, default) == (False, "numpy")
    assert "pip install tallow[webgpu]" in reason


def test_without_a_driver() -> None:
    nowhere = dict.fromkeys(("VK_DRIVER_FILES", "VK_ICD_FILENAMES"), str(ROOT / "nowhere.json"))
    imported, devices, default, reason = ask(**nowhere)
    if sys.platform != "linux":
        pytest.skip("only Vulkan's loader can be told that there is no driver")
    assert imported == []
    assert ("webgpu" in devices, default) == (False, "numpy")
    assert "the device 'webgpu' is unavailable" in reason
    assert "OpenGL" in reason or "no GPU driver" in reason


@on_gpu
def test_a_software_adapter_is_not_the_default(native: str) -> None:
    imported, devices, default, reason = ask()
    assert imported == []
    assert reason is None
    adapter = native_device.find_adapter()
    assert isinstance(adapter, native_device.Adapter)
    gpu, host = devices.index("webgpu"), devices.index("numpy")
    assert (gpu > host) == adapter.software
    assert default == devices[0]
    assert adapter.software or "llvmpipe" not in native
