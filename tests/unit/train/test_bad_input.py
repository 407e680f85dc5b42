"""What is wrong with a run's data or options: one clear line, and nothing lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.train.problem import StopAt, X, Y, learner, loaders, weights

import tallow as tl
import tallow.nn.functional as F  # noqa: N812
from tallow import nn, optim
from tallow.data import DataLoader, TensorDataset
from tallow.errors import IndexRangeError, NonFiniteError, OptionError, ShapeError
from tallow.train import EarlyStopping, Learner


def batches(x: Any = X, y: Any = Y, size: int = 32, **options: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(tl.asarray(x), tl.asarray(y)), size, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_names_the_step(device: str, value: float) -> None:
    x = X.copy()
    x[70] = value
    trained = learner()
    with pytest.raises(NonFiniteError, match=r"the loss of step 3 is not finite.*clip_norm=1\.0"):
        trained.fit(batches(x), epochs=1)


def test_a_loss_that_is_not_finite_leaves_the_last_good_checkpoint(tmp_path: Any) -> None:
    x = X.copy()
    x[200:] = np.nan
    trained, good = learner(tmp_path, checkpoint_every=3), learner(callbacks=[StopAt(6)])
    with pytest.raises(NonFiniteError, match=r"step 7 .*last checkpoint, .*step-00000006"):
        trained.fit(batches(x), epochs=1)
    good.fit(batches(), epochs=1)
    assert weights(trained) == weights(good)
    assert trained.steps == 6
    again = learner(tmp_path)
    again.resume(batches(), epochs=1)
    assert np.isfinite(again.history[0]["train_loss"])


def test_a_step_returns_the_same_names_each_time() -> None:
    class Changing(Learner):
        def step(self, batch: Any) -> Any:
            loss = self.model(batch[0]).mean()
            return {"loss": loss, f"of {len(batch[0])}": loss}

    model = nn.Linear(4, 3)
    changing = Changing(model, optim.SGD(model.parameters(), lr=0.1), progress=False)
    with pytest.raises(OptionError, match="returned loss, of 26 after loss, of 32; it returns"):
        changing.fit(batches(X[:58], Y[:58]), epochs=1)


@pytest.mark.parametrize("label", [3, -1, 10**6])
def test_a_label_out_of_range_names_the_step(label: int) -> None:
    y = Y.copy()
    y[40] = label
    with pytest.raises(IndexRangeError, match=f"the class {label} is not in 0 to 2") as caught:
        learner().fit(batches(y=y), epochs=1)
    assert "in step 2, in epoch 1" in caught.value.__notes__


def test_data_without_a_batch() -> None:
    with pytest.raises(OptionError, match="fit: the data have no batch: list gave none"):
        learner().fit([], epochs=1)
    with pytest.raises(OptionError, match=r"of 999 samples: there are 250, and drop_last"):
        learner().fit(batches(size=999, drop_last=True), epochs=1)
    with pytest.raises(OptionError, match="fit: the data have no batch: the dataset is empty"):
        learner().fit(batches(X[:0], Y[:0]), epochs=1)
    with pytest.raises(OptionError, match="evaluate: the data have no batch"):
        learner().fit(batches(), [], epochs=1)
    with pytest.raises(OptionError, match="predict: the data have no batch"):
        learner().predict([])


def test_an_iterator_ends_with_the_first_epoch() -> None:
    with pytest.raises(OptionError, match="an iterator gives each of its batches once"):
        learner().fit(iter(list(batches())), epochs=2)


def test_a_batch_larger_than_the_data_is_all_of_them() -> None:
    trained = learner()
    trained.fit(batches(size=999), epochs=1)
    assert trained.steps == 1


def test_batches_and_losses_of_another_kind() -> None:
    x, y = tl.asarray(X[:32]), tl.asarray(Y[:32])
    with pytest.raises(OptionError, match=r"a batch is \(inputs, targets\); define step\(batch\)"):
        learner().fit([(x, y, y)], epochs=1)
    with pytest.raises(OptionError, match="a batch has no tensor"):
        learner().fit([("a", "b")], epochs=1)
    unreduced = learner()
    unreduced.loss = lambda preds, target: F.cross_entropy(preds, target, reduction="none")
    with pytest.raises(OptionError, match=r"the loss has the shape \(32,\); reduce it"):
        unreduced.fit([(x, y)], epochs=1)
    nothing = learner()
    nothing.loss = lambda preds, target: None  # type: ignore[assignment,return-value]
    with pytest.raises(OptionError, match="returned dict"):
        nothing.fit([(x, y)], epochs=1)
    with pytest.raises(ShapeError, match="do not broadcast") as caught:
        wrong = learner()
        wrong.loss = F.mse_loss
        wrong.fit([(x, y.astype("float32"))], epochs=1)
    assert "in step 1, in epoch 1" in caught.value.__notes__


def test_options_that_do_not_fit() -> None:
    model = nn.Linear(4, 3)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(OptionError, match=r"give a loss, or define step\(batch\)"):
        Learner(model, optimizer)
    for wrong in ({"accumulate": 0}, {"keep": 0}, {"validate_every": -1}):
        ((name, value),) = wrong.items()
        with pytest.raises(OptionError, match=f"{name}={value} is below 1"):
            Learner(model, optimizer, F.cross_entropy, **wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="neither 'epoch' nor 'step'"):
        Learner(model, optimizer, F.cross_entropy, schedule_every="batch")
    with pytest.raises(OptionError, match="neither 'float32' nor 'float16'"):
        Learner(model, optimizer, F.cross_entropy, precision="int8")
    with pytest.raises(OptionError, match="patience=0 is below 1"):
        EarlyStopping(0)
    with pytest.raises(OptionError, match="there is no 'valid_loss' in the records, only epoch"):
        learner(early_stopping=EarlyStopping(monitor="valid_loss")).fit(loaders()[0], epochs=1)
    with pytest.raises(OptionError, match="0 rates from 1 to 2; give two or more"):
        learner().lr_find(loaders()[0], low=1, high=2, steps=0)
