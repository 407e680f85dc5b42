"""A learner does what a loop written by hand does, and reads little."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.unit.train.problem import (
    STEPS_PER_EPOCH,
    VALID,
    Accuracy,
    StopAt,
    X,
    Y,
    figures,
    learner,
    loaders,
    network,
    weights,
)

import tallow as tl
import tallow.nn.functional as F  # noqa: N812
from tallow import nn, optim
from tallow.runtime.evaluator import EagerEvaluator
from tallow.train import Callback, EarlyStopping, Learner, Run


def test_a_run_is_what_the_loop_by_hand_is(device: str) -> None:
    trained = learner()
    train, valid = loaders()
    trained.fit(train, valid, epochs=2)

    model = network()
    optimizer = optim.AdamW(model.parameters(), lr=0.02)
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    tl.manual_seed(0)
    train, _ = loaders()
    losses = []
    for _ in range(2):
        model.train()
        seen = []
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen.append((loss.item(), len(x)))
        schedule.step()
        losses.append(np.average([v for v, _ in seen], weights=[n for _, n in seen]))
    model.eval()
    with tl.no_grad():
        outputs = model(tl.asarray(X[VALID]))
        other = F.cross_entropy(outputs, tl.asarray(Y[VALID])).item()
    right = (outputs.numpy().argmax(axis=1) == Y[VALID]).mean()

    last = trained.history[-1]
    assert list(last) == [
        *("epoch", "step", "train_loss", "valid_loss", "valid_accuracy", "lr", "seconds")
    ]
    assert (last["epoch"], last["step"], last["lr"]) == (2, 2 * STEPS_PER_EPOCH, 0.01)
    np.testing.assert_allclose([each["train_loss"] for each in trained.history], losses, 1e-3)
    assert last["valid_loss"] == pytest.approx(other, rel=1e-3)
    assert last["valid_accuracy"] == pytest.approx(right)
    measured = trained.evaluate(loaders()[1])
    assert measured == {
        "loss": pytest.approx(other, rel=1e-3), "accuracy": pytest.approx(right)
    }  # fmt: skip
    predicted = trained.predict(loaders()[1])
    np.testing.assert_allclose(predicted.numpy(), outputs.numpy(), rtol=0.01, atol=2e-3)
    assert trained.model.training


def test_the_awaited_form_does_the_same() -> None:
    blocking, awaited = learner(), learner()
    blocking.fit(*loaders(), epochs=2)
    train, valid = loaders()

    async def run() -> Any:
        await awaited.fit_async(train, valid, epochs=2)
        return await awaited.evaluate_async(valid), await awaited.predict_async(valid)

    measured, predicted = asyncio.run(run())
    assert figures(awaited) == figures(blocking)
    assert weights(awaited) == weights(blocking)
    assert measured == blocking.evaluate(valid)
    assert predicted.tolist() == blocking.predict(valid).tolist()


def test_an_epoch_of_equal_steps_is_one_plan_and_few_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = learner(metrics=())
    now = iter(range(10**6))
    trained.clock = lambda: next(now) * 1e-3  # each look at the clock finds a millisecond gone
    batch = (tl.asarray(X[:32]), tl.asarray(Y[:32]))
    reads = []
    read = EagerEvaluator.read

    def counted(evaluator: EagerEvaluator, tensors: Any) -> Any:
        reads.append(tensors)
        return read(evaluator, tensors)

    monkeypatch.setattr(EagerEvaluator, "read", counted)
    trained.fit([batch] * 500, epochs=1)
    assert trained.history[0]["step"] == 500
    assert len(reads) < 15  # the steps between two looks double until a quarter of a second
    assert trained.plans == 1


def by_hand(batches: list[tuple[Any, Any]], clip: float | None = None, last: float = 1.0) -> Any:
    """The weights after a step of SGD for each batch. last: what the last loss is multiplied by."""
    model = linear().model
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    for number, (x, y) in enumerate(batches, 1):
        factor = last if number == len(batches) else 1.0
        (factor * F.cross_entropy(model(x), y)).backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad()
    return model.weight.numpy()


def linear(**options: Any) -> Learner:
    """A learner of a linear classifier that begins with zeros."""
    model = nn.Linear(4, 3)
    with tl.no_grad():
        model.weight.copy_(tl.zeros((3, 4)))
        model.bias.copy_(tl.zeros((3,)))
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    return Learner(model, optimizer, F.cross_entropy, progress=False, **options)


def pieces(*sizes: int) -> list[tuple[Any, Any]]:
    """Batches of these sizes, one after the other."""
    ends = np.cumsum(sizes)
    return [
        (tl.asarray(X[e - n : e]), tl.asarray(Y[e - n : e]))
        for n, e in zip(sizes, ends, strict=True)
    ]


def test_accumulated_batches_are_one_large_batch(device: str) -> None:
    trained = linear(accumulate=2)
    trained.fit(pieces(16, 16, 16, 16), epochs=1)
    np.testing.assert_allclose(trained.model.weight.numpy(), by_hand(pieces(32, 32)), atol=1e-5)
    assert trained.model.weight.grad is None


def test_the_rest_of_accumulated_batches_is_a_step_too() -> None:
    trained = linear(accumulate=2)
    trained.fit(pieces(16, 16, 16), epochs=1)
    wanted = by_hand(pieces(32, 16), last=0.5)  # one of two batches
    np.testing.assert_allclose(trained.model.weight.numpy(), wanted, atol=1e-6)
    assert trained.model.weight.grad is None


def test_gradients_are_clipped() -> None:
    trained = linear(clip_norm=0.1)
    trained.fit(pieces(32, 32), epochs=1)
    np.testing.assert_allclose(
        trained.model.weight.numpy(), by_hand(pieces(32, 32), clip=0.1), atol=1e-6
    )
    small = linear(clip_value=0.001)
    small.fit(pieces(32), epochs=1)
    assert np.abs(small.model.weight.numpy()).max() == pytest.approx(0.0005)


def test_schedules_step_each_epoch_or_each_step() -> None:
    rates = []

    class Rates(Callback):
        def on_step_end(self, learner: Run) -> None:
            rates.append(learner.optimizers[0].param_groups[0]["lr"])

    trained = linear(callbacks=[Rates()], schedule_every="step")
    trained.schedules = [optim.lr_scheduler.StepLR(trained.optimizers[0], 1, 0.5)]
    trained.fit(pieces(16, 16), epochs=2)
    assert rates == [0.25, 0.125, 0.0625, 0.03125]


def test_a_plateau_lowers_the_rate() -> None:
    trained = linear()
    trained.schedules = [
        optim.lr_scheduler.ReduceLROnPlateau(trained.optimizers[0], patience=0, threshold=0.99)
    ]
    trained.fit(pieces(16), pieces(16), epochs=3)
    assert [each["lr"] for each in trained.history] == [0.5, 0.5, pytest.approx(0.05)]


def test_a_step_of_ones_own_and_several_optimisers() -> None:
    body, head = nn.Linear(4, 8), nn.Linear(8, 1)

    class Regression(Learner):
        def step(self, batch: Any) -> Any:
            loss = (head(tl.tanh(body(batch["x"]))) - batch["y"]).square().mean()
            penalty = head.weight.square().sum()
            return {"loss": loss + 0.01 * penalty, "penalty": penalty}

    x = tl.asarray(X[:64])
    batch = {"x": x, "y": x[:, :1] * 0.5}
    both = [optim.Adam(body.parameters(), lr=0.02), optim.SGD(head.parameters(), lr=0.1)]
    trained = Regression(nn.ModuleList([body, head]), both, progress=False)
    before = body.weight.tolist(), head.weight.tolist()
    trained.fit([batch] * 30, [batch], epochs=2)
    assert trained.history[1]["train_loss"] < trained.history[0]["train_loss"]
    assert trained.history[1]["valid_penalty"] == pytest.approx(
        head.weight.square().sum().item(), rel=1e-5
    )
    assert "train_penalty" in trained.history[0]
    assert body.weight.tolist() != before[0]
    assert head.weight.tolist() != before[1]


def test_parts_that_are_frozen_at_first() -> None:
    trained = learner(unfreeze={"0": 1})
    (hidden, *_) = trained.model.parameters()
    before, seen = hidden.tolist(), []

    class Look(Callback):
        def on_record(self, learner: Run, record: Any) -> None:
            seen.append(hidden.tolist())

    trained.callbacks.append(Look())
    trained.fit(*loaders(), epochs=2)
    assert seen[0] == before
    assert seen[1] != before


def test_a_validation_within_an_epoch_is_a_record() -> None:
    trained = learner(validate_every=3)
    trained.fit(*loaders(), epochs=1)
    assert [(each["epoch"], each["step"]) for each in trained.history] == [(0, 3), (0, 6), (1, 7)]
    assert all("valid_accuracy" in each for each in trained.history)


def test_it_stops_when_nothing_becomes_better() -> None:
    trained = learner(early_stopping=EarlyStopping(2, monitor="valid_accuracy", min_delta=2.0))
    trained.fit(*loaders(), epochs=50)
    assert len(trained.history) == 3  # the first counts as better than nothing
    assert trained.stopped is not None
    assert "valid_accuracy was not better than" in trained.stopped
    again = learner(callbacks=[StopAt(4)])
    again.fit(*loaders(), epochs=50)
    assert (again.steps, again.stopped, again.history) == (4, "a test", [])


def test_metrics_of_mappings_have_the_names_of_their_keys() -> None:
    trained = learner(metrics={"right": Accuracy()})
    trained.fit(*loaders(), epochs=1)
    assert "valid_right" in trained.history[0]
    assert trained.better("valid_right") == "max"


def test_the_range_test_suggests_a_rate_and_undoes_its_steps() -> None:
    trained = learner()
    train, _ = loaders()
    before = weights(trained)
    found = trained.lr_find(train, low=1e-5, high=100.0, steps=60)
    assert weights(trained) == before
    assert trained.optimizers[0].param_groups[0]["lr"] == 0.02
    assert found.suggestion is not None
    assert 1e-5 < found.suggestion < 10.0
    assert found.rates == sorted(found.rates)
    assert len(found.rates) == len(found.losses) <= 60
    fresh = learner()
    fresh.fit(*loaders(), epochs=1)
    trained.fit(*loaders(), epochs=1)
    np.testing.assert_allclose(trained.history[0]["train_loss"], fresh.history[0]["train_loss"])
