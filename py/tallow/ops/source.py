"""Sources: where graphs begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kinds import Source

if TYPE_CHECKING:
    from ..arrays import Array, NumPy
    from ..core.dtype import DType


def _iota(np: NumPy, *, shape: tuple[int, ...], dtype: DType, axis: int) -> Array:
    line = np.arange(shape[axis], dtype=dtype.name)
    line = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape)


def _given(np: NumPy, **attrs: object) -> Array:
    raise AssertionError("inputs and constants are fed to a runner, not evaluated")


input_ = Source("input", _given)
"""A named input: attributes name, shape, dtype."""

constant = Source("constant", _given)
"""Data that is known: attributes data (a HostArray), shape, dtype."""

buffer = Source("buffer", _given)
"""An array on a device: attributes buffer (of runtime/buffer.py), shape, dtype."""

iota = Source(
    "iota", _iota, bounds=lambda operands, attrs: (0, max(attrs["shape"][attrs["axis"]] - 1, 0))
)
"""The coordinate along `axis` of each element: attributes shape, dtype, axis."""
