"""Memory for the large arrays within an op on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import numpy_kernels as plain

if TYPE_CHECKING:
    from numpy import dtype

    from ..arrays import Array, NumPy


# Why: docs/decisions/recurrence.md, "Recurrent layers on NumPy compute gate by gate"
class Pool:
    """NumPy, with large arrays in memory that the next call of the op uses again: new pages would
    take longer than what is computed in them.

    array(purpose, shape, dtype): an array with any content; numpy.empty if None.
    """

    def __init__(
        self, np: NumPy, array: Callable[[str, Sequence[int], dtype[Any]], Array] | None = None
    ) -> None:
        self.np = np
        self._array = array or (lambda purpose, shape, dtype: np.empty(shape, dtype))
        self._count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.np, name)

    def empty(self, shape: Sequence[int], dtype: dtype[Any]) -> Array:
        """An array with any content."""
        self._count += 1
        return self._array(f"recurrence {self._count}", tuple(shape), dtype)

    def concat(self, arrays: Sequence[Array], axis: int) -> Array:
        """The arrays, joined."""
        shape = list(arrays[0].shape)
        shape[axis] = sum(each.shape[axis] for each in arrays)
        return self.np.concatenate(arrays, axis, out=self.empty(shape, arrays[0].dtype))

    def product(self, a: Array, b: Array, bias: Array | None = None) -> Array:
        """a (m, k) times b (k, n), with a bias added."""
        result = self.empty((a.shape[0], b.shape[1]), a.dtype)
        plain.product(self.np, a, b, out=result)
        if bias is not None:
            self.np.add(result, bias, out=result)
        return result
