"""What scripts ask of modules, as PyTorch answers it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU(inplace=True)])
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: tl.Tensor, scale: float = 1.0) -> tl.Tensor:
        for part in self.body:
            x = part(x)
        return self.norm(x) * scale  # type: ignore[no-any-return]


def test_the_text_of_a_module() -> None:
    assert (
        repr(Net())
        == """Net(
  (body): ModuleList(
    (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)
    (2): ReLU(inplace=True)
  )
  (norm): BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
)"""
    )


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            nn.Bilinear(2, 3, 4),
            "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)",
        ),
        (nn.LayerNorm(5), "LayerNorm((5,), eps=1e-05, elementwise_affine=True, bias=True)"),
        (nn.GELU("tanh"), "GELU(approximate='tanh')"),
        (nn.Dropout(0.3, inplace=True), "Dropout(p=0.3, inplace=True)"),
        (nn.Embedding(3, 4, padding_idx=0), "Embedding(3, 4, padding_idx=0)"),
        (nn.EmbeddingBag(3, 4), "EmbeddingBag(3, 4, mode='mean')"),
        (
            nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.1),
            "LSTM(3, 4, num_layers=2, batch_first=True, dropout=0.1, bidirectional=True)",
        ),
        (nn.LSTM(3, 4, proj_size=2, bias=False), "LSTM(3, 4, proj_size=2, bias=False)"),
        (nn.ConstantPad1d(2, 3.5), "ConstantPad1d(padding=(2, 2), value=3.5)"),
        (nn.Upsample(scale_factor=2), "Upsample(scale_factor=2.0, mode='nearest')"),
        (nn.AvgPool1d(2), "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))"),
        (nn.Softshrink(), "Softshrink(0.5)"),
    ],
)
def test_the_text_of_a_layer(module: nn.Module, text: str) -> None:
    assert repr(module) == text


def test_loading_less_than_everything() -> None:
    net = Net()
    state = net.state_dict()
    assert repr(net.load_state_dict(state)) == "<All keys matched successfully>"
    del state["body.0.bias"]
    state["more"] = state["body.0.weight"]
    found = net.load_state_dict(state, strict=False)
    assert found.missing_keys == ["body.0.bias"] and found.unexpected_keys == ["more"]
    assert net.state_dict(keep_vars=True)["body.0.weight"] is net.body[0].weight


def test_hooks_with_keywords_and_in_front() -> None:
    net, seen = Net(), []

    def before(module: nn.Module, args: Any, kwargs: Any) -> Any:
        seen.append("before")
        return args, {**kwargs, "scale": 0.0}

    net.register_forward_hook(lambda module, args, result: seen.append("second"))
    handle = net.register_forward_hook(
        lambda module, args, kwargs, result: seen.append(kwargs["scale"]),
        with_kwargs=True,
        prepend=True,
    )
    net.register_forward_pre_hook(before, with_kwargs=True)
    assert not net(tl.ones((3, 2)), scale=2.0).numpy().any()
    assert seen == ["before", 0.0, "second"]
    handle.remove()
    net(tl.ones((3, 2)))
    assert seen[3:] == ["before", "second"]


def test_to_and_buffers() -> None:
    net = Net().to("numpy", tl.float64)
    assert net.body[0].weight.dtype == tl.float64
    assert net.get_buffer("norm.num_batches_tracked").dtype == tl.int64
    assert net.type(tl.float32).cpu().body[0].weight.dtype == tl.float32
    assert net.to(tl.ones((1,), "float64")).norm.running_mean.dtype == tl.float64
    with pytest.raises(tl.DeviceUnavailableError, match="cuda:3"):
        net.to(3)
    with pytest.raises(AttributeError, match=r"norm\.mean"):
        net.get_buffer("norm.mean")


def test_a_copy_is_independent() -> None:
    net = Net()
    other = copy.deepcopy(net)
    with tl.no_grad():
        other.body[0].weight.zero_()
    assert np.any(net.body[0].weight.numpy()) and not np.any(other.body[0].weight.numpy())
    assert [n for n, _ in other.named_parameters()] == [n for n, _ in net.named_parameters()]


def test_set_and_dict_of_parameters() -> None:
    net = Net()
    known = {p: n for n, p in net.named_parameters()}
    assert known[net.norm.bias] == "norm.bias" and net.norm.weight in set(net.parameters())


def test_pickling() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU())
    other = pickle.loads(pickle.dumps(net))
    x = tl.tensor([[1.0, 2.0], [3.0, -1.0]])
    assert np.array_equal(net(x).numpy(), other(x).numpy())
    weight = other[0].weight
    assert isinstance(weight, nn.Parameter) and weight.requires_grad
    assert not other[1].running_mean.requires_grad
    tensor = pickle.loads(pickle.dumps(tl.tensor([1.5], requires_grad=True)))
    assert tensor.item() == 1.5 and tensor.requires_grad
    copied = copy.deepcopy(tensor)
    with tl.no_grad():
        copied.mul_(2)
    assert copied.is_leaf and copied.item() == 3.0 and tensor.item() == 1.5
