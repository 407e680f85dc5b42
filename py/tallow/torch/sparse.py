"""torch.sparse: matrices in coordinates, times dense ones; see tallow/sparse.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import sparse as _sparse
from ..core.dtype import DType, float32, float64, int64
from ..sparse import mm as mm
from ..sparse import softmax as softmax
from ..sparse import sparse_coo_tensor as sparse_coo_tensor
from ..tensor import Tensor
from .rooms import missing


def _of_type(dtype: DType) -> Callable[..., _sparse.SparseTensor]:
    def make(
        indices: object, values: object, size: Sequence[int] | None = None
    ) -> _sparse.SparseTensor:
        return sparse_coo_tensor(indices, values, size, dtype=dtype)

    make.__doc__ = f"`sparse_coo_tensor` of {dtype.name}."
    return make


FloatTensor, DoubleTensor, LongTensor = _of_type(float32), _of_type(float64), _of_type(int64)


def sum(
    input: Tensor, dim: int | Sequence[int] | None = None, dtype: DType | str | None = None
) -> Tensor:
    """The sum of a sparse tensor's elements, of all or along axes; a dense tensor."""
    if dim is None and isinstance(input, _sparse.SparseTensor):
        return input.values().sum(dtype=dtype)
    return input.to_dense().sum(dim=dim, dtype=dtype)


def __getattr__(name: str) -> Any:
    raise missing("torch.sparse", name)
