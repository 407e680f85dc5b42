"""Matrices in coordinates: the elements that are not 0, and where they are.

A `SparseTensor` is a tensor: what has no function here computes with all its elements. Products
with dense matrices read a row for each element and add it up, so that they cost what the elements
cost: for each of them, one row of the other matrix.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from . import functions as f
from .core.device_name import DeviceName
from .core.dtype import DType, default_integer
from .core.shape import Shape, size_of
from .errors import DTypeError, IndexRangeError, ShapeError
from .graph import Node
from .tensor import Operand, Tensor, asarray, host_values


class SparseTensor(Tensor):
    """A tensor of the elements `values` at `indices` of a shape, 0 elsewhere; elements at one index
    add up.

    indices: integers, (axes, n).
    values: the elements, (n, ...).
    shape: the shape with all elements.
    """

    __slots__ = ("_dense", "_indices", "_shape", "_values")

    is_sparse = True

    def __init__(self, indices: Tensor, values: Tensor, shape: Shape) -> None:
        self._indices, self._values, self._shape = indices, values, shape
        self._dense: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of all elements, which is made when something asks for it."""
        if self._dense is None:
            self._dense = self.to_dense().node
        return self._dense

    @property
    def shape(self) -> Shape:
        """The shape with all elements."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._values.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def device(self) -> DeviceName:
        """The name of the device that stores the elements."""
        return self._values.device

    @property
    def layout(self) -> str:
        """ "torch.sparse_coo"."""
        return "torch.sparse_coo"

    @property
    def requires_grad(self) -> bool:
        """Whether the elements receive a gradient."""
        return self._values.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._values.requires_grad = wanted

    def __repr__(self) -> str:
        return (
            f"tensor(indices={self._indices!r},\n       values={self._values!r},\n       "
            f"size={tuple(self.shape)}, nnz={self._nnz()}, layout={self.layout})"
        )

    def indices(self) -> Tensor:
        """The indices of the elements, (axes, n)."""
        return self._indices

    def values(self) -> Tensor:
        """The elements, (n, ...)."""
        return self._values

    def _nnz(self) -> int:
        return self._indices.shape[1]

    def sparse_dim(self) -> int:
        """How many axes the indices count."""
        return self._indices.shape[0]

    def dense_dim(self) -> int:
        """How many further axes the elements have."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """False: elements at one index may not have been added up."""
        return False

    def coalesce(self) -> SparseTensor:
        """The same matrix with its indices in order, elements at one index added up. Reads the
        indices, and blocks."""
        (data,) = host_values([self._indices])
        columns = list(zip(*data.tolist(), strict=True))
        order = {column: n for n, column in enumerate(sorted(set(columns)))}
        rows = asarray([order[column] for column in columns], "int32")
        start = f.zeros((len(order), *self._values.shape[1:]), self.dtype)
        values = f.scatter(start, rows, self._values, "add")
        indices = asarray([list(axis) for axis in zip(*order, strict=True)], self._indices.dtype)
        return SparseTensor(indices, values, self._shape)

    def to_dense(self, dtype: DType | str | None = None) -> Tensor:
        """All elements, as an ordinary tensor.

        dtype: the type to convert to; None leaves it.
        Returns: the tensor.
        """
        axes = self._shape[: self.sparse_dim()]
        start = f.zeros((size_of(axes), *self._shape[self.sparse_dim() :]), self.dtype)
        whole = f.scatter(start, _flat(self._indices, axes), self._values, "add")
        found = f.reshape(whole, self._shape)
        return found if dtype is None else found.astype(dtype)

    def to_sparse(self) -> SparseTensor:
        """The tensor itself."""
        return self

    def t(self) -> SparseTensor:
        """A matrix transposed."""
        return self.transpose(0, 1)

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two axes exchanged.

        dim0, dim1: the axes.
        Returns: the sparse tensor.
        Raises: ShapeError if the elements have axes themselves.
        """
        order = list(range(self.ndim))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        if self.dense_dim():
            raise ShapeError("transpose: the elements of this sparse tensor have axes themselves")
        indices = f.stack([self._indices[axis] for axis in order])
        return SparseTensor(indices, self._values, tuple(self._shape[axis] for axis in order))

    def detach(self) -> SparseTensor:
        """The same values, which no gradient passes."""
        return SparseTensor(self._indices, self._values.detach(), self._shape)

    def to(self, *args: object, **options: object) -> SparseTensor:
        """The elements on another device, or in another type.

        args: a device, an element type, or a tensor that has both; see `Tensor.to`.
        options: device and dtype by name.
        Returns: the sparse tensor.
        """
        return SparseTensor(self._indices, self._values.to(*args, **options), self._shape)

    def float(self) -> SparseTensor:
        """The elements as float32."""
        return self.to("float32")

    def double(self) -> SparseTensor:
        """The elements as float64."""
        return self.to("float64")

    def __matmul__(self, other: Tensor) -> Tensor:
        return mm(self, other)

    def matmul(self, other: Tensor) -> Tensor:
        """The product with a dense matrix or vector; see `mm`."""
        return mm(self, other)

    def mm(self, mat2: Tensor) -> Tensor:
        """The product with a dense matrix or vector; see `mm`."""
        return mm(self, mat2)

    def mv(self, vec: Tensor) -> Tensor:
        """The product with a vector; see `mm`."""
        return mm(self, vec)

    def __mul__(self, other: Operand) -> Tensor:
        if isinstance(other, (bool, int, float)) or (isinstance(other, Tensor) and not other.shape):
            return SparseTensor(self._indices, self._values * other, self._shape)
        return super().__mul__(other)

    __rmul__ = __mul__


def sparse_coo_tensor(
    indices: object,
    values: object,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    is_coalesced: bool | None = None,
    check_invariants: bool | None = None,
) -> SparseTensor:
    """A tensor of elements at some indices, 0 elsewhere.

    indices: integers, (axes, n).
    values: the elements, (n, ...).
    size: the shape; None is the least that holds all indices, which are read for that.
    dtype: the type of the elements; None is that of values.
    device: where it is stored; None leaves that open.
    requires_grad: `backward` gives the elements a gradient.
    is_coalesced, check_invariants: change nothing.
    Returns: the sparse tensor.
    Raises: ShapeError for indices, values and size that do not fit, DTypeError for indices that are
      not integers, IndexRangeError for known indices out of range.
    Source: PyTorch, `torch.sparse_coo_tensor`.
    """
    coordinates, elements = asarray(indices), asarray(values, dtype)
    if not coordinates.dtype.is_integer:
        raise DTypeError(f"sparse_coo_tensor: indices are integers, not {coordinates.dtype.name}")
    if coordinates.ndim != 2 or not elements.ndim or elements.shape[0] != coordinates.shape[1]:
        raise ShapeError(
            f"sparse_coo_tensor: indices {tuple(coordinates.shape)} are not (axes, n) for values "
            f"{tuple(elements.shape)}"
        )
    axes = coordinates.shape[0]
    if size is None:
        known = coordinates.shape[1] > 0
        ends = host_values([f.max(coordinates, 1)])[0].tolist() if known else [-1] * axes
        size = (*(end + 1 for end in ends), *elements.shape[1:])
    shape = tuple(int(length) for length in size)
    if len(shape) < axes or shape[axes:] != tuple(elements.shape[1:]):
        raise ShapeError(
            f"sparse_coo_tensor: size {shape} for indices {tuple(coordinates.shape)} and values "
            f"{tuple(elements.shape)}"
        )
    if coordinates.node.is_constant and coordinates.shape[1]:
        _check(host_values([coordinates])[0].tolist(), shape)
    if device is not None:
        coordinates, elements = coordinates.to(device), elements.to(device)
    if requires_grad:
        elements = elements.detach().requires_grad_()
    return SparseTensor(coordinates.astype(default_integer()), elements, shape)


def _check(indices: Sequence[Sequence[int]], shape: Shape) -> None:
    for axis, line in enumerate(indices):
        for index in (min(line), max(line)):
            if not 0 <= index < shape[axis]:
                raise IndexRangeError(
                    f"sparse_coo_tensor: index {index} along axis {axis} of {shape}"
                )


def _flat(indices: Tensor, axes: Sequence[int]) -> Tensor:
    """The indices into the flattened axes."""
    whole = indices[0]
    for axis in range(1, len(axes)):
        whole = whole * axes[axis] + indices[axis]
    return whole


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices, or of a matrix and a vector; the matrices may be sparse.

    mat1: a matrix, (n, m).
    mat2: a matrix, (m, k), or a vector, (m,).
    Returns: (n, k) or (n,), dense.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.sparse.mm`.
    """
    if not isinstance(mat1, SparseTensor):
        if isinstance(mat2, SparseTensor):
            return mm(mat2.t(), mat1.mT).mT
        return f.matmul(mat1, mat2)
    dense = mat2.to_dense() if isinstance(mat2, SparseTensor) else mat2
    if mat1.ndim != 2 or dense.ndim not in (1, 2) or dense.shape[0] != mat1.shape[1]:
        raise ShapeError(f"mm: {tuple(mat1.shape)} @ {tuple(dense.shape)}")
    rows, columns = mat1.indices()[0], mat1.indices()[1]
    values = mat1.values()
    taken = f.take(dense, columns, 0)
    parts = taken * (values if dense.ndim == 1 else f.expand_dims(values, 1))
    start = f.zeros((mat1.shape[0], *dense.shape[1:]), parts.dtype)
    return f.scatter(start, rows, parts, "add")


def to_sparse(x: Tensor) -> SparseTensor:
    """The elements of a tensor that are not 0, in coordinates. Reads them, and blocks.

    x: a tensor with an axis or more.
    Returns: the sparse tensor, of the shape and type of x.
    Source: PyTorch, `torch.Tensor.to_sparse`.
    """
    indices = x.nonzero()
    elements = x[tuple(indices[:, axis] for axis in range(x.ndim))]
    return SparseTensor(indices.mT, elements, tuple(x.shape))


def softmax(input: Tensor, dim: int, *, dtype: DType | str | None = None) -> Tensor:
    """A softmax along an axis of a matrix in coordinates, of the elements that are there.

    input: a sparse matrix; a dense tensor has the usual softmax.
    dim: the axis to sum over.
    dtype: the type that elements are converted to first; None leaves it.
    Returns: a sparse matrix with the same indices.
    Source: PyTorch, `torch.sparse.softmax`.
    """
    if not isinstance(input, SparseTensor):
        return input.softmax(dim, dtype)
    values = input.values() if dtype is None else input.values().astype(dtype)
    axis = 1 - dim % 2  # a row each for dim 1
    line, count = input.indices()[axis], input.shape[axis]
    lowest = f.full((count,), -math.inf, values.dtype)
    most = f.take(f.scatter(lowest, line, values.detach(), "max"), line, 0)
    parts = f.exp(values - most)
    total = f.scatter(f.zeros((count,), values.dtype), line, parts, "add")
    return SparseTensor(input.indices(), parts / f.take(total, line, 0), input.shape)


__all__ = ["SparseTensor", "mm", "softmax", "sparse_coo_tensor", "to_sparse"]
