"""What the methods of tensors share: the names of types, and how functions are found.

Types are written as Whole, Number and so on, since methods are named int, float and bool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Generic, Self, TypeVar, cast

from ..device_name import DeviceName, resolved
from ..dtype import DType, as_dtype, is_dtype
from ..errors import OptionError

Whole = int
Number = bool | int | float
Truth = bool
Axes = int | Sequence[int] | None

Made = TypeVar("Made")


class Count(int):
    """The number of elements: `x.size`, as in the array API. Called, as in PyTorch, it gives the
    shape, or the length of one axis: `x.size()`, `x.size(0)`."""

    shape: tuple[int, ...]

    def __new__(cls, count: int, shape: tuple[int, ...]) -> Self:
        found = super().__new__(cls, count)
        found.shape = shape
        return found

    def __call__(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """A copy, or what was pickled, is a plain number."""
        return int, (int(self),)


@cache
def function(package: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"tallow.{package}"), name)
    return found


def where_to(args: Sequence[Any], options: Mapping[str, Any]) -> tuple[str | None, DType | None]:
    """The device and the element type that arguments of `to` name. Raises OptionError."""
    unknown = set(options) - {"device", "dtype", "non_blocking", "copy", "memory_format"}
    if unknown or len(args) > 4:
        raise OptionError(f"to: takes a device and a type, not {', '.join(sorted(unknown))}")
    device, dtype = options.get("device"), options.get("dtype")
    for value in args:
        if is_dtype(value):
            dtype = value
        elif isinstance(value, str):
            device = value
        elif isinstance(value, int) and not isinstance(value, bool):  # of an accelerator
            device = DeviceName("cuda", value)
        elif hasattr(value, "dtype") and hasattr(value, "device"):
            device, dtype = value.device, value.dtype
        elif value is not None and not isinstance(value, bool):
            raise OptionError(f"to: {value!r} is neither a device, an element type nor a tensor")
    return resolved(device), None if dtype is None else as_dtype(dtype)


class Base(Generic[Made]):
    """How a method finds its function; Made is the tensor that methods give."""

    __slots__ = ()

    def _array(self, name: str, *args: Any, **options: Any) -> Made:
        """A function of the array API, on this tensor."""
        return cast("Made", function("functions", name)(self, *args, **options))

    def _torch(self, name: str, *args: Any) -> Made:
        """A function of functions/torch_names.py, on this tensor."""
        return cast("Made", function("functions.torch_names", name)(self, *args))

    def _pieces(self, name: str, *args: Any) -> tuple[Made, ...]:
        """As `_torch`, a function that gives several tensors."""
        return cast("tuple[Made, ...]", function("functions.torch_names", name)(self, *args))

    def _network(self, name: str, *args: Any) -> Made:
        """A function of networks, on this tensor."""
        return cast("Made", function("functional", name)(self, *args))

    @property
    def _it(self) -> Any:
        """The tensor, with what `Tensor` adds."""
        return self

    def _reordered(self, result: Any, *axes: int) -> Made:
        """A result with axes in another order, as a view of this tensor."""
        back = [axes.index(axis) for axis in range(len(axes))]
        return cast(
            "Made",
            result.view_of(
                self, lambda whole: whole.permute(*axes), lambda _, new: new.permute(*back)
            ),
        )

    def _reshaped(self, result: Any) -> Made:
        """A result in another shape, as a view of this tensor."""
        shape = result.shape
        return cast(
            "Made",
            result.view_of(
                self,
                lambda whole: whole.reshape(shape),
                lambda whole, new: new.reshape(whole.shape),
            ),
        )

    def _cut(self, pieces: Sequence[Any], dim: int) -> tuple[Made, ...]:
        """Pieces along an axis, as views of this tensor."""
        start, views = 0, []
        for piece in pieces:
            stop = start + piece.shape[dim]
            key = (*[slice(None)] * (dim % len(piece.shape)), slice(start, stop))
            views.append(
                piece.view_of(
                    self,
                    lambda whole, key=key: whole[key],
                    lambda whole, new, key=key: whole._elements("with_items", key, new),
                )
            )
            start = stop
        return tuple(views)

    def _elements(self, name: str, *args: Any, **options: Any) -> Any:
        """A function of functions/torch_elements.py, on this tensor."""
        return function("functions.torch_elements", name)(self, *args, **options)
