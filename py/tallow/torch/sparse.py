"""torch.sparse: matrices in coordinates, times dense ones; see tallow/sparse.py."""

from __future__ import annotations

from typing import Any

from .. import sparse as _sparse
from ..dtype import float32, float64, int64
from ..sparse import mm as mm
from ..sparse import sparse_coo_tensor as sparse_coo_tensor
from ..tensor import Tensor
from .rooms import missing


def _of_type(dtype: Any) -> Any:
    def make(indices: Any, values: Any, size: Any = None) -> Any:
        return sparse_coo_tensor(indices, values, size, dtype=dtype)

    make.__doc__ = f"`sparse_coo_tensor` of {dtype.name}."
    return make


FloatTensor, DoubleTensor, LongTensor = _of_type(float32), _of_type(float64), _of_type(int64)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor's elements, of all or along axes; a dense tensor."""
    if dim is None and isinstance(input, _sparse.SparseTensor):
        return input.values().sum(dtype=dtype)
    return input.sum(dim=dim, dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """A softmax along the last axis of a sparse matrix, of the elements that are there."""
    from .. import functions as f

    rows = input.indices()[1 - dim % 2]
    values = input.values() if dtype is None else input.values().astype(dtype)
    count = input.shape[1 - dim % 2]
    start = f.full((count,), -3.4e38, values.dtype)
    most = f.take(f.scatter(start, rows, values, "max"), rows, 0)
    parts = f.exp(values - most)
    total = f.scatter(f.zeros((count,), values.dtype), rows, parts, "add")
    return _sparse.SparseTensor(input.indices(), parts / f.take(total, rows, 0), input.shape)


def __getattr__(name: str) -> Any:
    raise missing("torch.sparse", name)
