"""Training on two workers of a local cluster."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.unit.train.lessons import Dying, Failing, batches, learner
from tests.unit.train.problem import Accuracy, StopAt, figures, loaders, weights

import tallow as tl
from tallow import nn
from tallow.core.drivers import run_sync
from tallow.errors import OptionError, PackageError, WorkerError
from tallow.train import Callback, Learner, Run
from tallow.train.distributed import RayStrategy
from tallow.train.distributed.cluster import signals_kept
from tallow.train.distributed.shares import averaged, shares_of
from tallow_build.paths import ROOT


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster of this machine with room for two workers: its address."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "py"), str(ROOT)]))
    import ray

    with signals_kept():
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            object_store_memory=100_000_000,
        )  # fmt: skip
    yield ray.get_runtime_context().gcs_address
    with signals_kept():
        ray.shutdown()
    patch.undo()


def two(**options: Any) -> RayStrategy:
    """Two workers."""
    return RayStrategy(2, "numpy", patience=120, **options)


def assert_close(got: Any, wanted: Any) -> None:
    """That two learners have the same weights, and had the same losses, but for rounding."""
    for one, other in zip(weights(got), weights(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    one, other = ([record["train_loss"] for record in each.history] for each in (got, wanted))
    np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("optimizer", "size", "options"),
    [
        ("adamw", 25, {}),
        ("adamw", 32, {"accumulate": 3, "clip_norm": 0.5, "unfreeze": {"0": 1}}),
    ],
    ids=["a sample for one worker", "accumulated, clipped, frozen"],
)
def test_two_workers_give_the_weights_of_one(
    optimizer: str, size: int, options: dict[str, Any]
) -> None:
    """The last batch of an epoch has five samples, or one, so that shares differ."""
    pair = [learner(optimizer=optimizer, strategy=s, **options) for s in (None, two())]
    for each in pair:
        each.fit(batches(size), epochs=2)
    assert_close(*pair)


@pytest.mark.usefixtures("cluster")
def test_running_means_are_those_of_the_shares() -> None:
    """With equal shares, the mean of their means is that of the batch."""
    pair = [learner(Learner, "sgd", nn.BatchNorm1d(16), strategy=s) for s in (None, two())]
    for each in pair:
        each.fit(batches(32, 32))
    one, other = (each.model.state_dict() for each in pair)
    np.testing.assert_allclose(
        one["1.running_mean"].numpy(), other["1.running_mean"].numpy(), atol=1e-6
    )
    assert one["1.num_batches_tracked"].item() == other["1.num_batches_tracked"].item() == 1
    spread = np.abs(one["1.running_var"].numpy() - other["1.running_var"].numpy())
    assert 1e-6 < spread.max() < 0.1


@pytest.mark.usefixtures("cluster")
def test_a_run_with_random_numbers_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    """Awaited, with validation, a metric, early stopping."""
    options: dict[str, Any] = {"metrics": [Accuracy()], "early_stopping": 50}
    middle = nn.Dropout(0.5)
    whole = learner(Learner, "adamw", middle, strategy=two(), **options)
    whole.fit(*loaders(), epochs=2)
    stop = [StopAt(5)]
    part = learner(
        Learner, "adamw", middle, strategy=two(), checkpoints=tmp_path, callbacks=stop, **options
    )
    asyncio.run(part.fit_async(*loaders(), epochs=2))
    assert part.steps == 5
    rest = learner(Learner, "adamw", middle, strategy=two(), checkpoints=tmp_path, **options)
    tl.manual_seed(7)
    asyncio.run(rest.resume_async(*loaders(), epochs=2))
    assert figures(rest) == figures(whole)
    assert "valid_accuracy" in rest.history[-1]
    assert weights(rest) == weights(whole)


# ---- workers that fail -------------------------------------------------------------------------


def dying(tmp_path: Path, **options: Any) -> Any:
    """A learner one of whose workers dies in the fourth step."""
    made = learner(Dying, **options)
    made.path = tmp_path / "alive"
    made.path.touch()
    return made


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_dies_is_replaced_and_no_step_is_lost(tmp_path: Path) -> None:
    trained = dying(tmp_path, strategy=two())
    with pytest.warns(RuntimeWarning, match=r"worker .* of 2 died in step 4 .* 2 workers") as said:
        trained.fit(batches(), epochs=2)
    assert all("\n" not in str(each.message) for each in said)
    wanted = learner()
    wanted.fit(batches(), epochs=2)
    assert trained.steps == wanted.steps
    assert_close(trained, wanted)


class NoRoom(Callback):
    """Asks of the cluster, for the next workers, what it does not have."""

    def on_step_end(self, learner: Run) -> None:
        strategy = learner.strategy  # type: ignore[attr-defined]
        strategy._needs, strategy.patience = {"num_cpus": 64}, 1.0


@pytest.mark.usefixtures("cluster")
def test_a_run_goes_on_with_fewer_workers(tmp_path: Path) -> None:
    trained = dying(tmp_path, strategy=two(), callbacks=[NoRoom()])
    with pytest.warns(RuntimeWarning, match="with 1 worker, no new one"):
        trained.fit(batches(), epochs=2)
    wanted = learner()
    wanted.fit(batches(), epochs=2)
    assert_close(trained, wanted)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("kept", [False, True])
def test_a_run_without_a_worker_ends_and_says_what_is_left(tmp_path: Path, kept: bool) -> None:
    options = {"checkpoints": tmp_path / "run", "checkpoint_every": 2} if kept else {}
    strategy = RayStrategy(1, "numpy", patience=120)
    trained = dying(tmp_path, strategy=strategy, callbacks=[NoRoom()], **options)
    left = "checkpoint step-00000002" if kept else "no checkpoint .* checkpoints=PATH"
    with pytest.raises(WorkerError, match=f"worker 1 of 1 died in step 4.*no other.*{left}"):
        trained.fit(batches(), epochs=2)


@pytest.mark.usefixtures("cluster")
def test_an_exception_in_a_worker_names_it() -> None:
    message = r"worker 2 of 2, in its share of step 1: ValueError: six samples"
    with pytest.raises(WorkerError, match=message) as caught:
        learner(Failing, strategy=two()).fit(batches(13))
    assert "in step 1, in epoch 1" in caught.value.__notes__[0]


@pytest.mark.usefixtures("cluster")
def test_a_device_that_a_worker_does_not_have() -> None:
    strategy = RayStrategy(1, "nonsense", patience=120)
    with pytest.raises(WorkerError, match=r"cannot start.*nonsense"):
        learner(strategy=strategy).fit(batches())


@pytest.mark.usefixtures("cluster")
def test_a_cluster_without_room() -> None:
    strategy = RayStrategy(2, "numpy", cpus=64, patience=0.5)
    with pytest.raises(WorkerError, match="room for 0 of 2 workers"):
        learner(strategy=strategy).fit(batches())


# ---- what does not fit -------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_a_learner_that_cannot_be_sent() -> None:
    made = learner(strategy=two())
    made.held = (_ for _ in ())
    with pytest.raises(OptionError, match="cannot be sent to workers"):
        made.fit(batches())


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ((tl.zeros((4, 4)), tl.zeros((3,), dtype="int64")), "with 4 and 3 rows"),
        ((tl.zeros((4, 4)), "a name"), "has str in it"),
    ],
    ids=["rows", "text"],
)
def test_a_batch_that_cannot_be_cut(batch: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        run_sync(shares_of(batch, 2))


class Pair(NamedTuple):
    """A batch with names."""

    x: Any
    y: Any


def test_shares_keep_the_order_and_the_kind_of_a_batch() -> None:
    batch = Pair({"a": tl.arange(5), "b": tl.asarray(7)}, [tl.arange(5) * 2])
    (two, first), (other, second), (last, third) = run_sync(shares_of(batch, 3))
    assert (two, other, last) == (2, 2, 1)
    assert isinstance(first, Pair)
    assert [each.x["a"].tolist() for each in (first, second, third)] == [[0, 1], [2, 3], [4]]
    assert second.y[0].tolist() == [4, 6]
    assert third.x["b"] == 7
    assert [count for count, _ in run_sync(shares_of(batch, 9))] == [1] * 5


def test_means_are_weighted_by_samples() -> None:
    counted = np.int64(4)
    given = [{"w": np.float32([1, 2]), "n": counted}, {"w": np.float32([5, 6]), "n": counted}]
    found = averaged([3, 1], [*given])
    assert found["w"].tolist() == [2, 3]
    assert found["w"].dtype == np.float32
    assert found["n"] == 4
    assert averaged([3, 1], [given[0], {}])["w"].tolist() == [0.75, 1.5]


def test_mixed_precision_is_refused() -> None:
    """Also where the learner's own device would have it."""
    made = learner(strategy=two(), precision="float16", device="webgpu")
    with pytest.raises(OptionError, match="workers compute in float32; take precision='float32'"):
        made.fit(batches())


def test_a_parameter_outside_of_the_model() -> None:
    made = learner(strategy=two())
    made.optimizers[0].add_param_group({"params": [nn.Parameter(tl.zeros((7,)))]})
    with pytest.raises(OptionError, match=r"not the model's, of the shape \(7,\)"):
        made.fit(batches())


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_are_a_whole_number(workers: Any) -> None:
    with pytest.raises(OptionError, match=f"workers={workers!r}"):
        RayStrategy(workers)


@pytest.mark.parametrize("option", ["cpus", "gpus", "patience"])
def test_needs_are_not_negative(option: str) -> None:
    with pytest.raises(OptionError, match=f"{option}=-1"):
        RayStrategy(2, **{option: -1})


def test_a_program_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PackageError, match=r"RayStrategy needs .*pip install tallow\[ray\]"):
        learner(strategy=two()).fit(batches())


TRAP = """
import wasmtime
from tallow.train.distributed.cluster import ray_with_cluster, signals_kept

def trap():
    store = wasmtime.Store()
    module = wasmtime.Module(store.engine, '(module (func (export "f") unreachable))')
    try:
        wasmtime.Instance(store, module, []).exports(store)["f"](store)
    except wasmtime.Trap:
        print("trapped")

trap()
ray = ray_with_cluster(1)
trap()
with signals_kept():
    ray.shutdown()
trap()
"""


def test_faults_of_wasm_are_still_errors(cluster: str) -> None:
    """Ray's handlers of signals would end the process, which joins the cluster."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "py"), "RAY_ADDRESS": cluster}
    done = subprocess.run(
        [sys.executable, "-c", TRAP], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split().count("trapped") == 3, done.stderr
