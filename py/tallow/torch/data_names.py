"""What torch.utils.data has beside Tallow's: for one process, and datasets side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any, Protocol

from ..data import Dataset, Sampler
from ..data.collate import default_collate as default_collate
from ..data.sampler import drawing, permutation
from ..errors import OptionError


class DistributedSampler(Sampler[int]):
    """The part of a dataset's indices that one of several processes takes.

    num_replicas: how many processes, 1; rank: which this is, 0. shuffle: in an order that follows
    from seed and epoch. drop_last: leaves out what cannot be shared evenly; otherwise the first
    indices come twice. Raises OptionError for a rank that is none of the processes.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        self.dataset, self.shuffle, self.seed, self.drop_last = dataset, shuffle, seed, drop_last
        self.num_replicas, self.rank, self.epoch = num_replicas or 1, rank or 0, 0
        if not 0 <= self.rank < self.num_replicas:
            raise OptionError(f"DistributedSampler: rank {rank} of {self.num_replicas} processes")
        share = len(dataset) / self.num_replicas
        self.num_samples = math.floor(share) if drop_last else math.ceil(share)
        self.total_size = self.num_samples * self.num_replicas

    def set_epoch(self, epoch: int) -> None:
        """Has the next order follow from another epoch."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            from ..random import Generator

            drawn = Generator().manual_seed(self.seed + self.epoch)
            order = permutation(len(order), drawing(drawn))
        while order and len(order) < self.total_size:
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples


class _Part(Protocol):
    """What has a sample at each index below its length."""

    def __getitem__(self, index: int, /) -> Any: ...

    def __len__(self) -> int: ...


class StackDataset(Dataset[Any]):
    """Datasets of one length side by side: a tuple, or a dict by keyword, of what each has at an
    index. Raises OptionError for other lengths."""

    def __init__(self, *args: _Part, **kwargs: _Part) -> None:
        self.datasets = kwargs or args
        lengths = {len(each) for each in (kwargs.values() if kwargs else args)}
        if len(lengths) != 1:
            raise OptionError(f"StackDataset: datasets of {sorted(lengths)} samples")
        (self._length,) = lengths

    def __getitem__(self, index: int) -> dict[str, Any] | tuple[Any, ...]:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self) -> int:
        return self._length


class _BaseDataLoaderIter:
    """The class of PyTorch's iterators over batches, for programs that ask; ours are generators."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """That of loaders with processes of their own, of which there are none here."""


__all__ = ["DistributedSampler", "StackDataset", "default_collate"]
