"""Functions composed of ops, on NumPy: running sums, Einstein sums, determinants, attention,
normalisations, losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import compile_graph
from tallow.errors import DTypeError, OptionError, ShapeError
from tallow.graph import Graph, input_node

RNG = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def tensors_of(*arrays: np.ndarray) -> Any:
    """A list of arrays, of any length."""
    return [tl.asarray(x) for x in arrays]


def close(got: Any, wanted: Any) -> None:
    got = got.numpy("numpy")
    assert got.shape == np.shape(wanted)
    np.testing.assert_allclose(got, wanted, 1e-4, 1e-5)


# ---- running sums and products -----------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_and_products(axis: int) -> None:
    x = normal(3, 13)
    close(tl.cumulative_sum(tl.asarray(x), axis=axis), x.cumsum(axis))
    close(tl.cumulative_prod(tl.asarray(x), axis=axis), x.cumprod(axis))


def test_running_sums_with_what_they_begin_with() -> None:
    x = np.array([3, 1, 2], np.int32)
    close(tl.cumulative_sum(tl.asarray(x), include_initial=True), [0, 3, 4, 6])
    close(tl.cumulative_prod(tl.asarray(x), include_initial=True), [1, 3, 3, 6])
    close(tl.cumulative_sum(tl.asarray([True, False, True])), [1, 1, 2])
    assert tl.cumulative_sum(tl.asarray(x), dtype="float32").dtype == tl.float32
    with pytest.raises(ShapeError, match="needs an axis"):
        tl.cumulative_sum(tl.asarray(normal(2, 2)))


def test_running_sums_do_not_grow_with_every_step() -> None:
    """Each step reads the last one's result twice: fused, the work would double each time."""
    x = tl.Tensor(input_node("x", (4, 4000), tl.float32))
    plan = compile_graph(Graph((x.node,), {"y": tl.cumulative_sum(x, axis=1).node}), "webgpu").plan
    assert 1 < len(plan.run) <= 6
    assert max(map(len, plan.modules)) < 20_000


# ---- Einstein sums and determinants ------------------------------------------------------------

EQUATIONS = [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("...ii->...i", [(3, 5, 5)]),
    ("i,i", [(5,), (5,)]),
    ("->", [()]),
    ("ij,kl->ijkl", [(2, 3), (4, 5)]),
    ("abc,cd,def->abf", [(2, 3, 4), (4, 5), (5, 6, 7)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 6)]),
    ("iij,j->i", [(3, 3, 4), (4,)]),
    ("iii->i", [(3, 3, 3)]),
    ("b...,b...->...", [(3, 4, 5), (3, 4, 5)]),
    ("ij,j,i->", [(3, 4), (4,), (3,)]),
    ("ij,ij->ij", [(3, 1), (3, 4)]),
    ("c,a,b", [(2,), (3,), (4,)]),
    ("ab...->...ba", [(2, 3, 4)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=lambda value: str(value))
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [normal(*shape) for shape in shapes]
    got = tl.einsum(equation, *map(tl.asarray, arrays))
    close(got, np.einsum(equation, *arrays))


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk->ik", [(3, 4)], "2 operands, not 1"),
        ("ij,jk->ik", [(3, 4), (5, 6)], "'j'.* 4 and 5 long"),
        ("ij->k", [(3, 4)], "must name axes"),
        ("ij->ii", [(3, 4)], "once"),
        ("i->i", [(3, 4)], "does not name 2 axes"),
        ("i1->i", [(3, 4)], "not letters"),
        ("ii->i", [(3, 4)], "two lengths|3 and 4 long"),
    ],
)
def test_einsum_refuses(equation: str, shapes: list[tuple[int, ...]], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        tl.einsum(equation, *(tl.zeros(shape) for shape in shapes))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 9])
def test_determinants(n: int) -> None:
    x = normal(4, 2, n, n)
    if n > 2:
        x[0, 0, 0, 0] = 0  # the first pivot is elsewhere
        x[1, 0, :, 1] = 0  # singular
    close(tl.det(tl.asarray(x)), np.linalg.det(x))


def test_determinants_refuse() -> None:
    with pytest.raises(ShapeError, match="not square"):
        tl.det(tl.zeros((2, 3)))
    with pytest.raises(DTypeError, match="floating"):
        tl.det(tl.zeros((2, 2), tl.int32))


# ---- attention ---------------------------------------------------------------------------------


def attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, bias: Any = 0.0, scale: Any = None
) -> np.ndarray:
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat(repeats, 1), value.repeat(repeats, 1)
    scores = query @ key.swapaxes(-1, -2) * (scale or query.shape[-1] ** -0.5) + bias
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def test_attention_of_groups() -> None:
    q, k, v = normal(2, 8, 4, 6), normal(2, 2, 5, 6), normal(2, 2, 5, 3)
    tq, tk, tv = tensors_of(q, k, v)
    close(F.scaled_dot_product_attention(tq, tk, tv, enable_gqa=True), attention(q, k, v))
    with pytest.raises(ShapeError, match="enable_gqa"):
        F.scaled_dot_product_attention(tq, tk, tv)
    with pytest.raises(ShapeError, match="not a multiple"):
        F.scaled_dot_product_attention(tl.asarray(normal(2, 3, 4, 6)), tk, tv, enable_gqa=True)


def test_attention_with_masks() -> None:
    q, k, v = normal(2, 2, 4, 6), normal(2, 2, 5, 6), normal(2, 2, 5, 3)
    tq, tk, tv = tensors_of(q, k, v)
    seen = np.tri(4, 5, dtype=bool)
    bias = np.where(seen, 0, -np.inf)
    close(F.scaled_dot_product_attention(tq, tk, tv, is_causal=True), attention(q, k, v, bias))
    mask = tl.asarray(seen)
    close(F.scaled_dot_product_attention(tq, tk, tv, mask, scale=0.3),
          attention(q, k, v, bias, 0.3))  # fmt: skip
    added = normal(4, 5)
    close(F.scaled_dot_product_attention(tq, tk, tv, tl.asarray(added)), attention(q, k, v, added))
    nothing = F.scaled_dot_product_attention(tq, tk, tv, tl.zeros((4, 5), "bool"))
    close(nothing, np.zeros((2, 2, 4, 3)))
    with pytest.raises(OptionError, match="dropout"):
        F.scaled_dot_product_attention(tq, tk, tv, dropout_p=1.1)
    dropped = F.scaled_dot_product_attention(tq, tk, tv, dropout_p=1.0)
    close(dropped, np.zeros((2, 2, 4, 3)))


# ---- normalisations and losses -----------------------------------------------------------------


def test_normalisations() -> None:
    x, weight, bias = normal(2, 6, 4, 3), normal(6), normal(6)
    rows = x.reshape(2, 3, -1)
    apart = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    shape = (6, 1, 1)
    wanted = apart.reshape(x.shape) * weight.reshape(shape) + bias.reshape(shape)
    tensors = [tl.asarray(value) for value in (weight, bias)]
    close(F.group_norm(tl.asarray(x), 3, *tensors), wanted)
    own = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
    close(F.instance_norm(tl.asarray(x)), own)
    scale = normal(3)
    root = np.sqrt((x * x).mean(3, keepdims=True) + 2.0**-23)
    close(F.rms_norm(tl.asarray(x), (3,), tl.asarray(scale)), x / root * scale)
    close(F.normalize(tl.asarray(x)), x / np.linalg.norm(x, axis=1, keepdims=True))
    close(F.normalize(tl.zeros((2, 3))), np.zeros((2, 3)))
    with pytest.raises(ShapeError, match="4 groups"):
        F.group_norm(tl.asarray(x), 4)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_cross_entropy(reduction: str) -> None:
    x, weight = normal(4, 5, 2), np.abs(normal(5))
    target = RNG.integers(0, 5, (4, 2))
    target[1, 0] = -100
    log_prob = x - np.log(np.exp(x).sum(1, keepdims=True))
    counts = target != -100
    classes = np.where(counts, target, 0)
    weights = weight[classes] * counts
    loss = -np.take_along_axis(log_prob, classes[:, None], 1)[:, 0] * weights
    wanted = {"none": loss, "sum": loss.sum(), "mean": loss.sum() / weights.sum()}[reduction]
    scores, classes_of, factors = tensors_of(x, target, weight)
    close(F.cross_entropy(scores, classes_of, factors, reduction=reduction), wanted)


def test_losses_refuse() -> None:
    x, target = tl.zeros((2, 3)), tl.zeros((2,), tl.int32)
    with pytest.raises(ShapeError, match="targets"):
        F.nll_loss(x, tl.zeros((3,), tl.int32))
    with pytest.raises(DTypeError, match="integers"):
        F.nll_loss(x, tl.zeros((2,)))
    with pytest.raises(ShapeError, match="weights"):
        F.nll_loss(x, target, tl.zeros((2,)))
    with pytest.raises(OptionError, match="reduction"):
        F.nll_loss(x, target, reduction="average")


@pytest.mark.parametrize("make", [tl.zeros, tl.ones, tl.empty])
def test_no_type_is_float32(make: Callable[..., tl.Tensor]) -> None:
    assert make((2,), dtype=None).dtype == tl.float32
    assert make(2, 3, dtype=None).dtype == tl.float32
    assert make((2,), "int32").dtype == tl.int32
