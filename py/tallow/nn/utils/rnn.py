"""torch.nn.utils.rnn: sequences of different lengths in one batch.

A `PackedSequence` has the elements of all sequences step by step, without padding. The layers run
on padded tensors and the lengths, from which it is made and which it becomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple, SupportsInt

from ... import functions as f
from ...errors import OptionError, ShapeError
from ...tensor import Tensor, asarray, host_values


class PackedSequence(NamedTuple):
    """Sequences in the order of their lengths, the longest first.

    data: the elements of all sequences, (elements, ...): those of the first step of each sequence,
      of the second, and so on.
    batch_sizes: how many sequences have each step, int32.
    sorted_indices: which sequence of the batch stands where in that order; None if the batch was in
      order.
    unsorted_indices: the way back, or None.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


def _numbers(x: Tensor | Iterable[SupportsInt]) -> list[int]:
    """Whole numbers, which the host knows or reads."""
    if isinstance(x, Tensor):
        known = x.node.attrs["data"] if x.node.is_constant else host_values([x])[0]
        return [int(n) for n in known.flat()]
    return [int(n) for n in x]


def lengths_of(packed: PackedSequence) -> list[int]:
    """The lengths, the longest first. Raises ShapeError if the data are of another length."""
    sizes = _numbers(packed.batch_sizes)
    if sum(sizes) != packed.data.shape[0] or sizes != sorted(sizes, reverse=True) or not sizes:
        raise ShapeError(f"PackedSequence: batch_sizes {sizes} for data {packed.data.shape}")
    return [sum(size > n for size in sizes) for n in range(sizes[0])]


def padded(packed: PackedSequence, value: float = 0.0) -> tuple[Tensor, list[int]]:
    """(T, B, ...) with a value behind the ends, and the lengths."""
    lengths = lengths_of(packed)
    sizes = _numbers(packed.batch_sizes)
    starts = [0, *accumulate(sizes)]
    rows = [
        [starts[t] + min(n, sizes[t] - 1) for n in range(len(lengths))] for t in range(len(sizes))
    ]
    whole = f.take(packed.data, asarray(rows), 0)
    return f.where(_inside(lengths, len(sizes), whole.ndim), whole, value), lengths


def _inside(lengths: Sequence[int], time: int, rank: int) -> Tensor:
    """(T, B, 1, ...): where sequences have steps."""
    rows = [[t < length for length in lengths] for t in range(time)]
    return f.reshape(asarray(rows), (time, len(lengths), *(1,) * (rank - 2)))


def packed_like(x: Tensor, like: PackedSequence) -> PackedSequence:
    """(T, B, ...) as a PackedSequence with the lengths of another."""
    sizes = _numbers(like.batch_sizes)
    batch = x.shape[1]
    indices = [t * batch + n for t, size in enumerate(sizes) for n in range(size)]
    flat = f.reshape(x, (x.shape[0] * batch, *x.shape[2:]))
    return like._replace(data=f.take(flat, asarray(indices), 0))


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Iterable[SupportsInt],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Packs padded sequences, with the length of each.

    input: the sequences, (T, B, ...).
    lengths: B numbers from 1 to T, or a tensor of them, which is read.
    batch_first: the input is (B, T, ...).
    enforce_sorted: the lengths must be in order, the longest first.
    Returns: the packed sequences.
    Raises: OptionError for lengths that are not in order or not from 1 to T, ShapeError for another
      number of them than B.
    Source: PyTorch, `torch.nn.utils.rnn.pack_padded_sequence`.
    """
    x = f.moveaxis(input, 0, 1) if batch_first else input
    counts = _numbers(lengths)
    if x.ndim < 2 or len(counts) != x.shape[1]:
        raise ShapeError(f"pack_padded_sequence: {len(counts)} lengths for {input.shape}")
    if not counts or min(counts) < 1 or max(counts) > x.shape[0]:
        raise OptionError(
            f"pack_padded_sequence: the lengths {counts} must be from 1 to {x.shape[0]}"
        )
    order = sorted(range(len(counts)), key=lambda n: -counts[n])
    given: tuple[Tensor | None, Tensor | None] = (None, None)
    if order != list(range(len(counts))):
        if enforce_sorted:
            raise OptionError(
                f"pack_padded_sequence: the lengths {counts} are not in order, the longest first; "
                "give enforce_sorted=False"
            )
        back = sorted(range(len(order)), key=order.__getitem__)
        given = asarray(order), asarray(back)
        x = f.take(x, given[0], 1)
    sizes = [sum(length > t for length in counts) for t in range(max(counts))]
    return packed_like(x, PackedSequence(x, asarray(sizes), *given))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Packed sequences as padded ones, in the order of the batch.

    sequence: the packed sequences.
    batch_first: gives (B, T, ...).
    padding_value: what stands behind the end of a sequence.
    total_length: T, if it is not that of the longest.
    Returns: the sequences, (T, B, ...), and their lengths, int32, (B,).
    Raises: OptionError for a total_length that is less than the longest.
    Source: PyTorch, `torch.nn.utils.rnn.pad_packed_sequence`.
    """
    whole, lengths = padded(sequence, padding_value)
    time = whole.shape[0]
    if total_length is not None:
        if total_length < time:
            raise OptionError(f"pad_packed_sequence: total_length {total_length} is below {time}")
        ends = [(0, total_length - time), *[(0, 0)] * (whole.ndim - 1)]
        whole = f.pad(whole, ends, padding_value)
    counts = asarray(lengths)
    if sequence.unsorted_indices is not None:
        whole = f.take(whole, sequence.unsorted_indices, 1)
        counts = f.take(counts, sequence.unsorted_indices, 0)
    return (f.moveaxis(whole, 0, 1) if batch_first else whole), counts


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences of different lengths as one tensor.

    sequences: tensors (length, ...), one or more.
    batch_first: gives (B, T, ...).
    padding_value: what stands beside a shorter sequence.
    padding_side: "right" pads behind the end, "left" before the beginning.
    Returns: (T, B, ...).
    Raises: OptionError for another side, ShapeError if there are no sequences or other axes differ.
    Source: PyTorch, `torch.nn.utils.rnn.pad_sequence`.
    """
    if padding_side not in ("left", "right"):
        raise OptionError(f"pad_sequence: padding_side {padding_side!r} is not 'left' or 'right'")
    if not sequences or any(x.shape[1:] != sequences[0].shape[1:] for x in sequences):
        raise ShapeError(f"pad_sequence: {[x.shape for x in sequences]} do not go together")
    time = max(x.shape[0] for x in sequences)

    def longer(x: Tensor) -> Tensor:
        more = time - x.shape[0]
        ends = (more, 0) if padding_side == "left" else (0, more)
        return f.pad(x, [ends, *[(0, 0)] * (x.ndim - 1)], padding_value)

    return f.stack([longer(x) for x in sequences], 0 if batch_first else 1)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences of different lengths; see `pack_padded_sequence`.

    sequences: tensors (length, ...), one or more.
    enforce_sorted: they must be in order of their lengths, the longest first.
    Returns: the packed sequences.
    Raises: OptionError for lengths that are not in order, ShapeError if there are no sequences or
      other axes differ.
    Source: PyTorch, `torch.nn.utils.rnn.pack_sequence`.
    """
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Iterable[SupportsInt], batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded tensor, each of its own length.

    padded_sequences: the sequences, (T, B, ...).
    lengths: B numbers, or a tensor of them, which is read.
    batch_first: the sequences are (B, T, ...).
    Returns: tensors (length, ...), a list.
    Source: PyTorch, `torch.nn.utils.rnn.unpad_sequence`.
    """
    x = padded_sequences if batch_first else f.moveaxis(padded_sequences, 0, 1)
    return [x[n, :length] for n, length in enumerate(_numbers(lengths))]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a PackedSequence, in the order of the batch.

    packed_sequences: the packed sequences.
    Returns: tensors (length, ...), a list.
    Source: PyTorch, `torch.nn.utils.rnn.unpack_sequence`.
    """
    whole, _ = pad_packed_sequence(packed_sequences, batch_first=True)
    lengths = lengths_of(packed_sequences)
    if packed_sequences.unsorted_indices is not None:
        lengths = [lengths[n] for n in _numbers(packed_sequences.unsorted_indices)]
    return [whole[n, :length] for n, length in enumerate(lengths)]
