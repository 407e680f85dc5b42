"""Borders around images. padding: one width, or (before, after) of the last axis, then of the one
before it, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .. import functional
from ..errors import ShapeError
from ..tensor import Tensor
from .module import Module


class _Pad(Module):
    """A border; `axes` is the number of last axes that have one."""

    axes: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        widths = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)
        self.padding = widths
        if len(self.padding) != 2 * self.axes:
            name = type(self).__name__
            raise ShapeError(f"{name}: expected a number or {2 * self.axes}, got {padding}")

    def forward(self, input: Tensor) -> Tensor:
        return functional.pad(input, self.padding, self.mode, self._value())

    def _value(self) -> float | None:
        return None

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def _value(self) -> float | None:
        return self.value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_Pad):
    mode = "constant"


class _ReflectionPad(_Pad):
    mode = "reflect"


class _ReplicationPad(_Pad):
    mode = "replicate"


class _CircularPad(_Pad):
    mode = "circular"


class ZeroPad1d(_ZeroPad):
    """A border of zeros around the last axis."""

    axes = 1


class ZeroPad2d(_ZeroPad):
    """A border of zeros around the last two axes."""

    axes = 2


class ZeroPad3d(_ZeroPad):
    """A border of zeros around the last three axes."""

    axes = 3


class ConstantPad1d(_ConstantPad):
    """A border of one value around the last axis."""

    axes = 1


class ConstantPad2d(_ConstantPad):
    """A border of one value around the last two axes."""

    axes = 2


class ConstantPad3d(_ConstantPad):
    """A border of one value around the last three axes."""

    axes = 3


class ReflectionPad1d(_ReflectionPad):
    """A border that mirrors the last axis; the outermost elements are not repeated."""

    axes = 1


class ReflectionPad2d(_ReflectionPad):
    """A border that mirrors the last two axes; the outermost elements are not repeated."""

    axes = 2


class ReflectionPad3d(_ReflectionPad):
    """A border that mirrors the last three axes; the outermost elements are not repeated."""

    axes = 3


class ReplicationPad1d(_ReplicationPad):
    """A border that repeats the outermost elements of the last axis."""

    axes = 1


class ReplicationPad2d(_ReplicationPad):
    """A border that repeats the outermost elements of the last two axes."""

    axes = 2


class ReplicationPad3d(_ReplicationPad):
    """A border that repeats the outermost elements of the last three axes."""

    axes = 3


class CircularPad1d(_CircularPad):
    """A border that goes on at the other end of the last axis."""

    axes = 1


class CircularPad2d(_CircularPad):
    """A border that goes on at the other end of the last two axes."""

    axes = 2


class CircularPad3d(_CircularPad):
    """A border that goes on at the other end of the last three axes."""

    axes = 3
