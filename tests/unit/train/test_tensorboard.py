"""What TensorBoard reads of a run's files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.unit.train.problem import STEPS_PER_EPOCH, StopAt, learner, loaders

from tallow.errors import PackageError
from tallow.train import TensorBoard


def read(folder: Path) -> Any:
    found = EventAccumulator(str(folder), {"scalars": 0, "histograms": 0})
    found.Reload()
    return found


def test_curves_are_those_of_looks_and_records(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path / "board", histograms=True, hparams={"lr": 0.02, "kind": "mlp"})
    trained = learner(metrics=["accuracy", "grad_norm"], callbacks=[board])
    trained.fit(*loaders(), epochs=2)
    found = read(tmp_path / "board")
    names = set(found.Tags()["scalars"])
    assert {
        *("train/loss", "valid/loss", "valid/accuracy", "run/lr", "run/grad_norm", "run/memory"),
        "run/items_per_second",
    } <= names
    losses = [(each.step, each.value) for each in found.Scalars("valid/accuracy")][:2]
    wanted = [(each["step"], each["valid_accuracy"]) for each in trained.history]
    assert [step for step, _ in losses] == [step for step, _ in wanted]
    assert [value for _, value in losses] == pytest.approx([value for _, value in wanted])
    seen = {each.step: each.value for each in found.Scalars("train/loss")}
    for record in trained.history:
        assert seen[record["step"]] == pytest.approx(record["train_loss"])
    weights = found.Histograms("0/0/weight")
    assert [each.step for each in weights] == [STEPS_PER_EPOCH, 2 * STEPS_PER_EPOCH]
    assert weights[-1].histogram_value.num == 64
    assert {"_hparams_/session_start_info", "_hparams_/session_end_info"} <= set(
        found.summary_metadata
    )


def test_a_run_that_goes_on_hides_what_was_after_its_checkpoint(tmp_path: Path) -> None:
    board, run = tmp_path / "board", tmp_path / "run"
    first = learner(run, callbacks=[TensorBoard(board), StopAt(STEPS_PER_EPOCH + 3)])
    first.fit(*loaders(), epochs=2)
    (file,) = board.iterdir()
    file.rename(board / "events.out.tfevents.0")  # else two of a second may be turned around
    again = learner(run, callbacks=[TensorBoard(board)])
    again.resume(*loaders(), epochs=2, checkpoint=f"step-{STEPS_PER_EPOCH:08}")
    steps = [each.step for each in read(board).Scalars("valid/loss")]
    assert steps == [STEPS_PER_EPOCH, 2 * STEPS_PER_EPOCH]
    looks = [each.step for each in read(board).Scalars("train/loss")]
    assert looks == sorted(looks)  # no step twice, one after the other


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(PackageError, match=r"pip install tallow\[tensorboard\]"):
        learner(callbacks=[TensorBoard(tmp_path)]).fit(*loaders(), epochs=1)
