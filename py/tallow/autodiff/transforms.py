"""Derivatives of functions: `grad`, `value_and_grad`, `vjp`, `jvp`, as in JAX; and how a function
takes part in them: `stop_gradient`, `checkpoint`, `custom_vjp`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import functions as f
from ..errors import GradientError, ShapeError
from ..grad_mode import enable_grad, is_grad_enabled
from ..graph import Node, make, topological
from ..ops import movement
from ..tensor import Tensor, check_floating
from .hooks import joined
from .past import (
    Past,
    argument,
    backwards,
    computed_as,
    routed,
    same,
    stopped,
)
from .reverse import pullback
from .tensors import seed
from .trees import Structure, as_tensors, flatten, unflatten

T = TypeVar("T")


def _fresh(value: object, what: str) -> tuple[list[Tensor], Structure]:
    """The tensors of an argument as nodes of their own, so that a derivative by them is by the
    argument alone and not by all that has the same value; Python floats and arrays are tensors too.
    GradientError if there are none, or one is not floating."""
    tensors, structure = flatten(as_tensors(value))
    if not tensors and not isinstance(value, (tuple, list, dict)):
        raise GradientError(
            f"{what} is {type(value).__name__}, by which nothing is differentiated; give a "
            "floating tensor or a float"
        )
    for tensor in tensors:
        check_floating(tensor, what)
    return [Tensor(argument(tensor.node)) for tensor in tensors], structure


def _ended(value: T) -> T:
    """A value that was computed while gradients are tracked, for where they may not be."""
    return value if is_grad_enabled() else stop_gradient(value)


def _zeros(gradients: Sequence[Node | None], tensors: Sequence[Tensor]) -> list[Tensor]:
    return [
        f.zeros(x.shape, x.dtype) if node is None else Tensor(node)
        for node, x in zip(gradients, tensors, strict=True)
    ]


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives (value, gradient) of a function whose value is a single number.

    function: gives a single floating number, a tensor without axes.
    argnums: the positional arguments by which it is differentiated: a number, whose gradient has
      the structure of that argument (a tensor, or tuples, lists and dicts of tensors), or several,
      whose gradients are a tuple. Python floats and NumPy arrays in these arguments become tensors.
    has_aux: the function returns (value, something else), and the result is ((value, something
      else), gradient).
    Returns: a function of the same arguments. A call of it raises GradientError if the value is not
      a single floating number, or an argument not floating.
    Source: JAX, `jax.value_and_grad`.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        if any(not -len(args) <= n < len(args) for n in numbers):
            raise GradientError(f"grad: argnums {argnums} of a call with {len(args)} arguments")
        changed = list(args)
        structures: list[Structure] = []
        leaves: list[Tensor] = []
        for n in numbers:
            fresh, structure = _fresh(args[n], f"grad: argument {n}")
            changed[n] = unflatten(structure, fresh)
            structures.append(structure)
            leaves += fresh
        with enable_grad():
            result = function(*changed, **kwargs)
            value = result[0] if has_aux else result
            if not isinstance(value, Tensor):
                kind = type(value).__name__
                raise GradientError(f"grad: the function returns {kind}, not a tensor")
            start = seed(value, None, "grad")
            found = _zeros(pullback([value.node], [start], [x.node for x in leaves]), leaves)
        result, found = _ended(result), _ended(found)
        gradients, at = [], 0
        for structure in structures:
            gradients.append(unflatten(structure, found[at : at + structure.size]))
            at += structure.size
        return result, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return differentiated


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of a function whose value is a single number.

    function: gives a single floating number, a tensor without axes.
    argnums: the positional arguments by which it is differentiated, one or several; see
      `value_and_grad`.
    has_aux: the function returns (value, something else), and the result is (gradient, something
      else).
    Returns: a function of the same arguments. A call of it raises GradientError if the value is not
      a single floating number, or an argument not floating.
    Source: JAX, `jax.grad`.
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        result, gradient = both(*args, **kwargs)
        return (gradient, result[1]) if has_aux else gradient

    return differentiated


def vjp(
    function: Callable[..., Any], *primals: object
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of a function, and the product of a gradient with its transposed Jacobian.

    Value and primals may be tensors, or tuples, lists and dicts of them; Python floats and NumPy
    arrays become tensors.

    function: gives the value, of the primals.
    primals: the arguments at which it is differentiated.
    Returns: (value, pull); pull takes a gradient of the value to those of the primals, a tuple. It
      raises ShapeError for a gradient of another structure or shape.
    Raises: GradientError for a primal that is not floating.
    Source: JAX, `jax.vjp`.
    """
    leaves: list[Tensor] = []
    structures, changed = [], []
    for number, primal in enumerate(primals):
        fresh, structure = _fresh(primal, f"vjp: primal {number}")
        changed.append(unflatten(structure, fresh))
        structures.append(structure)
        leaves += fresh
    with enable_grad():
        value = function(*changed)
    outputs, shape = flatten(value)

    def pull(cotangent: object) -> tuple[Any, ...]:
        given, other = flatten(as_tensors(cotangent))
        if other.key != shape.key:
            raise ShapeError("vjp: the gradient must have the structure of the function's value")
        starts = [seed(x, g, "vjp") for x, g in zip(outputs, given, strict=True)]
        with enable_grad():
            nodes = pullback([x.node for x in outputs], starts, [x.node for x in leaves])
        found, results, at = _ended(_zeros(nodes, leaves)), [], 0
        for structure in structures:
            results.append(unflatten(structure, found[at : at + structure.size]))
            at += structure.size
        return tuple(results)

    return _ended(value), pull


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """The value of a function, and the product of its Jacobian with the tangents.

    It is reverse mode twice: the gradient is linear in the cotangent, and its own gradient by that
    is the Jacobian itself. Graphs are lazy, so the first reverse pass is not computed.

    function: gives the value, of the primals.
    primals: the arguments at which it is differentiated.
    tangents: a direction for each primal, in its structure and shape.
    Returns: (value, tangent), in the structure of the function's value.
    Raises: ShapeError for tangents that do not fit the primals, GradientError for a primal that is
      not floating.
    Source: Townsend 2017, "A new trick for calculating Jacobian vector products"; JAX, `jax.jvp`.
    """
    with enable_grad():
        value, pull = vjp(function, *primals)
        outputs, structure = flatten(value)
        dummies = [Tensor(argument(f.zeros(x.shape, x.dtype).node)) for x in outputs]
        linear, _ = flatten(list(pull(unflatten(structure, dummies))))
        given, _ = flatten(as_tensors(list(tangents)))
        if [x.shape for x in given] != [x.shape for x in linear]:
            raise ShapeError(
                f"jvp: tangents {[x.shape for x in given]} for primals {[x.shape for x in linear]}"
            )
        starts = [seed(x, g, "jvp") for x, g in zip(linear, given, strict=True)]
        found = pullback([x.node for x in linear], starts, [x.node for x in dummies])
        tangent = unflatten(structure, _zeros(found, dummies))
    return _ended(value), _ended(tangent)


def stop_gradient(x: T) -> T:
    """The same values, which no gradient passes.

    x: a tensor, or tuples, lists and dicts of tensors.
    Returns: the values, in the structure of x.
    Source: JAX, `jax.lax.stop_gradient`.
    """
    tensors, structure = flatten(x)
    found: T = unflatten(structure, [Tensor(stopped(each.node)) for each in tensors])
    return found


def checkpoint(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs), whose intermediate results are computed again for the gradient
    instead of being kept.

    Parameters may be used within the function as well.

    function: what is computed twice.
    args, kwargs: its arguments; tensors may be among them, in tuples, lists and dicts too.
    Returns: what the function gives, with tensors in tuples, lists and dicts too.
    Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost".
    """
    given, structure = flatten((args, kwargs))
    fresh = [Tensor(same(x.node)) for x in given]
    changed_args, changed_kwargs = unflatten(structure, fresh)
    value = function(*changed_args, **changed_kwargs)
    outputs, shape = flatten(value)
    inside = _inside([x.node for x in outputs], [x.node for x in fresh])
    around = (child for node in inside for child in (*node.inputs, *backwards(node)))
    edge = dict.fromkeys(child for child in around if child not in inside)
    entries = [node for node in edge if node.dtype.is_floating]

    def kept(output: Tensor) -> Tensor:
        if output.node not in inside or not output.dtype.is_floating:
            return output
        end = output.node  # a tensor that the closure held would count as a user tensor
        found = same(end)

        def pull(gradient: Tensor, result: Tensor, *given: Tensor) -> Sequence[Tensor | None]:
            new = dict(zip(entries, given, strict=True))
            return _again(end, inside, new, gradient)

        found.past = routed(entries, pull, entries)
        return Tensor(found)

    return unflatten(shape, [kept(x) for x in outputs])


def _inside(outputs: Sequence[Node], starts: Sequence[Node]) -> dict[Node, None]:
    """The nodes between, and those that their gradients need, in topological order; the starts are
    not among them."""
    wanted = dict.fromkeys(outputs)
    while True:
        reached = set(starts)
        inside: dict[Node, None] = {}
        for node in topological(wanted):
            if node not in reached and any(child in reached for child in node.inputs):
                reached.add(node)
                inside[node] = None
        routes = [node.past.route for node in inside if node.past and node.past.route]
        needed = dict.fromkeys(node for each in routes for node in (*each.operands, *each.saved))
        if needed.keys() <= wanted.keys() | inside.keys():
            return inside
        wanted |= needed


def _again(
    output: Node, inside: dict[Node, None], entries: dict[Node, Tensor], gradient: Tensor
) -> Sequence[Tensor | None]:
    """The gradients of the entries, through a copy of what is inside, which is computed from them
    once the gradient has arrived."""
    with enable_grad():
        copies = [make(movement.after, x.node, gradient.node) for x in entries.values()]
        new = dict(zip(entries, copies, strict=True))
        for node in inside:
            op, inputs, attrs = computed_as(node)
            made = make(op, *(new.get(child, child) for child in inputs), **dict(attrs.items()))
            past: Past | None = node.past
            if past is not None and (past.route or past.hooks):
                made.past = Past(route=past.route and past.route.replaced(new), hooks=past.hooks)
            new[node] = made
    found = pullback([new[output]], [gradient.node], copies)
    return [None if node is None else Tensor(node) for node in found]


class CustomVjp:
    """A function with a gradient of its own; see `custom_vjp`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Sets the rule of the gradient.

        forward: of the arguments; gives (value, residuals), where residuals are what the gradient
          needs.
        backward: of (residuals, gradient); gives a gradient for each argument, or None.
        """
        self._forward, self._backward = forward, backward

    def __call__(self, *args: object) -> Any:
        if self._forward is None or self._backward is None:
            raise GradientError(f"custom_vjp: {self._function.__name__} has no rule; call defvjp")
        backward, name = self._backward, self._function.__name__
        value, residuals = self._forward(*args)
        if not is_grad_enabled():
            return value
        outputs, shape = flatten(value)
        saved, kept = flatten(residuals)
        given, _ = flatten(list(args))

        def pull(gradients: list[Tensor], *saved: Tensor) -> list[Tensor | None]:
            left = iter(gradients)
            every = [next(left) if x.dtype.is_floating else x for x in outputs]
            found = backward(unflatten(kept, saved), unflatten(shape, every))
            found = found if isinstance(found, (tuple, list)) else (found,)
            if len(found) != len(args):
                raise GradientError(
                    f"custom_vjp: the rule of {name} gives {len(found)} gradients for {len(args)} "
                    "arguments"
                )
            parts: list[Tensor | None] = []
            for gradient, given_to in zip(found, args, strict=True):
                parts += _parts(gradient, given_to, name)
            return parts

        floating = [x for x in outputs if x.dtype.is_floating]
        new = iter(joined(floating, [x.node for x in given], pull, [x.node for x in saved]))
        return unflatten(shape, [next(new) if x.dtype.is_floating else x for x in outputs])


def _parts(gradient: object, given_to: object, name: str) -> list[Tensor | None]:
    """The gradients of the tensors in an argument. Raises GradientError for other shapes."""
    tensors, _ = flatten(given_to)
    if gradient is None or not tensors:
        return [None] * len(tensors)
    found, _ = flatten(as_tensors(gradient))
    if [x.shape for x in found] != [x.shape for x in tensors]:
        raise GradientError(
            f"custom_vjp: the rule of {name} gives gradients of the shapes "
            f"{[x.shape for x in found]} for {[x.shape for x in tensors]}"
        )
    return [*found]


def custom_vjp(function: Callable[..., Any]) -> CustomVjp:
    """A function with a user-defined gradient rule, given by `defvjp`, as in JAX.

        @tl.custom_vjp
        def clipped(x):
            return x

        clipped.defvjp(lambda x: (x, None), lambda _, g: (tl.clip(g, -1, 1),))

    function: what is computed; `defvjp` gives another form of it, which also keeps residuals.
    Returns: the function; without a rule, a call of it raises GradientError.
    Source: JAX, `jax.custom_vjp`.
    """
    return CustomVjp(function)
