"""`torch._foreach_add` and the like: a method of tensors, called for each tensor of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import ShapeError
from ..functions import elementwise
from ..tensor import Tensor
from .names import words

BOTH = words(
    """
    abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1
    floor frac lerp lgamma log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt
    sigmoid sign sin sinh sqrt sub tan tanh trunc
    """
)
"""Methods that have a form in place too."""

NAMES = ("max", "norm", "copy_", "zero_", *BOTH, *(f"{name}_" for name in BOTH))
"""The names behind `_foreach_`."""

_KEYWORDS = {"alpha": "alpha", "dtype": "dtype", "scalars": "value", "value": "value"}
"""Arguments that methods take by name; others are passed by their places."""


_BOUNDS = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""Methods that take numbers too, and that have a form in place."""


def foreach(name: str) -> Callable[..., Any]:
    """`torch._foreach_NAME`: of a list of tensors, and of arguments that are lists, with one for
    each tensor, or the same for all. Returns a tuple of results; in place, the list of the tensors.
    Raises ShapeError for lists of different lengths, and what the method raises."""
    plain = name.rstrip("_")
    own = _BOUNDS.get(plain, plain) + "_" * name.endswith("_")

    def call(self: Sequence[Tensor] | float, *args: Any, **options: Any) -> Any:
        named = {_KEYWORDS[key]: options.pop(key) for key in [*options] if key in _KEYWORDS}
        if own.startswith("addc") and len(args) == 3:
            *args, named["value"] = args  # type: ignore[assignment]
        given = [self, *args, *options.values()]
        lists = [each for each in [*given, *named.values()] if isinstance(each, list | tuple)]

        if len({*map(len, lists)}) > 1:
            raise ShapeError(f"_foreach_{name}: lists of {[*map(len, lists)]} tensors")

        def rows(value: Any) -> Sequence[Any]:
            return value if isinstance(value, list | tuple) else [value] * len(lists[0])

        places = zip(*map(rows, given), strict=True)
        by_name = zip(*map(rows, named.values()), strict=True) if named else [()] * len(lists[0])
        found = []
        for (first, *rest), values in zip(places, by_name, strict=True):
            options = dict(zip(named, values, strict=True))
            if isinstance(first, Tensor):
                found.append(getattr(Tensor, own)(first, *rest, **options))
            else:
                found.append(elementwise.pow(first, *rest))  # a number to the power of each tensor
        return found if own.endswith("_") else tuple(found)

    call.__name__ = call.__qualname__ = f"_foreach_{name}"
    return call
