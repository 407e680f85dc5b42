"""PyTorch's spelling of a call: its names of arguments, `out`, and a TypeError for other names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from ..binding import own_name, parameters
from ..errors import ArgumentError
from ..tensor import Tensor

Out = Tensor | Sequence["Out"]
"""What `out` may be: a tensor for each result."""

_NEEDLESS = frozenset({"layout", "pin_memory", "memory_format", "non_blocking", "out_dtype"})
"""Arguments that change nothing here: there is one layout, and memory is the device's."""


def _arranged(
    what: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments under the names that a definition has for them."""
    names, takes_others = parameters(function)
    placed, named = list(args), {}
    for key, value in options.items():
        if key in names:
            named[key] = value
            continue
        own = own_name(key, names, len(placed))
        if own is not None and own not in named:
            named[own] = value
        elif takes_others:
            named[key] = value
        elif key not in _NEEDLESS:
            known = ", ".join(names)
            raise ArgumentError(f"{what}() takes no argument {key!r}; it takes {known}")
    if not placed and names and names[0] in named:  # a method takes its tensor by its place
        placed.append(named.pop(names[0]))
    return placed, named


def spelled(what: str, function: Callable[..., Any], method: bool = False) -> Callable[..., Any]:
    """A definition of Tallow's, called as PyTorch's function of that name is called.

    what: what errors call it. method: whether it is a tensor's, so that the first argument is one.
    Arguments have PyTorch's names, or the definition's own. `out` is a tensor that is changed to
    the result. Raises ArgumentError, a TypeError, for another name, and for another first argument.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if method and args and not isinstance(args[0], Tensor):
            kind = type(args[0]).__name__
            raise ArgumentError(f"{what}(): argument 'input' must be a Tensor, not {kind}")
        if not options:
            return function(*args)
        out = options.pop("out", None)
        placed, named = _arranged(what, function, args, options)
        result = function(*placed, **named)
        return result if out is None else put_out(out, result)

    call.__name__ = call.__qualname__ = what.rpartition(".")[2]
    return call


def put_out(out: Out, result: Any) -> Any:
    """Changes the tensors that were given as `out` to the results; a tensor of another shape takes
    the result's, as in PyTorch."""
    if not isinstance(out, Tensor):
        for each, new in zip(out, result, strict=True):
            put_out(each, new)
        return out
    if tuple(out.shape) == tuple(result.shape):
        return out.copy_(result)
    out.node = result.astype(out.dtype).node
    return out
