"""torch.nn.utils.parametrizations: weights of a given norm, and of spectral norm 1."""

from __future__ import annotations

from ... import functions as f
from ...errors import OptionError
from ...functional import normalize
from ...functions.products import norm
from ...grad_mode import no_grad
from ...tensor import Tensor
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
    """Computes a weight from the norms of its slices along an axis, `original0`, and a weight for
    their directions, `original1` (Salimans and Kingma 2016); returns the module. dim: None for one
    norm of the whole."""
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
    """Divides a weight by its greatest singular value, which the power method tracks while training
    (Miyato et al. 2018); returns the module. dim: the axis of results."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise OptionError(f"spectral_norm: {type(module).__name__} has no parameter {name!r}")
    made = _SpectralNorm(weight, n_power_iterations, default_axis(module, dim), eps)
    return register_parametrization(module, name, made)
