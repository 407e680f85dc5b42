"""`tl.func`: functions mapped over an axis, matrices of derivatives, gradients within others."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import func, nn
from tallow.errors import OptionError, ShapeError

ROWS = tl.asarray([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def test_an_axis_of_each_argument() -> None:
    assert func.vmap(lambda a, b: (a * b).sum())(ROWS, ROWS).tolist() == [5.0, 50.0]
    assert func.vmap(lambda a: a.sum(), in_dims=1)(ROWS).tolist() == [3.0, 5.0, 7.0]
    shared = func.vmap(lambda a, b: a + b, in_dims=(0, None))(ROWS, tl.asarray([1.0, 2.0, 3.0]))
    assert shared.tolist() == [[1.0, 3.0, 5.0], [4.0, 6.0, 8.0]]
    turned = func.vmap(lambda a: (a, a.sum()), out_dims=(1, 0))(ROWS)
    assert turned[0].shape == (3, 2) and turned[1].tolist() == [3.0, 12.0]
    named = func.vmap(lambda p, x: p["w"] * x, in_dims=({"w": 0}, None))({"w": ROWS}, 2.0)
    assert named.tolist() == (ROWS * 2.0).tolist()
    twice = func.vmap(func.vmap(lambda a: a * 2))(ROWS)
    assert twice.tolist() == (ROWS * 2).tolist()


def test_gradients_of_each_sample() -> None:
    weight = tl.asarray([1.0, 1.0, 1.0])
    each = func.vmap(func.grad(lambda w, x: (w * x).sum() ** 2), in_dims=(None, 0))(weight, ROWS)
    assert each.tolist() == [[0.0, 6.0, 12.0], [72.0, 96.0, 120.0]]


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"\[2, 3\]"):
        func.vmap(lambda a, b: a)(ROWS, tl.zeros(3))
    with pytest.raises(OptionError, match="no argument has an axis"):
        func.vmap(lambda a: a, in_dims=None)(ROWS)
    with pytest.raises(ShapeError, match="empty"):
        func.vmap(lambda a: a)(tl.zeros((0, 2)))
    with pytest.raises(OptionError, match="no modules"):
        func.stack_module_state([])


def test_matrices_of_derivatives() -> None:
    x = tl.asarray([1.0, 2.0])
    for matrix in (func.jacrev, func.jacfwd):
        assert matrix(lambda x: x**3)(x).tolist() == [[3.0, 0.0], [0.0, 12.0]]
        second = matrix(lambda a, b: tl.stack([a.sum() * b[0], b[1]]), argnums=1)(x, x)
        assert second.tolist() == [[3.0, 0.0], [0.0, 1.0]]
    assert func.hessian(lambda x: (x**3).sum())(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_modules_side_by_side() -> None:
    models = [nn.Linear(3, 2) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 2, 3) and not buffers

    def one(p: dict[str, tl.Tensor], x: tl.Tensor) -> tl.Tensor:
        found: tl.Tensor = func.functional_call(models[0], p, (x,))
        return found

    got = func.vmap(one, in_dims=(0, None))(parameters, ROWS)
    for mine, model in zip(got.numpy(), models, strict=True):
        np.testing.assert_allclose(mine, model(ROWS).detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["tensor", "parameter", "computed"])
def test_a_gradient_within_a_gradient(kind: str) -> None:
    """`tl.grad` of a parameter, whose value is stored, is followed by an outer derivative too."""
    w = tl.asarray([1.0, 2.0], requires_grad=True)
    if kind == "parameter":
        w = nn.Parameter([1.0, 2.0])
    x = w * 1.0 if kind == "computed" else w
    if kind == "computed":
        x.realize()
    inner = tl.grad(lambda p: (p["w"] ** 3).sum())({"w": x})["w"]  # 3 w ** 2
    inner.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [6.0, 12.0]
