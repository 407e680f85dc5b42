"""How samples become a batch, as in torch.utils.data."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

from ..core.dtype import in_pytorch
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor, asarray
from .rows import Samples, stacked

_TEXTS = (str, bytes)


def default_collate(batch: Sequence[Any]) -> Any:
    """The samples of a batch as one, whose tensors have a new first axis, the samples.

    Tensors, NumPy arrays and numbers become tensors: of the arrays' own type, int32 for integers,
    float32 for floating numbers; PyTorch's are int64 and float64. Mappings, named tuples and lists
    stay what they are, and tuples become lists; each of their entries is collated. Texts stay as
    they are.

    Raises ShapeError for samples of different shapes or lengths, OptionError for an empty batch or
    a sample without one of the keys, DTypeError for what cannot be joined.
    """
    if not len(batch):
        raise OptionError("default_collate: the batch is empty; leave it out of the batch_sampler")
    if isinstance(batch, Samples):
        return batch.collated()
    first = batch[0]
    if isinstance(first, _TEXTS):
        return batch
    if isinstance(first, Tensor) or hasattr(first, "__array__"):
        return _joined([_tensor(sample) for sample in batch])
    if isinstance(first, (int, float)):
        found = asarray(list(batch))
        return found.astype("float64") if in_pytorch() and found.dtype.is_floating else found
    if isinstance(first, Mapping):
        return _mapping_like(first, {key: default_collate(_at(batch, key)) for key in first})
    if isinstance(first, Sequence):
        lengths = [len(sample) for sample in batch]
        if len(set(lengths)) > 1:
            raise _unequal("lengths", lengths)
        columns = [default_collate(samples) for samples in zip(*batch, strict=True)]
        return _sequence_like(first, columns)
    raise DTypeError(
        f"default_collate: {type(first).__name__} is no tensor, array, number, text, mapping or "
        "sequence; give the DataLoader a collate_fn"
    )


def default_convert(data: Any) -> Any:
    """NumPy arrays as tensors, also within mappings and sequences; tuples become lists. All else,
    numbers and arrays of texts among it, stays as it is."""
    if isinstance(data, (Tensor, *_TEXTS)):
        return data
    if hasattr(data, "__array__"):
        return data if data.dtype.kind in "OSU" else asarray(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence):
        return _sequence_like(data, [default_convert(each) for each in data])
    return data


def _tensor(sample: object) -> Tensor:
    if not isinstance(sample, Tensor) and not hasattr(sample, "__array__"):
        raise DTypeError(
            f"default_collate: {type(sample).__name__} is in a batch with tensors or arrays"
        )
    return asarray(sample)


def _joined(samples: Sequence[Tensor]) -> Tensor:
    shapes = [sample.shape for sample in samples]
    if len(set(shapes)) > 1:
        raise _unequal("shapes", shapes)
    return stacked(samples)


def _unequal(what: str, found: Sequence[Any]) -> ShapeError:
    number = next(n for n, each in enumerate(found) if each != found[0])
    return ShapeError(
        f"default_collate: samples of one batch have different {what}: the first {found[0]}, "
        f"number {number} {found[number]}; make them equal in the dataset, or give the DataLoader "
        "a collate_fn that pads them"
    )


def _at(batch: Sequence[Any], key: object) -> list[Any]:
    for number, sample in enumerate(batch):
        if key not in sample:
            raise OptionError(
                f"default_collate: sample {number} of a batch lacks the key {key!r} that the first "
                "one has; give the DataLoader a collate_fn"
            )
    return [sample[key] for sample in batch]


def _mapping_like(given: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """Other values in a mapping of the same kind, which may have attributes of its own; in a dict
    if that kind cannot be made."""
    try:
        if isinstance(given, MutableMapping):
            made = copy(given)
            made.update(values)
            return made
        return type(given)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def _sequence_like(given: Sequence[Any], values: list[Any]) -> Any:
    """Other values in a sequence of the same kind, as `_mapping_like`; a list for a tuple."""
    if isinstance(given, tuple):
        return type(given)(*values) if hasattr(given, "_fields") else values
    try:
        if isinstance(given, MutableSequence):
            made = copy(given)
            made[:] = values
            return made
        return type(given)(values)  # type: ignore[call-arg]
    except TypeError:
        return values
