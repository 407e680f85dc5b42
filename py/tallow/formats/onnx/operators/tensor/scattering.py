"""Operators that write elements at indices.

The host computes cases that would take a GPU too many steps, and strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..... import functions as f
from .....core.shape import check_axis, size_of
from .....errors import OnnxFormatError
from .....functions import arrange
from .....functions.arrange import scatter_rows
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator
from .gathering import check_range, flat_indices

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


def _reduction(call: Call, since: int) -> str:
    if call.opset < since:
        return "none"
    if call.opset < 18:
        return call.choice("reduction", "none", "add", "mul")
    return call.choice("reduction", "none", "add", "mul", "max", "min")


@operator("ScatterElements", since=11)
def scatter_elements(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """updates[i, j] goes to x[indices[i, j], j] for axis 0, and so on; the last update wins."""
    axis = check_axis(call.get("axis", int, 0), x.ndim, "scatter")
    if indices.shape != updates.shape or indices.ndim != x.ndim:
        raise OnnxFormatError(
            f"indices {indices.shape} and updates {updates.shape} do not fit {x.shape}"
        )
    check_range(indices, x.shape[axis])
    shape = tuple(x.shape[a] if a == axis else n for a, n in enumerate(indices.shape))
    if any(n > x.shape[a] for a, n in enumerate(shape)):
        raise OnnxFormatError(f"indices {indices.shape} reach beyond {x.shape}")
    return arrange.scatter_elements(x, axis, indices, updates, _reduction(call, 16))


@operator("Scatter", since=9)
def scatter(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """The name of ScatterElements before opset 11."""
    return scatter_elements(call, x, indices, updates)


@operator("ScatterND", since=11)
def scatter_nd(call: Call, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """updates[..., :] goes to x[indices[..., 0], indices[..., 1], ..., :]."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 < depth <= x.ndim or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        raise OnnxFormatError(
            f"indices {indices.shape} and updates {updates.shape} do not fit {x.shape}"
        )
    lead, rest = x.shape[:depth], size_of(x.shape[depth:])
    offsets = flat_indices(indices, lead, False)
    reduction = _reduction(call, 16)
    written = scatter_rows(
        f.reshape(x, (1, size_of(lead), rest)),
        f.reshape(offsets, (1, offsets.size)),
        f.reshape(updates, (1, offsets.size, rest)),
        reduction,
    )
    return f.reshape(written, x.shape)


_JOINS = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}


def _written(np: NumPy, x: Array, at: tuple[Any, ...], updates: Array, reduction: str) -> Array:
    result = x.copy()
    try:
        if reduction == "none":
            result[at] = updates
        else:
            getattr(np, _JOINS[reduction]).at(result, at, updates)
    except IndexError as error:
        raise OnnxFormatError(str(error)) from error
    return result


@host_operator("ScatterElements", since=11)
def _scatter_elements_on_host(
    call: Call, np: NumPy, x: Array, indices: Array, updates: Array
) -> Array:
    axis = check_axis(call.get("axis", int, 0), x.ndim, "scatter")
    if indices.shape != updates.shape or indices.ndim != x.ndim:
        raise OnnxFormatError(
            f"indices {indices.shape} and updates {updates.shape} do not fit {x.shape}"
        )
    at = list(np.indices(indices.shape, sparse=True))
    at[axis] = indices
    return _written(np, x, tuple(at), updates, _reduction(call, 16))


@host_operator("Scatter", since=9)
def scatter_on_host(call: Call, np: NumPy, x: Array, indices: Array, updates: Array) -> Array:
    """The name of ScatterElements before opset 11."""
    return _scatter_elements_on_host(call, np, x, indices, updates)


@host_operator("ScatterND", since=11)
def _scatter_nd_on_host(call: Call, np: NumPy, x: Array, indices: Array, updates: Array) -> Array:
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 < depth <= x.ndim or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        raise OnnxFormatError(
            f"indices {indices.shape} and updates {updates.shape} do not fit {x.shape}"
        )
    at = tuple(np.moveaxis(indices, -1, 0))
    return _written(np, x, at, updates, _reduction(call, 16))
