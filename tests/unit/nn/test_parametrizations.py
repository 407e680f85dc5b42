"""Parameters that are computed from others: weight norm, spectral norm, and a user's own; and batch
norms that become part of the layer before them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import OptionError, ShapeError
from tallow.nn.utils import fusion, parametrizations, parametrize


def weight_norms() -> list[Any]:
    def removed(module: nn.Module) -> nn.Module:
        return parametrize.remove_parametrizations(module, "weight")

    first = ["bias", "weight_g", "weight_v"]
    return [
        (nn.utils.weight_norm, nn.utils.remove_weight_norm, first),
        (parametrizations.weight_norm, removed,
         ["bias", *(f"parametrizations.weight.original{n}" for n in range(2))]),
    ]  # fmt: skip


@pytest.mark.parametrize(("add", "remove", "names"), weight_norms())
def test_weights_of_a_norm(add: Any, remove: Any, names: list[str]) -> None:
    x, layer = tl.randn(5, 3), nn.Linear(3, 4)
    before = layer(x).numpy()
    assert add(layer) is layer and sorted(layer.state_dict()) == names
    np.testing.assert_allclose(layer(x).numpy(), before, atol=1e-5)
    np.testing.assert_allclose(
        layer.get_parameter(names[1]).numpy(),
        np.linalg.norm(layer.weight.numpy(), axis=1, keepdims=True), rtol=1e-5,
    )  # fmt: skip
    other = copy.deepcopy(layer)
    losses: list[list[float]] = []
    for each, compiled in ((layer, True), (other, False)):
        optimizer = optim.SGD(each.parameters(), lr=0.1)

        def step(x: tl.Tensor, each: Any = each, optimizer: Any = optimizer) -> tl.Tensor:
            optimizer.zero_grad()
            loss = (each(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        run = tl.jit(step) if compiled else step
        losses.append([float(run(x)) for _ in range(4)])
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    after = layer(x).numpy()
    assert type(remove(layer)) is nn.Linear
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer(x).numpy(), after, atol=1e-5)
    with pytest.raises(OptionError, match="weight"):
        remove(layer)


LAYERS = [
    (lambda: nn.Linear(6, 4), (5, 6), False), (lambda: nn.Conv2d(2, 3, 3), (1, 2, 5, 5), False),
    (lambda: nn.ConvTranspose2d(2, 3, 3), (1, 2, 5, 5), True),
]  # fmt: skip


@pytest.mark.parametrize("add", [nn.utils.spectral_norm, parametrizations.spectral_norm])
@pytest.mark.parametrize(("make", "shape", "turned"), LAYERS)
def test_weights_of_spectral_norm_1(make: Any, shape: Any, turned: bool, add: Any) -> None:
    layer, x = make(), tl.randn(*shape)

    def matrix() -> np.ndarray:
        weight = layer.weight.numpy()
        return (weight.swapaxes(0, 1) if turned else weight).reshape(weight.shape[int(turned)], -1)

    before = matrix()
    # Singular values of 3, 1, 1/3...: the iteration gains by their ratio each turn.
    u, _, v = np.linalg.svd(before, full_matrices=False)
    before = (u * 3.0 ** (1 - np.arange(u.shape[1])) @ v).astype(np.float32)
    rows = before.reshape(-1, *layer.weight.numpy().swapaxes(0, int(turned)).shape[1:])
    with tl.no_grad():
        layer.weight.copy_(tl.asarray(rows.swapaxes(0, 1) if turned else rows))
    np.testing.assert_array_equal(matrix(), before)
    add(layer)
    compiled = tl.jit(lambda x: layer(x))
    for _ in range(40):
        compiled(x).realize()
    layer.eval()
    np.testing.assert_allclose(matrix(), before / np.linalg.norm(before, 2), atol=1e-4)
    layer.train()
    layer(x).sum().backward()
    assert all(p.grad is not None for p in layer.parameters())
    if add is nn.utils.spectral_norm:
        wanted = matrix()
        nn.utils.remove_spectral_norm(layer)
        np.testing.assert_allclose(matrix(), wanted, atol=1e-5)


class Symmetric(nn.Module):
    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x: tl.Tensor) -> tl.Tensor:
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return x * 2

    def right_inverse(self, x: tl.Tensor) -> tl.Tensor:
        return x / 2


def test_a_parametrization_of_ones_own() -> None:
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    weight = layer.weight.numpy()
    np.testing.assert_array_equal(weight, weight.T)
    assert parametrize.is_parametrized(layer) and not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    parametrize.register_parametrization(layer, "weight", Doubled())
    np.testing.assert_allclose(layer.weight.numpy(), weight, rtol=1e-6)
    setattr(layer, "weight", tl.ones((3, 3)))  # noqa: B010 - no Parameter, to mypy
    np.testing.assert_array_equal(layer.weight.numpy(), 1)
    with parametrize.cached():
        layer(tl.ones((1, 3))).sum().backward()
    np.testing.assert_array_equal(
        layer.parametrizations.weight.original.grad.numpy(), 2 * np.tri(3).T * (2 - np.eye(3))
    )
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    np.testing.assert_array_equal(layer.weight.numpy(), 1)


def test_what_cannot_be_parametrized() -> None:
    class Shorter(nn.Module):
        def forward(self, x: tl.Tensor) -> tl.Tensor:
            return x[:1]

    layer = nn.Linear(3, 3)
    with pytest.raises(ShapeError, match="unsafe"):
        parametrize.register_parametrization(layer, "weight", Shorter())
    assert type(layer) is nn.Linear and layer.weight.shape == (3, 3)
    with pytest.raises(OptionError, match="'kernel'"):
        parametrize.register_parametrization(layer, "kernel", Doubled())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["conv", "transposed", "linear"])
def test_a_batch_norm_becomes_part_of_the_layer_before_it(kind: str, bias: bool) -> None:
    layer: Any
    norm: nn.Module
    if kind == "linear":
        layer, norm, x = nn.Linear(4, 6, bias), nn.BatchNorm1d(6), tl.randn(2, 4)
    else:
        make = nn.ConvTranspose2d if kind == "transposed" else nn.Conv2d
        layer, norm = make(4, 6, 3, groups=2, bias=bias), nn.BatchNorm2d(6)
        x = tl.randn(2, 4, 5, 5)
    norm.running_mean.uniform_()
    norm.running_var.uniform_(1, 2)
    with tl.no_grad():
        norm.weight.uniform_()
        norm.bias.uniform_()
    with pytest.raises(OptionError, match="eval"):
        fusion.fuse_linear_bn_eval(layer, norm)
    layer.eval()
    norm.eval()
    if kind == "linear":
        fused = fusion.fuse_linear_bn_eval(layer, norm)
    else:
        fused = nn.utils.fuse_conv_bn_eval(layer, norm, kind == "transposed")
    np.testing.assert_allclose(fused(x).numpy(), norm(layer(x)).numpy(), atol=1e-5)


# ---- orthogonal weights --------------------------------------------------------------------------


def _layer(rows: int, columns: int) -> Any:
    layer = nn.Linear(columns, rows, bias=False)
    numbers = np.sin(np.arange(rows * columns, dtype=np.float32) ** 2 * 0.7)
    layer.weight.assign(numbers.reshape(rows, columns))
    return layer


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (3, 1)])
@pytest.mark.parametrize("kind", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights(shape: tuple[int, int], kind: str | None, trivial: bool) -> None:
    layer = _layer(*shape)
    start = layer.weight.numpy()
    parametrizations.orthogonal(layer, "weight", kind, use_trivialization=trivial)
    names = ["parametrizations.weight.original", "parametrizations.weight.0.base"]
    assert [*layer.state_dict()] == names[: 1 + trivial]
    if trivial or kind == "householder":  # begins with the weight, made orthonormal
        q, r = np.linalg.qr(start if shape[0] >= shape[1] else start.T)
        q = q * np.sign(np.diag(r))
        wanted = q if shape[0] >= shape[1] else q.T
        np.testing.assert_allclose(layer.weight.detach().numpy(), wanted, atol=1e-5)
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = ((layer.weight - 0.5) ** 2).sum()
        loss.backward()
        optimizer.step()
    assert ((layer.weight - 0.5) ** 2).sum().item() < loss.item()
    found = layer.weight.detach().numpy()
    gram = found.T @ found if shape[0] >= shape[1] else found @ found.T
    np.testing.assert_allclose(gram, np.eye(min(shape)), atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "wanted"),  # what PyTorch computes
    [
        ("matrix_exp", [0.9976, -0.0251, -0.0643, 0.0081, 0.9676, -0.2523, 0.0686, 0.2512, 0.9655]),
        ("cayley", [0.9976, -0.0249, -0.064, 0.0081, 0.968, -0.2509, 0.0682, 0.2498, 0.9659]),
    ],
)
def test_orthogonal_weights_are_those_of_pytorch(kind: str, wanted: list[float]) -> None:
    layer = _layer(3, 3)
    parametrizations.orthogonal(layer, "weight", kind, use_trivialization=False)
    np.testing.assert_allclose(layer.weight.detach().numpy().ravel(), wanted, atol=1e-4)


def test_what_orthogonal_refuses_and_accepts() -> None:
    orthogonal = parametrizations.orthogonal
    with pytest.raises(ShapeError):
        orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(OptionError, match="no parameter 'x'"):
        orthogonal(nn.Linear(2, 2), "x")
    with pytest.raises(OptionError, match="'qr' is not"):
        orthogonal(nn.Linear(2, 2), "weight", "qr")
    layer = orthogonal(nn.Linear(3, 3))
    layer.weight = tl.flip(tl.eye(3), axis=0)
    np.testing.assert_allclose(layer.weight.detach().numpy(), np.eye(3)[::-1], atol=1e-6)
    other = orthogonal(nn.Linear(3, 3))
    other.load_state_dict(layer.state_dict())
    np.testing.assert_allclose(other.weight.detach().numpy(), np.eye(3)[::-1], atol=1e-6)
    with pytest.raises(NotImplementedError):
        plain = orthogonal(nn.Linear(3, 3), use_trivialization=False)
        plain.weight = tl.eye(3)
