"""PyTorch's names beyond the array API, against NumPy, with gradients by central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl

A = np.array([[0.5, -1.25, 2.0], [3.5, 0.75, -0.5]])
B = np.array([[1.5, -0.5, -2.25], [0.25, -1.5, 2.5]])
UNIT = np.array([[0.1, 0.4, 0.9], [0.25, 0.6, 0.75]])
HOLES = np.array([[1.0, np.nan, 2.0], [np.nan, 4.0, np.inf]])


CASES: dict[str, tuple[Callable[..., Any], Any, list[np.ndarray]]] = {
    "atan2": (tl.atan2, np.arctan2, [A, B]),
    "hypot": (tl.hypot, np.hypot, [A, B]),
    "logaddexp": (tl.logaddexp, np.logaddexp, [A, B]),
    "logaddexp of equal ones": (lambda a: tl.logaddexp(a, a * 1.0), lambda a: a + np.log(2), [A]),
    "logaddexp2": (tl.logaddexp2, np.logaddexp2, [A, B]),
    "copysign": (tl.copysign, np.copysign, [A, B]),
    "exp2": (tl.exp2, np.exp2, [A]),
    "sinc": (tl.sinc, np.sinc, [A]),
    "logit": (tl.logit, lambda p: np.log(p / (1 - p)), [UNIT]),
    "logit, clamped": (lambda p: tl.logit(p, 0.3),
                       lambda p: np.log(np.clip(p, 0.3, 0.7) / (1 - np.clip(p, 0.3, 0.7))), [UNIT]),
    "xlogy": (tl.xlogy, lambda x, y: x * np.log(y), [A, UNIT]),
    "deg2rad": (tl.deg2rad, np.deg2rad, [A]),
    "rad2deg": (tl.rad2deg, np.rad2deg, [A]),
    "frac": (tl.frac, lambda x: x - np.trunc(x), [A * 1.1]),
    "softmax": (lambda x: tl.softmax(x, 1), lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
                [A]),
    "log_softmax": (lambda x: tl.log_softmax(x, 0), lambda x: x - np.log(np.exp(x).sum(0)), [A]),
    "sigmoid": (tl.sigmoid, lambda x: 1 / (1 + np.exp(-x)), [A]),
    "relu": (tl.relu, lambda x: np.maximum(x, 0), [A]),
    "amax": (lambda x: tl.amax(x, 1), lambda x: x.max(1), [A]),
    "amin": (lambda x: tl.amin(x, (0, 1)), lambda x: x.min(), [A]),
    "var_mean": (lambda x: tl.concat(tl.var_mean(x, 0)),
                 lambda x: np.concatenate([x.var(0, ddof=1), x.mean(0)]), [A]),
    "std_mean": (lambda x: tl.stack(tl.std_mean(x)),
                 lambda x: np.stack([x.std(ddof=1), x.mean()]), [A]),
    "median of all": (tl.median, lambda x: np.sort(x.reshape(-1))[2], [A]),
    "median": (lambda x: tl.median(x, 1).values, lambda x: np.median(x, 1), [A]),
    "kthvalue": (lambda x: tl.kthvalue(x, 2, 0).values, lambda x: np.sort(x, 0)[1], [A]),
    "quantile": (lambda x: tl.quantile(x, 0.3), lambda x: np.quantile(x, 0.3), [A]),
    "quantiles": (lambda x: tl.quantile(x, tl.asarray(np.array([0.1, 0.8])), 1, True),
                  lambda x: np.quantile(x, [0.1, 0.8], 1, keepdims=True), [A]),
    "cumsum": (lambda x: tl.cumsum(x, 1), lambda x: np.cumsum(x, 1), [A]),
    "cumprod": (lambda x: tl.cumprod(x, 0), lambda x: np.cumprod(x, 0), [A]),
    "diff": (lambda x: tl.diff(x, 2), lambda x: np.diff(x, 2), [A]),
    "trapezoid": (tl.trapezoid, np.trapezoid, [A]),
    "trapezoid at points": (lambda y, x: tl.trapezoid(y, x[0]),
                            lambda y, x: np.trapezoid(y, x[0]), [A, UNIT]),
    "inner": (tl.inner, np.inner, [A, B]),
    "tensordot": (lambda a, b: tl.tensordot(a, b, ([1], [1])),
                  lambda a, b: np.tensordot(a, b, ([1], [1])), [A, B]),
    "trace": (tl.trace, np.trace, [A]),
    "cross": (tl.cross, np.cross, [A, B]),
    "kron": (tl.kron, np.kron, [A, B]),
    "ger": (lambda a, b: tl.ger(a[0], b[1]), lambda a, b: np.outer(a[0], b[1]), [A, B]),
    "addmv": (lambda m, v: tl.addmv(v[:, 0], m, v[0], beta=2, alpha=3),
              lambda m, v: 2 * v[:, 0] + 3 * m @ v[0], [A, B]),
    "cdist": (tl.cdist, lambda a, b: np.linalg.norm(a[:, None] - b[None], axis=-1), [A, B]),
    "cdist of 1": (lambda a, b: tl.cdist(a, b, 1.0),
                   lambda a, b: abs(a[:, None] - b[None]).sum(-1), [A, B]),
    "heaviside": (lambda a, b: tl.heaviside(a, b) * b, lambda a, b: np.heaviside(a, b) * b, [A, B]),
    "hstack": (lambda a, b: tl.hstack([a, b]), lambda a, b: np.hstack([a, b]), [A, B]),
    "vstack": (lambda a, b: tl.vstack([a[0], b]), lambda a, b: np.vstack([a[0], b]), [A, B]),
    "dstack": (lambda a, b: tl.dstack([a, b]), lambda a, b: np.dstack([a, b]), [A, B]),
    "column_stack": (lambda a, b: tl.column_stack([a[:, 0], b]),
                     lambda a, b: np.column_stack([a[:, 0], b]), [A, B]),
    "meshgrid": (lambda a, b: tl.concat([tl.ravel(g) for g in tl.meshgrid(a[0], b[0, :2])]),
                 lambda a, b: np.concatenate(
                     [g.ravel() for g in np.meshgrid(a[0], b[0, :2], indexing="ij")]), [A, B]),
    "rot90": (tl.rot90, np.rot90, [A]),
    "rot90 back": (lambda x: tl.rot90(x, -1), lambda x: np.rot90(x, -1), [A]),
    "movedim": (lambda x: tl.movedim(x[None], (0, 2), (1, 0)),
                lambda x: np.moveaxis(x[None], (0, 2), (1, 0)), [A]),
    "diag_embed": (tl.diag_embed, lambda x: x[..., None] * np.eye(3), [A]),
    "masked_select": (lambda a, b: tl.masked_select(a, b > 0), lambda a, b: a[b > 0], [A, B]),
    "points": (lambda x: x[tl.asarray([0, 1, 1]), tl.asarray([2, 0, -3])],
               lambda x: x[[0, 1, 1], [2, 0, -3]], [A]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    function, reference, arrays = CASES[name]
    wanted = np.asarray(reference(*arrays))
    got = function(*map(tl.asarray, arrays))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-12, atol=1e-14)
    weights = np.linspace(0.5, 2.0, wanted.size).reshape(wanted.shape)
    argnums = tuple(range(len(arrays)))
    gradients = tl.grad(lambda *x: tl.sum(function(*x) * weights), argnums)(*arrays)
    for place, gradient in enumerate(gradients):
        found = gradient.numpy()
        for at in np.ndindex(*arrays[place].shape):
            moved = [array.copy() for array in arrays]
            ends = []
            for step in (1e-6, -1e-6):
                moved[place][at] = arrays[place][at] + step
                ends.append((np.asarray(reference(*moved)) * weights).sum())
            np.testing.assert_allclose(found[at], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)


def test_angles_at_the_edges() -> None:
    edge = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], np.float32)
    y, x = (each.reshape(-1) for each in np.meshgrid(edge, edge))
    with tl_device("numpy"):
        np.testing.assert_allclose(
            tl.atan2(tl.asarray(y), tl.asarray(x)).numpy(), np.arctan2(y, x), rtol=1e-6
        )
        np.testing.assert_array_equal(tl.signbit(tl.asarray(edge)).numpy(), np.signbit(edge))
        np.testing.assert_allclose(
            tl.hypot(tl.asarray(y), tl.asarray(x)).numpy(), np.hypot(y, x), rtol=1e-6
        )


class tl_device:  # noqa: N801
    """Within it, a device is the default."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        tl.set_default_device(self._name)

    def __exit__(self, *error: object) -> None:
        tl.set_default_device(None)


def test_what_has_no_gradient() -> None:
    a, b, holes = tl.asarray(A), tl.asarray(B), tl.asarray(HOLES)
    assert tl.nansum(holes[:, :2]).item() == 5.0
    np.testing.assert_array_equal(tl.nanmean(holes, 0).numpy(), [1.0, 4.0, np.inf])
    np.testing.assert_array_equal(
        tl.nan_to_num(holes, 5.0, posinf=9.0).numpy(), [[1.0, 5.0, 2.0], [5.0, 4.0, 9.0]]
    )
    assert tl.count_nonzero(a > 0).item() == 4
    assert tl.count_nonzero(a > 0, 1).tolist() == [2, 2]
    low, high = tl.aminmax(a, dim=0)
    assert low.tolist() == A.min(0).tolist() and high.tolist() == A.max(0).tolist()
    assert tl.median(a, 1).indices.tolist() == [0, 1]
    for compare, reference in ((tl.eq, np.equal), (tl.ne, np.not_equal), (tl.lt, np.less),
                               (tl.le, np.less_equal), (tl.gt, np.greater),
                               (tl.ge, np.greater_equal)):  # fmt: skip
        np.testing.assert_array_equal(compare(a, b).numpy(), reference(A, B))
    edges = np.array([-1.0, 0.5, 2.0])
    for right in (False, True):
        np.testing.assert_array_equal(
            tl.bucketize(a, tl.asarray(edges), right=right).numpy(),
            np.searchsorted(edges, A, "right" if right else "left"),
        )
    assert tl.bincount(tl.asarray([1, 3, 1]), minlength=5).tolist() == [0, 2, 0, 1, 0]
    assert tl.bincount(tl.asarray([1, 0]), tl.asarray([0.5, 2.0])).tolist() == [2.0, 0.5]


def test_shapes() -> None:
    a = tl.asarray(A)
    assert [x.tolist() for x in tl.tensor_split(tl.arange(5), 3)] == [[0, 1], [2, 3], [4]]
    assert [x.tolist() for x in tl.tensor_split(tl.arange(5), [1, 4])] == [[0], [1, 2, 3], [4]]
    assert [x.shape for x in tl.broadcast_tensors(a, a[0])] == [(2, 3), (2, 3)]
    assert tl.unflatten(a, 1, (3, -1)).shape == (2, 3, 1)
    assert tl.atleast_2d(a[0]).shape == (1, 3) and tl.atleast_3d(a).shape == (2, 3, 1)
    assert tl.tril_indices(2, 2).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert tl.triu_indices(2, 3, 1).tolist() == [[0, 0, 1], [1, 2, 2]]
    assert tl.nonzero(a > 1).tolist() == [[0, 2], [1, 0]]
    assert [x.tolist() for x in tl.nonzero(a > 1, as_tuple=True)] == [[0, 1], [2, 0]]
    assert tl.meshgrid(tl.arange(2), tl.arange(3), indexing="xy")[0].shape == (3, 2)
    assert tl.numel(a) == 6 and tl.as_tensor(a) is a
    assert tl.randint_like(tl.zeros(4), 3).dtype == tl.float32
    assert tl.normal(0.0, 1.0, (2, 3)).shape == tl.normal(a, 1.0).shape == (2, 3)
    np.testing.assert_allclose(tl.logspace(0, 2, 3).numpy(), [1, 10, 100], rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: tl.kthvalue(a, 4), tl.OptionError),
        (lambda a: tl.quantile(a, 0.5, interpolation="cubic"), tl.OptionError),
        (lambda a: tl.median(a[:, :0], 1), tl.ShapeError),
        (lambda a: tl.tensordot(a, a, 1), tl.ShapeError),
        (lambda a: tl.cross(a[:, :2], a[:, :2]), tl.ShapeError),
        (lambda a: tl.cdist(a, a[:, :2]), tl.ShapeError),
        (lambda a: tl.meshgrid(a, a), tl.ShapeError),
        (lambda a: tl.movedim(a, (0, 1), 0), tl.ShapeError),
        (lambda a: tl.tensor_split(a, 0), tl.OptionError),
        (lambda a: a[tl.asarray([True, False, True])], tl.ShapeError),
        (lambda a: a[tl.asarray([0.5])], tl.DTypeError),
        (lambda a: a[tl.asarray([0, 2]), tl.asarray([0, 0])].numpy(), tl.IndexRangeError),
        (lambda a: tl.jit(lambda x: x[x > 0])(a), tl.TracingError),
    ],
)
def test_bad_arguments(call: Callable[[tl.Tensor], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call(tl.asarray(A))
