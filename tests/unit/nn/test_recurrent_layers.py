"""Recurrent layers: initial values, dropout, errors. That they compute what PyTorch computes is
tested in tests/parity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.GRU(3, 4, proj_size=2), "proj_size"),
        (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size"),
        (lambda: nn.GRU(3, 4, dropout=1.5), "dropout=1.5"),
        (lambda: nn.GRU(3, 4, num_layers=0), "0 layers"),
        (lambda: nn.RNN(3, 4, nonlinearity="sine"), "sine"),
        (lambda: nn.RNNCell(3, 4, nonlinearity="sine"), "sine"),
    ],
)
def test_options_that_there_are_not(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.GRU(3, 4)(tl.zeros((5, 2, 2))), "(5, 2, 2)"),
        (lambda: nn.GRU(3, 4)(tl.zeros((3,))), "(3,)"),
        (lambda: nn.GRU(3, 4)(tl.zeros((5, 2, 3)), tl.zeros((1, 3, 4))), "(1, 2, 4)"),
        (lambda: nn.LSTM(3, 4)(tl.zeros((5, 2, 3)), tl.zeros((1, 2, 4))), "a pair"),
        (lambda: nn.LSTM(3, 4)(tl.zeros((0, 2, 3))), "no steps"),
        (lambda: nn.GRUCell(3, 4)(tl.zeros((2, 2))), "(2, 2)"),
        (lambda: nn.GRUCell(3, 4)(tl.zeros((2, 3)), tl.zeros((3, 4))), "(3, 4)"),
        (lambda: nn.LSTMCell(3, 4)(tl.zeros((3,)), (tl.zeros((4,)), tl.zeros((3,)))), "(3,)"),
    ],
)
def test_shapes_that_do_not_fit(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ShapeError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_initial_values(kind: Any) -> None:
    tl.manual_seed(0)
    for parameter in kind(10, 25).parameters():
        values = np.abs(parameter.numpy())
        assert 0.15 < values.max() <= 0.2


def test_dropout_stands_between_layers_and_only_in_training() -> None:
    x = tl.asarray(np.ones((3, 2, 4), np.float32))
    net = nn.GRU(4, 8, num_layers=2, dropout=0.5)
    assert not np.array_equal(net(x)[0].numpy(), net(x)[0].numpy())
    net.eval()
    np.testing.assert_array_equal(net(x)[0].numpy(), net(x)[0].numpy())
    single = nn.GRU(4, 8, dropout=0.5)
    np.testing.assert_array_equal(single(x)[0].numpy(), single(x)[0].numpy())


def test_what_a_layer_says_about_itself() -> None:
    net = nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
    assert "3, 4, num_layers=2, batch_first=True, dropout=0.1, bidirectional=True" in repr(net)
    assert "3, 4, bias=False" in repr(nn.GRUCell(3, 4, bias=False))


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_layer_does_what_its_cell_does_step_by_step(kind: Any) -> None:
    layer = kind(3, 4)
    cell = {nn.RNN: nn.RNNCell, nn.GRU: nn.GRUCell, nn.LSTM: nn.LSTMCell}[kind](3, 4)
    tl.load_into(cell, layer.state_dict(), rename=[("_l0$", "")])
    x = tl.randn(5, 2, 3)
    output, _ = layer(x)
    state = None
    for step in range(5):
        state = cell(x[step], state)
        h = state[0] if kind is nn.LSTM else state
        np.testing.assert_allclose(h.numpy(), output[step].numpy(), atol=1e-5)
