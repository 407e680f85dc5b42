"""torch.autograd.functional: derivatives of functions, whole matrices of them among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tallow as tl
from tallow import autograd

from ..errors import ShapeError
from ..tensor import Tensor

Function = Callable[..., Any]
Tensors = Tensor | Sequence[Tensor]


def _taken(inputs: Tensors) -> tuple[Tensor, ...]:
    """The inputs, as tensors by which derivatives are taken."""
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return tuple(x + 0.0 if x.requires_grad else x.detach().requires_grad_() for x in given)


def _like(inputs: Tensors, found: Sequence[Tensor]) -> Tensor | tuple[Tensor, ...]:
    return found[0] if isinstance(inputs, Tensor) else tuple(found)


def _row(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> list[Tensor]:
    if not output.requires_grad:
        return [tl.zeros_like(x) for x in inputs]
    found = autograd.grad(
        output, inputs, retain_graph=True, create_graph=create_graph, allow_unused=True
    )
    return [tl.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def jacobian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each element of a function's result by each element of its inputs, in the
    shape of the result and then of the input; of several, tuples of them."""
    given = _taken(inputs)
    results = func(*given)
    found = []
    for result in (results,) if isinstance(results, Tensor) else results:
        flat = tl.reshape(result, (-1,))
        rows = [_row(flat[n], given, create_graph) for n in range(int(result.size))]
        whole = [
            tl.reshape(tl.stack([row[n] for row in rows]), (*result.shape, *x.shape))
            for n, x in enumerate(given)
        ]
        found.append(_like(inputs, whole))
    return found[0] if isinstance(results, Tensor) else tuple(found)


def hessian(
    func: Function,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a single number by its inputs. Raises ShapeError for a function of
    another result."""

    def gradient(*args: Tensor) -> Any:
        result = func(*args)
        if result.size != 1:
            raise ShapeError(f"hessian: the function gives {result.shape}, not one number")
        return tuple(_row(tl.reshape(result, ()), args, True))

    found = jacobian(gradient, (inputs,) if isinstance(inputs, Tensor) else inputs, create_graph)
    return found[0][0] if isinstance(inputs, Tensor) else found


def vjp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Tensor | tuple[Tensor, ...]]:
    """(result, product): what a function of tensors gives, and v, in its shape, times its Jacobian,
    in the shape of the inputs."""
    given = _taken(inputs)
    result = func(*given)
    vectors = None if v is None else [v] if isinstance(v, Tensor) else list(v)
    ends = [result] if isinstance(result, Tensor) else list(result)
    found = autograd.grad(ends, given, vectors, create_graph=create_graph, allow_unused=True)
    whole = [tl.zeros_like(x) if g is None else g for g, x in zip(found, given, strict=True)]
    return result, _like(inputs, whole)


def jvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """(result, product): what a function of tensors gives, and its Jacobian times v, in the shape
    of the inputs; the product has that of the result."""
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    vectors = [tl.ones_like(x) for x in given] if v is None else _listed(v)
    return tl.jvp(func, list(given), vectors)


def _listed(v: Tensors) -> list[Tensor]:
    return [v] if isinstance(v, Tensor) else list(v)


def hvp(
    func: Function,
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Tensor | tuple[Tensor, ...]]:
    """(result, Hessian times vector) of a single number."""
    given = _taken(inputs)
    result = func(*given)
    first = _row(tl.reshape(result, ()), given, True)
    vectors = [tl.ones_like(x) for x in given] if v is None else _listed(v)
    total = tl.asarray(0.0)
    for gradient, vector in zip(first, vectors, strict=True):
        total = total + (gradient * vector).sum()
    return result, _like(inputs, _row(total, given, create_graph))


vhp = hvp
"""The Hessian is symmetric."""

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
