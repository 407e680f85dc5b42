"""What scripts of PyTorch do that is easily taken for a detail."""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.core.context import pytorch
from tallow.nn import functional as F  # noqa: N812 - the customary name
from tallow.tensor import Tensor


def values(x: Any) -> Any:
    return np.asarray(x.numpy()).tolist()


# ---- modules -------------------------------------------------------------------------------------


class Frozen(nn.Module):
    """A backbone whose batch norm stays in evaluation."""

    def __init__(self) -> None:
        self.kind = "backbone"
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.scale = nn.Buffer(tl.ones(2))
        self.cache = nn.Buffer(tl.ones(2), persistent=False)

    def train(self, mode: bool = True) -> Frozen:
        super().train(mode)
        self.norm.eval()
        return self


def test_train_calls_that_of_the_modules_within() -> None:
    network = nn.Sequential(Frozen(), nn.Dropout())
    network.train()
    assert network[1].training and not network[0].norm.training


def test_with_pytorchs_habits_a_state_is_the_modules_own() -> None:
    layer = nn.Linear(2, 1)
    kept = layer.state_dict()
    with pytorch.override(True):
        shared = layer.state_dict()
        apart = copy.deepcopy(shared)
        with tl.no_grad():
            for name, value in shared.items():
                value.copy_(tl.full(value.shape, 0.5 if name == "weight" else 2.0))
    assert values(layer.weight) == [[0.5, 0.5]] and values(layer.bias) == [2.0]
    for before in (kept, apart):
        assert values(before["weight"]) != [[0.5, 0.5]]


def test_attributes() -> None:
    module = Frozen()
    assert module.kind == "backbone"
    assert "scale" in module.state_dict() and "cache" not in module.state_dict()
    assert [name for name, _ in module.named_buffers()][:2] == ["scale", "cache"]

    class Early(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter([1.0])

    with pytest.raises(tl.TallowError, match="super"):
        Early()


def test_a_batch_norm_without_its_count() -> None:
    norm = nn.BatchNorm1d(2)
    state = {name: x for name, x in norm.state_dict().items() if "num" not in name}
    assert norm.load_state_dict(state).missing_keys == []


def test_containers() -> None:
    a, b = nn.Linear(1, 1), nn.ReLU()
    assert list(nn.Sequential(a) + nn.Sequential(b)) == [a, b]
    assert list(nn.Sequential(a, b) * 2) == [a, b, a, b]
    modules = nn.ModuleList([a]) + nn.ModuleList([b])
    modules += [a]
    assert list(modules) == [a, b, a]
    named = nn.ModuleDict([["a", a], ["b", b]])
    assert named.pop("a") is a and list(named) == ["b"]
    named.clear()
    assert len(named) == 0
    parameters = nn.ParameterList([tl.zeros(1)])
    parameters += [tl.ones(1)]
    parameters[0] = tl.ones(1) * 3.0
    assert [values(p) for p in parameters] == [[3.0], [1.0]]
    assert "(1): Parameter" in repr(parameters)
    mapped = nn.ParameterDict([("a", tl.zeros(1))])
    mapped.update({"b": tl.ones(1)})
    assert mapped.get("c") is None and mapped.setdefault("b") is mapped["b"]
    del mapped["a"]
    assert values(mapped.pop("b")) == [1.0] and len(mapped) == 0


def test_calls_that_change_nothing() -> None:
    nn.LSTM(2, 3).flatten_parameters()
    mask = nn.Transformer.generate_square_subsequent_mask(2, dtype="float16")
    assert mask.dtype == tl.float16


class Plain(nn.Module):
    """A layer of one's own, as a Transformer calls it: masks by their names."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, src: Tensor, src_mask: Any = None, **masks: Any) -> Tensor:
        assert set(masks) == {"src_key_padding_mask", "is_causal"}
        return self.linear(src)


def test_a_layer_of_ones_own_in_an_encoder() -> None:
    assert nn.TransformerEncoder(Plain(), 2)(tl.ones((3, 1, 4))).shape == (3, 1, 4)


# ---- functions -----------------------------------------------------------------------------------


def test_softmax_without_an_axis() -> None:
    for shape, axis in (((4,), 0), ((2, 4), 1), ((2, 3, 4), 0), ((2, 2, 3, 4), 1)):
        x = tl.rand(*shape).realize()
        for function in (F.softmax, F.log_softmax, F.softmin):
            np.testing.assert_array_equal(values(function(x)), values(function(x, dim=axis)))


def test_dropout_of_whole_channels() -> None:
    for function, shape, own in (
        (F.dropout1d, (64, 5), 1), (F.dropout1d, (8, 64, 5), 2),
        (F.dropout2d, (8, 64, 5), 2), (F.dropout2d, (8, 64, 5, 2), 2), (F.dropout2d, (8, 64), 2),
        (F.dropout3d, (8, 64, 2, 2, 2), 2), (F.dropout3d, (64, 2, 2, 2), 1),
    ):  # fmt: skip
        kept = function(tl.ones(shape)).numpy().reshape(*shape[:own], -1)
        assert (kept == kept[..., :1]).all()
        assert 0 < (kept == 0).mean() < 1
    x = tl.ones((100,))
    assert F.dropout(x, 0.5, True, inplace=True) is x
    assert set(values(x)) == {0.0, 2.0}


def test_softplus_beyond_its_threshold() -> None:
    x = tl.asarray([0.5, 2.0], requires_grad=True)
    y = F.softplus(x, 1, 1)
    np.testing.assert_allclose(values(y), [math.log1p(math.exp(0.5)), 2.0], rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(values(x.grad), [1 / (1 + math.exp(-0.5)), 1.0], rtol=1e-6)


def test_cosines_of_short_and_long_vectors() -> None:
    for size in (1e-5, 1.0, 1e10):
        v = tl.asarray([[size, 0.0]])
        np.testing.assert_allclose(values(F.cosine_similarity(v, v)), [1.0], rtol=1e-6)
    both = F.cosine_similarity(tl.asarray([1.0, 2.0]), tl.asarray([[1.0, 2.0], [2.0, -1.0]]))
    np.testing.assert_allclose(values(both), [1.0, 0.0], atol=1e-6)
    x = tl.asarray([[0.0, 0.0]], requires_grad=True)
    F.cosine_similarity(x, tl.asarray([[3.0, 4.0]])).sum().backward()
    np.testing.assert_allclose(values(x.grad), [[0.6e8, 0.8e8]], rtol=1e-5)


def test_distances_of_any_norm() -> None:
    x, y = tl.asarray([[1.0, 2.0, 5.0]]), tl.zeros((1, 3))
    for p, wanted in ((math.inf, 5.0), (1.0, 8.0), (0.0, 3.0), (3.0, (1 + 8 + 125) ** (1 / 3))):
        np.testing.assert_allclose(values(F.pairwise_distance(x, y, p)), [wanted], rtol=1e-5)


def test_losses_of_targets() -> None:
    for loss in (F.binary_cross_entropy, F.binary_cross_entropy_with_logits):
        with pytest.raises(tl.ShapeError, match="target"):
            loss(tl.ones((4, 1)) * 0.5, tl.ones(4))
    pair, nothing = tl.asarray([[1.0, 0.0]]), tl.asarray([0.0])
    assert values(F.cosine_embedding_loss(pair, pair, nothing)) == 0.0
    np.testing.assert_allclose(values(F.hinge_embedding_loss(tl.asarray([0.3]), nothing)), 1.0)


# ---- gradients and optimisers --------------------------------------------------------------------


def test_zeroed_gradients_are_zero() -> None:
    p = nn.Parameter([1.0])
    for forget in (optim.SGD([p], lr=0.1).zero_grad, nn.ParameterList([p]).zero_grad):
        p.grad = tl.asarray([math.inf])
        forget(set_to_none=False)
        assert values(p.grad) == [0.0]


def test_norms_of_gradients() -> None:
    p = nn.Parameter([3.0, -4.0, 0.0])
    for kind, wanted in (("inf", 4.0), (math.inf, 4.0), (-math.inf, 0.0), (0, 1.0), (2, 5.0),
                         (1, 7.0)):  # fmt: skip
        p.grad = tl.asarray([3.0, -4.0, 0.0])
        assert values(nn.utils.clip_grad_norm_([p], 100.0, kind)) == pytest.approx(wanted)
        assert values(p.grad) == [3.0, -4.0, 0.0]


def test_a_model_and_its_optimiser_are_copied_together() -> None:
    model = nn.Linear(1, 1, bias=False)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(model: nn.Module, optimizer: optim.Optimizer) -> float:
        optimizer.zero_grad()
        before = next(model.parameters()).item()
        model(tl.ones((1, 1))).sum().backward()
        optimizer.step()
        return float(next(model.parameters()).item()) - float(before)

    for _ in range(2):
        step(model, optimizer)
    other, copied = copy.deepcopy((model, optimizer))
    copied.param_groups[0]["lr"] = 0.2
    assert step(other, copied) == pytest.approx(-0.2 * 2.71)
    assert step(model, optimizer) == pytest.approx(-0.1 * 2.71)
    given = tl.asarray([1.0], requires_grad=True)
    tensor, alone = copy.deepcopy((given, optim.Adam([given])))
    (tensor * 2.0).sum().backward()
    alone.step()
    assert values(tensor) != [1.0] and values(given) == [1.0]


def test_schedules_go_on_from_pytorchs_dicts() -> None:
    optimizer = optim.SGD([nn.Parameter([1.0])], lr=1.0)
    schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.5**n)
    common = {"base_lrs": [1.0], "last_epoch": 3, "_step_count": 4, "_last_lr": [0.125]}
    schedule.load_state_dict({**common, "lr_lambdas": [None]})
    schedule.step()
    assert schedule.get_last_lr() == [0.0625]
    steps = optim.lr_scheduler.MultiStepLR(optimizer, [2], 0.1)
    steps.load_state_dict({**common, "milestones": Counter([4, 4]), "gamma": 0.5})
    optimizer.param_groups[0]["lr"] = 1.0
    steps.step()
    assert steps.get_last_lr() == [0.25]


class Slow(optim.Optimizer):
    """An optimiser of one's own, which keeps its state as PyTorch's tutorials do."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure: Any = None) -> None:
        with tl.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["steps"] = 0
                    state["steps"] += 1
                    p.add_(p.grad, alpha=-group["lr"])


def test_an_optimiser_of_ones_own() -> None:
    p, q = nn.Parameter([1.0]), nn.Parameter([2.0])
    optimizer = Slow([p, q])
    (p * q).sum().backward()
    optimizer.step()
    np.testing.assert_allclose([values(p), values(q)], [[0.8], [1.9]], rtol=1e-6)
    assert optimizer.state[p] == {"steps": 1} and optimizer.state.get(q) == {"steps": 1}
    optimizer.state[q] = {"steps": 5}
    assert optimizer.state[q]["steps"] == 5
