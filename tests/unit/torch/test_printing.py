"""Tensors, shapes and types as text: what PyTorch 2.13 prints."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

PRINTED = [
    (lambda t: t.tensor([[0.5, 1.0], [2.0, -3.25]]),
     "tensor([[ 0.5000,  1.0000],\n        [ 2.0000, -3.2500]])"),
    (lambda t: t.tensor(7.5), "tensor(7.5000)"),
    (lambda t: t.tensor([1, -20]), "tensor([  1, -20])"),
    (lambda t: t.tensor([1, 2], dtype=t.int32), "tensor([1, 2], dtype=torch.int32)"),
    (lambda t: t.tensor([True, False]), "tensor([ True, False])"),
    (lambda t: t.zeros(2), "tensor([0., 0.])"),
    (lambda t: t.tensor([1.5, 2e5]), "tensor([1.5000e+00, 2.0000e+05])"),
    (lambda t: t.tensor([1e-5]), "tensor([1.0000e-05])"),
    (lambda t: t.tensor([float("nan"), 1.0, float("inf")]), "tensor([nan, 1., inf])"),
    (lambda t: t.tensor([float("nan"), 1.5]), "tensor([   nan, 1.5000])"),
    (lambda t: t.zeros(0), "tensor([])"),
    (lambda t: t.zeros(0, 3), "tensor([], size=(0, 3))"),
    (lambda t: t.zeros(2, dtype=t.float64), "tensor([0., 0.], dtype=torch.float64)"),
    (lambda t: t.tensor([0.5]).bfloat16(), "tensor([0.5000], dtype=torch.bfloat16)"),
    (lambda t: t.ones(1, requires_grad=True), "tensor([1.], requires_grad=True)"),
    (lambda t: t.ones(1, requires_grad=True) * 2, "tensor([2.], grad_fn=<MulBackward0>)"),
    (lambda t: (t.ones(2, requires_grad=True) + 1).sum(), "tensor(4., grad_fn=<SumBackward0>)"),
    (lambda t: t.nn.Parameter(t.ones(1)),
     "Parameter containing:\ntensor([1.], requires_grad=True)"),
    (lambda t: t.arange(1001),
     "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (lambda t: t.arange(30),
     "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
     "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"),
    (lambda t: t.zeros(1, 2, 1), "tensor([[[0.],\n         [0.]]])"),
    (lambda t: t.zeros(2, 1, 1), "tensor([[[0.]],\n\n        [[0.]]])"),
    (lambda t: t.zeros(2, 3).shape, "torch.Size([2, 3])"),
    (lambda t: t.zeros(2, 3).shape[1:], "torch.Size([3])"),
    (lambda t: t.zeros(2, 3).size() + t.Size([4]), "torch.Size([2, 3, 4])"),
    (lambda t: t.float32, "torch.float32"),
    (lambda t: t.long, "torch.int64"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "text"), PRINTED)
def test_text(make: Any, text: str, torch: Any) -> None:
    assert repr(make(torch)) == text


def test_a_name_of_what_made_it(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    assert x.grad_fn is None and (x * 1).grad_fn.name() == "MulBackward0"
    y = (x - 1).realize()
    assert repr(y.grad_fn) == "<SubBackward0>" and (x.detach() * 2).grad_fn is None


def test_digits(torch: Any) -> None:
    torch.set_printoptions(precision=2, sci_mode=False)
    try:
        assert repr(torch.tensor([1.5, 2e5])) == "tensor([     1.50, 200000.00])"
    finally:
        torch.set_printoptions(profile="default")


NAMED = {
    "max": lambda t, x: t.max(x, 1),
    "min": lambda t, x: x.min(1),
    "sort": lambda t, x: x.sort(),
    "topk": lambda t, x: t.topk(x, 2),
    "median": lambda t, x: x.median(1),
    "nanmedian": lambda t, x: x.nanmedian(1),
    "mode": lambda t, x: x.mode(),
    "kthvalue": lambda t, x: x.kthvalue(1),
    "cummax": lambda t, x: t.cummax(x, 1),
    "cummin": lambda t, x: t.cummin(x, 1),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_tuples(torch: Any, name: str) -> None:
    found = NAMED[name](torch, torch.tensor([[2.0, 1.0]]))
    text = f"torch.return_types.{name}(\nvalues={found.values},\nindices={found.indices})"
    assert repr(found) == text
    assert isinstance(found, getattr(torch.return_types, name))
    values, indices = copy.deepcopy(found)
    assert torch.equal(values, found[0]) and torch.equal(indices, found.indices)
    assert pickle.loads(pickle.dumps(found)).values.tolist() == found.values.tolist()


def test_named_tuples_of_other_fields(torch: Any) -> None:
    x = torch.eye(1)
    bounds = "torch.return_types.aminmax(\nmin=tensor(1.),\nmax=tensor(1.))"
    assert repr(x.aminmax()) == bounds
    parts = "mantissa=tensor([[0.5000]]),\nexponent=tensor([[1]], dtype=torch.int32)"
    assert repr(torch.frexp(x)) == f"torch.return_types.frexp(\n{parts})"
    logarithm = "sign=tensor(1.),\nlogabsdet=tensor(0.)"
    assert repr(torch.slogdet(x)) == f"torch.return_types.slogdet(\n{logarithm})"
    assert repr(torch.linalg.slogdet(x)) == f"torch.return_types.linalg_slogdet(\n{logarithm})"
    assert repr(torch.linalg.eigh(x)).startswith("torch.return_types.linalg_eigh(\neigenvalues=")
    assert repr(torch.svd(x)).startswith("torch.return_types.svd(\nU=")
