"""Einstein summation of any number of tensors, two at a time, by matrix products."""

from __future__ import annotations

import string
from collections.abc import Sequence

from ..core.shape import size_of
from ..errors import ShapeError
from ..tensor import Tensor
from .indexing import getitem
from .linear_algebra import matmul
from .manipulation import broadcast_to, permute_dims, reshape
from .reduction import sum as total

_LETTERS = frozenset(string.ascii_letters)
Labels = tuple[str, ...]
Term = tuple[Tensor, Labels]


def einsum(equation: str, *tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Computes the sum of products that an equation such as "bij,bjk->bik" describes, as in NumPy.

    The tensors are contracted from left to right.

    equation: letters name axes; "..." stands for the axes without a name; an axis of length 1
      broadcasts. Without "->" the result has the axes of the ellipsis, then those named once,
      sorted.
    tensors: one for each part of the left side; they may also be one list.
    Returns: the sums, with the axes that the right side names.
    Raises: ShapeError for an equation that is malformed or does not fit the shapes.
    Source: PyTorch's documentation, `torch.einsum`.
    """
    operands: list[Tensor] = []
    for each in tensors:
        operands += [each] if isinstance(each, Tensor) else each
    terms, result = _parse(equation, [x.ndim for x in operands])
    lengths = _lengths(equation, operands, terms)
    unknown = [label for label in result if label not in lengths]
    if unknown or len(set(result)) != len(result):
        raise ShapeError(
            f"einsum: the result of {equation!r} must name axes of the operands, each once"
        )
    parts = [
        _without_ones(*_diagonal(x, labels), lengths)
        for x, labels in zip(operands, terms, strict=True)
    ]
    while len(parts) > 1:
        first, second, *rest = parts
        kept = {*result, *(label for _, labels in rest for label in labels)}
        parts = [_product(first, second, kept), *rest]
    x, labels = _summed(*parts[0], set(result))
    present = [label for label in result if label in labels]
    x = permute_dims(x, [labels.index(label) for label in present])
    x = reshape(x, [lengths[label] if label in labels else 1 for label in result])
    return broadcast_to(x, [lengths[label] for label in result])


def _parse(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """A label per axis of each operand and of the result; an ellipsis becomes numbered labels."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    sides = left.split(",")
    if len(sides) != len(ranks):
        raise ShapeError(f"einsum: {equation!r} is for {len(sides)} operands, not {len(ranks)}")
    terms = [_labels(equation, side, rank) for side, rank in zip(sides, ranks, strict=True)]
    hidden = max((_hidden(term) for term in terms), key=len, default=())
    if arrow:
        named = right.replace("...", "", 1)
        if not set(named) <= _LETTERS:
            raise ShapeError(f"einsum: {equation!r} does not end in letters or an ellipsis")
        before, _, after = right.partition("...")
        return terms, (*before, *(hidden if "..." in right else ()), *after)
    letters = [label for term in terms for label in term if label in _LETTERS]
    once = sorted(label for label in set(letters) if letters.count(label) == 1)
    return terms, (*hidden, *once)


def _labels(equation: str, side: str, rank: int) -> Labels:
    before, dots, after = side.partition("...")
    named = before + after
    if not set(named) <= _LETTERS:
        raise ShapeError(f"einsum: {side!r} in {equation!r} is not letters and an ellipsis")
    count = rank - len(named)
    if count < 0 or (count and not dots):
        raise ShapeError(f"einsum: {side!r} in {equation!r} does not name {rank} axes")
    # Counted from the end, as broadcasting does.
    return (*before, *(f"...{offset}" for offset in range(count, 0, -1)), *after)


def _hidden(term: Labels) -> Labels:
    return tuple(label for label in term if label not in _LETTERS)


def _lengths(equation: str, operands: Sequence[Tensor], terms: Sequence[Labels]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for x, labels in zip(operands, terms, strict=True):
        for label, dim in zip(labels, x.shape, strict=True):
            known = lengths.get(label, 1)
            if known != 1 and dim not in (1, known):
                shapes = ", ".join(str(x.shape) for x in operands)
                raise ShapeError(
                    f"einsum: the axis {label!r} of {equation!r} is {known} and {dim} long in "
                    f"{shapes}"
                )
            lengths[label] = dim if known == 1 else known
    return lengths


def _diagonal(x: Tensor, labels: Labels) -> Term:
    """Takes the diagonal of axes that share a label: every (length + 1)-th element of both."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            a = labels.index(label)
            b = labels.index(label, a + 1)
            if x.shape[a] != x.shape[b]:
                raise ShapeError(f"einsum: {label!r} stands for axes of two lengths in {x.shape}")
            length = x.shape[a]
            others = [axis for axis in range(x.ndim) if axis not in (a, b)]
            x = permute_dims(x, (*others, a, b))
            lead = [x.shape[axis] for axis in range(len(others))]
            x = getitem(reshape(x, (*lead, length * length)), (..., slice(None, None, length + 1)))
            labels = (*(labels[axis] for axis in others), label)
    return x, labels


def _without_ones(x: Tensor, labels: Labels, lengths: dict[str, int]) -> Term:
    """Drops axes of length 1 that are longer in another operand: they broadcast later."""
    kept = [axis for axis, label in enumerate(labels) if not (x.shape[axis] == 1 < lengths[label])]
    return reshape(x, [x.shape[axis] for axis in kept]), tuple(labels[axis] for axis in kept)


def _summed(x: Tensor, labels: Labels, kept: set[str]) -> Term:
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    if not axes:
        return x, labels
    return total(x, axis=axes).astype(x.dtype), tuple(label for label in labels if label in kept)


def _product(first: Term, second: Term, kept: set[str]) -> Term:
    """Contracts two terms: shared axes form the batch if they are kept and are summed otherwise."""
    (x, left), (y, right) = first, second
    x, left = _summed(x, left, {*kept, *right})
    y, right = _summed(y, right, {*kept, *left})
    batch = tuple(label for label in left if label in right and label in kept)
    inner = tuple(label for label in left if label in right and label not in kept)
    rows = tuple(label for label in left if label not in right)
    columns = tuple(label for label in right if label not in left)
    dims = dict(zip(left, x.shape, strict=True)) | dict(zip(right, y.shape, strict=True))

    def arranged(z: Tensor, labels: Labels, *groups: Labels) -> Tensor:
        order = [labels.index(label) for group in groups for label in group]
        sizes = [size_of(dims[label] for label in group) for group in groups]
        return reshape(permute_dims(z, order), sizes)

    outer = (*batch, *rows, *columns)
    a, b = arranged(x, left, batch, rows, inner), arranged(y, right, batch, inner, columns)
    result = matmul(a, b) if inner else a * b  # (batch, rows, 1) times (batch, 1, columns)
    return reshape(result, [dims[label] for label in outer]), outer
