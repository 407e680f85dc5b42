"""Input that does not fit: errors that name the values, the layer and its path, on every device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import DTypeError, GradientError, IndexRangeError, OptionError, ShapeError

F = nn.functional

SCORES = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32)


def x(n: int) -> tl.Tensor:
    return tl.tensor(SCORES[:n])


WITH_INDICES: dict[str, Callable[[tl.Tensor, tl.Tensor], tl.Tensor]] = {
    "cross_entropy: the class": F.cross_entropy,
    "cross_entropy: the class ": lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
    "nll_loss: the class": F.nll_loss,
    "multi_margin_loss: the class": F.multi_margin_loss,
    "one_hot: the class": lambda x, y: F.one_hot(y, 5),
    "embedding: the index": lambda x, y: F.embedding(y, tl.tensor(SCORES[:5])),
    "gather: the index": lambda x, y: x.gather(1, y[:, None]),
}

GIVEN: dict[str, Callable[[np.ndarray], Any]] = {
    "tensor": tl.tensor,
    "realized": lambda y: tl.tensor(y).realize(),
    "constant": tl.asarray,
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("what", WITH_INDICES)
@pytest.mark.parametrize("wrong", [7, 5, -1])
@pytest.mark.parametrize(("n", "dtype"), [(4, "int64"), (4, "int32"), (100, "int32")])
def test_an_index_out_of_range(
    n: int, dtype: str, wrong: int, what: str, given: str, device: str
) -> None:
    y = np.zeros(n, dtype)
    y[1] = wrong
    with pytest.raises(IndexRangeError, match=f"{what.strip()} {wrong} is not in 0 to 4"):
        WITH_INDICES[what](x(n), GIVEN[given](y)).numpy()
    good = WITH_INDICES[what](x(n), GIVEN[given](np.full(n, 4, dtype))).numpy()
    assert np.isfinite(good).all()


@pytest.mark.parametrize("given", [*GIVEN, "array"])
def test_a_label_out_of_range_in_a_compiled_step(given: str, device: str) -> None:
    @tl.jit
    def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        return F.cross_entropy(x, y)

    give = GIVEN.get(given, lambda y: y)
    labels = np.array([1, 2, -100, 4], np.int32)
    before = step(x(4), give(labels)).numpy()
    with pytest.raises(IndexRangeError, match=r"the class 9 is not in 0 to 4, nor .* -100"):
        step(x(4), give(np.array([1, 2, 9, 4], np.int32))).numpy()
    assert step(x(4), give(labels)).numpy() == before


@pytest.mark.parametrize("compiled", [False, True])
def test_a_computed_label_out_of_range_gives_no_number(compiled: bool, device: str) -> None:
    def loss(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        return F.cross_entropy(x, y * 3, ignore_index=9)

    function = tl.jit(loss) if compiled else loss
    assert np.isfinite(function(x(2), tl.tensor([1, 3])).numpy())
    for wrong in (2, -1):
        try:
            assert np.isnan(function(x(2), tl.tensor([1, wrong])).numpy())
            assert device != "numpy"
        except IndexRangeError as error:
            assert f"the class {3 * wrong} is not in 0 to 4" in str(error)
            assert device == "numpy"


def test_an_ignored_label_may_be_out_of_range(device: str) -> None:
    y = tl.tensor(np.array([1, 77, 2], np.int32))
    assert np.isfinite(F.cross_entropy(x(3), y, ignore_index=77).numpy())


def test_the_number_of_classes_follows_from_the_largest(device: str) -> None:
    assert F.one_hot(tl.tensor([[0, 2]])).numpy().tolist() == [[[1, 0, 0], [0, 0, 1]]]
    with pytest.raises(OptionError, match="empty"):
        F.one_hot(tl.zeros((0,), "int32"))
    with pytest.raises(DTypeError, match="float32"):
        F.one_hot(tl.tensor([1.0]), 3)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.encoder.layers[1].linear1 = nn.Linear(9, 16)
        self.head = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return self.encoder(x) if x.ndim == 3 else self.head(x)


def test_a_shape_that_does_not_fit_names_the_layer_and_its_path() -> None:
    net = Net()
    with pytest.raises(ShapeError) as caught:
        net(tl.zeros((2, 5, 8)))
    assert str(caught.value).startswith("encoder.layers.1.linear1 (Linear): ")
    assert "(2, 5, 8)" in str(caught.value) and "9" in str(caught.value)
    with pytest.raises(ShapeError, match=r"^head\.0 \(Conv2d\): .*4 channels"):
        net(tl.zeros((1, 4, 8, 8)))
    with pytest.raises(ShapeError, match=r"^Linear: .*\(3, 5\)"):
        nn.Linear(4, 2)(tl.zeros((3, 5)))
    with pytest.raises(DTypeError, match=r"^0 \(Embedding\): .*float32"):
        nn.Sequential(nn.Embedding(3, 2))(tl.zeros((3,)))


def test_what_cannot_be_differentiated() -> None:
    weight = nn.Parameter([1.0, 2.0])
    with pytest.raises(GradientError, match=r"single number, but its shape is \(2,\)"):
        (weight * 2).backward()
    with pytest.raises(GradientError, match="int32"):
        nn.Parameter(tl.asarray([1, 2]))
    with pytest.raises(GradientError, match="int32"):
        tl.grad(lambda x: (x * 1.0).sum())(tl.asarray([1, 2]))
    with pytest.raises(GradientError, match="int64"):
        tl.tensor(np.array([1, 2])).requires_grad_()
    with pytest.raises(GradientError, match="nothing that this tensor is computed from"):
        tl.tensor([1.0]).sum().backward()
    loss = (weight * weight).sum()
    loss.backward()
    with pytest.raises(GradientError, match="retain_graph=True"):
        loss.backward()


def test_a_parameter_without_a_gradient_stays_as_it_is() -> None:
    used, unused = nn.Parameter([1.0]), nn.Parameter([2.0])
    for make in (optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop):
        optimizer = make([used, unused], lr=0.1, weight_decay=0.1)
        before = used.numpy()
        (used * used).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        assert used.numpy() != before and unused.numpy() == 2.0
