"""Errors and details of losses, norms, attention and state, as PyTorch has them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import DTypeError, OptionError, ShapeError, TallowError
from tallow.nn import functional as F  # noqa: N812 - the customary name


def values(x: Any) -> Any:
    return np.asarray(x.numpy()).tolist()


# ---- attention -----------------------------------------------------------------------------------


def test_a_causal_hint_needs_its_mask() -> None:
    net, x = nn.MultiheadAttention(4, 2, batch_first=True), tl.ones((1, 3, 4))
    with pytest.raises(OptionError, match="generate_square_subsequent_mask"):
        net(x, x, x, is_causal=True)
    with pytest.raises(DTypeError, match="int32"):
        net(x, x, x, attn_mask=tl.zeros((3, 3), "int32"))


@pytest.mark.parametrize("padding", ["bool", "float"])
@pytest.mark.parametrize("mask", ["bool", "float"])
def test_both_masks_bar(padding: str, mask: str) -> None:
    def given(barred: np.ndarray, kind: str) -> tl.Tensor:
        numbers = np.where(barred, -np.inf, 0).astype(np.float32)
        return tl.asarray(barred if kind == "bool" else numbers)

    net, x = nn.MultiheadAttention(4, 2, batch_first=True), tl.randn(2, 3, 4)
    later, last = np.triu(np.ones((3, 3), bool), 1), np.array([[False] * 3, [False, True, False]])
    options = {"key_padding_mask": given(last, padding), "attn_mask": given(later, mask)}
    _, mean = net(x, x, x, **options)
    _, each = net(x, x, x, average_attn_weights=False, is_causal=True, **options)
    assert mean.shape == (2, 3, 3) and each.shape == (2, 2, 3, 3)
    np.testing.assert_allclose(each.numpy().mean(1), mean.numpy(), atol=1e-6)
    np.testing.assert_array_equal(mean.numpy() == 0, later | last[:, None])
    assert net(x, x, x, need_weights=False)[1] is None


@pytest.mark.parametrize("kdim", [None, 5])
def test_attention_as_a_function(kdim: int | None) -> None:
    net = nn.MultiheadAttention(4, 2, kdim=kdim, add_bias_kv=True, add_zero_attn=True)
    q, k, v = tl.randn(3, 2, 4), tl.randn(5, 2, kdim or 4), tl.randn(5, 2, 4)
    separate = [net.q_proj_weight, net.k_proj_weight, net.v_proj_weight]
    output, weights = F.multi_head_attention_forward(
        q, k, v, 4, 2, net.in_proj_weight, net.in_proj_bias, net.bias_k, net.bias_v, True, 0.0,
        net.out_proj.weight, net.out_proj.bias, True, None, True, None, kdim is not None, *separate,
    )  # fmt: skip
    wanted = net(q, k, v)
    for found, want in zip((output, weights), wanted, strict=True):
        np.testing.assert_allclose(values(found), values(want), atol=1e-6)
    with pytest.raises(ShapeError, match="queries of 4 elements, not 8"):
        F.multi_head_attention_forward(
            q, q, q, 8, 2, tl.ones((12, 4)), None, None, None, False, 0.0, net.out_proj.weight, None
        )


# ---- losses and norms ----------------------------------------------------------------------------


def test_binary_cross_entropy_at_its_ends() -> None:
    x = tl.tensor([0.0, 1.0, 0.5, 1.0], requires_grad=True)
    target = tl.tensor([1.0, 0.0, 1.0, 1.0], requires_grad=True)
    loss = F.binary_cross_entropy(x, target, reduction="none")
    np.testing.assert_allclose(values(loss), [100.0, 100.0, math.log(2), 0.0], rtol=1e-6)
    loss.sum().backward()
    np.testing.assert_allclose(values(x.grad), [-1e12, 1e12, -2.0, 0.0], rtol=1e-6)
    assert np.isfinite(values(target.grad)).all()


@pytest.mark.parametrize("wrong", [1.5, -0.25, math.nan])
def test_what_is_no_probability(wrong: float) -> None:
    for given in (tl.tensor([wrong]), tl.asarray([wrong]), (tl.tensor([wrong]) * 1).realize()):
        with pytest.raises(OptionError, match="with_logits"):
            F.binary_cross_entropy(given, tl.ones(1))
    computed = F.binary_cross_entropy(tl.tensor([wrong, 0.5]) * 1, tl.ones(2), reduction="none")
    assert np.isnan(values(computed)).tolist() == [True, False]


def test_variances_of_the_gaussian_loss() -> None:
    x, target = tl.zeros((3, 2)), tl.ones((3, 2))
    for var in (1.0, tl.ones((3, 2)), tl.ones((3,)), tl.ones((3, 1)), tl.ones((1, 2))):
        assert values(F.gaussian_nll_loss(x, target, var)) == 0.5
    for wrong in (tl.ones((2,)), tl.ones((1, 1)), tl.ones((3, 3))):
        with pytest.raises(ShapeError, match="variances"):
            F.gaussian_nll_loss(x, target, wrong)
    with pytest.raises(OptionError, match="negative"):
        F.gaussian_nll_loss(x, target, tl.tensor([1.0, -1.0, 1.0]))
    with pytest.raises(OptionError, match="reduction"):
        F.gaussian_nll_loss(x, target, 1.0, reduction="all")


def test_one_number_per_channel_has_no_variance() -> None:
    with pytest.raises(ShapeError, match="one number"):
        nn.BatchNorm1d(3)(tl.ones((1, 3)))
    for net in (nn.InstanceNorm1d(3), nn.InstanceNorm1d(3).eval()):
        with pytest.raises(ShapeError, match="one number"):
            net(tl.ones((2, 3, 1)))
    tracked = nn.InstanceNorm1d(3, track_running_stats=True).eval()
    assert tracked(tl.ones((2, 3, 1))).shape == (2, 3, 1)


# ---- functions in place --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (F.relu_, [0.0, 2.0]),
        (F.elu_, [math.exp(-2) - 1, 2.0]),
        (F.celu_, [math.exp(-2) - 1, 2.0]),
        (F.selu_, [1.0507009873554805 * 1.6732632423543772 * (math.exp(-2) - 1), 2.1014020]),
        (F.hardtanh_, [-1.0, 1.0]),
        (lambda x: F.leaky_relu_(x, 0.5), [-1.0, 2.0]),
        (F.rrelu_, [-2 * (1 / 8 + 1 / 3) / 2, 2.0]),
        (lambda x: F.threshold_(x, 0.0, 7.0), [7.0, 2.0]),
    ],
)
def test_activations_in_place(change: Callable[[Any], Any], wanted: list[float]) -> None:
    x = tl.tensor([-2.0, 2.0])
    assert change(x) is x
    np.testing.assert_allclose(values(x), wanted, rtol=1e-6)


# ---- the state of modules ------------------------------------------------------------------------


class Counted(nn.Module):
    """A layer with a state that is no tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter([1.0])
        self.seen = 0

    def get_extra_state(self) -> Any:
        return {"seen": self.seen}

    def set_extra_state(self, state: Any) -> None:
        self.seen = state["seen"]


def test_a_state_that_is_no_tensor() -> None:
    net, other = nn.Sequential(Counted()), nn.Sequential(Counted())
    net[0].seen = 3
    state = net.state_dict()
    assert list(state) == ["0.weight", "0._extra_state"]
    other.load_state_dict(state)
    assert other[0].seen == 3
    del state["0._extra_state"]
    with pytest.raises(TallowError, match="_extra_state: missing"):
        other.load_state_dict(state)


def test_hooks_of_states() -> None:
    net, calls = nn.Sequential(nn.Linear(1, 1)), []
    layer = net[0]

    def renamed(module: Any, state: dict[str, Any], prefix: str, *others: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    def doubled(module: Any, state: dict[str, Any], prefix: str, _: Any) -> None:
        state[prefix + "bias"] = state[prefix + "bias"] * 2

    handles = [
        layer.register_load_state_dict_pre_hook(renamed),
        layer.register_load_state_dict_post_hook(lambda m, keys: calls.append((m, keys))),
        layer.register_state_dict_pre_hook(lambda m, prefix, keep: calls.append((prefix, keep))),
        layer.register_state_dict_post_hook(doubled),
    ]
    state = {"0.kernel": np.float32([[5.0]]), "0.bias": np.float32([3.0])}
    found = net.load_state_dict(state)
    assert calls == [(layer, found)] and values(layer.weight) == [[5.0]] and "0.kernel" in state
    assert values(net.state_dict()["0.bias"]) == [6.0] and calls[1] == ("0.", False)
    for handle in handles:
        handle.remove()
    assert values(net.state_dict(destination={})["0.bias"]) == [3.0] and len(calls) == 2


def test_modules_at_paths_and_types() -> None:
    net = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.ReLU())
    net.set_submodule("0.0", nn.Linear(2, 1))
    assert net.get_submodule("0.0").in_features == 2
    with pytest.raises(AttributeError, match="no module"):
        net.set_submodule("5.0", nn.ReLU())
    with pytest.raises(DTypeError, match="bfloat16"):
        net.bfloat16()
    assert net.double()[0][0].weight.dtype == tl.float64
    assert net.to_empty(device="numpy")[0][0].weight.device == "numpy"


# ---- layers --------------------------------------------------------------------------------------


def test_layers_that_wait_for_their_input() -> None:
    net = nn.Sequential(
        nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)
    )
    seen = []
    net[3].register_forward_hook(lambda module, args, output: seen.append(output.shape))
    with pytest.raises(TallowError, match="call the network once"):
        list(net.eval().parameters())
    net(tl.ones((2, 3, 4, 4)))
    assert [type(layer) for layer in net] == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert net[3].weight.shape == (2, 64) and seen == [(2, 2)] and not net[0].training
    net(tl.ones((1, 3, 4, 4))).sum().backward()
    assert net[0].weight.grad is not None
    assert nn.LazyConvTranspose1d(2, 3)(tl.ones((5, 4))).shape == (2, 6)


def test_the_adaptive_softmax() -> None:
    net = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0)
    assert [name for name, _ in net.named_parameters()] == [
        "head.weight", "tail.0.0.weight", "tail.0.1.weight", "tail.1.0.weight", "tail.1.1.weight",
    ]  # fmt: skip
    assert net.tail[1][0].weight.shape == (4, 16)
    x, target = tl.randn(5, 16), tl.tensor([0, 3, 4, 12, 19])
    output, loss = net(x, target)
    whole = net.log_prob(x).numpy()
    np.testing.assert_allclose(np.exp(whole).sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(output.numpy(), whole[range(5), target.numpy()], rtol=1e-5)
    np.testing.assert_allclose(loss.numpy(), -output.numpy().mean(), rtol=1e-5)
    head = x.numpy() @ net.head.weight.numpy().T
    tail = x.numpy() @ net.tail[0][0].weight.numpy().T @ net.tail[0][1].weight.numpy().T
    alone = np.exp(tail) / np.exp(tail).sum(1, keepdims=True)
    shares = np.exp(head) / np.exp(head).sum(1, keepdims=True)
    np.testing.assert_allclose(np.exp(whole[:, 4:10]), alone * shares[:, 4:5], rtol=1e-4)
    np.testing.assert_array_equal(net.predict(x).numpy(), whole.argmax(1))
    with pytest.raises(OptionError, match="cutoffs"):
        nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 20])
    with pytest.raises(tl.IndexRangeError, match="20"):
        net(x, tl.tensor([0, 3, 4, 12, 20]))[1].numpy()
    assert copy.deepcopy(net)(x[0], target[0]).output.shape == ()
