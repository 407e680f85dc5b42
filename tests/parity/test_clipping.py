"""Gradients clipped to a norm, beside PyTorch's, and to a value."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn

from .cases.clipping import CLIPPINGS
from .run import recorded
from .training import Clipping, Run, bowl

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize("case", CLIPPINGS, ids=lambda case: case.name)
def test_clipping(case: Clipping) -> None:
    name = "norm and gradients"
    wanted = recorded("clipping")[case.name][name]
    np.testing.assert_allclose(case.answers(tl)[name], wanted, case.rtol, case.atol)


def test_norms_that_are_not_finite_or_of_nothing() -> None:
    p = nn.Parameter([1.0])
    p.grad = tl.asarray([np.inf], dtype="float32")
    with pytest.raises(tl.NonFiniteError, match="norm of the gradients is inf"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert nn.utils.clip_grad_norm_([nn.Parameter([1.0])], 1.0).item() == 0.0


def test_gradients_of_one_tensor_are_clipped() -> None:
    x = tl.asarray([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    assert float(nn.utils.clip_grad_norm_(x, 5.0)) == 10.0
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 4.0], rtol=1e-6)
    nn.utils.clip_grad_value_(x, 3.5)
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 3.5], rtol=1e-6)


def test_clipping_by_norm_then_by_value() -> None:
    run = Run(tl, lambda o, p: o.SGD(p, lr=0.1), bowl)
    run.evaluated()
    params = run.params
    before = np.concatenate([p.grad.numpy().ravel() for p in params])
    norm = nn.utils.clip_grad_norm_(params, 1.0).item()
    after = np.concatenate([p.grad.numpy().ravel() for p in params])
    np.testing.assert_allclose(norm, np.linalg.norm(before), rtol=1e-5)
    np.testing.assert_allclose(after, before / norm, rtol=1e-4)
    nn.utils.clip_grad_value_(params, 0.1)
    assert max(np.abs(p.grad.numpy()).max() for p in params) <= np.float32(0.1)
    vector = nn.utils.parameters_to_vector(params)
    assert vector.shape == (17,)
    nn.utils.vector_to_parameters(vector * 0.0, params)
    assert not params[0].numpy().any()
