"""torch.nn.utils: gradients clipped, parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from .. import functions as f
from ..autodiff.history import no_grad
from ..errors import OptionError, ShapeError
from ..runtime.variable import Variable, assign_together
from ..tensor import Tensor, realize_now


def _with_gradients(parameters: Variable | Iterable[Variable]) -> list[tuple[Variable, Tensor]]:
    given = [parameters] if isinstance(parameters, Variable) else list(parameters)
    return [(p, p.grad) for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Variable | Iterable[Variable], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Shortens all gradients together to a norm of at most `max_norm` (Pascanu et al. 2013).

    norm_type: p of the p-norm; infinity for the largest element. Gives the norm that they had.
    """
    found = _with_gradients(parameters)
    if not found:
        return f.zeros(())
    with no_grad():
        sizes = [f.abs(gradient).astype("float32") for _, gradient in found]
        if norm_type == float("inf"):
            total = f.max(f.stack([f.max(size) for size in sizes]))
        else:
            powers = [f.sum(f.pow(size, norm_type)) for size in sizes]
            total = f.pow(f.sum(f.stack(powers)), 1 / norm_type)
        factor = f.minimum(max_norm / (total + 1e-6), 1.0)
        changed = [gradient * factor.astype(gradient.dtype) for _, gradient in found]
    realize_now([total, *changed])
    for (parameter, _), gradient in zip(found, changed, strict=True):
        parameter.grad = gradient
    return total


def clip_grad_value_(parameters: Variable | Iterable[Variable], clip_value: float) -> None:
    """Keeps every element of the gradients within -clip_value and clip_value."""
    if clip_value < 0:
        raise OptionError(f"clip_grad_value_: {clip_value} is negative")
    found = _with_gradients(parameters)
    with no_grad():
        changed = [f.clip(gradient, -clip_value, clip_value) for _, gradient in found]
    realize_now(changed)
    for (parameter, _), gradient in zip(found, changed, strict=True):
        parameter.grad = gradient


def parameters_to_vector(parameters: Iterable[Variable]) -> Tensor:
    """All elements of all parameters, one after the other."""
    return f.concat([f.reshape(p, (-1,)) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Variable]) -> None:
    """Gives parameters the elements of a vector. ShapeError if there are not as many."""
    given = list(parameters)
    if vec.shape != (sum(p.size for p in given),):
        raise ShapeError(f"vector_to_parameters: {vec.shape} for {sum(p.size for p in given)}")
    pairs, start = [], 0
    for p in given:
        pairs.append((p, f.reshape(vec[start : start + p.size], p.shape)))
        start += p.size
    assign_together(pairs)
