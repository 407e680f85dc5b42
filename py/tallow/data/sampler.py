"""Samplers: the order in which a loader takes the samples of a dataset, as in torch.utils.data.

Random orders are drawn again for each epoch, and begin again after `tl.manual_seed`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import accumulate, islice
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from ..errors import OptionError, ShapeError
from ..random import fresh_bytes

T_co = TypeVar("T_co", covariant=True)


class RandomBytes(Protocol):
    """What orders are drawn from: a tl.Generator, or Python's random.Random."""

    def randbytes(self, count: int, /) -> bytes:
        """So many random bytes."""


def check_generator(generator: object, what: str) -> None:
    """OptionError for what is neither None nor an object with `randbytes`, such as tl.Generator()
    or Python's random.Random."""
    if generator is not None and not callable(getattr(generator, "randbytes", None)):
        raise OptionError(
            f"{what}: the generator is a {type(generator).__name__}; give a tl.Generator(), or "
            "None after tl.manual_seed(seed)"
        )


def drawing(generator: RandomBytes | None) -> Random:
    """What an order is drawn from, of a generator that was checked; of None, the numbers of
    `tl.manual_seed`."""
    return Random(fresh_bytes(8) if generator is None else generator.randbytes(8))


def permutation(count: int, drawn: Random) -> list[int]:
    """The integers below count in a random order."""
    keys = [drawn.random() for _ in range(count)]  # half the time of Python's shuffle
    return sorted(range(count), key=keys.__getitem__)


def length_of(source: Any, what: str) -> int:
    """The length of a dataset. Raises OptionError if it has none."""
    try:
        return len(source)
    except TypeError as error:
        raise OptionError(
            f"{what}: needs the number of samples, and {type(source).__name__} has no __len__; "
            "define one, or give a sampler of your own"
        ) from error


def plain(values: Any) -> Sequence[Any]:
    """A tensor or an array as a list, whose elements need not be read one by one."""
    found: Sequence[Any] = values.tolist() if hasattr(values, "tolist") else values
    return found


def _check_count(what: str, name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise OptionError(f"{what}: {name}={value!r} is not a whole number above 0")


def _check_flag(what: str, name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise OptionError(f"{what}: {name}={value!r} is neither True nor False")


class Sampler(Generic[T_co]):
    """The base of all samplers. One of your own defines `__iter__`, which gives indices, and
    `__len__` if their number is known. data_source is not used."""

    def __init__(self, data_source: Sized | None = None) -> None:
        pass

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")


class SequentialSampler(Sampler[int]):
    """All indices of a dataset in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __len__(self) -> int:
        return length_of(self.data_source, "SequentialSampler")


class RandomSampler(Sampler[int]):
    """Indices of a dataset in a random order.

    replacement: each is drawn from all, so that some come twice. num_samples: how many; as many as
    the dataset has, if None. Without replacement, those beyond come from further orders. generator:
    tl.Generator().manual_seed(seed), or another with `randbytes`; if None, the numbers of
    `tl.manual_seed`. Raises OptionError for a number that is not above 0, and an empty dataset.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: RandomBytes | None = None,
    ) -> None:
        _check_flag("RandomSampler", "replacement", replacement)
        check_generator(generator, "RandomSampler")
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not length_of(data_source, "RandomSampler"):
            raise OptionError("RandomSampler: the dataset is empty, so there is no order")
        _check_count("RandomSampler", "num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices an epoch has."""
        if self._num_samples is None:
            return length_of(self.data_source, "RandomSampler")
        return self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = length_of(self.data_source, "RandomSampler"), self.num_samples
        drawn = drawing(self.generator)
        if self.replacement:
            yield from (drawn.randrange(count) for _ in range(wanted))
            return
        while wanted > 0:
            yield from permutation(count, drawn)[:wanted]
            wanted -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some indices in a random order: a sequence, or a tensor, which is read. generator as for
    `RandomSampler`."""

    def __init__(self, indices: Sequence[int], generator: RandomBytes | None = None) -> None:
        check_generator(generator, "SubsetRandomSampler")
        self.indices, self.generator = plain(indices), generator

    def __iter__(self) -> Iterator[int]:
        for number in permutation(len(self.indices), drawing(self.generator)):
            yield self.indices[number]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples indices below the number of weights, each with the probability of its weight.

    weights: numbers, not all 0, which need not add up to 1; a tensor is read. replacement: an index
    may come again. generator as for `RandomSampler`. Raises ShapeError for weights of more than
    one axis, OptionError for a weight below 0 or not finite, and for more samples without
    replacement than there are weights above 0.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: RandomBytes | None = None,
    ) -> None:
        _check_count("WeightedRandomSampler", "num_samples", num_samples)
        _check_flag("WeightedRandomSampler", "replacement", replacement)
        check_generator(generator, "WeightedRandomSampler")
        given = plain(weights)
        if not isinstance(given, Iterable) or any(hasattr(each, "__len__") for each in given):
            raise ShapeError("WeightedRandomSampler: weights must be a vector, a number per sample")
        self.weights = [float(each) for each in given]
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator
        for number, weight in enumerate(self.weights):
            if not 0 <= weight < math.inf:
                raise OptionError(
                    f"WeightedRandomSampler: the weight {weight} of sample {number} is not a "
                    "finite number from 0 on"
                )
        usable = sum(weight > 0 for weight in self.weights)
        if not usable or (not replacement and usable < num_samples):
            raise OptionError(
                f"WeightedRandomSampler: {usable} of {len(self.weights)} weights are above 0, too "
                f"few for {num_samples} samples with replacement={replacement}"
            )

    def __iter__(self) -> Iterator[int]:
        drawn = drawing(self.generator)
        if self.replacement:
            sums = list(accumulate(self.weights))
            yield from drawn.choices(range(len(sums)), cum_weights=sums, k=self.num_samples)
            return
        # The first to arrive, of arrivals at these rates, are drawn by weight one after the other.
        times = {n: drawn.expovariate(rate) for n, rate in enumerate(self.weights) if rate > 0}
        yield from sorted(times, key=times.__getitem__)[: self.num_samples]

    def __len__(self) -> int:
        return self.num_samples


class StratifiedSampler(Sampler[int]):
    """All indices in a random order in which every stretch, and so every batch, has about the share
    of each class that all samples have: a class has one of its n samples in each n-th of the order.

    labels: a class for each sample, numbers or texts; a tensor is read. generator as for
    `RandomSampler`. Raises OptionError for no labels, ShapeError for those of more than one axis.
    """

    def __init__(self, labels: Sequence[Any], generator: RandomBytes | None = None) -> None:
        check_generator(generator, "StratifiedSampler")
        given, self.generator = plain(labels), generator
        if not len(given):
            raise OptionError("StratifiedSampler: there are no labels, so there is no order")
        self._classes: dict[Any, list[int]] = {}
        for number, label in enumerate(given):
            if isinstance(label, list):
                raise ShapeError("StratifiedSampler: labels must be a vector, a class per sample")
            self._classes.setdefault(label, []).append(number)
        self._count = len(given)

    def __iter__(self) -> Iterator[int]:
        drawn = drawing(self.generator)
        places: dict[int, float] = {}
        for members in self._classes.values():
            order = permutation(len(members), drawn)
            places |= {
                members[number]: (turn + drawn.random()) / len(members)
                for turn, number in enumerate(order)
            }
        yield from sorted(places, key=places.__getitem__)

    def __len__(self) -> int:
        return self._count


class BatchSampler(Sampler[list[int]]):
    """The indices of a sampler, or of any iterable, in lists of batch_size.

    drop_last: without a last list that is shorter. Raises OptionError for a batch_size that is not
    a whole number above 0.
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _check_count("BatchSampler", "batch_size", batch_size)
        _check_flag("BatchSampler", "drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        return batches(len(self.sampler), self.batch_size, self.drop_last)  # type: ignore[arg-type]


def batches(count: int, batch_size: int, drop_last: bool) -> int:
    """How many batches so many samples are."""
    return count // batch_size if drop_last else -(-count // batch_size)
