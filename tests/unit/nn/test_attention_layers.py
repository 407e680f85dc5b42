"""Attention, transformers and encodings of places: masks, dropout, copies, errors. That they
compute what PyTorch computes is tested in tests/parity."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError

F = tl.functional


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.MultiheadAttention(8, 3), "3 heads"),
        (lambda: nn.TransformerEncoderLayer(8, 2, activation="sine"), "sine"),
        (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 0), "0 layers"),
        (lambda: nn.PositionalEncoding(3), "d_model=3"),
        (lambda: nn.RotaryEncoding(3), "dim=3"),
    ],
)
def test_options_that_there_are_not(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        call()


def attend(*shapes: tuple[int, ...], **masks: tl.Tensor) -> Any:
    return nn.MultiheadAttention(8, 2, batch_first=True)(*map(tl.zeros, shapes), **masks)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: attend((2, 3, 8), (2, 3, 7), (2, 3, 8)), "(2, 3, 7)"),
        (lambda: attend((2, 3, 8), (3, 8), (3, 8)), "(3, 8)"),
        (lambda: attend((2, 3, 8), (1, 3, 8), (1, 3, 8)), "do not fit"),
        (lambda: attend((2, 3, 8), (2, 4, 8), (2, 3, 8)), "do not fit"),
        (lambda: attend(*[(2, 3, 8)] * 3, attn_mask=tl.zeros((3, 2))), "(4, 3, 3)"),
        (lambda: attend(*[(2, 3, 8)] * 3, key_padding_mask=tl.zeros((3, 2))), "(2, 3)"),
        (lambda: nn.PositionalEncoding(4, max_len=3)(tl.zeros((2, 4, 4))), "(2, 4, 4)"),
        (lambda: nn.RotaryEncoding(4)(tl.zeros((2, 6))), "(2, 6)"),
    ],
)
def test_shapes_that_do_not_fit(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ShapeError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_query_that_attends_to_nothing_gives_zeros_and_a_gradient_without_nan(kind: str) -> None:
    seen = np.array([[True, False], [False, False]])
    mask = seen if kind == "bool" else np.where(seen, 0, -np.inf).astype(np.float32)
    q, k, v = (tl.randn(1, 2, 4).requires_grad_() for _ in range(3))
    y = F.scaled_dot_product_attention(q, k, v, tl.asarray(mask))
    (y * y).sum().backward()
    np.testing.assert_array_equal(y.numpy()[0, 1], 0)
    for x in (q, k, v):
        assert x.grad is not None
        assert np.isfinite(x.grad.numpy()).all()


def test_a_module_too_gives_no_nan_where_all_keys_are_barred() -> None:
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = tl.randn(2, 3, 8)
    output, weights = net(x, x, x, key_padding_mask=tl.asarray(np.array([[True] * 3] * 2)))
    output.sum().backward()
    np.testing.assert_array_equal(weights.numpy(), 0)
    assert np.isfinite(net.in_proj_weight.grad.numpy()).all()


def test_dropout_of_attention_keeps_the_mean() -> None:
    tl.manual_seed(0)
    x = tl.zeros((1, 400, 4))
    ones = tl.ones((1, 400, 4))
    y = F.scaled_dot_product_attention(x, x, ones, dropout_p=0.5).numpy()
    assert y.std() > 0.01
    assert abs(y.mean() - 1) < 0.02


def test_causal_attention_does_not_see_what_comes_later() -> None:
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = np.random.default_rng(0).normal(size=(1, 4, 8)).astype(np.float32)
    changed = x.copy()
    changed[:, 3] += 1
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    one, other = (
        net(*[tl.asarray(v)] * 3, attn_mask=mask, is_causal=True)[0].numpy() for v in (x, changed)
    )
    np.testing.assert_allclose(one[:, :3], other[:, :3], atol=1e-6)
    assert np.abs(one[:, 3] - other[:, 3]).max() > 1e-3


def test_initial_values_of_attention() -> None:
    net = nn.MultiheadAttention(32, 4)
    bound = math.sqrt(6 / (4 * 32))
    assert bound * 0.9 < np.abs(net.in_proj_weight.numpy()).max() <= bound
    assert not net.in_proj_bias.numpy().any()
    assert not net.out_proj.bias.numpy().any()


def test_layers_of_an_encoder_are_copies() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    net = nn.TransformerEncoder(layer, 2)
    first, second = net.layers
    assert first.linear1.weight is not second.linear1.weight
    np.testing.assert_array_equal(first.linear1.weight.numpy(), second.linear1.weight.numpy())
    first.linear1.weight.assign(first.linear1.weight * 2)
    np.testing.assert_array_equal(second.linear1.weight.numpy(), layer.linear1.weight.numpy())


def test_copies_of_modules_keep_ties_and_freezing() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.BatchNorm1d(2))
    net[1].weight = net[0].weight
    net[0].bias.requires_grad = False
    net(tl.ones((2, 2))).sum().backward()
    copied = copy.deepcopy(net)
    assert copied[1].weight is copied[0].weight
    assert not copied[0].bias.requires_grad
    assert copied[0].weight.grad is None
    state, other = net.state_dict(), copied.state_dict()
    assert all(np.array_equal(state[name].numpy(), other[name].numpy()) for name in state)


def test_the_mask_of_a_transformer() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(3).numpy()
    np.testing.assert_array_equal(mask, np.where(np.tri(3) > 0, 0, -np.inf))


def test_sines_and_cosines_of_places() -> None:
    net = nn.PositionalEncoding(6, max_len=10)
    found = net(tl.zeros((1, 5, 6))).numpy()[0]
    for place in range(5):
        for i in range(3):
            angle = place / 10000 ** (2 * i / 6)
            np.testing.assert_allclose(found[place, 2 * i], math.sin(angle), atol=1e-5)
            np.testing.assert_allclose(found[place, 2 * i + 1], math.cos(angle), atol=1e-5)
    later = nn.PositionalEncoding(6, max_len=10, batch_first=False)
    np.testing.assert_allclose(later(tl.zeros((5, 1, 6))).numpy()[:, 0], found, atol=1e-6)
    np.testing.assert_allclose(later(tl.zeros((5, 6))).numpy(), found, atol=1e-6)
    assert not net.state_dict()


@pytest.mark.parametrize("interleaved", [True, False])
def test_rotated_products_depend_on_distances_alone(interleaved: bool) -> None:
    net = nn.RotaryEncoding(8, interleaved=interleaved)
    rng = np.random.default_rng(1)
    q, k = (rng.normal(size=(1, 8)).astype(np.float32).repeat(6, axis=0) for _ in range(2))
    turned_q, turned_k = net(tl.asarray(q)).numpy(), net(tl.asarray(k)).numpy()
    products = turned_q @ turned_k.T
    for distance in range(5):
        line = np.diagonal(products, distance)
        np.testing.assert_allclose(line, line[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(turned_q[0], q[0], atol=1e-6)
    np.testing.assert_allclose(net(tl.asarray(q[:2]), offset=3).numpy(), turned_q[3:5], atol=1e-5)
    pairs = [turned_q[1, :4], turned_q[1, 4:]]
    first = turned_q[1, :2] if interleaved else np.array([pairs[0][0], pairs[1][0]])
    x, y = q[0, :2] if interleaved else (q[0, 0], q[0, 4])
    wanted = x * math.cos(1) - y * math.sin(1), x * math.sin(1) + y * math.cos(1)
    np.testing.assert_allclose(first, wanted, atol=1e-5)
