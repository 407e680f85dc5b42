"""torch.utils.checkpoint's names."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError
from tallow.utils.checkpoint import checkpoint, checkpoint_sequential


def gradients(layers: nn.Sequential, run: object) -> list[np.ndarray]:
    x = tl.asarray(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), requires_grad=True)
    tl.manual_seed(5)  # dropout's numbers
    run(x).sum().backward()  # type: ignore[operator]
    found = [each.grad.numpy() for each in (x, *layers.parameters())]  # type: ignore[union-attr]
    layers.zero_grad()
    return found


def test_the_gradients_are_the_same() -> None:
    layers = nn.Sequential(
        nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 5), nn.Dropout(), nn.Sigmoid(), nn.Linear(5, 2)
    )
    expected = gradients(layers, layers)
    ways = [
        lambda x: checkpoint(layers, x, use_reentrant=False),
        *(
            lambda x, n=n: checkpoint_sequential(layers, n, x, use_reentrant=False)
            for n in (1, 4, 6)
        ),
    ]
    for way in ways:
        for found, wanted in zip(gradients(layers, way), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("segments", [0, 4])
def test_a_number_of_segments_that_does_not_fit(segments: int) -> None:
    layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    with pytest.raises(OptionError, match=f"{segments} segments of 3"):
        checkpoint_sequential(layers, segments, tl.ones(2, 4))
