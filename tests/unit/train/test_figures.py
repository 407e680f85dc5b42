"""What records have beside means over samples: gradient norms, speed, memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.train.problem import StopAt, X, Y, figures, learner, loaders, network

import tallow as tl
import tallow.nn.functional as F  # noqa: N812
from tallow import nn, optim
from tallow.errors import OptionError
from tallow.runtime.buffer import live_buffers
from tallow.train import Callback, Learner, Run

BATCHES = [(tl.asarray(X[i : i + 20]), tl.asarray(Y[i : i + 20])) for i in range(0, 200, 20)]


class Looks(Callback):
    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def on_look(self, learner: Run, figures: Any) -> None:
        self.seen.append(dict(figures))


def test_records_have_what_was_asked_for_and_no_more() -> None:
    looks = Looks()
    trained = learner(metrics=["accuracy", "grad_norm", "memory"], callbacks=[looks])
    trained.fit(*loaders(), epochs=1)
    assert list(trained.history[0]) == [
        *("epoch", "step", "train_loss", "valid_loss", "valid_accuracy"),
        *("lr", "grad_norm", "memory", "seconds"),
    ]
    assert {"train_loss", "lr", "grad_norm", "memory", "items_per_second"} <= set(looks.seen[0])


def by_hand(accumulate: int = 1) -> list[float]:
    """The norms of the gradients, step by step, of SGD without clipping."""
    model, norms = network(), []
    model.eval()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for number, (x, y) in enumerate(BATCHES, 1):
        (F.cross_entropy(model(x), y) / accumulate).backward()
        if number % accumulate == 0:
            squares = [
                (p.grad.numpy() ** 2).sum() for p in model.parameters() if p.grad is not None
            ]
            norms.append(float(np.sqrt(sum(squares))))
            optimizer.step()
            optimizer.zero_grad()
    return norms


class Evaluating(Callback):
    """Without dropout and batches' own means, so that a loop by hand does the same."""

    def on_epoch_start(self, learner: Run) -> None:
        learner.model.eval()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_norm_is_that_of_all_gradients_together(device: str, accumulate: int) -> None:
    model = network()
    trained = Learner(
        model,
        optim.SGD(model.parameters(), lr=0.1),
        F.cross_entropy,
        ["grad_norm"],
        accumulate=accumulate,
        callbacks=[Evaluating()],
        progress=False,
    )
    trained.fit(BATCHES)
    wanted = np.mean(by_hand(accumulate))
    assert trained.history[0]["grad_norm"] == pytest.approx(wanted, rel=0.01)


def test_a_norm_is_taken_before_clipping_and_only_of_its_own_epoch() -> None:
    model = network()
    trained = Learner(
        model,
        optim.SGD(model.parameters(), lr=0.0),
        F.cross_entropy,
        ["grad_norm"],
        clip_value=1e-4,
        clip_norm=1e-3,
        callbacks=[Evaluating()],
        progress=False,
    )
    trained.fit(BATCHES, epochs=2)
    first, second = (record["grad_norm"] for record in trained.history)
    assert first > 0.1
    assert second == pytest.approx(first)  # nothing was learned, and nothing is counted twice


def test_a_norm_that_is_not_finite_is_left_out_of_the_mean() -> None:
    from tallow.train.tally import Mean

    mean = Mean()
    for value in (1.0, float("inf"), 3.0, float("nan")):
        mean.add(tl.asarray(value))
    assert mean.mean(mean.vector().tolist()) == 2.0
    mean.reset()
    assert np.isnan(mean.mean(mean.vector().tolist()))


def test_a_run_that_goes_on_has_the_same_norms(tmp_path: Path) -> None:
    options: dict[str, Any] = {"metrics": ["grad_norm"], "checkpoint_every": 3}
    whole = learner(tmp_path / "whole", **options)
    whole.fit(*loaders(), epochs=2)
    stopped = learner(tmp_path / "parts", callbacks=[StopAt(4)], **options)
    stopped.fit(*loaders(), epochs=2)
    again = learner(tmp_path / "parts", **options)
    again.resume(*loaders(), epochs=2)
    assert figures(again) == figures(whole)


def test_the_speed_is_samples_by_the_learners_clock() -> None:
    now = [0.0]

    class Second(Callback):
        def on_step_end(self, learner: Run) -> None:
            now[0] += 1.0  # each step takes a second

    looks = Looks()
    trained = learner(metrics=["items_per_second"], callbacks=[Second(), looks])
    trained.clock = lambda: now[0]
    trained.fit(loaders()[0], epochs=1)
    assert trained.history[0]["items_per_second"] == pytest.approx(200 / 7)
    speeds = [each["items_per_second"] for each in looks.seen if "items_per_second" in each]
    assert speeds == [32.0] * 6 + [8.0]


def test_memory_is_that_of_tensors_and_plans() -> None:
    held = tl.zeros((1000, 1000)).realize(device="numpy")
    trained = learner(metrics=["memory", "process_memory"], device="numpy")
    trained.fit(loaders()[0], epochs=1)
    record = trained.history[0]
    assert held.shape == (1000, 1000)
    assert record["memory"] > live_buffers("numpy").bytes >= 4_000_000
    assert record["process_memory"] > record["memory"]


def test_a_figure_has_its_own_name_alone() -> None:
    with pytest.raises(OptionError, match="'grad_norm' has this name alone, not 'norm'"):
        learner(metrics={"norm": "grad_norm"})
    with pytest.raises(OptionError, match="two metrics are named 'memory'"):
        learner(metrics=["memory", "memory"])


def test_a_run_says_how_much_there_is_to_do() -> None:
    trained = learner()
    trained.fit(*loaders(), epochs=2)
    assert (trained.epochs, trained.batches) == (2, 7)
    model = nn.Linear(4, 3)
    other = Learner(model, optim.SGD(model.parameters()), F.cross_entropy, progress=False)
    other.fit(iter(BATCHES))
    assert other.batches is None
