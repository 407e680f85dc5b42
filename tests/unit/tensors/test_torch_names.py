"""PyTorch's names: what they reject, and where they differ from the array API and from PyTorch."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import DTypeError, IndexRangeError, OptionError, ShapeError, TallowError

X = tl.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture(autouse=True)
def numpy_device() -> Any:
    before = tl.default_device()
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(before)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: X.view(4), ShapeError, ["(2, 3)"]),
        (lambda: X.flatten(1, 0), ShapeError, ["start_dim"]),
        (lambda: X.permute(0, 0), ShapeError, ["permute"]),
        (lambda: X.transpose(0, 2), ShapeError, ["transpose", "2"]),
        (lambda: X.unsqueeze(0).T, ShapeError, ["two axes"]),
        (lambda: X.expand(3), ShapeError, ["expand", "(2, 3)"]),
        (lambda: X.expand(-1, 2, 3), ShapeError, ["expand"]),
        (lambda: X.expand(4, 3), ShapeError, ["(4, 3)"]),
        (lambda: X.repeat(2), ShapeError, ["repeat"]),
        (lambda: X.split(0), OptionError, ["split"]),
        (lambda: X.split([1, 3]), ShapeError, ["split"]),
        (lambda: X.chunk(0), OptionError, ["chunk"]),
        (lambda: X.clamp(), OptionError, ["clamp"]),
        (lambda: X.mm(X[0]), ShapeError, ["mm", "(3,)"]),
        (lambda: X.bmm(X), ShapeError, ["bmm"]),
        (lambda: X.masked_fill(X, 0), DTypeError, ["float32"]),
        (lambda: X.masked_fill(X > 0, X), ShapeError, ["one number"]),
        (lambda: X.gather(1, tl.zeros((3, 2), "int32")), ShapeError, ["(3, 2)"]),
        (lambda: X.gather(2, tl.zeros((2, 2), "int32")), ShapeError, ["gather"]),
        (lambda: X.gather(1, tl.tensor([[3]])).numpy(), IndexRangeError, ["3"]),
        (lambda: X.max(dim=2), ShapeError, ["max"]),
        (lambda: tl.from_numpy([1]), DTypeError, ["list"]),
        (lambda: tl.tensor("1"), DTypeError, ["str"]),
        (lambda: tl.tensor([1], requires_grad=True), TallowError, ["int32"]),
        (lambda: tl.zeros(2, "int32", 3), ShapeError, ["not a shape"]),
    ],
)
def test_what_does_not_go(
    call: Callable[[], Any], error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_size_is_a_number_and_a_method() -> None:
    assert X.size == 6 and X.size() == (2, 3) and X.size(-1) == 3
    assert X.size + 1 == 7 and f"{X.size}" == "6" and type(X.size * 1) is int
    assert type(copy.deepcopy(X.size)) is int and pickle.loads(pickle.dumps(X.size)) == 6


def test_the_array_api_keeps_its_meaning_beside_pytorchs() -> None:
    np.testing.assert_array_equal(tl.max(X, axis=1).numpy(), [2, 5])
    np.testing.assert_array_equal(tl.max(X, 1).numpy(), [2, 5])
    named: Any = X  # the stub has the definition's own names alone
    pairs: list[Any] = [X.max(1), named.max(axis=1), X.max(-1)]
    for pair in pairs:
        np.testing.assert_array_equal(pair.values.numpy(), [2, 5])
        np.testing.assert_array_equal(pair.indices.numpy(), [2, 2])
    np.testing.assert_array_equal(X.min(X * 0 + 1).numpy(), [[0, 1, 1], [1, 1, 1]])
    values, indices = X.max(dim=1)
    assert (values.tolist(), indices.tolist()) == ([2, 5], [2, 2])
    assert tl.var(X).item() == pytest.approx(35 / 12)
    assert X.var().item() == pytest.approx(3.5)
    assert tl.repeat(X, 2, axis=0).tolist() != X.repeat(2, 1).tolist()
    assert X.sum(axis=0, keepdims=True).shape == X.sum(dim=0, keepdim=True).shape == (1, 3)


def test_only_the_first_of_equal_elements_receives_the_gradient() -> None:
    x = tl.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 0.0]], requires_grad=True)
    x.max(dim=1).values.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_tensor_copies_what_it_is_made_of() -> None:
    given = np.ones(3, np.float32)
    made, shared = tl.tensor(given), tl.from_numpy(given)
    given[0] = 5
    assert made.tolist() == [1, 1, 1] and shared.tolist() == [5, 1, 1]
    leaf = tl.tensor(made, requires_grad=True)
    assert leaf.requires_grad and not made.requires_grad
    assert tl.tensor([1], dtype=tl.long).dtype == tl.int64 and tl.tensor(1.0).dtype == tl.float


def test_copies_and_their_gradients() -> None:
    x = tl.tensor([1.0, 2.0], requires_grad=True)
    assert x.contiguous() is x and x.cpu() is x
    assert not x.data.requires_grad and x.clone().requires_grad
    (x.clone() * x.data).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [1, 2]


def test_methods_of_a_variable_give_tensors() -> None:
    variable = tl.Variable([[1.0, -2.0]], requires_grad=True)
    assert type(variable.view(-1)) is tl.Tensor and type(variable.T) is tl.Tensor
    assert variable.size(1) == 2 and variable.numel() == 2 and variable.dim() == 2
    variable.abs().sum().backward()
    assert variable.grad is not None and variable.grad.tolist() == [[1, -1]]


def test_triangles_by_the_name_of_their_diagonal() -> None:
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for name in ("triu", "tril"):
        for k in (-1, 0, 2):
            got = getattr(tl, name)(tl.asarray(x), diagonal=k).numpy()
            np.testing.assert_array_equal(got, getattr(np, name)(x, k))


def test_the_slices_of_a_tensor() -> None:
    first, second = X
    assert (first * second).numpy().tolist() == [0.0, 4.0, 10.0]
    assert [row.shape for row in X] == [(3,), (3,)]
    x = X.clone()
    for row in x:
        row.zero_()
    assert not x.numpy().any()
    with pytest.raises(TypeError, match="without axes"):
        list(tl.tensor(1.0))

    class Rows:  # which Python goes through by index, until an IndexError
        def __getitem__(self, index: int) -> tl.Tensor:
            return X[index]

    assert [row.shape for row in Rows()] == [(3,), (3,)]  # type: ignore[attr-defined]


def test_the_text_of_a_tensor() -> None:
    x = tl.tensor([[1.0, 2.5], [3.0, 4.25]])
    assert repr(x) == "tensor([[1.0000, 2.5000],\n        [3.0000, 4.2500]])"
    assert str(x.long()[0] * 2) == "tensor([2, 4], dtype=int64)"
    assert repr([tl.tensor(1.5), tl.tensor(True)]) == "[tensor(1.5000), tensor(True)]"
    assert repr(tl.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert "..., " in repr(tl.ones(2000)) and len(repr(tl.ones(2000))) < 60
    weight = nn.Parameter([0.5])
    assert repr(weight) == "Parameter containing:\ntensor([0.5000], requires_grad=True)"
    assert repr(tl.Variable([0.5])) == "tensor([0.5000])"
    assert (x + 1).described() == "Tensor(shape=(2, 2), dtype=float32, op=add)"


def test_how_tensors_are_printed() -> None:
    try:
        tl.set_printoptions(precision=2, threshold=3, edgeitems=1)
        assert repr(tl.tensor([1.23456, 2.0, 3.0, 4.0])) == "tensor([1.23,  ..., 4.00])"
        tl.set_printoptions(profile="full")
        assert "..." not in repr(tl.ones(2000))
        with pytest.raises(OptionError, match="'long' is not one of 'default'"):
            tl.set_printoptions(profile="long")
    finally:
        tl.set_printoptions(profile="default")
    assert repr(tl.tensor([1.23456])) == "tensor([1.2346])"


def test_the_text_of_a_tensor_that_has_no_elements_yet() -> None:
    seen = []

    @tl.jit
    def step(x: tl.Tensor) -> tl.Tensor:
        seen.append(repr(x * 2))
        return x

    step(X)
    assert seen == ["Tensor(shape=(2, 3), dtype=float32, op=multiply)"]


def test_a_number_in_a_text_and_as_an_index() -> None:
    assert f"{tl.tensor(1.25):.1f} {tl.tensor(3)} {tl.tensor(7):03d}" == "1.2 3 007"
    assert f"{X}" == repr(X)
    with pytest.raises(TypeError):
        f"{X:.2f}"
    seen = []

    @tl.jit
    def step(x: tl.Tensor, digits: str) -> tl.Tensor:
        seen.append(format(x.sum(), digits))
        return x

    step(X, "")
    assert "Tensor" in seen[0]
    with pytest.raises(TallowError, match="traces"):
        step(X, ".2f")
    assert [1, 2, 3][tl.tensor(1)] == 2 and list(range(tl.tensor(2))) == [0, 1]
    with pytest.raises(TypeError, match="float32"):
        range(tl.tensor(2.0))  # type: ignore[arg-type]


def test_tensors_of_lists_of_arrays() -> None:
    rows = [np.float32([1, 2]), np.float32([3, 4])]
    assert tl.tensor(rows).numpy().tolist() == [[1, 2], [3, 4]]
    assert tl.tensor([np.float32(1), np.float32(2)]).dtype == tl.float32
    assert tl.tensor([np.int64(1), 2]).dtype == tl.int64
    assert tl.tensor([tl.tensor(1.0), tl.tensor(2.0)]).numpy().tolist() == [1, 2]
    with pytest.raises(ShapeError, match="shapes"):
        tl.tensor([np.zeros(2), np.zeros(3)])


def test_tensors_are_made_on_a_device() -> None:
    for make in (
        lambda device: tl.zeros(2, 3, device=device), lambda device: tl.ones((2,), device=device),
        lambda device: tl.full((2,), 1.0, device=device), lambda device: tl.empty(2, device=device),
        lambda device: tl.arange(3, device=device), lambda device: tl.eye(2, device=device),
        lambda device: tl.linspace(0, 1, 3, device=device),
        lambda device: tl.rand(2, device=device), lambda device: tl.randn(2, device=device),
        lambda device: tl.randint(0, 2, (2,), device=device),
        lambda device: tl.randperm(3, device=device),
        lambda device: tl.zeros_like(X, device=device),
        lambda device: tl.randn_like(X, device=device),
        lambda device: tl.rand_like(X, device=device),
    ):  # fmt: skip
        assert make("wasm").device == "wasm" and make("cpu").device == "numpy"
    made = tl.zeros_like(X, dtype="float16", device="wasm", requires_grad=True)
    assert made.requires_grad and made.dtype == tl.float16 and made.device == "wasm"
    assert tl.jit(lambda x: x + tl.ones(3, device="wasm"), device="wasm")(X).numpy()[0, 0] == 1


def test_reductions_in_another_type() -> None:
    true = X > 2
    assert true.sum(dtype=tl.float32).dtype == tl.float32
    assert true.mean(dtype="float64").dtype == tl.float64
    assert X.softmax(-1, dtype="float64").dtype == X.log_softmax(-1, "float64").dtype == tl.float64


def test_the_places_where_something_is_true() -> None:
    rows, columns = (X > 3).nonzero(as_tuple=True)
    assert rows.numpy().tolist() == [1, 1] and columns.numpy().tolist() == [1, 2]
    assert tl.where(X > 3, X, 0.0).numpy().tolist() == [[0, 0, 0], [0, 4, 5]]
