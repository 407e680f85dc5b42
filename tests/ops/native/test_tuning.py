"""The autotuner on the native runner: what is slow is replaced, what is damaged is discarded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.devices.webgpu import tuning
from tallow.devices.webgpu.codegen import choice, kernels
from tallow.devices.webgpu.codegen.schedule import Schedule
from tallow.devices.webgpu.native.backend import NativeBackend
from tallow.devices.webgpu.tuning import TuningWarning
from tallow.graph import Graph, input_node
from tallow.runtime.base import Timing
from tallow.tensor import Tensor

SLOW = "matmul_1x4"  # one row an invocation: it reads b anew for each of them


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: None) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tallow"


@pytest.fixture
def slow_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that prefers the slowest kernel, whose time is taken tenfold: on a busy machine chance
    may make it the fastest."""
    planted = [kernels.SCHEDULES[name] for name in (SLOW, "matmul_8x8", "matmul_4x4")]
    monkeypatch.setattr(choice, "_products", lambda node, traits: planted)
    measure = tuning._time

    async def time(node: Any, name: str, schedule: Schedule, *rest: Any) -> Timing:
        timing = await measure(node, name, schedule, *rest)
        return replace(timing, total=10 * timing.total) if schedule.name == SLOW else timing

    monkeypatch.setattr(tuning, "_time", time)


@pytest.fixture
def like_hardware(monkeypatch: pytest.MonkeyPatch, native: None) -> Iterator[None]:
    """A rule that takes the adapter for a real GPU with shader-f16; float32 again afterwards."""
    limits = NativeBackend().limits
    if not limits.traits.float16:
        pytest.skip(f"{native} has no shader-f16")
    traits = replace(limits.traits, software=False)
    monkeypatch.setattr(NativeBackend, "limits", replace(limits, traits=traits))
    yield
    tl.set_float32_matmul_precision("highest")


@pytest.fixture
def planted_times(monkeypatch: pytest.MonkeyPatch) -> dict[str, Timing]:
    """Times by the name of a kernel, in place of measured ones; 1 s for any other."""
    planted: dict[str, Timing] = {}

    async def time(node: Any, name: str, schedule: Schedule, *_: Any) -> Timing:
        return planted.get(schedule.name, Timing("timestamp", [1.0], 1.0, 50))

    monkeypatch.setattr(tuning, "_time", time)
    return planted


def product() -> Graph:
    a, b = (input_node(name, (128, 512), tl.float32) for name in "ab")
    return Graph((a, b), {"y": (Tensor(a) @ Tensor(b).mT).node}, "product")


def kernel_of(session: tl.Session) -> str:
    """The schedule of the only hand-written kernel in a plan."""
    (text,) = [module for module in session.plan.modules if "kernels_wgsl/" in module]
    return text.removeprefix("// ").partition(" ")[0]


def answer(session: tl.Session) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(3)
    feeds = {name: rng.normal(size=(128, 512)).astype(np.float32) for name in "ab"}
    result: np.ndarray[Any, Any] = session.run(feeds)["y"]
    return result


def test_a_planted_slow_default_is_replaced(
    slow_rule: None, run_async: Callable[..., Any], cache_folder: Path
) -> None:
    with tl.compile_session(product(), "webgpu") as session:
        assert kernel_of(session) == SLOW
        before = answer(session)
    told: list[tuple[int, int]] = []
    (result,) = run_async(tuning.tune(product(), "webgpu", lambda *done: told.append(done)))
    assert result.default == SLOW
    assert result.chosen != SLOW
    assert set(result.seconds) == {SLOW, "matmul_8x8", "matmul_4x4"}
    assert (result.op, result.shape, result.clock) == ("matmul", (1, 128, 128), "clock")
    assert result.gain == result.seconds[SLOW] / result.seconds[result.chosen] > 1
    assert told == [(0, 1), (1, 1)]
    assert len(list(cache_folder.iterdir())) == 1
    with tl.compile_session(product(), "webgpu") as session:
        assert kernel_of(session) == result.chosen
        np.testing.assert_allclose(answer(session), before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("matmul_8x8", "matmul_4x4"),
        lambda text: "[1, 2]",
        lambda text: "",
    ],
)
def test_a_damaged_record_is_thrown_away_and_said(
    damage: Callable[[str], str], run_async: Callable[..., Any], cache_folder: Path
) -> None:
    backend = NativeBackend()
    run_async(tuning._keep(backend, {"matmul-0": "matmul_8x8"}))
    (path,) = cache_folder.iterdir()
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with (
        pytest.warns(TuningWarning, match="discarded"),
        tl.compile_session(product(), "webgpu") as session,
    ):
        assert answer(session).shape == (128, 128)
    with pytest.warns(TuningWarning, match="discarded"):
        run_async(tuning._keep(backend, {}))
    with tl.compile_session(product(), "webgpu"):  # without a warning: it is whole again
        pass


def test_a_record_of_other_kernels_is_not_used(
    run_async: Callable[..., Any], cache_folder: Path
) -> None:
    backend = NativeBackend()
    run_async(tuning._keep(backend, {"matmul-0": "matmul_8x8"}))
    assert tuning.limits_of(backend).traits.choices == {"matmul-0": "matmul_8x8"}
    (path,) = cache_folder.iterdir()
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**record, "kernels": "older"}), "utf-8")
    assert tuning.limits_of(backend).traits.choices == {}


def test_storage_that_refuses_is_said(run_async: Callable[..., Any], cache_folder: Path) -> None:
    cache_folder.write_text("a file where the folder should be", "utf-8")
    with (
        pytest.warns(TuningWarning, match="not kept"),
        pytest.warns(TuningWarning, match="cannot be read"),
    ):
        run_async(tuning.tune(product(), "webgpu"))
    with (
        pytest.warns(TuningWarning, match="cannot be read"),
        tl.compile_session(product(), "webgpu") as session,
    ):
        assert answer(session).shape == (128, 128)


def test_numpy_has_nothing_to_tune(run_async: Callable[..., Any]) -> None:
    assert run_async(tuning.tune(product(), "numpy")) == []


def several() -> Graph:
    """Products of four shapes, for which the kernels are the same."""
    names = [f"{name}{index}" for index in range(4) for name in "ab"]
    nodes = [input_node(n, (256 + 64 * int(n[1]),) * 2, tl.float32) for n in names]
    pairs = zip(nodes[::2], nodes[1::2], strict=True)
    outputs = {f"y{index}": (Tensor(a) @ Tensor(b)).node for index, (a, b) in enumerate(pairs)}
    return Graph(tuple(nodes), outputs, "several")


def test_it_can_be_ended_early_and_keeps_what_was_measured(
    planted_times: dict[str, Timing], run_async: Callable[..., Any]
) -> None:
    results = run_async(tuning.tune(several(), "webgpu", lambda done, _: done < 2))
    assert len(results) == 2
    kept = tuning.limits_of(NativeBackend()).traits.choices
    assert kept == {result.signature: result.chosen for result in results}


def test_steps_that_are_closed_keep_what_was_measured(
    planted_times: dict[str, Timing], run_async: Callable[..., Any]
) -> None:
    async def part() -> list[tuning.TuningStep]:
        steps = tuning.tuning_steps(several(), "webgpu")
        found = [await anext(steps) for _ in range(3)]
        await steps.aclose()
        return found

    found = run_async(part())
    assert [(step.done, step.total) for step in found] == [(0, 4), (1, 4), (2, 4)]
    kept = tuning.limits_of(NativeBackend()).traits.choices
    results = [step.result for step in found[1:] if step.result]
    assert kept == {result.signature: result.chosen for result in results}
    assert len(kept) == 2


def test_ended_before_it_began_it_keeps_nothing(
    planted_times: dict[str, Timing], run_async: Callable[..., Any], cache_folder: Path
) -> None:
    assert run_async(tuning.tune(several(), "webgpu", lambda *_: False)) == []
    assert not cache_folder.exists()


def test_what_lost_by_far_is_not_tried_for_ever(
    planted_times: dict[str, Timing], run_async: Callable[..., Any]
) -> None:
    planted_times["matmul_4x4"] = Timing("timestamp", [9.0], 9.0, 50)
    results = run_async(tuning.tune(several(), "webgpu"))
    assert ["matmul_4x4" in result.seconds for result in results] == [True, True, False, False]
    assert all("matmul_8x8" in result.seconds for result in results)


@pytest.mark.parametrize(
    ("seconds", "resolution", "source", "wins"),
    [
        (0.9, 0.0, "timestamp", True),
        (0.97, 0.0, "timestamp", False),  # within what chance does
        (0.9, 1.0, "timestamp", False),  # by a clock that ticks that seldom, chance too
        (0.5, 1.0, "timestamp", True),
        (0.1, 0.0, "counted", False),  # another clock
    ],
)
def test_the_rule_stands_unless_it_is_beaten_for_sure(
    planted_times: dict[str, Timing],
    run_async: Callable[..., Any],
    seconds: float,
    resolution: float,
    source: str,
    wins: bool,
) -> None:
    planted_times["matmul_8x8"] = Timing(source, None, seconds, 50, resolution)
    (result,) = run_async(tuning.tune(product(), "webgpu"))
    assert result.default != "matmul_8x8"
    assert result.chosen == ("matmul_8x8" if wins else result.default)


def test_who_wins_by_chance_has_to_win_again(
    monkeypatch: pytest.MonkeyPatch, run_async: Callable[..., Any]
) -> None:
    asked: list[str] = []

    async def time(node: Any, name: str, schedule: Schedule, *_: Any) -> Timing:
        asked.append(schedule.name)
        lucky = schedule.name == "matmul_8x8" and asked.count("matmul_8x8") == 1
        return Timing("timestamp", None, 0.5 if lucky else 1.0, 50)

    monkeypatch.setattr(tuning, "_time", time)
    (result,) = run_async(tuning.tune(product(), "webgpu"))
    assert asked[-2:] == [result.default, "matmul_8x8"]
    assert result.chosen == result.default
    assert result.gain == 1


def test_a_lost_device_is_no_slow_kernel(
    monkeypatch: pytest.MonkeyPatch, run_async: Callable[..., Any]
) -> None:
    def lose(*_: Any) -> None:
        raise tl.DeviceLostError("gone")

    monkeypatch.setattr(NativeBackend, "load", lose)
    with pytest.raises(tl.DeviceLostError):
        run_async(tuning.tune(product(), "webgpu"))


def test_precisions_do_not_share_choices(run_async: Callable[..., Any]) -> None:
    backend = NativeBackend()
    run_async(tuning._keep(backend, {"matmul-0": "matmul_8x8"}))
    run_async(tuning._keep(backend, {"matmul-0": "matmul_tile_8x8_f16"}, half=True))
    found = {}
    try:
        for precision in ("highest", "high", "medium"):
            tl.set_float32_matmul_precision(precision)
            traits = tuning.limits_of(backend).traits
            found[precision] = (traits.half, dict(traits.choices))
    finally:
        tl.set_float32_matmul_precision("highest")
    whole = (False, {"matmul-0": "matmul_8x8"})
    assert found["highest"] == found["high"] == whole
    assert found["medium"] == (True, {"matmul-0": "matmul_tile_8x8_f16"})


def square() -> Graph:
    a, b = (input_node(name, (512, 512), tl.float32) for name in "ab")
    return Graph((a, b), {"y": (Tensor(a) @ Tensor(b)).node}, "square")


def test_float16_products_where_the_user_allows_them(
    like_hardware: None, planted_times: dict[str, Timing], run_async: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(5)
    feeds = {name: rng.normal(size=(512, 512)).astype(np.float32) for name in "ab"}
    wanted = feeds["a"] @ feeds["b"]

    def error(kernel: str) -> float:
        with tl.compile_session(square(), "webgpu") as session:
            assert kernel_of(session) == kernel
            return float(np.abs(session.run(feeds)["y"] - wanted).max() / np.abs(wanted).max())

    assert error("matmul_tile_8x8") < 1e-5
    tl.set_float32_matmul_precision("medium")
    assert 1e-5 < error("matmul_tile_8x8_f16") < 1e-2

    # Tuned while it was allowed, and allowed no more.
    (result,) = run_async(tuning.tune(square(), "webgpu"))
    assert result.chosen == "matmul_tile_8x8_f16"
    tl.set_float32_matmul_precision("highest")
    assert error("matmul_tile_8x8") < 1e-5
    (result,) = run_async(tuning.tune(square(), "webgpu"))
    assert not any(name.endswith("_f16") for name in result.seconds)
    tl.set_float32_matmul_precision("medium")
    assert error("matmul_tile_8x8_f16") > 1e-5
