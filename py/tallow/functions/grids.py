"""Tensors of coordinates and combinations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..core import dtype as dt
from ..core.dtype import DType
from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from . import creation, manipulation
from .creation import tensor
from .indexing import take
from .joining import atleast_1d
from .manipulation import reshape, stack


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Makes a matrix of the powers of a vector's elements, a row for each element.

    x: a vector (n,).
    N: how many powers there are, from 0 on; None is n.
    increasing: whether the powers increase from left to right; without it, they decrease.
    Returns: the powers (n, N), in the type of x.
    Raises: ShapeError for what is no vector.
    Source: PyTorch's documentation, `torch.vander`.
    """
    if x.ndim != 1:
        raise ShapeError(f"vander: {x.shape} is no vector")
    count = x.shape[0] if N is None else N
    powers: list[Tensor] = []
    for n in range(count):
        powers.append(powers[-1] * x if n else creation.full_like(x, 1))
    if not powers:
        return x[:, None][:, :0]
    return stack(powers if increasing else powers[::-1], -1)


def as_tensor(data: Any, dtype: DType | str | None = None, device: str | None = None) -> Tensor:
    """Makes a tensor of data, which is not copied if it is one already.

    data: a number, nested lists, an array or a tensor.
    dtype: the element type; None is that of the data, int32 for Python's integers, float32 for its
      floating numbers.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the tensor.
    Raises: what `asarray` raises: ShapeError for ragged lists, DTypeError for what is not numeric.
    Source: PyTorch's documentation, `torch.as_tensor`.
    """
    made = asarray(data, dtype)
    if isinstance(data, Tensor) and dtype is not None:
        made = data.to(dtype)
    return made if device is None else made.to(device)


def empty_like(input: Tensor, dtype: DType | str | None = None) -> Tensor:
    """Makes a tensor of the same shape, whose elements are unspecified: they are 0.

    input: a tensor, of which only the shape and the type count.
    dtype: the element type; None is that of input.
    Returns: the tensor.
    Source: Python array API standard 2024.12, `empty_like`.
    """
    return creation.zeros_like(input, dtype)


def logspace(start: float, end: float, steps: int, base: float = 10.0) -> Tensor:
    """Makes powers of a base, whose exponents go evenly from start to end.

    start: the first exponent.
    end: the last exponent.
    steps: how many powers there are.
    base: the base.
    Returns: the powers, a vector (steps,), float32.
    Raises: ShapeError for a negative number of steps.
    Source: PyTorch's documentation, `torch.logspace`.
    """
    line: Tensor = tensor(float(base)) ** creation.linspace(start, end, steps)
    return line


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Makes all choices of an element of each vector, a row each.

    tensors: vectors.
    Returns: the choices, (number of choices, number of vectors); of one vector, that vector.
    Raises: ShapeError for what is no vector.
    Source: PyTorch's documentation, `torch.cartesian_prod`.
    """
    for each in tensors:
        if each.ndim != 1:
            raise ShapeError(f"cartesian_prod: {each.shape} is no vector")
    if len(tensors) == 1:
        return tensors[0]
    columns = [reshape(each, (-1,)) for each in meshgrid(*tensors)]
    return manipulation.stack(columns, -1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Makes all choices of r elements of a vector, a row each.

    input: a vector.
    r: how many elements each choice has.
    with_replacement: whether a choice may have an element several times.
    Returns: the choices, (number of choices, r), in the type of input.
    Raises: ShapeError for what is no vector; OptionError for a negative r.
    Source: PyTorch's documentation, `torch.combinations`.
    """
    if input.ndim != 1 or r < 0:
        raise (OptionError if r < 0 else ShapeError)(f"combinations: {r} elements of {input.shape}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input.shape[0]), r))
    if not rows or not r:
        return creation.zeros((0, r), input.dtype)
    return take(input, asarray(rows, "int32"), 0)


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str = "ij") -> tuple[Tensor, ...]:
    """Makes grids of vectors: the i-th result varies along axis i as the i-th vector does.

    tensors: vectors or numbers, or one list of them.
    indexing: "ij", or "xy", which exchanges the first two axes.
    Returns: a grid for each vector, all of one shape.
    Raises: ShapeError for what is no vector; OptionError for another indexing.
    Source: Python array API standard 2024.12, `meshgrid`.
    """
    given = [*tensors[0]] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
    lines: list[Tensor] = [atleast_1d(asarray(each)) for each in given]
    if indexing not in ("ij", "xy"):
        raise OptionError(f"meshgrid: indexing {indexing!r} is neither 'ij' nor 'xy'")
    if any(line.ndim > 1 for line in lines):
        raise ShapeError(f"meshgrid: {[line.shape for line in lines]} must be vectors")
    shape = tuple(line.shape[0] for line in lines)
    grids = [
        manipulation.broadcast_to(
            reshape(line, tuple(-1 if a == n else 1 for a in range(len(lines)))), shape
        )
        for n, line in enumerate(lines)
    ]
    if indexing == "xy" and len(grids) > 1:
        grids = [grid.transpose(0, 1) for grid in grids]
    return tuple(grids)


def _indices(row: int, col: int, offset: int, lower: bool) -> Tensor:
    pairs = [
        (r, c) for r in range(row) for c in range(col)
        if (c - r <= offset if lower else c - r >= offset)
    ]  # fmt: skip
    if not pairs:
        return creation.zeros((2, 0), dt.default_integer())
    return asarray([[r for r, _ in pairs], [c for _, c in pairs]])


def tril_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Gives the rows and the columns of the elements on and below a diagonal of a matrix.

    row, col: how many rows and columns the matrix has.
    offset: which diagonal: 0 is the main one, positive ones are above it.
    Returns: the indices (2, n): rows, then columns.
    Source: PyTorch's documentation, `torch.tril_indices`.
    """
    return _indices(row, col, offset, True)


def triu_indices(row: int, col: int, offset: int = 0) -> Tensor:
    """Gives the rows and the columns of the elements on and above a diagonal of a matrix.

    row, col: how many rows and columns the matrix has.
    offset: which diagonal: 0 is the main one, positive ones are above it.
    Returns: the indices (2, n): rows, then columns.
    Source: PyTorch's documentation, `torch.triu_indices`.
    """
    return _indices(row, col, offset, False)
