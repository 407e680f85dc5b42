"""Datasets: what a loader takes samples from, as in torch.utils.data."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from .rows import Samples, checked
from .sampler import RandomBytes, check_generator, drawing, length_of, permutation, plain

T_co = TypeVar("T_co", covariant=True)


class Indexed(Protocol[T_co]):
    """What gives samples by index: a Dataset, a list, an array."""

    def __getitem__(self, index: Any, /) -> T_co: ...


class Dataset(Generic[T_co]):
    """The base of datasets with indices. One of your own defines `__getitem__` and `__len__`, and
    may define `__getitems__(indices)`, which gives the list of samples of a batch at once.

    Samples may be of anything that `default_collate` joins. Any object with the two methods, such
    as a list or an array, is a dataset, too.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """The base of datasets that are streams: one of your own defines `__iter__`."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors as a dataset: sample i is (x[i], y[i], ...). Arrays become tensors.

    A batch of a loader is one gather for each tensor: on the device that keeps it, or by the host
    if it is of data that is on none yet; x.realize() puts it there. Raises ShapeError for tensors
    without axes or of different lengths, OptionError if there are none.
    """

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tuple(map(asarray, tensors))
        shapes = [x.shape for x in self.tensors]
        if not shapes:
            raise OptionError("TensorDataset: give it one tensor or more")
        if not all(shapes) or len({shape[0] for shape in shapes}) > 1:
            raise ShapeError(
                f"TensorDataset: tensors of the shapes {', '.join(map(str, shapes))} differ in the "
                "length of the first axis, the number of samples"
            )

    def __getitem__(self, index: int | slice | list[int] | Tensor) -> tuple[Tensor, ...]:
        if isinstance(index, list):
            return tuple(Samples(self.tensors, self._checked(index)).collated())
        if isinstance(index, int):
            (index,) = self._checked([index])
        return tuple(x[index] for x in self.tensors)

    def __getitems__(self, indices: Sequence[int]) -> Samples:
        return Samples(self.tensors, self._checked(indices))

    def _checked(self, indices: Sequence[int]) -> list[int]:
        return checked(indices, len(self), "TensorDataset")

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other. Raises OptionError if there are none, for an IterableDataset,
    and for one without a length."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise OptionError("ConcatDataset: give it one dataset or more")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise OptionError(
                "ConcatDataset: an IterableDataset has no indices; join streams with ChainDataset"
            )
        lengths = [length_of(each, "ConcatDataset") for each in self.datasets]
        self.cumulative_sizes = list(accumulate(lengths))

    def __getitem__(self, index: int) -> T_co:
        (index,) = checked([index], len(self), "ConcatDataset")
        number = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[number - 1] if number else 0
        sample: T_co = self.datasets[number][index - before]
        return sample

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other. Raises OptionError for a dataset that is no IterableDataset."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise OptionError(
                    f"ChainDataset: {type(each).__name__} is no IterableDataset; join datasets "
                    "with indices by ConcatDataset"
                )

    def __iter__(self) -> Iterator[Any]:
        for each in self.datasets:
            yield from each

    def __len__(self) -> int:
        return sum(map(len, self.datasets))


class Subset(Dataset[T_co]):
    """The samples of a dataset at some indices: a sequence, or a tensor, which is read."""

    def __init__(self, dataset: Indexed[T_co], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, plain(indices)

    def __getitem__(self, index: int | list[int]) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[T_co]:
        chosen = [self.indices[each] for each in indices]
        together = getattr(self.dataset, "__getitems__", None)
        if not callable(together):
            return [self.dataset[each] for each in chosen]
        samples: Sequence[T_co] = together(chosen)
        return samples

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Indexed[T_co], lengths: Sequence[float], generator: RandomBytes | None = None
) -> list[Subset[T_co]]:
    """The samples of a dataset, shared out at random to subsets.

    lengths: how many each gets, or the fraction that each gets, where what rounding leaves goes to
    the first ones. generator: tl.Generator().manual_seed(seed), or another with `randbytes`; if
    None, the numbers of `tl.manual_seed`. Raises OptionError for numbers that do not add up to the
    length of the dataset, and for fractions that do not add up to 1.
    """
    check_generator(generator, "random_split")
    count, total = length_of(dataset, "random_split"), sum(lengths)
    sizes: list[Any] = list(lengths)
    if not all(each >= 0 for each in sizes):
        raise OptionError(f"random_split: one of the lengths {sizes} is below 0")
    if math.isclose(total, 1):
        sizes = [math.floor(count * each) for each in lengths]
        for number in range(count - sum(sizes)):
            sizes[number % len(sizes)] += 1
    elif total != count or any(isinstance(each, float) for each in sizes):
        raise OptionError(
            f"random_split: the lengths {sizes} add up to {total}; whole numbers must add up to "
            f"{count}, the length of the dataset, and fractions to 1"
        )
    order = permutation(count, drawing(generator))
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
