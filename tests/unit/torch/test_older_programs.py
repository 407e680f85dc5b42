"""What programs of PyTorch's first years do: a factor before its tensors, masks of uint8, marks on
parameters, and rooms that they import for a name or two."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tallow.errors import ArgumentError


def test_a_factor_may_stand_first(torch: Any) -> None:
    x, a, b = torch.ones(2), torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])
    assert x.add(0.5, a).tolist() == torch.add(x, 0.5, a).tolist() == [2.0, 2.5]
    assert x.sub(0.5, a).tolist() == [0.0, -0.5]
    assert x.addcmul(0.5, a, b).tolist() == torch.addcmul(x, 0.5, a, b).tolist() == [5.0, 8.5]
    assert x.addcdiv(8.0, a, b).tolist() == pytest.approx([5.0, 5.8])
    average = torch.zeros(2)
    average.mul_(0.9).add_(0.1, a)
    average.addcmul_(2, a, b).addcdiv_(-1, a, a)
    assert average.tolist() == pytest.approx([15.2, 29.3])
    with pytest.raises((ArgumentError, TypeError)):
        x.add(0.5, a, b, b)


def test_numbers_come_first(torch: Any) -> None:
    x = torch.tensor([2.0, 4.0])
    assert torch.div(1.0, x).tolist() == [0.5, 0.25]
    assert torch.sub(1, x).tolist() == [-1.0, -3.0]


def test_masks_of_uint8(torch: Any) -> None:
    mask = torch.tensor([1, 0], dtype=torch.uint8)
    assert torch.where(mask, torch.ones(2), torch.zeros(2)).tolist() == [1.0, 0.0]


def test_detaching_a_leaf_in_place(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    weight = layer.weight
    assert weight.detach_() is weight and not weight.requires_grad
    assert layer.bias.requires_grad
    y = (layer.bias * 2).detach_()
    assert not y.requires_grad and y.is_leaf


@pytest.mark.parametrize(
    ("room", "names"),
    [
        ("torch.jit.annotations", "List Optional BroadcastingList2"),
        ("torch._C", "_get_privateuse1_backend_name"),
        ("torch.__config__", "show parallel_info"),
        ("torch.distributed.nn", "all_reduce"),
        ("torch.utils.checkpoint", "checkpoint get_device_states set_device_states"),
        ("torch.cpu.amp", "autocast"),
        ("torch.nn", "RNNBase RNNCellBase"),
        ("torch", "TensorType _C _dynamo __config__ legacy_contiguous_format"),
    ],
)
def test_rooms_that_are_imported_for_a_name(torch: Any, room: str, names: str) -> None:
    found = import_module(f"tallow.{room}")
    for name in names.split():
        assert getattr(found, name) is not None


def test_recurrent_layers_have_a_base(torch: Any) -> None:
    assert isinstance(torch.nn.LSTM(2, 2), torch.nn.RNNBase)
    assert not isinstance(torch.nn.Linear(2, 2), torch.nn.RNNBase)
    assert torch.__config__.show() and torch.utils.checkpoint.get_device_states() == ([], [])
