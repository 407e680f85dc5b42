"""A step's gradients are made in its first turn and found again later: of the same graph with the
same marks, and of no other."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.autodiff import gradients as rules
from tallow.errors import DTypeError
from tallow.tensor import Tensor

F = nn.functional


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one whenever gradients are made."""
    found: list[int] = []
    pullback = rules.pullback

    def counted(*given: Any) -> Any:
        found.append(1)
        return pullback(*given)

    monkeypatch.setattr(rules, "pullback", counted)
    return found


def normal(*shape: int, seed: int = 0) -> Tensor:
    return tl.asarray(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_a_step_makes_its_gradients_once(device: str, made: list[int]) -> None:
    tl.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 3)
    )
    optimizer = tl.optim.Adam(model.parameters())
    for turn in range(8):
        optimizer.zero_grad()
        labels = tl.asarray(np.arange(6) % (turn % 2 + 2))
        F.cross_entropy(model(normal(6, 4, seed=turn)), labels).backward()
        optimizer.step()
        if turn == 2:
            made.clear()
    assert not made


def test_a_loss_that_was_read_before(device: str, made: list[int]) -> None:
    w = normal(4).requires_grad_()
    for turn in range(6):
        x = normal(3, 4, seed=turn)
        loss = tl.tanh((x * w).sum(1)).sum()
        loss.item()
        loss.backward()
        assert w.grad is not None
        slope = 1 - np.tanh(x.numpy() @ w.numpy()) ** 2
        assert np.allclose(w.grad.numpy(), slope @ x.numpy(), atol=1e-5)
        with tl.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    assert len(made) <= 2  # a leaf of data, and one that was computed


def test_numbers_that_differ_from_turn_to_turn(device: str, made: list[int]) -> None:
    """As the returns of an episode do, which are Python's."""
    w = tl.exp(normal(4)).detach().requires_grad_()
    for turn in range(10):
        weight, power = turn + 0.5, 1.6 + 0.25 * turn
        (w**power * weight).sum().backward()
        assert w.grad is not None
        assert np.allclose(w.grad.numpy(), weight * power * w.numpy() ** (power - 1), rtol=1e-4)
        w.grad = None
        if turn == 4:
            made.clear()
    assert not made


def test_labels_of_64_bits_are_data(device: str, compiled: list[int]) -> None:
    """Also for a GPU, which has them in 32 bits; those that do not fit are refused there."""
    table, w = normal(9, 4).requires_grad_(), normal(4, 3).requires_grad_()
    for turn in range(8):
        ids, labels = np.arange(6) % (turn + 2), np.arange(6) * turn % 3
        assert ids.dtype == np.int64
        F.cross_entropy(F.embedding(tl.asarray(ids), table) @ w, tl.asarray(labels)).backward()
        if turn == 2:
            compiled.clear()
    assert not compiled
    squares = [tl.asarray(np.int64([each, 3])) for each in (5, 40_000, 6)]
    assert [(x * x).tolist() for x in squares] == [[25, 9], [1_600_000_000, 9], [36, 9]]
    beyond = tl.asarray(np.int64([1 << 33, 3]))
    if device == "webgpu":
        with pytest.raises(DTypeError, match="8589934592"):
            (beyond + 1).tolist()
    else:
        assert (beyond + 1).tolist() == [(1 << 33) + 1, 4]


def test_a_leaf_that_stands_for_two_values(device: str) -> None:
    """One of two leaves is read again once it has another value."""
    for _ in range(3):
        for again in (0, 1):
            leaves = [normal(4, seed=seed).requires_grad_().realize() for seed in (0, 1)]
            first = leaves[0] * 2.0 + leaves[1] * 5.0
            with tl.no_grad():
                leaves[again].copy_(normal(4, seed=2).realize())
            (first + leaves[again] * 10.0).sum().backward()
            wanted = [2.0, 5.0]
            wanted[again] += 10.0
            found = [x.grad for x in leaves if x.grad is not None]
            assert [x.tolist() for x in found] == [[w] * 4 for w in wanted]


# ---- what is alike, but not the same -----------------------------------------------------------


class Squared(tl.autograd.Function):
    """A rule of the user's, which looks at what the graph does not have."""

    factor = 1.0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradient * x * (2.0 * Squared.factor)


doubled = tl.custom_op(
    "doubled_again",
    expression=lambda x: 2.0 * x,
    vjp=lambda gradient, result, x: gradient * 2.0 * Squared.factor,
)

Case = Callable[[Tensor, Tensor], Tensor]


def frozen_half(a: Tensor, b: Tensor) -> Tensor:
    with tl.no_grad():
        c = a * 2.0
    return (c * b).sum() + 0 * (a + b).sum()


def both_halves(a: Tensor, b: Tensor) -> Tensor:
    c = a * 2.0
    return (c * b).sum()


def hooked(factor: float) -> Case:
    def case(a: Tensor, b: Tensor) -> Tensor:
        c = a * 2.0 * b
        c.register_hook(lambda gradient: gradient * factor)
        return c.sum()

    return case


def squared(factor: float) -> Case:
    def case(a: Tensor, b: Tensor) -> Tensor:
        Squared.factor = factor
        return (Squared.apply(a) * b).sum()

    return case


def own_op(factor: float) -> Case:
    def case(a: Tensor, b: Tensor) -> Tensor:
        Squared.factor = factor
        return (doubled(a) * b).sum()

    return case


def padded(row: int) -> Case:
    """What differs in the derivative alone."""

    def case(a: Tensor, b: Tensor) -> Tensor:
        return (F.embedding(tl.tensor([0, 1, 2]), a.reshape(4, 1), padding_idx=row) * b[:3]).sum()

    return case


def read_first(a: Tensor, b: Tensor) -> Tensor:
    c = a * 2.0
    c.tolist()
    return (c * b).sum()


def weighted(gradient: Sequence[float]) -> Case:
    def case(a: Tensor, b: Tensor) -> Tensor:
        return ((a * b) * tl.asarray(np.float32(gradient))).sum()

    return case


CASES: dict[str, Case] = {
    "both": both_halves,
    "frozen": frozen_half,
    "detached": lambda a, b: (a.detach() * 2.0 * b).sum() + 0 * (a + b).sum(),
    "read first": read_first,
    "hook 2": hooked(2.0),
    "hook 3": hooked(3.0),
    "a rule of the user's": squared(1.0),
    "the same, with another number": squared(5.0),
    "an op of the user's": own_op(1.0),
    "the same op, with another number": own_op(5.0),
    "softmax of rows": lambda a, b: (F.softmax(a.reshape(2, 2), 0) * b.reshape(2, 2)).sum(),
    "softmax of columns": lambda a, b: (F.softmax(a.reshape(2, 2), 1) * b.reshape(2, 2)).sum(),
    "bounds": lambda a, b: (F.hardtanh(a, -0.5, 0.5) * b).sum(),
    "other bounds": lambda a, b: (F.hardtanh(a, -0.25, 0.25) * b).sum(),
    "row 0 is padding": padded(0),
    "row 1 is padding": padded(1),
    "twice the same": lambda a, b: (a * a).sum() + 0 * b.sum(),
    "once each": lambda a, b: (a * b).sum() + 0 * b.sum(),
    "power 2": lambda a, b: (a**2 * b).sum(),
    "power 3": lambda a, b: (a**3 * b).sum(),
    "weights": weighted([1, 2, 3, 4]),
    "other weights": weighted([4, 3, 2, 1]),
    "one weight": lambda a, b: ((a * b) * tl.tensor([3.0])).sum(),
    "another weight": lambda a, b: ((a * b) * tl.tensor([5.0])).sum(),
    "a computed weight": lambda a, b: ((a * b) * tl.tensor([7.0]).realize()).sum(),
    "a checkpoint": lambda a, b: tl.utils.checkpoint.checkpoint(both_halves, a, b),
    "largest": lambda a, b: (tl.maximum(a, b) * b).sum(),
    "a part of a leaf": lambda a, b: (a[1:3] * b[:2]).sum(),
    "another part": lambda a, b: (a[:2] * b[1:3]).sum(),
}


def gradients(case: Case, a: Tensor, b: Tensor, **given: Any) -> list[Any]:
    """What a step leaves: the gradients of both."""
    case(a, b).backward(**given)
    return [None if x.grad is None else x.grad.numpy() for x in (a, b)]


def same(found: list[Any], wanted: list[Any]) -> bool:
    return all(
        (x is None) == (y is None) and (x is None or np.allclose(x, y, rtol=1e-5, atol=1e-6))
        for x, y in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("device", ["numpy"], indirect=True)  # marks know of no device
def test_alike_graphs_keep_their_own_gradients(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order, over and over, also where a leaf is frozen or has a gradient already."""

    def leaves(kind: str) -> tuple[Tensor, Tensor]:
        a, b = (normal(4, seed=seed).requires_grad_() for seed in (1, 2))
        if kind != "of data":
            tl.realize(a, b)
        if kind == "first":
            b.requires_grad_(False)
        elif kind == "second":
            a.requires_grad_(False)
        elif kind == "one":
            b = a
        elif kind == "first has one":
            a.grad = normal(4, seed=3)
        elif kind == "second has one":
            b.grad = normal(4, seed=3)
        elif kind == "hook":
            a.register_hook(lambda gradient: gradient * 7.0)
        return a, b

    kinds = (
        "of data", "computed", "first", "second", "one", "first has one", "second has one", "hook",
    )  # fmt: skip
    tasks = [(name, kind) for name in CASES for kind in kinds]

    def wanted(name: str, kind: str) -> list[Any]:
        with monkeypatch.context() as patch:
            never = property(lambda _: False, lambda *_: None)
            patch.setattr(rules.Gradients, "repeats", never, raising=False)
            return gradients(CASES[name], *leaves(kind))

    expected = {task: wanted(*task) for task in tasks}
    chooses = random.Random(0)
    for _ in range(3):
        chooses.shuffle(tasks)
        for task in tasks:
            name, kind = task
            assert same(gradients(CASES[name], *leaves(kind)), expected[task]), task
