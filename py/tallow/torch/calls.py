"""PyTorch's spelling of a call: its names of arguments, `out`, and a TypeError for other names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any

from ..errors import ArgumentError
from ..tensor import Tensor

_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "dim": ("axis", "axes", "dims"), "axis": ("dim",), "dims": ("axes", "axis", "dim"),
    "keepdim": ("keepdims",), "keepdims": ("keepdim",), "end": ("stop",), "steps": ("num",),
    "diagonal": ("k",), "size": ("shape",), "indexing": ("indexing",),
}  # fmt: skip
"""PyTorch's names of arguments, and what Tallow's definitions call them."""

Out = Tensor | Sequence["Out"]
"""What `out` may be: a tensor for each result."""

_FIRST = ("input", "self", "tensors", "data", "x", "a", "A")
_SECOND = ("other", "exponent", "mat2", "vec2", "vec", "tensor2", "y", "q", "repeats", "index")

_NEEDLESS = frozenset({"layout", "pin_memory", "memory_format", "non_blocking", "out_dtype"})
"""Arguments that change nothing here: there is one layout, and memory is the device's."""


@cache
def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], bool]:
    """The names of a function's arguments, and whether it takes others too."""
    found = inspect.signature(function).parameters.values()
    named = [p.name for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return tuple(named), any(p.kind is p.VAR_KEYWORD for p in found)


def _arranged(
    what: str, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments under the names that a definition has for them."""
    names, takes_others = _parameters(function)
    placed, named = list(args), {}
    for key, value in options.items():
        if key in names:
            named[key] = value
            continue
        own = next((each for each in _OTHER_NAMES.get(key, ()) if each in names), None)
        if own is None and key in _FIRST and not placed:
            own = names[0] if names else None
        elif own is None and key in _SECOND and len(names) > 1:
            own = names[1]
        if own is not None and own not in named:
            named[own] = value
        elif takes_others:
            named[key] = value
        elif key not in _NEEDLESS:
            known = ", ".join(names)
            raise ArgumentError(f"{what}() takes no argument {key!r}; it takes {known}")
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
