"""`backward`, `grad` and its relatives, and who takes part: leaves, no_grad, detach, jit, rules of
the user's own."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.tensor import Tensor


@pytest.fixture(autouse=True, params=["numpy", "wasm"])
def device(request: pytest.FixtureRequest):
    tl.set_default_device(request.param)
    yield request.param
    tl.set_default_device(None)


def values(x: Tensor | None) -> list:
    assert x is not None
    return np.asarray(x.numpy()).tolist()


def test_gradients_add_up_until_they_are_forgotten() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        (x * x).sum().backward()
    assert values(x.grad) == [4.0, 8.0]
    x.grad = None
    (x * 3.0).sum().backward()
    assert values(x.grad) == [3.0, 3.0]


def test_a_computed_tensor_keeps_its_history() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    y = (x * x).realize()
    assert y.requires_grad
    (y * 2.0).sum().backward()
    assert values(x.grad) == [4.0, 8.0]


def test_only_the_leaf_that_is_named_receives() -> None:
    shared = tl.zeros(3)
    first = tl.zeros(3).requires_grad_()
    (first + shared).sum().backward()
    assert values(first.grad) == [1.0, 1.0, 1.0]
    assert shared.grad is None and not shared.requires_grad


def test_detach_and_no_grad_end_the_way_back() -> None:
    x = tl.asarray([3.0], requires_grad=True)
    with tl.no_grad():
        constant = x * 2.0
        with tl.enable_grad():
            assert (x * 2.0).requires_grad
    assert not constant.requires_grad and not x.detach().requires_grad
    (x * constant * x.detach()).sum().backward()
    assert values(x.grad) == [18.0]


def test_a_variable_reads_what_it_was() -> None:
    weight = nn.Parameter([2.0])
    loss = (weight * weight).sum()
    weight.assign([5.0])
    loss.backward()
    assert values(weight.grad) == [4.0]


def test_a_second_backward_needs_the_graph() -> None:
    x = tl.asarray([1.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    assert values(x.grad) == [4.0]
    with pytest.raises(tl.GradientError, match="second time"):
        loss.backward()


def test_nothing_is_left_behind(device: str) -> None:
    weight = nn.Parameter(np.ones(100, np.float32))

    def step() -> None:
        loss = (weight * weight).sum()
        loss.backward()
        weight.grad = None

    step()
    gc.collect()
    before = tl.live_buffers(device)
    for _ in range(3):
        step()
    gc.collect()
    assert tl.live_buffers(device) == before


@pytest.mark.parametrize(
    ("at", "name", "wanted"),
    [(0, "leaky_relu", 0.01), (0, "elu", 1.0), (0, "celu", 1.0), (0, "selu", 1.7580993),
     (3, "hardsigmoid", 0.0), (-3, "hardsigmoid", 0.0), (3, "hardswish", 1.0), (0, "relu", 0.0),
     (-3, "hardswish", 0.0), (6, "relu6", 0.0), (1, "hardtanh", 0.0), (0, "softplus", 0.5)],
)  # fmt: skip
def test_corners_have_pytorchs_gradient(at: float, name: str, wanted: float) -> None:
    x = tl.full((2,), float(at), requires_grad=True)
    getattr(tl.nn.functional, name)(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-6)


def test_who_gets_the_gradient_at_a_bound() -> None:
    def at_1(function) -> list[float]:
        return tl.grad(lambda x: tl.sum(function(x)))(tl.ones(2)).tolist()

    assert at_1(lambda x: x.clamp(min=1)) == at_1(lambda x: tl.clip(x, 0, 1)) == [0.0, 0.0]
    assert at_1(lambda x: tl.maximum(1.0, x)) == [1.0, 1.0]
    other = tl.asarray([1.0, 0.0])
    assert at_1(lambda x: tl.maximum(x, other)) == [0.5, 1.0]
    assert tl.grad(lambda x: tl.maximum(0.0, x))(2.0).item() == 1.0
    assert tl.grad(lambda x: tl.minimum(x, 3.0))(2.0).item() == 1.0
    hinge = tl.nn.functional.hinge_embedding_loss
    assert at_1(lambda x: hinge(x, -tl.ones(2), reduction="sum")) == [-1.0, -1.0]


def test_roots_of_zero_have_the_gradient_0() -> None:
    """As in PyTorch; elsewhere it is as ever."""
    functional = tl.nn.functional
    roots = [
        lambda x: x.norm(), lambda x: x.norm(3), lambda x: x.norm(2, dim=1).sum(),
        lambda x: x.std(), lambda x: tl.std(x, axis=1).sum(),
        lambda x: functional.pairwise_distance(x, tl.zeros_like(x), eps=0.0).sum(),
        lambda x: functional.lp_pool1d(x[None], 2, 3).sum(),
    ]  # fmt: skip
    for each in roots:
        x = tl.zeros(2, 3, requires_grad=True)
        each(x).backward()
        assert x.grad is not None and not x.grad.numpy().any(), each
    x = tl.asarray([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    x.norm(dim=1).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [[0.6, 0.8], [0, 0]], rtol=1e-6)
    x = tl.zeros(2, 3, requires_grad=True)
    functional.normalize(x, dim=1).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), 1e12, rtol=1e-6)
    assert np.isnan(tl.asarray([float("nan"), 1.0]).norm().item())
    assert tl.asarray([float("inf"), 1.0]).norm().item() == float("inf")


def test_tensors_are_made_with_a_gradient() -> None:
    for make in (tl.zeros, tl.ones, tl.empty, tl.rand, tl.randn):
        x = make(2, 3, requires_grad=True)
        assert x.requires_grad and not make(2, 3).requires_grad
        (x * 3.0).sum().backward()
        assert x.grad is not None and values(x.grad) == [[3.0] * 3] * 2
    assert tl.full((2,), 0.5, requires_grad=True).requires_grad
    with pytest.raises(tl.GradientError, match="int32"):
        tl.zeros(2, dtype="int32", requires_grad=True)


# ---- functions ---------------------------------------------------------------------------------


def test_grad_of_structures() -> None:
    def loss(parameters: dict, x: Tensor) -> Tensor:
        return tl.sum((x @ parameters["w"] + parameters["b"]) ** 2)

    parameters = {"w": tl.asarray([[1.0], [2.0]]), "b": tl.asarray([0.5])}
    x = tl.asarray([[1.0, 1.0]])
    value, found = tl.value_and_grad(loss)(parameters, x)
    assert value.item() == 12.25
    assert values(found["w"]) == [[7.0], [7.0]] and values(found["b"]) == [7.0]
    by_w, by_x = tl.grad(loss, argnums=(0, 1))(parameters, x)
    assert values(by_x) == [[7.0, 14.0]] and set(by_w) == {"w", "b"}
    (gradient, aux) = tl.grad(lambda x: (tl.sum(x), "more"), has_aux=True)(x)
    assert aux == "more" and values(gradient) == [[1.0, 1.0]]


def test_derivatives_of_derivatives() -> None:
    third = tl.grad(tl.grad(tl.grad(lambda x: x * x * x * x)))
    assert third(tl.asarray(2.0)).item() == 48.0


def test_vjp_and_jvp() -> None:
    x = tl.asarray([1.0, 2.0])
    value, pull = tl.vjp(lambda x: x * x, x)
    assert values(value) == [1.0, 4.0]
    assert values(pull(tl.asarray([1.0, 10.0]))[0]) == [2.0, 40.0]
    value, tangent = tl.jvp(lambda x: x * x, (x,), (tl.asarray([1.0, 0.5]),))
    assert values(value) == [1.0, 4.0] and values(tangent) == [2.0, 2.0]
    with pytest.raises(tl.ShapeError, match="tangents"):
        tl.jvp(lambda x: x * x, (x,), (tl.asarray(1.0),))


def test_numbers_and_arrays_are_arguments_too() -> None:
    cube = lambda x: x**3  # noqa: E731
    assert tl.grad(cube)(2.0).item() == 12.0
    assert tl.grad(tl.grad(cube))(2.0).item() == 12.0
    assert tl.jvp(cube, (2.0,), (0.5,))[1].item() == 6.0
    array = np.array([1.0, 2.0], np.float32)
    value, pull = tl.vjp(cube, array)
    assert value.tolist() == [1.0, 8.0] and pull(array)[0].tolist() == [3.0, 24.0]
    found = tl.grad(lambda p: (p["w"] * p["b"][0]).sum())({"w": array, "b": [3.0, "text"]})
    assert found["w"].tolist() == [3.0, 3.0] and found["b"][0].item() == 3.0
    with pytest.raises(tl.GradientError, match="argument 0 is int"):
        tl.grad(cube)(2)
    with pytest.raises(tl.GradientError, match="not int64"):
        tl.grad(cube)(np.array([1, 2]))
    with pytest.raises(tl.GradientError, match="primal 0 is str"):
        tl.vjp(cube, "text")


def test_stop_gradient_and_custom_rules() -> None:
    x = tl.asarray([2.0, -3.0])
    stopped = tl.grad(lambda x: tl.sum(x * tl.stop_gradient(x)))
    assert values(stopped(x)) == [2.0, -3.0]

    @tl.custom_vjp
    def clipped(x: Tensor) -> Tensor:
        return x

    with pytest.raises(tl.GradientError, match="defvjp"):
        clipped(x)
    clipped.defvjp(lambda x: (x * 1.0, None), lambda _, g: (tl.clip(g, -1.0, 1.0),))
    assert values(tl.grad(lambda x: tl.sum(clipped(x) * 5.0))(x)) == [1.0, 1.0]


# ---- under jit ---------------------------------------------------------------------------------


def test_a_step_is_one_plan() -> None:
    weight = nn.Parameter([1.0, 2.0])

    @tl.jit
    def step(x: Tensor) -> Tensor:
        loss = ((weight * x) ** 2).sum()
        weight.grad = None
        loss.backward()
        assert weight.grad is not None
        weight.assign(weight - weight.grad * 0.1)
        return loss

    x = tl.asarray([1.0, 1.0])
    losses = [step(x).item() for _ in range(3)]
    np.testing.assert_allclose(losses, [5.0, 3.2, 2.048], rtol=1e-5)
    assert step.plans == 1
    np.testing.assert_allclose(values(weight.grad), [1.28, 2.56], rtol=1e-5)


def test_gradients_add_up_from_call_to_call() -> None:
    weight = nn.Parameter([1.0, 2.0])

    @tl.jit
    def add(x: Tensor) -> None:
        (weight * x).sum().backward()

    for factor in (1.0, 2.0, 3.0):
        add(tl.asarray([factor, 1.0]))
    assert values(weight.grad) == [6.0, 3.0]
    assert add.plans == 2  # with and without a gradient before
    weight.grad = None
    add(tl.asarray([1.0, 1.0]))
    assert values(weight.grad) == [1.0, 1.0]
    assert add.plans == 2


def test_random_numbers_differ_from_call_to_call() -> None:
    @tl.jit
    def draw() -> tuple[Tensor, Tensor]:
        return tl.rand(4), tl.randn(4)

    tl.manual_seed(3)
    first, second = draw(), draw()
    assert draw.plans == 1
    assert values(first[0]) != values(second[0]) != values(second[1])
    tl.manual_seed(3)
    again = draw()
    assert values(again[0]) == values(first[0]) and values(again[1]) == values(first[1])
    tl.manual_seed(3)
    np.testing.assert_allclose(tl.rand(4).numpy(), values(first[0]), rtol=1e-6)


# ---- bad input ---------------------------------------------------------------------------------


def test_what_has_no_gradient_is_named() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    with pytest.raises(tl.GradientError, match=r"single number, but its shape is \(2,\)"):
        (x * x).backward()
    with pytest.raises(tl.ShapeError, match="gradient"):
        (x * x).backward(tl.asarray(1.0))
    with pytest.raises(tl.GradientError, match="requires a gradient"):
        tl.asarray(1.0).backward()
    with pytest.raises(tl.GradientError, match="int32"):
        tl.asarray([1, 2], requires_grad=True)
    with pytest.raises(tl.GradientError, match="int32"):
        tl.grad(lambda x: tl.sum(x))(tl.asarray([1, 2]))
    with pytest.raises(tl.GradientError, match="not a tensor"):
        tl.grad(lambda x: 1.0)(x)
    with pytest.raises(tl.GradientError, match="argnums"):
        tl.grad(lambda x: tl.sum(x), argnums=2)(x)
