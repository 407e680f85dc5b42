"""Workers: threads or processes that make the next batches while the program uses the ones before.

Batch k is the work of worker k modulo their number, and its random numbers begin with a seed of its
own. So neither their number nor their speed changes what the batches are.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar, copy_context
from copy import copy
from dataclasses import dataclass
from itertools import islice
from pickle import PicklingError
from typing import Any

from ..core import context
from ..errors import DataWorkerError, OptionError
from ..random import Numbers, drawing_from
from ..runtime.device import set_default_device
from .dataset import IterableDataset

_PREFETCHED = 2


@dataclass(frozen=True)
class WorkerInfo:
    """What a dataset sees of the worker that it is in, as torch.utils.data's.

    id: its number, below num_workers. seed: of its random numbers. dataset: its own one.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: ContextVar[WorkerInfo | None] = ContextVar("worker_info", default=None)


def get_worker_info() -> WorkerInfo | None:
    """The worker that the caller is in; None outside of workers. A stream asks, in order to give
    only its share: every worker gives all of what its `__iter__` does."""
    return _info.get()


def samples_at(dataset: Any, indices: Sequence[Any]) -> Any:
    """The samples of a batch."""
    together = getattr(dataset, "__getitems__", None)
    return together(indices) if callable(together) else [dataset[i] for i in indices]


class Worker:
    """What a worker has: the dataset, and how batches are made of it.

    init: is called with the number of the worker when it first begins. alone: whether samples come
    one by one, not in batches. whole: whether the last batch of a stream is left out if it is
    shorter.
    """

    def __init__(
        self,
        dataset: Any,
        collate: Callable[[Any], Any],
        init: Callable[[int], None] | None,
        alone: bool,
        whole: bool,
    ) -> None:
        self.dataset, self.collate, self.init = dataset, collate, init
        self.alone, self.whole = alone, whole
        self.streams = isinstance(dataset, IterableDataset)
        self.pytorch = context.pytorch.get()

    def begin(self, number: int, workers: int, seed: int) -> None:
        """Begins an epoch."""
        seed += number
        _info.set(WorkerInfo(number, workers, seed, self.dataset))
        self.numbers = Numbers(seed)
        with drawing_from(self.numbers):
            if self.init is not None:
                self.init(number)
                self.init = None
            if self.streams:
                self.stream = iter(self.dataset)

    def batch(self, request: Any, seed: int) -> Any:
        """The batch of some indices, or the sample of one. Of a stream the batch of as many next
        samples, or the next sample for 1; None at its end."""
        with drawing_from(self.numbers if self.streams else Numbers(seed)):
            if not self.streams:
                found = self.dataset[request] if self.alone else samples_at(self.dataset, request)
            elif len(found := list(islice(self.stream, request))) < (request if self.whole else 1):
                return None
            elif self.alone:
                (found,) = found
            return self.collate(found)


_worker: Worker
"""That of this process."""


def _become(worker: Worker) -> None:
    """Makes this process a worker. It computes on NumPy: the device is for the program."""
    global _worker
    _worker = worker
    context.pytorch.set(worker.pytorch)
    set_default_device("numpy")


def _begin(number: int, workers: int, seed: int) -> None:
    random.seed(seed + number)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed + number & 0xFFFFFFFF)
    _worker.begin(number, workers, seed)


def _batch(request: Any, seed: int) -> Any:
    return _worker.batch(request, seed)


class Workers:
    """The workers of a loader, for one epoch or for several.

    start: None for threads; for processes the name of a start method, "spawn", "fork" or
    "forkserver", or a context of `multiprocessing`. prefetched: how many batches each worker makes
    ahead; 2 if None. timeout: seconds to wait for a batch; 0 waits without end.
    Raises: OptionError for an unknown start method.
    """

    def __init__(
        self, worker: Worker, count: int, start: Any, prefetched: int | None, timeout: float
    ) -> None:
        self._timeout = timeout or None
        self._ahead = count * (prefetched or _PREFETCHED)
        self._seed = 0
        start = _start_method(start)
        self._executors: list[Executor] = []
        self._calls: list[tuple[Callable[..., None], Callable[..., Any]]] = []
        for _ in range(count):
            if start is None:
                self._executors.append(ThreadPoolExecutor(1, "DataLoader"))
                self._calls.append(_in_thread(worker))
            else:
                self._executors.append(ProcessPoolExecutor(1, start, _become, (worker,)))
                self._calls.append((_begin, _batch))

    def begin(self, seed: int) -> None:
        """Begins an epoch with a seed of its random numbers."""
        self._seed, count = seed, len(self._executors)
        begun = [
            self._submit(number, begin, number, count, seed)
            for number, (begin, _) in enumerate(self._calls)
        ]
        for number, future in enumerate(begun):
            self._result(future, number)

    def in_order(self, requests: Iterable[Any], first: int) -> Iterator[Any]:
        """The batches of requests, in their order. first: the number of the first one."""
        waiting: deque[tuple[Future[Any], int]] = deque()
        for number, request in enumerate(requests, first):
            waiting.append(self._asked(number, request))
            if len(waiting) >= self._ahead:
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    def as_they_come(self, requests: Iterable[Any], first: int) -> Iterator[Any]:
        """The batches of requests, whichever is made first."""
        waiting: dict[Future[Any], int] = {}
        asked = enumerate(requests, first)
        while True:
            for each in islice(asked, self._ahead - len(waiting)):
                future, worker = self._asked(*each)
                waiting[future] = worker
            if not waiting:
                return
            done, _ = wait(waiting, self._timeout, "FIRST_COMPLETED")
            for future in done or list(waiting)[:1]:
                yield self._result(future, waiting.pop(future))

    def streamed(self, size: int) -> Iterator[Any]:
        """The batches of the streams of all workers, one of each in turn, until all have ended."""
        waiting = deque(self._asked(number, size) for number in range(self._ahead))
        while waiting:
            future, worker = waiting.popleft()
            made = self._result(future, worker)
            if made is not None:
                waiting.append(self._asked(worker, size))
                yield made  # an ended stream gives None to all that was asked of it

    def close(self) -> None:
        """Ends them, once they have made what they are making."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)

    def _asked(self, number: int, request: Any) -> tuple[Future[Any], int]:
        worker = number % len(self._executors)
        _, batch = self._calls[worker]
        return self._submit(worker, batch, request, self._seed + number), worker

    def _submit(self, worker: int, call: Callable[..., Any], *given: Any) -> Future[Any]:
        try:
            return self._executors[worker].submit(call, *given)
        except (BrokenProcessPool, PicklingError, AttributeError, TypeError) as error:
            raise _died(worker, error) from error

    def _result(self, future: Future[Any], worker: int) -> Any:
        try:
            return future.result(self._timeout)
        except BrokenProcessPool as error:
            raise _died(worker, error) from error
        except TimeoutError as error:
            if future.done():
                raise  # it is the dataset's
            raise DataWorkerError(
                f"DataLoader: worker {worker} made no batch within timeout={self._timeout} s"
            ) from error


def _in_thread(worker: Worker) -> tuple[Callable[..., None], Callable[..., Any]]:
    """Calls of a worker of its own, with the switches that the program has set around the loop."""
    own, switches = copy(worker), copy_context()

    def begin(*given: Any) -> None:
        switches.run(own.begin, *given)

    def batch(*given: Any) -> Any:
        return switches.run(own.batch, *given)

    return begin, batch


def _died(worker: int, error: Exception) -> DataWorkerError:
    return DataWorkerError(
        f"DataLoader: worker {worker} died or could not start ({error}). Under the start methods "
        "spawn and forkserver the main part of a program stands below "
        "`if __name__ == '__main__':`, and what a worker gets must be picklable"
    )


def _start_method(start: Any) -> Any:
    if not isinstance(start, str):
        return start
    import multiprocessing  # a browser's Python has none

    try:
        return multiprocessing.get_context(start)
    except ValueError as error:
        known = ", ".join(multiprocessing.get_all_start_methods())
        raise OptionError(
            f"DataLoader: multiprocessing_context={start!r} is unknown here; there are {known}"
        ) from error


def usable(number: int) -> int:
    """How many workers there can be: none in a browser, whose Python starts no thread."""
    if number and sys.platform == "emscripten":
        warnings.warn(
            f"DataLoader: num_workers={number} works as 0, since Python starts no thread here",
            stacklevel=3,
        )
        return 0
    return number
