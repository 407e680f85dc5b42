"""Attention with functions of scores and indices, beside attention with whole masks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.core import context
from tallow.tensor import Tensor

with context.pytorch.override(True):  # its habits stay within
    flex: Any = import_module("tallow.torch.nn.attention.flex_attention")

F = tl.functional


def drawn(*shape: int, seed: int = 0) -> Tensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return tl.asarray(values, requires_grad=True)


def operands(heads: int = 2, key_heads: int = 2, queries: int = 5, keys: int = 7) -> list[Tensor]:
    return [
        drawn(2, heads, queries, 4, seed=1),
        drawn(2, key_heads, keys, 4, seed=2),
        drawn(2, key_heads, keys, 3, seed=3),
    ]


def alike(given: Tensor, wanted: Tensor, tensors: list[Tensor]) -> None:
    """Results and gradients."""
    found = []
    for result in (given, wanted):
        for x in tensors:
            x.grad = None
        weights = tl.asarray(np.cos(np.arange(result.node.size)).reshape(result.shape), "float32")
        (result * weights).sum().backward()
        found.append([result.detach().numpy(), *(tl.asarray(x.grad).numpy() for x in tensors)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def causal(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    return q_idx >= kv_idx


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_a_mask_of_indices_is_a_mask(device: str) -> None:
    tl.set_default_device(device)
    q, k, v = operands()
    document = tl.asarray([0, 0, 1, 1, 1, 2, 2])

    def within(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return document[q_idx] == document[kv_idx]

    mod = flex.and_masks(causal, flex.or_masks(within, lambda b, h, q_idx, kv_idx: h == 1))
    mask = flex.create_block_mask(mod, None, 2, 5, 7, device="cpu")
    whole = flex.create_mask(mod, 1, 2, 5, 7)
    assert whole.shape == (1, 2, 5, 7)
    expected = F.scaled_dot_product_attention(q, k, v, whole)
    alike(flex.flex_attention(q, k, v, block_mask=mask), expected, [q, k, v])
    tl.set_default_device(None)


def test_scores_are_changed_and_tables_learn() -> None:
    q, k, v = operands()
    bias, slopes = drawn(12, seed=4), drawn(2, seed=5)

    def score(scores: Tensor, b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        return scores + bias[q_idx - kv_idx + 6] + slopes[h] * (kv_idx - q_idx)

    steps = np.arange(5)[:, None] - np.arange(7)
    table = bias[tl.asarray(steps + 6)] - slopes.reshape((2, 1, 1)) * tl.asarray(steps)
    expected = F.scaled_dot_product_attention(q, k, v, table)
    tensors = [q, k, v, bias, slopes]
    alike(flex.flex_attention(q, k, v, score), expected, tensors)
    alike(flex.flex_attention(q, k, v, score_mod=score, scale=0.5),
          F.scaled_dot_product_attention(q, k, v, table, scale=0.5), tensors)  # fmt: skip


def test_key_heads_are_shared_and_sums_returned() -> None:
    q, k, v = operands(heads=4)
    with pytest.raises(tl.ShapeError, match="enable_gqa"):
        flex.flex_attention(q, k, v)
    result, lse = flex.flex_attention(q, k, v, enable_gqa=True, return_lse=True)
    alike(result, F.scaled_dot_product_attention(q, k, v, enable_gqa=True), [q, k, v])
    scores = (q * 0.5).numpy() @ np.repeat(k.numpy(), 2, axis=1).swapaxes(-1, -2)
    np.testing.assert_allclose(lse.numpy(), np.log(np.exp(scores).sum(-1)), rtol=1e-5, atol=1e-5)
    aux = flex.AuxRequest(max_scores=True)
    other = flex.flex_attention(q, k, v, enable_gqa=True, return_aux=aux)[1]
    assert other.lse is None
    np.testing.assert_allclose(other.max_scores.numpy(), scores.max(-1), rtol=1e-5)


def test_blocks_are_counted() -> None:
    mask = flex.create_block_mask(causal, 1, 1, 5, 7, BLOCK_SIZE=2)
    blocks = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert mask.to_dense().tolist() == [[blocks]]
    assert mask.sparsity() == pytest.approx(50.0)
    assert flex.create_block_mask(flex.noop_mask, 1, 1, 5, 7).sparsity() == 0.0


def test_what_does_not_fit_is_refused() -> None:
    q, k, v = operands()
    mask: Any = flex.create_block_mask(causal, 1, 1, 4, 4)
    with pytest.raises(tl.ShapeError, match=r"\(4, 4\) queries and keys, not \(5, 7\)"):
        flex.flex_attention(q, k, v, block_mask=mask)
    with pytest.raises(tl.ShapeError, match="are not 4-D"):
        flex.flex_attention(q[0], k[0], v[0])
