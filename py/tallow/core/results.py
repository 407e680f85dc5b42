"""Named tuples that functions give, under the names that PyTorch prints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from .context import pytorch

P = ParamSpec("P")
R = TypeVar("R")


def _text(result: Any) -> str:
    parts = (f"{field}={part!r}" for field, part in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n" + ",\n".join(parts) + ")"


def _reduced(result: Any) -> tuple[Any, ...]:
    """To be pickled: as the named tuple that stands in a module."""
    return type(result).__base__, tuple(result)


@cache
def named(kind: type, name: str) -> type:
    """A named tuple's type, whose results are printed as torch.return_types.NAME."""
    own = {"__slots__": (), "__module__": "torch.return_types", "__repr__": _text}
    return type(name, (kind,), {**own, "__reduce__": _reduced})


def printed_as(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Has a function's named tuples printed as PyTorch's function prints its own, where
    `tallow.torch` was imported. A result that is no tuple, such as the largest of all elements,
    stays as it is."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            result: Any = function(*args, **options)
            if not (pytorch.get() and isinstance(result, tuple)):
                return result  # type: ignore[no-any-return]
            return named(type(result), name)(*result)  # type: ignore[no-any-return]

        return call

    return decorate
