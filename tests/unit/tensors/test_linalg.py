"""Linear algebra against NumPy, derivatives against differences, and what is refused."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import linalg
from tallow.core import context
from tallow.errors import LinAlgError, OptionError
from tallow.functions import shapes
from tallow.graph import Graph, input_node

with context.pytorch.override(True):  # its habits stay within
    spelled = importlib.import_module("tallow.torch.linalg")

rng = np.random.default_rng(11)
SQUARE = rng.normal(size=(2, 3, 4, 4))
TALL, WIDE = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 3, 5))
RIGHT, VECTOR = rng.normal(size=(3, 4, 2)), rng.normal(size=4)
SYMMETRIC = SQUARE + SQUARE.swapaxes(-1, -2)
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(4)
DEFICIENT = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4))
LOWER = np.tril(SQUARE) + 4 * np.eye(4)

Function = Callable[..., Any]


def turned(x: Any) -> Any:
    return x.mT if isinstance(x, tl.Tensor) else x.swapaxes(-1, -2)


def together(found: Any) -> Any:
    """The product of the parts that a factorisation gives: it does not depend on signs."""
    if len(found) == 3:
        u, s, vh = found
        count = s.shape[-1]
        return u[..., :count] * s[..., None, :] @ vh[..., :count, :]
    if type(found).__name__ == "EighResult":
        values, vectors = found
        return vectors * values[..., None, :] @ turned(vectors)
    return found[0] @ found[1]


# ---- values --------------------------------------------------------------------------------------

VALUES: dict[str, tuple[Function, Function, list[np.ndarray]]] = {
    "solve": (linalg.solve, np.linalg.solve, [SQUARE, RIGHT]),
    "solve a vector": (linalg.solve, np.linalg.solve, [SQUARE, VECTOR]),
    "solve, one for all": (linalg.solve, np.linalg.solve, [SQUARE[0, 0], RIGHT]),
    "inv": (linalg.inv, np.linalg.inv, [SQUARE]),
    "det": (linalg.det, np.linalg.det, [SQUARE]),
    "det of many rows": (linalg.det, np.linalg.det, [np.eye(20) + np.outer(VECTOR, VECTOR).sum()]),
    "sign": (lambda x: linalg.slogdet(x).sign, lambda x: np.linalg.slogdet(x).sign, [SQUARE]),
    "logabsdet": (lambda x: linalg.slogdet(x).logabsdet, lambda x: np.linalg.slogdet(x).logabsdet,
                  [SQUARE]),
    "cholesky": (linalg.cholesky, np.linalg.cholesky, [POSITIVE]),
    "cholesky, upper": (lambda x: linalg.cholesky(x, upper=True),
                        lambda x: turned(np.linalg.cholesky(x)), [POSITIVE]),
    **{f"qr of {x.shape}, {mode}": (
        lambda x, mode=mode: together(linalg.qr(x, mode=mode)), lambda x: x, [x])
       for x in (SQUARE, TALL, WIDE) for mode in ("reduced", "complete")},
    "eigh": (lambda x: together(linalg.eigh(x)), lambda x: x, [SYMMETRIC]),
    "eigvalsh": (linalg.eigvalsh, np.linalg.eigvalsh, [SYMMETRIC]),
    "eigvalsh of the other half": (lambda x: linalg.eigvalsh(x, lower=False),
                                   lambda x: np.linalg.eigvalsh(x, "U"), [SQUARE]),
    **{f"svd of {x.shape}, {full}": (
        lambda x, full=full: together(linalg.svd(x, full_matrices=full)), lambda x: x, [x])
       for x in (SQUARE, TALL, WIDE) for full in (True, False)},
    "svdvals": (linalg.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), [WIDE]),
    "pinv": (linalg.pinv, np.linalg.pinv, [TALL]),
    "pinv, deficient": (lambda x: linalg.pinv(x, rtol=1e-4), lambda x: np.linalg.pinv(x, 1e-4),
                        [DEFICIENT]),
    "pinv, symmetric": (lambda x: linalg.pinv(x, hermitian=True), np.linalg.inv, [SYMMETRIC]),
    "lstsq": (lambda a, b: linalg.lstsq(a, b).solution,
              lambda a, b: np.linalg.lstsq(a, b)[0], [TALL[0], TALL[1]]),
    "lstsq, what is left": (lambda a, b: linalg.lstsq(a, b).residuals,
                            lambda a, b: np.linalg.lstsq(a, b)[1], [TALL[0], TALL[1]]),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, upper=False),
                         np.linalg.solve, [LOWER, RIGHT]),
    "solve_triangular, from the right": (
        lambda a, b: linalg.solve_triangular(a, turned(b), upper=False, left=False),
        lambda a, b: turned(np.linalg.solve(turned(a), b)), [LOWER, RIGHT]),
    "solve_triangular, ones": (
        lambda a, b: linalg.solve_triangular(a, b, upper=True, unitriangular=True),
        lambda a, b: np.linalg.solve(np.triu(a, 1) + np.eye(4), b), [SQUARE, RIGHT]),
    "cholesky_solve": (lambda b, x: linalg.cholesky_solve(b, linalg.cholesky(x)),
                       lambda b, x: np.linalg.solve(x, b), [RIGHT, POSITIVE]),
    "cholesky_solve, upper": (
        lambda b, x: linalg.cholesky_solve(b, linalg.cholesky(x, upper=True), upper=True),
        lambda b, x: np.linalg.solve(x, b), [RIGHT, POSITIVE]),
    **{f"vector_norm {p}": (
        lambda x, p=p: linalg.vector_norm(x, axis=1, ord=p, keepdims=True),
        lambda x, p=p: np.linalg.vector_norm(x, axis=1, ord=p, keepdims=True), [TALL])
       for p in (2, 1, 0, 3.5, 0.5, -1, -2, math.inf, -math.inf)},
    "vector_norm of all": (linalg.vector_norm, np.linalg.vector_norm, [SQUARE]),
    "vector_norm of axes": (lambda x: linalg.vector_norm(x, axis=(0, -1), ord=3),
                            lambda x: np.linalg.vector_norm(x, axis=(0, -1), ord=3), [SQUARE]),
    **{f"matrix_norm {p}": (
        lambda x, p=p: linalg.matrix_norm(x, ord=p, keepdims=True),
        lambda x, p=p: np.linalg.matrix_norm(x, ord=p, keepdims=True), [WIDE])
       for p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)},
    **{f"cond {p}": (lambda x, p=p: linalg.cond(x, p), lambda x, p=p: np.linalg.cond(x, p),
                     [SQUARE]) for p in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)},
    "matrix_rank": (linalg.matrix_rank, np.linalg.matrix_rank, [TALL]),
    "matrix_rank, deficient": (lambda x: linalg.matrix_rank(x, rtol=1e-4), lambda x: np.array(2),
                               [DEFICIENT]),
    **{f"matrix_power {n}": (lambda x, n=n: linalg.matrix_power(x, n),
                             lambda x, n=n: np.linalg.matrix_power(x, n), [SQUARE])
       for n in (-2, -1, 0, 1, 2, 7)},
    "multi_dot": (lambda *x: linalg.multi_dot(x), lambda *x: np.linalg.multi_dot(x),
                  [VECTOR, RIGHT[0], TALL[0, :2], WIDE[1]]),
    "matrix_exp of turns": (
        lambda x: linalg.matrix_exp(x * np.array([[0, -1], [1, 0]], x.dtype.name)),
        lambda x: np.stack([np.stack([np.cos(x), -np.sin(x)], -1),
                            np.stack([np.sin(x), np.cos(x)], -1)], -2)[..., 0, 0, :, :],
        [np.array([0.0, 1e-3, 1.0, 3.0, 20.0])[:, None, None]]),
    "trace": (lambda x: linalg.trace(x, offset=-1), lambda x: np.linalg.trace(x, offset=-1),
              [WIDE]),
    "diagonal": (lambda x: linalg.diagonal(x, offset=1),
                 lambda x: np.linalg.diagonal(x, offset=1), [WIDE]),
    "cross": (linalg.cross, np.linalg.cross, [TALL, TALL[0, 0]]),
    "cross along an axis": (lambda a, b: linalg.cross(a, b, axis=-2),
                            lambda a, b: np.linalg.cross(a, b, axis=-2), [WIDE, WIDE[0]]),
    "outer": (linalg.outer, np.linalg.outer, [VECTOR, WIDE[0, 0]]),
    "tensordot": (lambda a, b: linalg.tensordot(a, b, axes=([0, 2], [0, 1])),
                  lambda a, b: np.tensordot(a, b, ([0, 2], [0, 1])), [TALL, WIDE]),
    "vecdot": (lambda a, b: linalg.vecdot(a, b, axis=1),
               lambda a, b: np.sum(a * b, 1), [TALL, TALL[:1]]),
    "matrix_transpose": (linalg.matrix_transpose, turned, [TALL]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("on", ["numpy", "wasm"])
@pytest.mark.parametrize("name", VALUES)
def test_values(name: str, on: str, dtype: str) -> None:
    function, reference, arrays = VALUES[name]
    wanted = np.asarray(reference(*arrays))
    found = function(*(tl.asarray(x.astype(dtype)) for x in arrays))
    assert found.shape == wanted.shape
    assert found.dtype.name == ("int32" if "rank" in name else dtype)
    rtol, atol = (2e-2, 2e-3) if dtype == "float32" else (1e-9, 1e-9)
    np.testing.assert_allclose(found.numpy(on), wanted, rtol, atol)


def test_results_have_the_names_of_the_standard() -> None:
    x = tl.asarray(POSITIVE[0, 0])
    assert linalg.qr(x)._fields == ("Q", "R")
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.svd(x)._fields == ("U", "S", "Vh")
    tall = tl.asarray(TALL)
    assert [part.shape for part in linalg.svd(tall)] == [(2, 5, 5), (2, 3), (2, 3, 3)]
    assert [part.shape for part in linalg.qr(tall, mode="complete")] == [(2, 5, 5), (2, 5, 3)]
    names = ("cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul",
             "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv",
             "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
             "vector_norm")  # fmt: skip
    assert set(names) <= set(linalg.__all__)


def test_orthonormal_factors() -> None:
    for x in (SQUARE, TALL, WIDE):
        for full in (True, False):
            u, _, vh = linalg.svd(tl.asarray(x), full_matrices=full)
            q, r = linalg.qr(tl.asarray(x), mode="complete" if full else "reduced")
            for each in (u, vh.mT, q):
                same = np.broadcast_to(np.eye(each.shape[-1]), (each.mT @ each).shape)
                np.testing.assert_allclose((each.mT @ each).numpy(), same, atol=1e-12)
            np.testing.assert_allclose(r.numpy(), np.triu(r.numpy()), atol=1e-12)


def test_matrices_without_elements() -> None:
    nothing = tl.zeros((2, 0, 0))
    for function in (linalg.inv, linalg.cholesky, linalg.matrix_exp):
        assert function(nothing).numpy().shape == (2, 0, 0)
    assert linalg.det(nothing).tolist() == [1, 1]
    assert linalg.slogdet(nothing).sign.tolist() == [1, 1]
    assert linalg.eigvalsh(nothing).numpy().shape == (2, 0)
    assert linalg.solve(tl.zeros((0, 3, 3)), tl.zeros((3, 2))).numpy().shape == (0, 3, 2)
    assert linalg.pinv(tl.zeros((2, 0, 3))).numpy().shape == (2, 3, 0)
    assert linalg.matrix_rank(tl.zeros((2, 0, 3))).tolist() == [0, 0]


# ---- derivatives ---------------------------------------------------------------------------------


def both(x: tl.Tensor) -> tl.Tensor:
    """A symmetric matrix, whatever half is read."""
    return (x + x.mT) * 0.5


def positive(x: tl.Tensor) -> tl.Tensor:
    return x @ x.mT + tl.eye(x.shape[-1], dtype="float64")


S = SQUARE[0]

SMOOTH: dict[str, tuple[Function, list[np.ndarray]]] = {
    "solve": (linalg.solve, [S, RIGHT]),
    "solve a vector": (linalg.solve, [S, VECTOR]),
    "inv": (linalg.inv, [S]),
    "inv_ex": (lambda x: linalg.inv_ex(x).inverse, [S]),
    "det": (linalg.det, [S]),
    "det of many rows": (linalg.det, [rng.normal(size=(17, 17)) / 3]),
    "slogdet": (lambda x: linalg.slogdet(x).logabsdet, [S]),
    "cholesky": (lambda x: linalg.cholesky(positive(x)), [S]),
    "cholesky, upper": (lambda x: linalg.cholesky(positive(x), upper=True), [S]),
    "cholesky of a half": (lambda x: linalg.cholesky(both(x)), [POSITIVE[0]]),
    **{f"{name} of qr of {x.shape}": (lambda x, name=name: getattr(linalg.qr(x), name), [x])
       for x in (S, TALL, WIDE) for name in ("Q", "R")},
    "eigvalsh": (lambda x: linalg.eigvalsh(both(x)), [S]),
    "eigenvalues": (lambda x: linalg.eigh(both(x), lower=False).eigenvalues, [S]),
    "eigenvectors": (lambda x: abs(linalg.eigh(both(x)).eigenvectors), [S]),
    "svdvals": (linalg.svdvals, [WIDE]),
    **{f"{name} of svd of {x.shape}": (
        lambda x, name=name: abs(getattr(linalg.svd(x, full_matrices=False), name)), [x])
       for x in (S, TALL, WIDE) for name in ("U", "S", "Vh")},
    "pinv": (linalg.pinv, [TALL]),
    "pinv of wide ones": (linalg.pinv, [WIDE]),
    "pinv, deficient": (lambda a, b: linalg.pinv(a @ b, rtol=1e-6), [TALL[:, :, :2], WIDE[:, :2]]),
    "pinv, symmetric": (lambda x: linalg.pinv(both(x), hermitian=True), [S]),
    "lstsq": (lambda a, b: linalg.lstsq(a, b).solution, [TALL, TALL[::-1].copy()]),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, upper=False),
                         [LOWER[0], RIGHT]),
    "cholesky_solve": (lambda b, a: linalg.cholesky_solve(b, a), [RIGHT, LOWER[0]]),
    "vector_norm": (lambda x: linalg.vector_norm(x, axis=-1), [TALL]),
    "vector_norm 3": (lambda x: linalg.vector_norm(x, axis=-1, ord=3), [TALL]),
    "vector_norm -1": (lambda x: linalg.vector_norm(x, axis=-1, ord=-1), [TALL]),
    **{f"matrix_norm {p}": (lambda x, p=p: linalg.matrix_norm(x, ord=p), [TALL])
       for p in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)},
    "cond": (linalg.cond, [S]),
    "cond nuc": (lambda x: linalg.cond(x, "nuc"), [S]),
    "matrix_power": (lambda x: linalg.matrix_power(x, -3), [S]),
    "matrix_exp": (linalg.matrix_exp, [S]),
    "multi_dot": (lambda *x: linalg.multi_dot(x), [VECTOR, RIGHT[0], TALL[0, :2], WIDE[1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_agree_with_differences(name: str) -> None:
    """The first, and the second: that of the first in a direction."""
    function, arrays = SMOOTH[name]
    draws = np.random.default_rng(5)
    directions = [draws.normal(size=x.shape) for x in arrays]
    others = [draws.normal(size=x.shape) for x in arrays]
    weights = draws.normal(size=function(*map(tl.asarray, arrays)).shape)
    places = tuple(range(len(arrays)))

    def loss(*x: tl.Tensor) -> tl.Tensor:
        return tl.sum(function(*x) * weights)

    def slope(*x: tl.Tensor) -> tl.Tensor:
        pairs = zip(tl.grad(loss, places)(*x), others, strict=True)
        return sum((tl.sum(gradient * d) for gradient, d in pairs), tl.asarray(0.0))

    for value in (loss, slope):
        gradients = tl.grad(value, places)(*map(tl.asarray, arrays))
        found = sum(
            float(np.sum(gradient.numpy("numpy") * d))
            for gradient, d in zip(gradients, directions, strict=True)
        )
        ends = []
        for step in (1e-5, -1e-5):
            moved = [tl.asarray(x + step * d) for x, d in zip(arrays, directions, strict=True)]
            ends.append(float(value(*moved).numpy("numpy")))
        wanted = (ends[0] - ends[1]) / 2e-5
        assert found == pytest.approx(wanted, rel=2e-5, abs=1e-4), value.__name__


def test_forward_mode() -> None:
    x, moved = S, np.random.default_rng(3).normal(size=S.shape)
    value, slope = tl.jvp(linalg.inv, (tl.asarray(x),), (tl.asarray(moved),))
    np.testing.assert_allclose(value.numpy(), np.linalg.inv(x), rtol=1e-9)
    wanted = -np.linalg.inv(x) @ moved @ np.linalg.inv(x)
    np.testing.assert_allclose(slope.numpy(), wanted, rtol=1e-8, atol=1e-10)


def test_gradients_of_symmetric_matrices_are_symmetric() -> None:
    weights = rng.normal(size=(4, 4))
    for function in (linalg.cholesky, lambda x: abs(linalg.eigh(x).eigenvectors)):
        g = tl.grad(lambda x, f=function: tl.sum(f(x) * weights))(tl.asarray(POSITIVE[0, 0]))
        np.testing.assert_allclose(g.numpy(), g.numpy().T, atol=1e-12)


def test_gradients_at_zeros_and_equal_values() -> None:
    """As in PyTorch: 0 for the norm of zeros; equal values have a derivative, their vectors not."""
    assert tl.grad(linalg.vector_norm)(tl.zeros(3)).tolist() == [0, 0, 0]
    assert not tl.grad(linalg.matrix_norm)(tl.zeros((2, 2))).numpy().any()
    same = tl.eye(3, dtype="float64")
    for function in (
        linalg.eigvalsh, linalg.svdvals, lambda x: linalg.eigh(x).eigenvalues,
        lambda x: linalg.svd(x).S,
    ):  # fmt: skip
        g = tl.grad(lambda x, f=function: tl.sum(f(x)))(same)
        np.testing.assert_allclose(g.numpy(), np.eye(3), atol=1e-12)
    weights = np.arange(9.0).reshape(3, 3)
    g = tl.grad(lambda x: tl.sum(linalg.eigh(x).eigenvectors * weights))(same)
    assert not np.isfinite(g.numpy()).all()


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0], [2.0, 4.0]],
        [[0.0, 1.0], [0.0, 2.0]],
        [[0.0, 0.0], [0.0, 0.0]],
        [[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 7.0]],
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 5.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]],
    ],
)
def test_the_gradient_of_a_determinant_is_made_of_cofactors(
    rows: list[list[float]], device: str
) -> None:
    """Of singular matrices, too."""
    x, places = np.array(rows), range(len(rows))
    cofactors = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in places]
        for i in places
    ]
    given = tl.asarray(x.astype(np.float32))
    assert linalg.det(given).item() == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(tl.grad(linalg.det)(given).numpy(), cofactors, atol=1e-5)


def test_what_has_no_derivative() -> None:
    tall, wide = tl.asarray(TALL), tl.asarray(WIDE)
    with pytest.raises(tl.GradientError, match=r"svd: the full U and Vh of matrices \(2, 5, 3\)"):
        tl.grad(lambda x: tl.sum(linalg.svd(x).S))(tall)
    with pytest.raises(tl.GradientError, match=r"qr: the complete Q .* mode='reduced'"):
        tl.grad(lambda x: tl.sum(linalg.qr(x, mode="complete").R))(tall)
    for x, function in (
        (wide, lambda x: linalg.qr(x, mode="complete").R),  # the same as the reduced one
        (tl.asarray(S), lambda x: abs(linalg.svd(x).U)),
    ):
        assert np.isfinite(tl.grad(lambda x, f=function: tl.sum(f(x)))(x).numpy()).all()
    one = tl.ones((2, 2))
    with pytest.raises(LinAlgError, match="the gradient of slogdet: the matrix"):
        tl.grad(lambda x: linalg.slogdet(x).logabsdet)(one).numpy()


# ---- errors --------------------------------------------------------------------------------------


def test_singular_matrices(device: str) -> None:
    def told() -> AbstractContextManager[Any]:
        return pytest.warns(tl.NoKernelWarning) if device == "webgpu" else nullcontext()

    one = np.stack([np.eye(3, dtype=np.float32), np.ones((3, 3), np.float32)])
    x = tl.asarray(one).realize(device)
    found = linalg.inv(x)  # lazy: what is wrong is known when it is computed
    with told(), pytest.raises(LinAlgError, match=r"inv: the matrix at \[1\] of \(2, 3, 3\) is"):
        found.numpy()
    with told(), pytest.raises(RuntimeError, match=r"solve: .* 3 rows and the rank 1; take pinv"):
        linalg.solve(x, tl.ones(3)).numpy()
    with told(), pytest.raises(tl.LinAlgError, match=r"cholesky: .* its least eigenvalue is -1; "):
        linalg.cholesky(x * -1.0).numpy()
    with told(), pytest.raises(LinAlgError, match="solve_triangular: "):
        linalg.solve_triangular(x * 0.0, x, upper=True).numpy()
    wrong = tl.asarray(np.full((3, 3), np.nan, np.float32)).realize(device)
    with told(), pytest.raises(LinAlgError, match=r"svd: .* 9 elements are NaN or infinite"):
        linalg.svdvals(wrong).numpy()


def test_errors_that_are_told_by_info() -> None:
    x = tl.asarray(np.stack([np.eye(2) * 4, -np.ones((2, 2))]))
    inverse, info = linalg.inv_ex(x)
    assert info.tolist() == [0, 1]
    assert np.isnan(inverse.numpy()[1]).all() and inverse.numpy()[0, 0, 0] == 0.25
    factor, info = linalg.cholesky_ex(x)
    assert info.tolist() == [0, 1]
    assert np.isnan(factor.numpy()[1]).all() and factor.numpy()[0, 0, 0] == 2
    with pytest.raises(LinAlgError):
        spelled.inv_ex(x, check_errors=True).inverse.numpy()


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda: linalg.inv(tl.ones((2, 3))), tl.ShapeError, r"inv: .* not square: \(2, 3\)"),
        (lambda: linalg.inv(tl.ones(3)), tl.ShapeError, r"inv: takes matrices, .* not \(3,\)"),
        (lambda: linalg.svd(tl.ones((3, 3), tl.int32)), tl.DTypeError, "float64, not int32; cast"),
        (lambda: linalg.eigh(tl.ones((3, 3), "float16")), tl.DTypeError, "not float16; cast it"),
        (lambda: linalg.solve(tl.eye(3), tl.ones(2)), tl.ShapeError, r"solve: the rows of \(2,\)"),
        (lambda: linalg.solve(tl.eye(3), tl.ones(3, tl.float64)), tl.DTypeError, "of float64"),
        (lambda: linalg.solve(tl.ones((2, 3, 3)), tl.ones((4, 3, 1))), tl.ShapeError, "solve"),
        (lambda: linalg.qr(tl.eye(3), mode="full"), OptionError, "qr: mode 'full' is not"),
        (lambda: linalg.matrix_norm(tl.eye(3), ord=3), OptionError, "matrix_norm: ord 3 is not"),
        (lambda: linalg.vector_norm(tl.ones(3, tl.int32)), tl.DTypeError, "not int32"),
        (lambda: linalg.vector_norm(tl.ones(3), ord="fro"), OptionError, "'fro' is not a number"),
        (lambda: linalg.matrix_power(tl.ones((2, 3)), 2), tl.ShapeError, "not square"),
        (lambda: linalg.multi_dot([tl.eye(2)]), tl.ShapeError, "takes two or more matrices"),
        (lambda: linalg.cross(tl.ones(2), tl.ones(3)), tl.ShapeError, "must have 3"),
        (lambda: linalg.lstsq(tl.ones((3, 2)), tl.ones((2, 2))), tl.ShapeError, "lstsq: the rows"),
        (lambda: VALUES["cholesky"][0](tl.eye(3), lower=True), TypeError, "lower"),
        (lambda: spelled.eigh(tl.eye(3), "X"), OptionError, "UPLO 'X' is not 'L' or 'U'"),
        (lambda: spelled.norm(tl.ones((2, 2, 2)), 2), tl.ShapeError, "ord needs dim"),
        (lambda: spelled.norm(tl.ones(3), "nuc"), OptionError, "'nuc' is for matrices"),
        (lambda: spelled.matrix_norm(tl.eye(3), dim=(1, 1)), tl.ShapeError, "an axis stands twice"),
        (lambda: spelled.tensorinv(tl.ones((2, 3))), tl.ShapeError, "numbers of elements"),
    ],
)  # fmt: skip
def test_what_is_refused(function: Function, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        function()


# ---- devices, functions under jit ----------------------------------------------------------------


def test_a_gpu_leaves_the_plan_to_numpy_and_says_so(native: str) -> None:
    x = (tl.asarray(np.eye(7, dtype=np.float32)) * 4.0).realize("webgpu")
    says = "'webgpu' has no code for linalg.cholesky; what comes before runs on the device"
    with pytest.warns(tl.NoKernelWarning, match=says):
        factor = linalg.cholesky(x).realize()
    assert factor.device == "webgpu"
    assert (factor @ factor).numpy().tolist() == x.numpy().tolist()


def test_webassembly_leaves_the_step_to_numpy() -> None:
    x = input_node("x", (3, 3), tl.float32)
    y = tl.exp(linalg.inv(tl.Tensor(x) * 2.0)) + 1.0
    given = S[0, :3, :3].astype(np.float32)
    with tl.compile_session(Graph((x,), {"y": y.node}, "inverse"), "wasm") as session:
        hosted = [step.name for step in session.plan.run if not step.kernel]
        assert hosted == ["linalg.solve"]
        wanted = np.exp(np.linalg.inv(given * 2)) + 1
        np.testing.assert_allclose(session.run({"x": given})["y"], wanted, rtol=1e-4)
        assert "linalg.solve" in str(session.profile({"x": given}))


@pytest.mark.parametrize("on", ["numpy", "wasm"])
def test_under_jit(on: str) -> None:
    """A step of descent to the matrix whose inverse is given."""
    target = np.linalg.inv(POSITIVE[0, 0])
    guess = tl.Variable(POSITIVE[0, 0] + 0.1 * S[0])

    @tl.jit(device=on)
    def step() -> tl.Tensor:
        def loss(x: tl.Tensor) -> tl.Tensor:
            return linalg.matrix_norm(linalg.inv(x) - target) + linalg.slogdet(x).logabsdet * 0.0

        value, gradient = tl.value_and_grad(loss)(guess + 0.0)
        guess.assign(guess - 1e-3 * gradient)
        return value

    losses = [float(step().numpy()) for _ in range(3)]
    assert losses[0] > losses[1] > losses[2] > 0


def test_autocast_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tl.amp, "is_autocast_available", lambda device_type: True)
    x = tl.asarray(POSITIVE[0, 0]).astype("float16")
    with tl.autocast("cuda"):
        assert linalg.inv(x).dtype == tl.float32
        assert linalg.eigh(x).eigenvectors.dtype == tl.float32


def test_saving_is_refused(tmp_path: Any) -> None:
    with pytest.raises(tl.OnnxUnsupportedError, match="save: linalg"):
        tl.onnx.save(linalg.inv, tmp_path / "inv.onnx", inputs={"x": ((3, 3), "float32")})


# ---- one definition, two spellings ---------------------------------------------------------------


def test_norms_are_those_of_tensors() -> None:
    x = tl.asarray(TALL)
    for p in (2, 1, 3, math.inf):
        found = linalg.vector_norm(x, axis=1, ord=p)
        assert found.tolist() == x.norm(p, 1).tolist() == tl.norm(x, p, 1).tolist()
    assert spelled.norm(x).item() == linalg.vector_norm(x).item() == x.norm().item()


def test_torchs_spelling() -> None:
    x, many = tl.asarray(TALL), tl.asarray(SQUARE)
    assert issubclass(spelled.LinAlgError, RuntimeError) and spelled.LinAlgError is LinAlgError
    for ord, dim in ((None, (0, 2)), ("nuc", (2, 0)), (1, (-1, 1)), (3, 1), (math.inf, (0, 1))):
        for keep in (False, True):
            wanted = np.linalg.norm(TALL, ord, dim, keep)
            if ord is None:
                wanted = np.linalg.vector_norm(TALL, axis=dim, keepdims=keep)
            np.testing.assert_allclose(spelled.norm(x, ord, dim, keep).numpy(), wanted, rtol=1e-9)
    assert spelled.vector_norm(x, dtype="float32").dtype == tl.float32
    np.testing.assert_allclose(
        spelled.eigvalsh(many, "U").numpy(), np.linalg.eigvalsh(SQUARE, "U"), rtol=1e-9, atol=1e-9
    )
    q, r = spelled.qr(x, "r")
    assert (q.shape, r.shape) == ((0,), (2, 3, 3))
    each = np.random.default_rng(2).normal(size=(2, 3, 4))
    wanted = np.linalg.solve(SQUARE, each[..., None])[..., 0]
    np.testing.assert_allclose(spelled.solve(many, tl.asarray(each)).numpy(), wanted, rtol=1e-8)
    rows = np.random.default_rng(3).normal(size=(2, 3, 5, 4))
    np.testing.assert_allclose(
        (spelled.solve(many, tl.asarray(rows), left=False) @ many).numpy(), rows, rtol=1e-8
    )
    rank = spelled.matrix_rank(many, atol=1.0)
    assert rank.tolist() == (np.linalg.svd(SQUARE, compute_uv=False) > 1).sum(-1).tolist()
    np.testing.assert_allclose(
        spelled.pinv(x, atol=1.0).numpy(),
        np.linalg.pinv(TALL, 1 / np.linalg.svd(TALL, compute_uv=False)[:, 0]), rtol=1e-8,
    )  # fmt: skip
    four = np.random.default_rng(4).normal(size=(2, 6, 3, 4))
    np.testing.assert_allclose(
        spelled.tensorinv(tl.asarray(four)).numpy(), np.linalg.tensorinv(four), rtol=1e-8
    )
    right = four[:, :, 0, 0]
    np.testing.assert_allclose(
        spelled.tensorsolve(tl.asarray(four), tl.asarray(right)).numpy(),
        np.linalg.tensorsolve(four, right), rtol=1e-8,
    )  # fmt: skip


def test_torchs_names_outside_of_its_linalg() -> None:
    x, y = tl.asarray(POSITIVE), tl.asarray(SQUARE)
    inverse = np.linalg.inv(POSITIVE)
    factor, upper = x.cholesky(), tl.cholesky(x, True)
    rows = tl.asarray(RIGHT)
    for found, wanted in (
        (tl.inverse(x), inverse),
        (x.inverse(), inverse),
        (x.pinverse(), inverse),
        (tl.cholesky_inverse(factor), inverse),
        (upper.cholesky_inverse(True), inverse),
        (rows.cholesky_solve(factor), inverse @ RIGHT),
        (tl.cholesky_solve(rows, upper, upper=True), inverse @ RIGHT),
        (x.logdet(), np.linalg.slogdet(POSITIVE).logabsdet),
        (y.slogdet()[0], np.linalg.slogdet(SQUARE).sign),
        (y.det(), np.linalg.det(SQUARE)),
        (y.matrix_power(3), np.linalg.matrix_power(SQUARE, 3)),
        (tl.matrix_exp(y), linalg.matrix_exp(y).numpy()),
        (tl.dist(y, x, 3), np.linalg.vector_norm(SQUARE - POSITIVE, ord=3)),
        (tl.chain_matmul(y[0, 0], x[0, 0]), SQUARE[0, 0] @ POSITIVE[0, 0]),
    ):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-8, atol=1e-9)
    numbers = tl.logdet(tl.asarray([[[-1.0]], [[0.0]]])).numpy()
    assert np.isnan(numbers[0]) and numbers[1] == -np.inf


@pytest.mark.parametrize("axes", [(0, 2), (2, 0), (-1, 1), (-3, -1)])
@pytest.mark.parametrize("offset", [0, 1, -2])
def test_diagonals_of_any_axes(axes: tuple[int, int], offset: int) -> None:
    found = shapes.diagonal(tl.asarray(TALL), offset, *axes)
    np.testing.assert_array_equal(found.numpy(), np.diagonal(TALL, offset, *axes))
    np.testing.assert_array_equal(
        spelled.diagonal(tl.asarray(TALL), offset=offset, dim1=axes[0], dim2=axes[1]).numpy(),
        np.diagonal(TALL, offset, *axes),
    )


# ---- differences ---------------------------------------------------------------------------------


def test_differences() -> None:
    x = tl.asarray(TALL)
    np.testing.assert_array_equal(tl.diff(x).numpy(), np.diff(TALL))
    np.testing.assert_array_equal(tl.diff(x, axis=1, n=2).numpy(), np.diff(TALL, 2, 1))
    np.testing.assert_array_equal(tl.diff(x, 2, 1).numpy(), np.diff(TALL, 2, 1))
    np.testing.assert_array_equal(x.diff(dim=0).numpy(), np.diff(TALL, axis=0))
    first, last = TALL[:, :2], TALL[:, :1] * 2
    found = tl.diff(x, axis=1, n=2, prepend=tl.asarray(first), append=tl.asarray(last))
    np.testing.assert_array_equal(found.numpy(), np.diff(TALL, 2, 1, first, last))
    assert tl.diff(x, n=0) is x
    assert tl.diff(x, n=9).shape == (2, 5, 0)
    assert tl.diff(tl.asarray([True, False, False])).tolist() == [True, False]
    with pytest.raises(tl.ShapeError, match="diff"):
        tl.diff(x, axis=3)
    with pytest.raises(tl.ShapeError):
        tl.diff(x, append=tl.ones((2, 4, 1), tl.float64))
    with pytest.raises(OptionError, match="n must not be negative: -1"):
        tl.diff(x, n=-1)
