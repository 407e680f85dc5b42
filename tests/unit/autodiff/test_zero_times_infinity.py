"""Derivatives and entropies where 0 meets infinity, on each device: PyTorch's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import distributions as d
from tallow import functional as F  # noqa: N812
from tallow.tensor import Tensor

inf = np.inf


def gradient(function: Callable[[Tensor], Tensor], x: Any) -> np.ndarray:
    leaf = tl.asarray(np.asarray(x, np.float32), requires_grad=True)
    function(leaf).sum().backward()
    assert leaf.grad is not None
    found: np.ndarray = leaf.grad.numpy()
    return found


DERIVATIVES: dict[str, tuple[Callable[[Tensor], Tensor], Any, Any]] = {
    "norm": (lambda x: x.norm(0.5), [0, 4, -1], [0, 1.5, -3]),
    "norm of zeros": (lambda x: x.norm(0.5), [0, 0], [0, 0]),
    "third norm": (lambda x: x.norm(3), [0, -2], [0, -1]),
    "norm along an axis": (lambda x: x.norm(0.5, 1), [[0, 4], [1, 0]], [[0, 1], [1, 0]]),
    "cdist": (lambda x: tl.cdist(x, tl.asarray([[1.0, 2], [1, 6]]), 0.5), [[1, 2]], [[0, -1]]),
    "pdist": (lambda x: F.pdist(x, 0.5), [[1, 2], [1, 6]], [[0, -1], [0, 1]]),
    "pdist of equal rows": (lambda x: F.pdist(x, 3), [[1, 2], [1, 2]], [[0, 0], [0, 0]]),
    "normalize": (lambda x: F.normalize(x, 0.5, 0), [0, 4.0], [0.25, 0]),
    "product of huge and zero": (tl.prod, [1e30, 1e30, 0, 0], [0, 0, 0, 0]),
    "product with one zero": (tl.prod, [2, 0, 3], [0, 6, 0]),
    "product with two zeros": (tl.prod, [2, 0, 0], [0, 0, 0]),
    "product along an axis": (lambda x: x.prod(1), [[1e30, 1e30, 0, 0], [1, 2, 3, 0]],
                              [[0, 0, 0, 0], [0, 0, 0, 6]]),
    "product of a number": (lambda x: x.prod(), 5, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(device: str, name: str) -> None:
    function, x, wanted = DERIVATIVES[name]
    np.testing.assert_allclose(gradient(function, x), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_products_with_zeros() -> None:
    slope = tl.grad(lambda x: tl.sum(tl.grad(tl.prod)(x) * tl.asarray([1.0, 10, 100])))
    assert slope(tl.asarray([0.0, 0, 3])).tolist() == [30, 3, 0]


def entropy(logits: Tensor) -> Tensor:
    return d.Categorical(logits=logits).entropy()


OTHER = np.array([0, 1, 2], np.float32)


def divergence(logits: Tensor) -> Tensor:
    return d.kl_divergence(d.Categorical(logits=logits), d.Categorical(logits=tl.asarray(OTHER)))


@pytest.mark.parametrize("family", [d.Categorical, d.OneHotCategorical])
def test_what_is_impossible_has_no_entropy(device: str, family: Any) -> None:
    masked = tl.asarray([[0.0, 0, -inf], [1, -inf, -inf]])
    np.testing.assert_allclose(family(logits=masked).entropy().numpy(), [np.log(2), 0], atol=1e-6)
    by_probs = family(probs=tl.asarray([0.5, 0.5, 0])).entropy().item()
    np.testing.assert_allclose(by_probs, np.log(2), rtol=1e-5)


def test_gradients_of_masked_policies(device: str) -> None:
    p = np.exp([0.0, 1]) / np.exp([0.0, 1]).sum()
    h = -(p * np.log(p)).sum()
    wanted = [*(-p * (np.log(p) + h)), 0]
    np.testing.assert_allclose(gradient(entropy, [0, 1, -inf]), wanted, rtol=1e-4, atol=1e-6)
    q = np.exp(OTHER) / np.exp(OTHER).sum()
    parts = np.log(p) - np.log(q[:2])
    kl = (p * parts).sum()
    found = divergence(tl.asarray([0.0, 1, -inf])).item()
    np.testing.assert_allclose(found, kl, rtol=1e-5)
    wanted = [*(p * (parts - kl)), 0]
    np.testing.assert_allclose(gradient(divergence, [0, 1, -inf]), wanted, rtol=1e-4, atol=1e-6)


def test_divergences_of_what_is_impossible(device: str) -> None:
    full, masked = (d.Categorical(logits=tl.asarray(x)) for x in (OTHER, [0.0, 1, -inf]))
    assert d.kl_divergence(full, masked).item() == inf
    assert d.kl_divergence(masked, masked).item() == 0
    never = d.Bernoulli(logits=tl.asarray([-inf, inf]))
    half = d.Bernoulli(logits=tl.asarray([0.0, 0.0]))
    np.testing.assert_allclose(d.kl_divergence(never, half).numpy(), [np.log(2)] * 2, rtol=1e-6)
    assert d.kl_divergence(never, never).tolist() == [0, 0]
    assert never.entropy().tolist() == [0, 0]
