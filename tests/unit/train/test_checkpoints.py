"""The folder of a run: what stays in it, and what is wrong with it in one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.train.problem import StopAt, learner, loaders, weights

import tallow as tl
from tallow import nn, optim
from tallow.errors import CheckpointError, OptionError
from tallow.train import Learner, Run, checkpoints


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_the_last_ones_and_the_best_stay(tmp_path: Path) -> None:
    trained = learner(tmp_path, monitor="train_loss", keep=2)
    trained.better = lambda name: "max"  # type: ignore[method-assign]  # so that the first is best
    trained.fit(*loaders(), epochs=4)
    kept = [f"step-{step:08}.safetensors" for step in (7, 21, 28)]
    assert names(tmp_path) == ["run.json", *kept]
    index = json.loads((tmp_path / "run.json").read_text())
    assert index["best"] == "step-00000007"
    assert [each["name"] for each in index["checkpoints"]] == [name[:13] for name in kept]
    assert index["history"] == trained.history
    assert index["checkpoints"][-1]["valid_loss"] == trained.history[-1]["valid_loss"]


def test_a_checkpoint_holds_weights_that_others_can_load(tmp_path: Path) -> None:
    trained = learner(tmp_path)
    trained.fit(*loaders(), epochs=1)
    state = tl.load(tmp_path / "step-00000007.safetensors")
    other = learner().model
    other.load_state_dict(state["model"])
    assert [value.tolist() for value in other.state_dict().values()] == weights(trained)


def test_a_folder_has_one_run(tmp_path: Path) -> None:
    learner(tmp_path).fit(*loaders(), epochs=1)
    with pytest.raises(CheckpointError, match=r"has a run already; resume\(\) goes on with it"):
        learner(tmp_path).fit(*loaders(), epochs=1)


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    first, second = learner(tmp_path), learner(tmp_path)

    class Second(tl.train.Callback):
        def on_epoch_start(self, learner: Run) -> None:
            with pytest.raises(CheckpointError, match="another run writes its checkpoints here"):
                second.fit(*loaders(), epochs=1)

    first.callbacks.append(Second())
    first.fit(*loaders(), epochs=1)
    second.resume(*loaders(), epochs=2)
    assert second.epoch == 2


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no run to resume; call fit\(\)"):
        learner(tmp_path / "none").resume(*loaders(), epochs=1)
    with pytest.raises(OptionError, match="give it checkpoints=PATH"):
        learner().resume(*loaders(), epochs=1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"\xff" * 8 + data[8:],
        lambda data: data[:20] + b"\0" * 40 + data[60:],
    ],
    ids=["cut", "empty", "length", "header"],
)
def test_a_damaged_checkpoint_names_the_next_older_one(tmp_path: Path, damage: Any) -> None:
    trained = learner(tmp_path)
    trained.fit(*loaders(), epochs=2)
    path = tmp_path / "step-00000014.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    again = learner(tmp_path)
    with pytest.raises(CheckpointError) as caught:
        again.resume(*loaders(), epochs=2)
    text = str(caught.value)
    assert text.startswith(f"{path}: cannot be loaded (")
    assert "resume(..., checkpoint='step-00000007')" in text
    again.resume(*loaders(), epochs=2, checkpoint="step-00000007")
    assert weights(again) == weights(trained)


def test_a_missing_checkpoint_and_a_damaged_list(tmp_path: Path) -> None:
    learner(tmp_path).fit(*loaders(), epochs=1)
    with pytest.raises(CheckpointError, match="there is no older one"):
        learner(tmp_path).resume(*loaders(), epochs=2, checkpoint="step-00000001")
    (tmp_path / "run.json").write_text('{"version": 1')
    with pytest.raises(CheckpointError, match=r"run\.json: is damaged .*There are: step-00000007"):
        learner(tmp_path).resume(*loaders(), epochs=2)


def test_a_checkpoint_of_another_learner_changes_nothing(tmp_path: Path) -> None:
    learner(tmp_path).fit(*loaders(), epochs=1)
    model = nn.Linear(4, 3)
    other = Learner(
        model, optim.SGD(model.parameters(), lr=0.1), nn.functional.cross_entropy,
        checkpoints=tmp_path, progress=False,
    )  # fmt: skip
    before = weights(other)
    with pytest.raises(CheckpointError, match=r"(?s)that of another learner: .*0\.0\.weight"):
        other.resume(*loaders(), epochs=2)
    assert weights(other) == before


def test_a_learner_that_refuses_a_checkpoint_stays_as_it_was(tmp_path: Path) -> None:
    learner(tmp_path).fit(*loaders(), epochs=1)
    other = learner(tmp_path)
    other.optimizers = [optim.SGD(other.model.parameters(), lr=0.1, momentum=0.9)] * 2
    before = weights(other)
    with pytest.raises(CheckpointError, match="1 optimizers there, 2 here"):
        other.resume(*loaders(), epochs=2)
    assert weights(other) == before


def test_no_space_is_said_and_the_older_ones_are_intact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner(tmp_path, callbacks=[StopAt(9)]).fit(*loaders(), epochs=2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(path: Path, state: Any) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(checkpoints, "save", full)
    with pytest.raises(CheckpointError, match=r"No space left.*older checkpoints are intact"):
        learner(tmp_path, callbacks=[StopAt(99)]).resume(*loaders(), epochs=2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        learner(tmp_path / "file").fit(*loaders(), epochs=1)
