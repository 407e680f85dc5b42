"""`nn.summary`."""

from __future__ import annotations

import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError


def test_a_table_of_a_network() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(72, 10))
    net[2].bias.requires_grad = False
    found = nn.summary(net, (4, 1, 8, 8))
    assert str(found).splitlines() == [
        "layer         output        parameters  multiply-adds",
        "-----------------------------------------------------",
        "Sequential    (4, 10)              750          5,472",
        "  0: Conv2d   (4, 2, 6, 6)          20          2,592",
        "  1: Flatten  (4, 72)                0              0",
        "  2: Linear   (4, 10)              730          2,880",
        "-----------------------------------------------------",
        "750 parameters, 740 of them trainable; 5,472 multiply-adds",
    ]
    assert found.rows[1].outputs == ((4, 2, 6, 6),)


def test_nothing_is_computed_and_nothing_changes() -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Dropout())
    net[1].eval()
    before = net.state_dict()
    found = nn.summary(net, (1 << 20, 3, 1024, 1024))  # 13 TB
    assert found.rows[0].outputs == ((1 << 20, 8, 1022, 1022),)
    assert net.training
    assert not net[1].training
    assert not net._forward_hooks
    assert all(before[k].tolist() == v.tolist() for k, v in net.state_dict().items())


def test_several_inputs_and_outputs() -> None:
    found = nn.summary(nn.LSTM(3, 4), (5, 2, 3))
    assert found.rows[0].outputs == ((5, 2, 4), (1, 2, 4), (1, 2, 4))
    assert found.multiply_adds == 5 * 2 * (16 * 3 + 16 * 4)
    twice = nn.summary(nn.Bilinear(2, 3, 4), [(5, 2), (5, 3)])
    assert twice.rows[0].outputs == ((5, 4),)
    assert nn.summary(nn.Embedding(5, 2), (3,), "int32").rows[0].outputs == ((3, 2),)


def test_a_layer_that_is_called_twice_and_one_that_is_not() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.twice, self.never = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return self.twice(self.twice(x)) + x

    found = nn.summary(Net(), (1, 2))
    assert [row.multiply_adds for row in found.rows] == [8, 8, 0]
    assert "never: Linear  -" in str(found)


def test_what_does_not_fit() -> None:
    net = nn.Linear(2, 2)
    with pytest.raises(OptionError, match="2 element types"):
        nn.summary(net, (1, 2), ["float32", "int32"])
    with pytest.raises(ShapeError):
        nn.summary(net, (1, 3))
    assert net.training
    assert not net._forward_hooks
