"""Rows of tables at indices: embeddings, bags of embeddings, one-hot vectors."""

from __future__ import annotations

from .. import functions as f
from ..autodiff import with_gradient
from ..core.dtype import default_integer
from ..errors import AssertedError, DTypeError, OptionError, ShapeError
from ..functions.indexing import checked_indices
from ..grad_mode import no_grad
from ..tensor import Tensor, asarray


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table at integer indices.

    input: integer indices, of any shape.
    weight: the table, (count, features).
    padding_idx: a row that gets no gradient.
    max_norm: rows that are looked up and whose norm is greater are first shortened to it, in the
      weight itself.
    norm_type: p of the p-norm that max_norm limits.
    scale_grad_by_freq: divides the gradient of a row by how often it is looked up.
    sparse: changes nothing.
    Returns: the rows, in the shape of input with one more axis, features.
    Raises: DTypeError for indices that are not integers, IndexRangeError for one that is no row,
      also a negative one (see `checked_indices`), AssertedError for a padding_idx that is no row.
    Source: PyTorch, `torch.nn.functional.embedding`.
    """
    given = _indices(input, "embedding")
    input = checked_indices(given, weight.shape[0], "embedding: the index")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    table = weight
    if padding_idx is not None:
        table = _without_gradient(weight, padding_idx)
    rows = f.take(table, input, axis=0)
    return _by_frequency(rows, input, weight.shape[0]) if scale_grad_by_freq else rows


def _indices(input: Tensor, what: str) -> Tensor:
    given = asarray(input)
    if not given.dtype.is_integer:
        raise DTypeError(f"{what}: the indices must be integers, not {given.dtype.name}")
    return given


def _without_gradient(weight: Tensor, padding_idx: int) -> Tensor:
    """The weight, of which one row gets no gradient."""
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise AssertedError(f"embedding: padding_idx {padding_idx} is not among {rows} rows")

    def pull(gradient: Tensor, result: Tensor) -> list[Tensor]:
        kept = f.not_equal(f.reshape(f.arange(rows), (-1, 1)), padding_idx % rows)
        return [f.where(kept, gradient, 0.0)]

    return with_gradient(weight + 0.0, [weight], pull)


def _counts(input: Tensor, rows: int) -> Tensor:
    """How often each row is looked up."""
    line = f.reshape(input, (-1,))
    return f.scatter(f.zeros((rows,)), line, f.ones(line.shape), "add")


def _shorten(weight: Tensor, input: Tensor, most: float, p: float) -> None:
    with no_grad():
        used = _counts(input, weight.shape[0]) > 0
        sizes = f.pow(f.sum(f.pow(f.abs(weight), p), 1), 1 / p)
        factor = f.where(used & (sizes > most), most / (sizes + 1e-7), 1.0)
        weight.become(weight * f.expand_dims(factor, 1), free=True)


def _by_frequency(rows: Tensor, input: Tensor, count: int) -> Tensor:
    share = 1 / f.take(_counts(input, count), input)

    def pull(gradient: Tensor, result: Tensor, share: Tensor) -> list[Tensor]:
        return [gradient * f.expand_dims(share, -1)]

    return with_gradient(rows + 0.0, [rows], pull, [share])


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The mean, the sum or the greatest elements of rows of a table, bag by bag.

    An empty bag gives 0.

    input: integer indices: bags (n, indices), or all indices in a line.
    weight: the table, (count, features).
    offsets: for indices in a line, the position at which each bag begins, (n,).
    max_norm: rows that are looked up and whose norm is greater are first shortened to it, in the
      weight itself.
    norm_type: p of the p-norm that max_norm limits.
    scale_grad_by_freq: divides the gradient of a row by how often it is looked up.
    mode: "mean", "sum" or "max".
    sparse: changes nothing.
    per_sample_weights: a factor for each index, in the shape of input, for the mode "sum".
    include_last_offset: the last of the offsets is the end of the last bag.
    padding_idx: a row that counts for nothing and gets no gradient.
    Returns: (n, features).
    Raises: OptionError for another mode and for per_sample_weights with one that is not "sum",
      ShapeError for shapes that do not fit, DTypeError and IndexRangeError as of `embedding`.
    Source: PyTorch, `torch.nn.functional.embedding_bag`.
    """
    if mode not in ("mean", "sum", "max"):
        raise OptionError(f"embedding_bag: mode {mode!r} is not mean, sum or max")
    if per_sample_weights is not None and mode != "sum":
        raise OptionError(f"embedding_bag: per_sample_weights need the mode 'sum', not {mode!r}")
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ShapeError(
            f"embedding_bag: per_sample_weights {per_sample_weights.shape} for {input.shape}"
        )
    if input.ndim not in (1, 2) or (input.ndim == 1) != (offsets is not None):
        raise ShapeError(f"embedding_bag: input {input.shape}; give offsets for one axis alone")
    rows = embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)
    counted = f.ones(input.shape, "bool")
    if padding_idx is not None:
        counted = f.not_equal(input, padding_idx % weight.shape[0])
    if per_sample_weights is not None:
        rows = rows * f.expand_dims(per_sample_weights, -1)
    lowest = float("-inf") if mode == "max" else 0.0
    rows = f.where(f.expand_dims(counted, -1), rows, lowest)
    ones = counted.astype(weight.dtype)
    if offsets is None:
        number = f.sum(ones, 1, True)
        whole = f.max(rows, 1) if mode == "max" and rows.shape[1] else f.sum(rows, 1)
    else:
        starts = offsets[:-1] if include_last_offset else offsets
        bags = starts.shape[0]
        at = f.reshape(f.arange(input.shape[0]), (-1, 1))
        bag = f.sum((at >= f.expand_dims(starts.astype("int32"), 0)).astype("int32"), 1) - 1
        number = f.expand_dims(f.scatter(f.zeros((bags,), weight.dtype), bag, ones, "add"), 1)
        empty = f.full((bags, weight.shape[1]), lowest, weight.dtype)
        whole = f.scatter(empty, bag, rows, "max" if mode == "max" else "add")
    if mode == "sum":
        return whole
    if mode == "mean":
        return whole / f.maximum(number, 1.0)
    return f.where(number > 0, whole, 0.0)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at each index of a new last axis, 0 elsewhere.

    tensor: integer indices, of any shape.
    num_classes: the length of the new axis. -1 is the largest index and one more, for which the
      tensor is read; under `@tl.jit` that is impossible.
    Returns: integers, int32 (int64 under PyTorch's names), in the shape of tensor with one more
      axis.
    Raises: DTypeError for indices that are not integers, IndexRangeError for one that is no class
      (see `checked_indices`), OptionError for no classes and for an empty tensor without
      num_classes.
    Source: PyTorch, `torch.nn.functional.one_hot`.
    """
    _indices(tensor, "one_hot")
    if num_classes == -1:
        if not tensor.size:
            raise OptionError("one_hot: an empty tensor says nothing of num_classes; give it")
        num_classes = max(int(f.max(tensor)) + 1, 0)
    if num_classes < 1:
        raise OptionError(f"one_hot: num_classes must be above 0, or -1, not {num_classes}")
    classes = checked_indices(tensor, num_classes, "one_hot: the class")
    return f.equal(f.expand_dims(classes, -1), f.arange(num_classes)).astype(default_integer())
