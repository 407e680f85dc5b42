"""A run that was stopped, killed or cancelled goes on to the same weights."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.train.problem import (
    STEPS_PER_EPOCH,
    StopAt,
    X,
    Y,
    figures,
    learner,
    loaders,
    weights,
)

import tallow as tl
from tallow.core.drivers import Steps, YieldControl
from tallow.core.hostarray import HostArray
from tallow.data import DataLoader
from tallow.devices.numpy.memory import NumpyMemory
from tallow.devices.webgpu.native import device as native_device
from tallow.runtime import device
from tallow.runtime.buffer import Buffer
from tallow.train import Callback, Learner, Run
from tallow_build.paths import ROOT


def whole_run(**options: Any) -> Learner:
    """A run of three epochs that nothing interrupts."""
    trained = learner(**options)
    trained.fit(*loaders(), epochs=3)
    return trained


@pytest.mark.parametrize("seed", [3, None], ids=["the loader's seed", "the process's seed"])
@pytest.mark.parametrize("options", [{}, {"accumulate": 2}, {"validate_every": 4}], ids=str)
def test_a_run_goes_on_from_any_step(
    tmp_path: Path, seed: int | None, options: dict[str, Any]
) -> None:
    wanted = learner(**options)
    wanted.fit(*loaders(seed), epochs=3)
    stops = [1, 2, 5, 7, 8, 13, 14, 15, 20, 999]
    first, *others = stops
    trained = learner(tmp_path, callbacks=[StopAt(first)], **options)
    trained.fit(*loaders(seed), epochs=3)
    for step in others:
        tl.manual_seed(step)  # which a new process begins with
        trained = learner(tmp_path, callbacks=[StopAt(step)], **options)
        trained.resume(*loaders(seed), epochs=3)
    assert figures(trained) == figures(wanted)
    assert weights(trained) == weights(wanted)


def test_a_learner_that_pauses_again_and_again_measures_all_of_its_steps(
    device: str, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"clip_norm": 1.0, "metrics": ["accuracy", "grad_norm"]}
    wanted = whole_run(**options)
    pause = StopAt(2)
    trained = learner(tmp_path, callbacks=[pause], **options)
    trained.fit(*loaders(), epochs=3)
    for pause.step in (4, 7, 10, 13, 999):
        trained.resume(*loaders(), epochs=3)
    close = 1e-4 if device == "webgpu" else 1e-6
    for got, right in zip(figures(trained), figures(wanted), strict=True):
        assert got == pytest.approx(right, rel=close)


class Noisy:
    """Samples with random numbers of their own."""

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        return X[index] + 0.1 * tl.randn(4).numpy(), int(Y[index])


def test_a_run_goes_on_whose_batches_are_made_by_workers(tmp_path: Path) -> None:
    def noisy(workers: int) -> DataLoader[Any]:
        return DataLoader(Noisy(), 16, shuffle=True, seed=3, num_workers=workers)

    wanted = learner()
    wanted.fit(noisy(2), epochs=2)
    trained = learner(tmp_path, callbacks=[StopAt(4)])
    trained.fit(noisy(2), epochs=2)
    again = learner(tmp_path, callbacks=[StopAt(999)])
    again.resume(noisy(3), epochs=2)
    assert (trained.steps, again.steps) == (4, 14)
    assert weights(again) == weights(wanted)


def test_a_run_goes_on_on_each_device(device: str, tmp_path: Path) -> None:
    wanted = whole_run()
    for step in (3, 10):
        part = learner(tmp_path, callbacks=[StopAt(step)])
        (part.resume if step > 3 else part.fit)(*loaders(), epochs=3)
    trained = learner(tmp_path, callbacks=[StopAt(999)])
    trained.resume(*loaders(), epochs=3)
    close = 1e-4 if device == "webgpu" else 0.0
    for got, right in zip(weights(trained), weights(wanted), strict=True):
        np.testing.assert_allclose(got, right, rtol=close, atol=close)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="attempts are forked")
@pytest.mark.parametrize(("device", "kills"), [("numpy", 50), ("wasm", 15)])
def test_a_run_that_is_killed_at_random_moments_ends_with_the_same_weights(
    device: str, kills: int
) -> None:
    command = [sys.executable, "-m", "tests.unit.train.killed", device, str(kills)]
    path = os.pathsep.join([str(ROOT / "py"), str(ROOT)])
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    before = tl.default_device()
    tl.set_default_device(device)
    try:
        wanted = whole_run(checkpoint_every=None)
        assert json.loads(ended.stdout) == [figures(wanted), weights(wanted)]
    finally:
        tl.set_default_device(before)


def test_other_data_than_a_loader_are_skipped(tmp_path: Path) -> None:
    train, valid = loaders()
    batches = list(train)
    wanted = learner()
    wanted.fit(batches, valid, epochs=2)
    learner(tmp_path, callbacks=[StopAt(9)]).fit(batches, valid, epochs=2)
    trained = learner(tmp_path, callbacks=[StopAt(999)])
    trained.resume(batches, valid, epochs=2)
    assert weights(trained) == weights(wanted)


def test_more_epochs_go_on_from_a_complete_run(tmp_path: Path) -> None:
    wanted = whole_run()
    learner(tmp_path).fit(*loaders(), epochs=1)
    trained = learner(tmp_path)
    trained.resume(*loaders(), epochs=3)
    assert figures(trained) == figures(wanted)
    trained.resume(*loaders(), epochs=3)  # nothing is left
    assert weights(trained) == weights(wanted)


def test_ctrl_c_ends_a_run_after_the_step_saved(tmp_path: Path) -> None:
    class Interrupted(Callback):
        def on_step_end(self, learner: Run) -> None:
            if learner.steps == 9:
                os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    trained = learner(tmp_path, callbacks=[Interrupted()])
    with pytest.raises(KeyboardInterrupt):
        trained.fit(*loaders(), epochs=3)
    assert signal.getsignal(signal.SIGINT) is handler
    assert trained.steps == 9
    again = learner(tmp_path, callbacks=[StopAt(999)])
    again.resume(*loaders(), epochs=3)
    assert weights(again) == weights(whole_run())


def test_a_cancelled_run_is_saved(tmp_path: Path) -> None:
    async def run() -> None:
        class Cancelled(Callback):
            def on_step_end(self, learner: Run) -> None:
                if learner.steps == 10:
                    task.cancel()

        trained = learner(tmp_path, callbacks=[Cancelled()])
        task = asyncio.ensure_future(trained.fit_async(*loaders(), epochs=3))
        await asyncio.wait([task])
        assert task.cancelled()
        assert 10 <= trained.steps < 3 * STEPS_PER_EPOCH
        assert trained.folder is not None
        assert trained.folder.names()[-1] == f"step-{trained.steps:08}"

    asyncio.run(run())
    again = learner(tmp_path, callbacks=[StopAt(999)])
    again.resume(*loaders(), epochs=3)
    assert weights(again) == weights(whole_run())


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({}, range(1, 64, 5)),
        ({"accumulate": 2}, range(2, 64, 13)),
        ({"validate_every": 4}, range(3, 64, 13)),
    ],
    ids=str,
)
def test_a_run_that_is_cancelled_anywhere_goes_on_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], numbers: range
) -> None:
    """Cancelled in one of its requests after the other: at looks, in validations, at
    checkpoints."""
    wanted = learner(**options)
    wanted.fit(*loaders(), epochs=3)
    read = NumpyMemory.read

    def asked_for(memory: NumpyMemory, buffers: list[Buffer]) -> Steps[list[HostArray]]:
        yield YieldControl()  # as of a device that has to be waited for
        return (yield from read(memory, buffers))

    monkeypatch.setattr(NumpyMemory, "read", asked_for)

    async def run(number: int) -> Learner:
        trained = learner(tmp_path / str(number), checkpoint_every=2, **options)
        now = iter(range(10**6))
        trained.clock = lambda: float(next(now))  # so slow that there is a look at each step
        asked = 0

        async def answered(request: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == number:
                raise asyncio.CancelledError
            return request.run_sync()

        monkeypatch.setattr(YieldControl, "run_async", answered)
        try:
            await trained.fit_async(*loaders(), epochs=3)
        except asyncio.CancelledError:
            assert trained.folder is not None
            go_on = trained.resume_async if trained.folder.names() else None
            trained = learner(tmp_path / str(number), **options)
            await (trained.fit_async if go_on is None else trained.resume_async)(
                *loaders(), epochs=3
            )
        return trained

    for number in numbers:
        trained = asyncio.run(run(number))
        assert figures(trained) == figures(wanted), number
        assert weights(trained) == weights(wanted), number


@pytest.mark.usefixtures("native")
def test_a_run_goes_on_by_itself_when_its_device_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(Callback):
        def on_step_end(self, learner: Run) -> None:
            if learner.steps == 10 and not lost:
                lost.append(native_device.open_device())
                error = tl.DeviceLostError("The GPU device was lost: a test.")
                monkeypatch.setattr(lost[0], "lost", error)

    lost: list[Any] = []
    before = tl.default_device()
    tl.set_default_device("webgpu")
    try:
        wanted = weights(whole_run())
        trained = learner(tmp_path, callbacks=[Lost()])
        with pytest.warns(RuntimeWarning, match=r"lost.*goes on from step-00000007, on 'webgpu'"):
            trained.fit(*loaders(), epochs=3)
        for got, right in zip(weights(trained), wanted, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-4)
        lost.clear()
        without = learner(callbacks=[Lost()])
        with pytest.raises(tl.DeviceLostError) as caught:
            without.fit(*loaders(), epochs=3)
        assert "checkpoints=PATH" in str(caught.value.__notes__)
    finally:
        tl.set_default_device(before)


@pytest.mark.usefixtures("native")
def test_a_run_goes_on_on_another_device_when_its_own_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(Callback):
        def on_step_end(self, learner: Run) -> None:
            if learner.steps == 10 and not lost:
                lost.append(True)
                error = tl.DeviceLostError("The GPU device was lost: a test.")
                monkeypatch.setattr(native_device.open_device(), "lost", error)
                monkeypatch.setattr(device.DEVICES["webgpu"], "backend", lambda: "a test")

    lost: list[bool] = []
    ranked = [device.DEVICES[name] for name in ("webgpu", "wasm", "numpy")]
    monkeypatch.setattr(device, "_by_rank", lambda: ranked)
    other = tl.devices()[1]
    tl.set_default_device(None)
    trained = learner(tmp_path, callbacks=[Lost()])
    with pytest.warns(RuntimeWarning, match=f"goes on from step-00000007, on '{other}'"):
        trained.fit(*loaders(), epochs=3)
    assert trained.model.state_dict()["1.weight"].device == other
    assert trained.epoch == 3


def test_the_scale_of_losses_is_kept_without_a_read_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that blocks is impossible in some browsers."""

    def scaled() -> Learner:
        trained = learner(tmp_path)
        trained.scaler = tl.amp.GradScaler(init_scale=2.0**6, growth_interval=5)
        return trained

    trained = scaled()
    with monkeypatch.context() as patch:
        patch.delattr(tl.amp.GradScaler, "get_scale")
        asyncio.run(trained.fit_async(*loaders(), epochs=1))
    again = scaled()
    again.resume(*loaders(), epochs=1)
    assert again.scaler.state_dict() == trained.scaler.state_dict()
    assert again.scaler.state_dict()["_growth_tracker"] == STEPS_PER_EPOCH % 5
