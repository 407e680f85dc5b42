"""torch.nn.utils: gradients clipped, parameters as one vector, weights of a norm; `rnn`: packed
sequences; `parametrize`, `parametrizations`: parameters computed from others; `fusion`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ... import functions as f
from ...binding import getter
from ...errors import NonFiniteError, OptionError, ShapeError
from ...functions.products import norm
from ...grad_mode import no_grad
from ...runtime.variable import Variable, assign_together
from ...tensor import Tensor, realize_now
from . import rnn as rnn

__getattr__ = getter(globals(), "nn.utils", packages="fusion parametrizations parametrize")


def _with_gradients(parameters: Tensor | Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [(p, p.grad) for p in given if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all elements of some tensors, in float32, without axes.

    norm_type: p of the p-norm of the p-norms; infinity for the largest element. foreach changes
    nothing.
    error_if_nonfinite: NonFiniteError if the norm is infinite or not a number, for which it is read
    back, so that it cannot be asked for under `@tl.jit`.
    """
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not found:
        return f.zeros(())
    p = float(norm_type)  # of "inf" too
    with no_grad():
        total = norm(f.stack([norm(x.astype("float32"), p) for x in found]), p)
    if error_if_nonfinite and not math.isfinite(value := float(total)):
        raise NonFiniteError(
            f"the norm of the gradients is {value}, so that they cannot be clipped; "
            "tl.debug_nans(True) names the op that made it so, or give error_if_nonfinite=False"
        )
    return total


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float | str = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Shortens all gradients together to a norm of at most `max_norm` (Pascanu et al. 2013); gives
    the norm that they had. The rest is as of `get_total_norm`."""
    found = _with_gradients(parameters)
    gradients = [gradient for _, gradient in found]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite, foreach)
    _shorten(found, max_norm, total)
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Shortens gradients whose norm, total_norm, is known already to max_norm: see
    `clip_grad_norm_`."""
    _shorten(_with_gradients(parameters), max_norm, total_norm)


def _shorten(found: Sequence[tuple[Tensor, Tensor]], max_norm: float, total: Tensor) -> None:
    if not found:
        return
    with no_grad():
        factor = f.minimum(max_norm / (total + 1e-6), 1.0)
        changed = [gradient * factor.astype(gradient.dtype) for _, gradient in found]
    realize_now([total, *changed])
    for (parameter, _), gradient in zip(found, changed, strict=True):
        parameter.grad = gradient


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Keeps every element of the gradients within -clip_value and clip_value; foreach changes
    nothing."""
    if clip_value < 0:
        raise OptionError(f"clip_grad_value_: {clip_value} is negative; give the largest size")
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
    """Copies the elements of a vector into parameters. ShapeError if there are not as many."""
    given = list(parameters)
    if vec.shape != (sum(p.size for p in given),):
        raise ShapeError(f"vector_to_parameters: {vec.shape} for {sum(p.size for p in given)}")
    pairs, start = [], 0
    for p in given:
        pairs.append((p, f.reshape(vec[start : start + p.size], p.shape)))
        start += p.size
    assign_together(pairs)
