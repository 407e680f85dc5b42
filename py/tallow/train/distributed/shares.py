"""Shares of a batch, and means of what workers computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.drivers import Steps
from ...core.hostarray import HostArray
from ...data.dataloader import tensors_of
from ...errors import OptionError
from ...tensor import Tensor, reading
from ..tally import length_of

Arrays = Mapping[str, Any]
"""NumPy arrays by name."""


def on_host(tensors: Mapping[str, Tensor]) -> Steps[Any]:
    """NumPy arrays of tensors, by the same names."""
    values: list[HostArray] = yield from reading(list(tensors.values()))
    return {name: value.numpy() for name, value in zip(tensors, values, strict=True)}


def shares_of(batch: Any, workers: int) -> Steps[Any]:
    """Cuts a batch into a share for each worker, in order; the first ones have a sample more if
    they cannot be equal.

    Returns: a list of (how many samples, the share, with NumPy arrays in place of tensors), without
      empty shares.
    Raises: OptionError for what cannot be cut: a tensor of another length, or no tensor.
    """
    length = length_of(batch)
    values: list[HostArray] = yield from reading(list(tensors_of(batch)))
    found = []
    begin = 0
    for worker in range(min(workers, length)):
        end = begin + length // workers + (worker < length % workers)
        arrays = (value.numpy() for value in values)
        found.append((end - begin, _cut(batch, arrays, length, begin, end)))
        begin = end
    return found


def _cut(batch: Any, arrays: Iterator[Any], length: int, begin: int, end: int) -> Any:
    if isinstance(batch, Tensor):
        array = next(arrays)
        if not array.shape:
            return array
        if array.shape[0] != length:
            raise OptionError(
                f"RayStrategy: a batch has tensors with {length} and {array.shape[0]} rows; every "
                "tensor of a batch has a row per sample, or no axis"
            )
        return array[begin:end]
    if isinstance(batch, Mapping):
        return {key: _cut(each, arrays, length, begin, end) for key, each in batch.items()}
    if isinstance(batch, (list, tuple)):
        parts = [_cut(each, arrays, length, begin, end) for each in batch]
        named = hasattr(batch, "_fields")  # a NamedTuple takes its fields one by one
        return type(batch)(*parts) if named else type(batch)(parts)
    raise OptionError(
        f"RayStrategy: a batch has {type(batch).__name__} in it; batches for workers are made of "
        "tensors, in tuples, lists and dicts"
    )


def tensors_in(share: Any, made: Any) -> Any:
    """A share with a tensor, `made(array)`, for each array."""
    if isinstance(share, Mapping):
        return {key: tensors_in(each, made) for key, each in share.items()}
    if isinstance(share, (list, tuple)):
        parts = [tensors_in(each, made) for each in share]
        return type(share)(*parts) if hasattr(share, "_fields") else type(share)(parts)
    return made(share)


def averaged(counts: Sequence[int], given: Sequence[Arrays]) -> dict[str, Any]:
    """Means over samples of what workers computed, by name: of floats, in their own type, the mean
    weighted by the number of samples; of integers and truth values, the first worker's. What a
    worker lacks counts as zero.

    counts: how many samples each worker had.
    """
    total = sum(counts)
    found: dict[str, Any] = {}
    for count, arrays in zip(counts, given, strict=True):
        for name, array in arrays.items():
            if array.dtype.kind != "f":
                found.setdefault(name, array)
                continue
            part = array * array.dtype.type(count / total)
            found[name] = found[name] + part if name in found else part
    return found
