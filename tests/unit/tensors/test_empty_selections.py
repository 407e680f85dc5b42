"""Functions of nothing: no rows, no indices, no places, as in PyTorch, on each device and with a
NumPy that has no BLAS, as in a browser; and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812
from tallow.tensor import Tensor

nan, inf = math.nan, math.inf


def of(*shape: int) -> Tensor:
    values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    return tl.asarray(values, requires_grad=True)


def no(*shape: int) -> Tensor:
    """No indices, 64-bit as PyTorch's."""
    return tl.asarray(np.zeros(shape, np.int64))


EMPTY = np.zeros((0, 3))
W = np.arange(6.0).reshape(3, 2)

# What is computed of w (3, 2), and the result: an array, or the shape of what has no elements.
SELECTED: dict[str, tuple[Callable[[Tensor], Tensor], Any]] = {
    "take": (lambda w: tl.take(w, no(0), axis=0), (0, 2)),
    "take along": (lambda w: tl.take_along_axis(w, no(0, 2), axis=0), (0, 2)),
    "index_select": (lambda w: tl.index_select(w, 1, no(0)), (3, 0)),
    "gather": (lambda w: tl.gather(w, 0, no(0, 2)), (0, 2)),
    "item": (lambda w: w[no(0)], (0, 2)),
    "two items": (lambda w: w[no(0), no(0)], (0,)),
    "slice": (lambda w: w[3:], (0, 2)),
    "mask": (lambda w: w[tl.asarray([False] * 3)], (0, 2)),
    "masked_select": (lambda w: tl.masked_select(w, w > 9), (0,)),
    "embedding": (lambda w: F.embedding(no(0), w), (0, 2)),
    "embedding_bag": (lambda w: F.embedding_bag(no(2, 0), w), [[0, 0], [0, 0]]),
    "bags of none": (lambda w: F.embedding_bag(no(0), w, no(2)), [[0, 0], [0, 0]]),
    "no bags": (lambda w: F.embedding_bag(no(0), w, no(0)), (0, 2)),
    "scatter": (lambda w: w.scatter(0, no(0, 2), of(0, 2)), W),
    "scatter_add": (lambda w: w.scatter_add(0, no(0, 2), of(0, 2)), W),
    "scatter_reduce": (lambda w: w.scatter_reduce(0, no(0, 2), of(0, 2), "amax"), W),
    "index_add": (lambda w: w.index_add(0, no(0), of(0, 2)), W),
    "index_copy": (lambda w: tl.index_copy(w, 0, no(0), of(0, 2)), W),
    "index_fill": (lambda w: tl.index_fill(w, 0, no(0), 1.0), W),
    "repeat": (lambda w: w.repeat_interleave(tl.asarray([0, 0, 0]), 0), (0, 2)),
}


@pytest.mark.parametrize("name", SELECTED)
def test_selections(place: str, name: str) -> None:
    select, wanted = SELECTED[name]
    w = of(3, 2)
    found = select(w)
    found.sum().backward()
    if isinstance(wanted, tuple):
        assert found.numpy().shape == wanted
    else:
        np.testing.assert_array_equal(found.numpy(), wanted)
    assert w.grad is not None and w.grad.numpy().shape == (3, 2)
    kept = not isinstance(wanted, tuple) and "bag" not in name
    np.testing.assert_array_equal(w.grad.numpy(), np.full((3, 2), float(kept)) if kept else 0 * W)


def _heads(x: Tensor) -> Tensor:
    return x[:, None, None]


# What is computed of x (0, 3), and the result.
ROWS: dict[str, tuple[Callable[[Tensor], Tensor], Any]] = {
    "sum": (lambda x: x.sum(), 0), "sum 0": (lambda x: x.sum(0), [0, 0, 0]),
    "sum 1": (lambda x: x.sum(1), (0,)), "prod": (lambda x: x.prod(), 1),
    "prod 0": (lambda x: x.prod(0), [1, 1, 1]), "prod 1": (lambda x: x.prod(1), (0,)),
    "mean": (lambda x: x.mean(), nan), "mean 0": (lambda x: x.mean(0), [nan, nan, nan]),
    "mean 1": (lambda x: x.mean(1), (0,)), "var 1": (lambda x: x.var(1), (0,)),
    "std 0": (lambda x: x.std(0), [nan, nan, nan]), "std 1": (lambda x: x.std(1), (0,)),
    "amax": (lambda x: tl.amax(x, 1), (0,)), "amin": (lambda x: tl.amin(x, 1), (0,)),
    "max": (lambda x: x.max(1)[0], (0,)), "norm": (lambda x: x.norm(), 0),
    "norm 1": (lambda x: x.norm(dim=1), (0,)), "norm of 3": (lambda x: x.norm(3, 1), (0,)),
    "logsumexp": (lambda x: tl.logsumexp(x, 1), (0,)),
    "logsumexp 0": (lambda x: tl.logsumexp(x, 0), [-inf] * 3),
    "median": (lambda x: x.median(), nan), "median 1": (lambda x: x.median(1)[0], (0,)),
    "nanmedian": (lambda x: tl.nanmedian(x), nan),
    "kthvalue": (lambda x: tl.kthvalue(x, 2, 1)[0], (0,)),
    "mode": (lambda x: tl.mode(x, 1)[0], (0,)),
    "quantile": (lambda x: tl.quantile(x, 0.5, 1), (0,)),
    "nanquantile": (lambda x: tl.nanquantile(x, 0.5, 1), (0,)),
    "cumsum": (lambda x: x.cumsum(0), (0, 3)), "cumprod": (lambda x: x.cumprod(1), (0, 3)),
    "cummax": (lambda x: tl.cummax(x, 1)[0], (0, 3)),
    "cummin 0": (lambda x: tl.cummin(x, 0)[0], (0, 3)),
    "sort": (lambda x: x.sort(1)[0], (0, 3)), "sort 0": (lambda x: x.sort(0)[0], (0, 3)),
    "topk": (lambda x: x.topk(2, 1)[0], (0, 2)), "softmax": (lambda x: F.softmax(x, 1), (0, 3)),
    "softmax 0": (lambda x: F.softmax(x, 0), (0, 3)),
    "log_softmax": (lambda x: F.log_softmax(x, 0), (0, 3)),
    "flip": (lambda x: tl.flip(x, axis=0), (0, 3)), "roll": (lambda x: tl.roll(x, 1), (0, 3)),
    "roll 0": (lambda x: tl.roll(x, 1, 0), (0, 3)),
    "repeat": (lambda x: x.repeat_interleave(2), (0,)),
    "tile": (lambda x: tl.tile(x, (2, 2)), (0, 6)),
    "concat": (lambda x: tl.concat([x, of(1, 3)]), [[0, 1, 2]]),
    "stack": (lambda x: tl.stack([x, x]), (2, 0, 3)),
    "split": (lambda x: tl.split(x, [1, 2], axis=1)[1], (0, 2)),
    "chunk": (lambda x: x.chunk(3, 1)[0], (0, 1)), "flatten": (lambda x: x.flatten(), (0,)),
    "reshape": (lambda x: x.reshape(-1, 3), (0, 3)), "view": (lambda x: x.view(3, 0), (3, 0)),
    "permute": (lambda x: x.permute(1, 0), (3, 0)),
    "expand": (lambda x: x[None].expand(2, 0, 3), (2, 0, 3)),
    "where": (lambda x: tl.where(x > 0, x, 0.0), (0, 3)),
    "clip": (lambda x: tl.clip(x, 0.0, 1.0), (0, 3)),
    "pad": (lambda x: F.pad(x, (1, 1)), (0, 5)),
    "pad 0": (lambda x: tl.pad(x, [(1, 1), (0, 0)]), [[0, 0, 0], [0, 0, 0]]),
    "diff": (lambda x: tl.diff(x), (0, 2)), "rot90": (lambda x: tl.rot90(x), (3, 0)),
    "unfold": (lambda x: tl.unfold(x, 1, 2, 1), (0, 2, 2)),
    "trapezoid": (lambda x: tl.trapezoid(x), (0,)), "tril": (lambda x: tl.tril(x), (0, 3)),
    "diagonal": (lambda x: tl.diagonal(x), (0,)), "trace": (lambda x: tl.trace(x), 0),
    "diag_embed": (lambda x: tl.diag_embed(x), (0, 3, 3)),
    "matmul": (lambda x: x @ of(3, 2), (0, 2)),
    "matmul over none": (lambda x: of(2, 0) @ x, [[0, 0, 0], [0, 0, 0]]),
    "bmm": (lambda x: tl.bmm(x[:, :, None], of(0, 1, 4)), (0, 3, 4)),
    "batches": (lambda x: x.reshape(0, 1, 1, 3) @ of(2, 3, 4), (0, 2, 1, 4)),
    "einsum": (lambda x: tl.einsum("bi,ij->bj", x, of(3, 2)), (0, 2)),
    "einsum of a batch": (lambda x: tl.einsum("bi,bij->bj", x, of(0, 3, 2)), (0, 2)),
    "einsum over none": (lambda x: tl.einsum("bi,bj->ij", x, x), np.zeros((3, 3))),
    "outer": (lambda x: tl.outer(x.flatten(), of(3)), (0, 3)),
    "kron": (lambda x: tl.kron(x, of(2, 2)), (0, 6)),
    "cross": (lambda x: tl.cross(x, x), (0, 3)), "vecdot": (lambda x: tl.vecdot(x, x), (0,)),
    "tensordot": (lambda x: tl.tensordot(x, of(3, 2), 1), (0, 2)),
    "tensordot over none": (lambda x: tl.tensordot(x, of(0, 2), ([0], [0])), np.zeros((3, 2))),
    "inner": (lambda x: tl.inner(x, of(2, 3)), (0, 2)),
    "addmm": (lambda x: tl.addmm(of(0, 2), x, of(3, 2)), (0, 2)),
    "baddbmm": (lambda x: tl.baddbmm(of(0, 3, 3), x[:, :, None], x[:, None]), (0, 3, 3)),
    "cdist": (lambda x: tl.cdist(x, of(2, 3)), (0, 2)),
    "cdist of 1": (lambda x: tl.cdist(of(2, 3), x, 1.0), (2, 0)),
    "pdist": (lambda x: F.pdist(x), (0,)),
    "det": (lambda x: tl.det(x[:, None].expand(0, 3, 3)), (0,)),
    "normalize": (lambda x: F.normalize(x), (0, 3)),
    "cosine": (lambda x: F.cosine_similarity(x, x), (0,)),
    "interpolate": (
        lambda x: F.interpolate(x.reshape(0, 1, 1, 3), size=(3, 3), mode="bilinear"), (0, 1, 3, 3)),
    "grid_sample": (
        lambda x: F.grid_sample(x.reshape(0, 1, 1, 3), of(0, 2, 2, 2)), (0, 1, 2, 2)),
    "attention": (
        lambda x: F.scaled_dot_product_attention(_heads(x), _heads(x), _heads(x), is_causal=True),
        (0, 1, 1, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_no_rows(place: str, name: str) -> None:
    function, wanted = ROWS[name]
    x = of(0, 3)
    found = function(x)
    found.sum().backward()
    if isinstance(wanted, tuple):
        assert found.numpy().shape == wanted
    else:
        np.testing.assert_array_equal(found.numpy(), np.asarray(wanted, np.float32))
    assert x.grad is not None and x.grad.numpy().shape == (0, 3)


def test_orders_and_counts_of_none(place: str) -> None:
    line, none = tl.asarray([1.0, 2.0]), tl.zeros((0,))
    assert tl.searchsorted(line, none).numpy().shape == (0,)
    assert tl.searchsorted(none, line).tolist() == [0, 0]
    assert tl.bucketize(none, line).numpy().shape == (0,)
    assert tl.isin(line, none).tolist() == [False, False]
    assert tl.isin(none, line).numpy().shape == (0,)
    assert tl.unique(none).numpy().shape == (0,)
    assert tl.bincount(no(0)).numpy().shape == (0,)
    assert tl.bincount(no(0), minlength=2).tolist() == [0, 0]
    assert F.one_hot(no(0), 4).numpy().shape == (0, 4)
    assert tl.argmax(tl.zeros((0, 3)), axis=1).numpy().shape == (0,)
    assert tl.argsort(none).numpy().shape == (0,)
    assert no(0).sum().item() == 0 and (no(0) + 1).numpy().shape == (0,)
    assert not (none > 0).any().item() and (none > 0).all().item()
    assert tl.det(tl.zeros((2, 0, 0))).tolist() == [1, 1]
