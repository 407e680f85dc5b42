"""weight_norm and spectral_norm under the names that PyTorch had first: a weight becomes
`weight_g` and `weight_v`, or `weight_orig`, `weight_u` and `weight_v`."""

from __future__ import annotations

from ... import functions as f
from ...errors import OptionError
from ...grad_mode import no_grad
from ...tensor import Tensor
from ..module import Module
from ..parameter import Buffer, Parameter
from .parametrizations import as_matrix, default_axis, iterate, norms_along, of_norms, unit
from .parametrize import give_property, take_property


def _taken(module: Module, name: str, what: str) -> Parameter:
    """The parameter of a name, which the module has no longer. OptionError if there is none."""
    weight = module._parameters.get(name)
    if weight is None:
        raise OptionError(f"{what}: {type(module).__name__} has no parameter {name!r}")
    delattr(module, name)
    return weight


def _given_back(module: Module, name: str, parts: tuple[str, ...], what: str) -> Module:
    """The module, with a parameter of the present value instead of what it is computed from."""
    if parts[0] not in module._parameters:
        raise OptionError(f"{what}: {name!r} of {type(module).__name__} has no such norm")
    with no_grad():
        value = getattr(module, name).detach()
    take_property(module, name)
    for part in parts:
        delattr(module, part)
    module.register_parameter(name, Parameter(value))
    return module


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Computes a weight from the norms of its slices along an axis, `weight_g`, and a weight for
    their directions, `weight_v` (Salimans and Kingma 2016); returns the module."""
    weight = _taken(module, name, "weight_norm")
    with no_grad():
        norms = norms_along(weight, dim).detach()
    module.register_parameter(f"{name}_g", Parameter(norms))
    module.register_parameter(f"{name}_v", weight)

    def computed(module: Module) -> Tensor:
        return of_norms(getattr(module, f"{name}_g"), getattr(module, f"{name}_v"), dim)

    give_property(module, name, computed)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Removes a `weight_norm`; returns the module. Raises OptionError if there is none."""
    return _given_back(module, name, (f"{name}_g", f"{name}_v"), "remove_weight_norm")


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight, `weight_orig`, by its greatest singular value, which the power method
    tracks while training (Miyato et al. 2018); returns the module. dim: the axis of results."""
    axis = default_axis(module, dim)
    weight = _taken(module, name, "spectral_norm")
    with no_grad():
        rows, columns = as_matrix(weight, axis).shape
    module.register_parameter(f"{name}_orig", weight)
    module.register_buffer(f"{name}_u", Buffer(unit(rows, eps)))
    module.register_buffer(f"{name}_v", Buffer(unit(columns, eps)))

    def computed(module: Module) -> Tensor:
        parts = [getattr(module, f"{name}_{part}") for part in ("orig", "u", "v")]
        matrix = as_matrix(parts[0], axis)
        if module.training:
            iterate(matrix, parts[1], parts[2], n_power_iterations, eps, True)
        divided: Tensor = parts[0] / f.sum(parts[1] * (matrix @ parts[2]))
        return divided

    give_property(module, name, computed)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Removes a `spectral_norm`; returns the module. Raises OptionError if there is none."""
    mode = module.training
    object.__setattr__(module, "training", False)  # the singular value stays as it is
    parts = (f"{name}_orig", f"{name}_u", f"{name}_v")
    _given_back(module, name, parts, "remove_spectral_norm")
    object.__setattr__(module, "training", mode)
    return module
