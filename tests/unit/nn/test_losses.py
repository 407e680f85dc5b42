"""Losses where probabilities end."""

from __future__ import annotations

import pytest

import tallow as tl
from tallow.nn.functional import binary_cross_entropy, sigmoid


@pytest.fixture(autouse=True, params=["numpy", "wasm"])
def device(request: pytest.FixtureRequest):
    tl.set_default_device(request.param)
    yield
    tl.set_default_device(None)


def test_binary_cross_entropy_of_saturated_sigmoids_has_a_gradient() -> None:
    """The values are PyTorch's: of the first two, wrong and right without a doubt, 100 and 0."""
    scores = tl.tensor([200.0, 200.0, 0.0, -200.0], requires_grad=True)
    target = tl.tensor([0.0, 1.0, 1.0, 0.0])
    losses = binary_cross_entropy(sigmoid(scores), target, reduction="none")
    losses.sum().backward()
    assert losses.tolist() == pytest.approx([100, 0, 0.6931472, 0])
    assert scores.grad is not None
    assert scores.grad.tolist() == pytest.approx([0, 0, -0.5, 0])


def test_binary_cross_entropy_of_probabilities_0_and_1_is_finite() -> None:
    probabilities = tl.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
    loss = binary_cross_entropy(probabilities, tl.tensor([0.0, 1.0, 1.0, 0.0]))
    loss.backward()
    assert loss.item() == 50
    assert probabilities.grad is not None
    assert all(abs(each) < float("inf") for each in probabilities.grad.tolist())
