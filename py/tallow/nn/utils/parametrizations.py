"""torch.nn.utils.parametrizations: weights of a given norm, of spectral norm 1, orthogonal ones."""

from __future__ import annotations

from ... import functions as f
from ...errors import MissingError, OptionError, ShapeError
from ...functional import normalize
from ...functions import linalg
from ...functions.products import norm
from ...grad_mode import no_grad
from ...tensor import Tensor, asarray
from ..convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from ..parameter import Buffer
from .parametrize import register_parametrization


def norms_along(v: Tensor, dim: int | None) -> Tensor:
    """The 2-norm of each slice along an axis, whose other axes have length 1; None, as -1: of the
    whole."""
    if dim is None or dim == -1:
        return norm(v)
    return norm(v, 2, [axis for axis in range(v.ndim) if axis != dim % v.ndim], True)


def of_norms(g: Tensor, v: Tensor, dim: int | None) -> Tensor:
    """v, whose slices along an axis get the norms g (Salimans and Kingma 2016)."""
    return v * (g / norms_along(v, dim))


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return of_norms(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norms_along(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Computes a weight from now on from the norms of its slices along an axis, `original0`, and
    from their directions, `original1`.

    module: the module that has the weight.
    name: the name of the weight.
    dim: the axis of the slices; None is one norm of the whole.
    Returns: the module itself.
    Raises: OptionError for a parameter that the module doesn't have.
    Source: Salimans and Kingma 2016; PyTorch, `torch.nn.utils.parametrizations.weight_norm`.
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def default_axis(module: Module, dim: int | None) -> int:
    """The axis of a weight that has its results: that of columns in transposed convolutions."""
    if dim is not None:
        return dim
    return int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix whose rows are its slices along an axis."""
    turned = f.moveaxis(weight, dim, 0) if dim % weight.ndim else weight
    return f.reshape(turned, (turned.shape[0], -1))


def unit(size: int, eps: float) -> Tensor:
    """A random vector of length 1."""
    return normalize(f.randn(size), axis=0, eps=eps)


def iterate(matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float, first_v: bool) -> None:
    """Moves buffers u and v towards the singular vectors of the greatest singular value, by the
    power method. first_v: v moves first."""
    with no_grad():
        new_u, new_v = u + 0.0, v + 0.0
        for _ in range(times):
            if first_v:
                new_v = normalize(matrix.mT @ new_u, axis=0, eps=eps)
            new_u = normalize(matrix @ new_v, axis=0, eps=eps)
            if not first_v:
                new_v = normalize(matrix.mT @ new_u, axis=0, eps=eps)
        u.copy_(new_u)
        v.copy_(new_v)


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if n_power_iterations < 1:
            raise OptionError(f"spectral_norm: {n_power_iterations} iterations; give 1 or more")
        self.dim, self.eps, self.n_power_iterations = dim, eps, n_power_iterations
        if weight.ndim > 1:
            with no_grad():
                matrix = as_matrix(weight, dim)
            rows, columns = matrix.shape
            self._u, self._v = Buffer(unit(rows, eps)), Buffer(unit(columns, eps))
            iterate(matrix, self._u, self._v, 15, eps, False)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, axis=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            iterate(matrix, self._u, self._v, self.n_power_iterations, self.eps, False)
        return weight / f.sum(self._u * (matrix @ self._v))


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight from now on by its greatest singular value, which the power method follows
    while training.

    module: the module that has the weight.
    name: the name of the weight.
    n_power_iterations: steps of the power method whenever the weight is computed in training, 1 or
      more.
    eps: the least divisor where a vector is brought to length 1.
    dim: the axis of results; None is 1 for transposed convolutions, else 0.
    Returns: the module itself.
    Raises: OptionError for a parameter that the module doesn't have, and for fewer than one
      iteration.
    Source: Miyato et al. 2018; PyTorch, `torch.nn.utils.parametrizations.spectral_norm`.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise OptionError(f"spectral_norm: {type(module).__name__} has no parameter {name!r}")
    made = _SpectralNorm(weight, n_power_iterations, default_axis(module, dim), eps)
    return register_parametrization(module, name, made)


def _as_tall(x: Tensor) -> Tensor:
    """Matrices, transposed if they are wide."""
    return x.mT if x.shape[-2] < x.shape[-1] else x


def _orthonormal(x: Tensor) -> Tensor:
    """Orthonormal columns that span those of matrices, each on the side of its column."""
    q, r = linalg.qr(x)
    return q * f.sign(linalg.diagonal(r))[..., None, :]


def _reflected(x: Tensor) -> Tensor:
    """The first columns of a product of reflections, whose vectors are the columns of x below the
    diagonal and 1 on it; each with the sign that x has on the diagonal. The product is I - V T V',
    and the inverse of T is known (Schreiber and Van Loan 1989; Puglisi 1992)."""
    one = f.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)
    v = f.tril(x, k=-1) + one
    products = v.mT @ v
    inverse = f.triu(products, k=1) + 0.5 * products * one[: one.shape[1]]
    top = v[..., : v.shape[-1], :]
    signs = f.sign(linalg.diagonal(x).detach())
    return (one - v @ linalg.solve_triangular(inverse, top.mT, upper=True)) * signs[..., None, :]


class _Orthogonal(Module):
    def __init__(self, kind: str, trivial: bool) -> None:
        super().__init__()
        self.kind, self.trivial = kind, trivial

    def forward(self, original: Tensor) -> Tensor:
        x = _as_tall(original)
        n, k = x.shape[-2:]
        if self.kind == "householder":
            q = _reflected(x)
        else:
            lower = f.pad(f.tril(x), [(0, 0)] * (x.ndim - 1) + [(0, n - k)])
            skew = lower - lower.mT
            if self.kind == "matrix_exp":
                q = linalg.matrix_exp(skew)
            else:
                half, one = 0.5 * skew, f.eye(n, dtype=x.dtype)
                q = linalg.solve(one - half, one + half)
            q = q[..., :k]
        q = self.base @ q if self.trivial else q
        return q.mT if q.shape != original.shape else q

    def right_inverse(self, weight: Tensor) -> Tensor:
        q = _as_tall(weight)
        n, k = q.shape[-2:]
        with no_grad():
            if self.trivial:
                one = f.eye(k, dtype=q.dtype)
                if n != k or not f.allclose(q.mT @ q, one, atol=1.2e-6 * n):
                    q = _orthonormal(f.concat([q, f.randn((*q.shape[:-1], n - k))], axis=-1))
                self.base = Buffer(q * 1.0)
                m, n = weight.shape[-2:]
                return f.zeros_like(weight) - f.eye(m, n, dtype=weight.dtype)
            if self.kind != "householder":
                raise MissingError("orthogonal: use_trivialization=False takes no weight")
            import numpy as np

            raw, scale = np.linalg.qr(q.numpy(), mode="raw")
            signs = np.sign(np.diagonal(raw, axis1=-2, axis2=-1)) * np.where(scale == 0, -1, 1)
            found = asarray(np.ascontiguousarray(raw.swapaxes(-1, -2)))
            found = f.where(f.eye(n, k, dtype="bool"), asarray(signs)[..., None, :], found)
            found = found.astype(weight.dtype)
            return found.mT if found.shape != weight.shape else found


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Makes the columns of a weight orthonormal from now on; its rows, if they are fewer.

    module: the module that has the weight, a matrix or a batch of them (..., m, n).
    name: the name of the weight.
    orthogonal_map: how what is trained becomes orthogonal: "matrix_exp" and "cayley" of a
      skew-symmetric matrix, or "householder", by reflections; None is "matrix_exp" of square
      matrices, "householder" of others.
    use_trivialization: begins with the weight, made orthonormal, which a buffer `base` holds.
    Returns: the module itself.
    Raises: OptionError for another map, and for a parameter that the module doesn't have;
      ShapeError for a vector.
    Source: Lezcano-Casado 2019, "Trivializations for Gradient-Based Optimization on Manifolds";
      PyTorch, `torch.nn.utils.parametrizations.orthogonal`.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise OptionError(f"orthogonal: {type(module).__name__} has no parameter {name!r}")
    if weight.ndim < 2:
        raise ShapeError(f"orthogonal: {weight.shape} has fewer than two axes")
    square = weight.shape[-1] == weight.shape[-2]
    kind = orthogonal_map or ("matrix_exp" if square else "householder")
    if kind not in ("matrix_exp", "cayley", "householder"):
        raise OptionError(f"orthogonal: {kind!r} is not matrix_exp, cayley or householder")
    made = _Orthogonal(kind, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
