"""The loader: an iterable of a dataset's batches, as torch.utils.data's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

from ..errors import OptionError
from ..random import Generator
from ..tensor import Tensor, realize_now
from .collate import default_collate as default_collate  # scripts import both from here, too
from .collate import default_convert as default_convert
from .dataset import Indexed, IterableDataset
from .position import Position
from .rows import stacked
from .sampler import (
    BatchSampler,
    RandomBytes,
    RandomSampler,
    Sampler,
    SequentialSampler,
    batches,
    drawing,
    length_of,
    plain,
)
from .workers import Worker, Workers, samples_at, usable
from .workers import get_worker_info as get_worker_info

T_co = TypeVar("T_co", covariant=True)

_FIXED = ("batch_sampler", "batch_size", "dataset", "drop_last", "sampler")


class DataLoader(Generic[T_co]):
    """The batches of a dataset, again for each epoch.

        for x, y in DataLoader(dataset, batch_size=64, shuffle=True):
            loss = step(x, y)

    dataset: anything with `__getitem__` and `__len__`, such as a list or an array; if it has
    `__getitems__`, that gives the samples of a batch at once. Or an IterableDataset.
    batch_size: samples per batch; with None each sample comes alone, through `default_convert`.
    shuffle: in another order each epoch, which begins again after `tl.manual_seed`. sampler: gives
    the indices in an order of your own; batch_sampler: gives lists of them.
    collate_fn: makes a batch of a list of samples; `default_collate` if None. drop_last: without a
    last batch that is shorter. generator: what the order is drawn from, an object with `randbytes`
    such as tl.Generator(); seed: the seed of one.

    The tensors of a batch are computed, and on their device. Batches of one size are alike, so that
    a step under `@tl.jit` is compiled once, and once more for a shorter last one.

    num_workers: how many threads make the next batches while the program uses the ones before, or
    processes, with a multiprocessing_context: a start method's name, such as "spawn". Threads help
    where samples wait for files, or are made by libraries that let other threads run, as Pillow and
    NumPy do. The random numbers of a batch are the same for any number of workers from 1 on. In a
    browser, whose Python starts no thread, all is done in this one, with a warning.
    prefetch_factor: batches that each worker makes ahead, 2 if None. worker_init_fn: is called with
    the number of each worker as it begins. timeout: seconds to wait for a batch; 0 waits without
    end. persistent_workers: they stay for the next epoch. in_order: False gives each batch as soon
    as it is made. pin_memory and pin_memory_device change nothing.

    Raises OptionError for options that exclude each other, and for a dataset without a length if no
    sampler is given; DataWorkerError for a worker that dies, cannot start or is late.
    """

    def __init__(
        self,
        dataset: Indexed[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: object = None,
        generator: RandomBytes | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        seed: int | None = None,
    ) -> None:
        _check_together(
            dataset, shuffle=shuffle, sampler=sampler, batch_sampler=batch_sampler,
            batch_size=batch_size, drop_last=drop_last,
        )  # fmt: skip
        if num_workers < 0:
            raise OptionError(f"DataLoader: num_workers={num_workers} is below 0; give 0 or more")
        if timeout < 0:
            raise OptionError(f"DataLoader: timeout={timeout} is below 0; give seconds, or 0")
        if prefetch_factor is not None and (prefetch_factor < 1 or not num_workers):
            raise OptionError(
                f"DataLoader: prefetch_factor={prefetch_factor} with num_workers={num_workers}; "
                "batches are made ahead, at least 1, by workers"
            )
        if seed is not None:
            if generator is not None:
                raise OptionError("DataLoader: a generator excludes a seed; leave one out")
            generator = Generator().manual_seed(seed)
        streamed = isinstance(dataset, IterableDataset)
        if sampler is None and batch_sampler is None and not streamed:
            length_of(dataset, "DataLoader")
            source: Any = dataset
            ordered = SequentialSampler(source)
            sampler = RandomSampler(source, generator=generator) if shuffle else ordered
        if batch_sampler is not None:
            batch_size = None
        elif sampler is not None and batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        together = batch_size is not None or batch_sampler is not None
        self.dataset = dataset
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (default_collate if together else default_convert)
        self.generator = generator
        self.num_workers, self.worker_init_fn = num_workers, worker_init_fn
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.in_order = timeout, in_order
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers
        self._workers: Workers | None = None
        self._position = Position(generator)
        self._built = True

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED and hasattr(self, "_built"):
            raise OptionError(f"DataLoader: {name} is fixed; make another DataLoader")
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        skipped = self._position.begin()
        number = usable(self.num_workers)
        made = self._by_workers(skipped, number) if number else self._here(skipped)
        for given, batch in enumerate(made, skipped + 1):
            realize_now(list(tensors_of(batch)))
            self._position.batches = given
            yield batch

    def state_dict(self) -> dict[str, Any]:
        """How far the latest epoch is, for `load_state_dict`: numbers and texts.

        Source: torchdata, `StatefulDataLoader`, for the name.
        """
        return self._position.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Has the next iteration go on within an epoch, after the batches that were given before
        `state_dict`, in the same order. Samples that are skipped are not fetched; but a stream
        gives them again.

        state_dict: what `state_dict` gave. It restores a generator of the loader's own. The caller
          restores other random numbers: those of `tl.manual_seed`, and those of samples.
        """
        self._position.load_state_dict(state_dict)

    def _here(self, skipped: int) -> Iterator[Any]:
        """The batches, made in this thread."""
        if isinstance(self.dataset, IterableDataset):
            samples = self._position.after(self._streamed(iter(self.dataset)), skipped)
        elif self.batch_sampler is not None:
            samples = (samples_at(self.dataset, indices) for indices in self._requests(skipped))
        else:
            samples = (self.dataset[index] for index in self._requests(skipped))
        return map(self.collate_fn, samples)

    def _by_workers(self, skipped: int, number: int) -> Iterator[Any]:
        """The batches, made by workers."""
        alone = self.batch_size is None and self.batch_sampler is None
        workers = self._workers
        if workers is None:
            worker = Worker(
                self.dataset, self.collate_fn, self.worker_init_fn, alone, self.drop_last
            )
            start = self.multiprocessing_context
            workers = Workers(worker, number, start, self.prefetch_factor, self.timeout)
        self._workers = workers if self.persistent_workers else None
        try:
            if isinstance(self.dataset, IterableDataset):
                workers.begin(self._seed())
                made = workers.streamed(self.batch_size or 1)
                yield from self._position.after(made, skipped)
                return
            ordered = workers.in_order if self.in_order else workers.as_they_come
            yield from ordered(self._requests(skipped, workers), skipped)
        finally:
            if self._workers is None:
                workers.close()

    def _requests(self, skipped: int, workers: Workers | None = None) -> Iterator[Any]:
        """The indices of each batch, or of each sample."""

        def all_of_them() -> Iterator[Any]:
            source = iter(self.sampler if self.sampler is not None else ())
            if self.batch_sampler is not None:
                source = map(_read, self.batch_sampler)
            first = list(islice(source, 1))  # draws the order
            seed = self._seed()  # also where nobody asks, so that the next epoch has the same order
            if workers is not None:
                workers.begin(seed)
            yield from first
            yield from source

        return self._position.after(all_of_them(), skipped)

    def _seed(self) -> int:
        return drawing(self.generator).getrandbits(63)

    def _streamed(self, samples: Iterator[Any]) -> Iterator[Any]:
        if self.batch_size is None:
            yield from samples
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        given = self.batch_sampler if self.batch_sampler is not None else self.sampler
        counted: Any = self.dataset if given is None else given
        try:
            count = len(counted)
        except TypeError as error:
            # list(loader) asks for the length, and goes on without one if this is a TypeError.
            raise TypeError(f"len(DataLoader): no number of batches: {error}") from error
        if given is not None or self.batch_size is None:
            return count
        return batches(count, self.batch_size, self.drop_last)


def _check_together(dataset: object, **given: object) -> None:
    """OptionError for options that exclude each other."""

    def exclude(what: str, names: Sequence[str], why: str) -> None:
        found = [f"{name}={options[name]!r:.60}" for name in names if name in options]
        if found:
            raise OptionError(f"DataLoader: {what} excludes {', '.join(found)}; {why}")

    ordering = ("shuffle", "sampler", "batch_sampler")
    options = {
        name: value
        for name, value in given.items()
        if value is not None and value is not False and (name, value) != ("batch_size", 1)
    }
    if isinstance(dataset, IterableDataset):
        exclude("an IterableDataset", ordering, "have it give its samples in the order you want")
    elif not hasattr(dataset, "__getitem__"):
        raise OptionError(
            f"DataLoader: {type(dataset).__name__} has no __getitem__; derive a stream from "
            "IterableDataset"
        )
    if "sampler" in options:
        exclude("a sampler", ("shuffle",), "leave one out, as the sampler decides the order")
    if "batch_sampler" in options:
        names = ("batch_size", "shuffle", "sampler", "drop_last")
        exclude("a batch_sampler", names, "leave those out, as it decides all that")
    elif given["batch_size"] is None:
        exclude("batch_size=None", ("drop_last",), "give a batch_size, or take each sample alone")


def _read(indices: Sequence[Any]) -> Sequence[Any]:
    """The indices of a batch; those that are tensors are read, together."""
    found = list(plain(indices))
    if found and isinstance(found[0], Tensor):
        return plain(stacked(found))
    return found


def tensors_of(batch: object) -> Iterator[Tensor]:
    """All tensors within a batch."""
    if isinstance(batch, Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        yield from tensors_of(list(batch.values()))
    elif isinstance(batch, (list, tuple)):
        for each in batch:
            yield from tensors_of(each)
