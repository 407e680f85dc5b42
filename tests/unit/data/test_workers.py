"""Workers of a loader: what they make, in which order, with which random numbers, and how they
fail."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.data import DataLoader, IterableDataset, TensorDataset, get_worker_info
from tallow.data import workers as module
from tallow.errors import DataWorkerError, OptionError


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    tl.manual_seed(0)
    yield
    tl.manual_seed(None)


class Squares:
    """Samples that say who made them, with a random number."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, Any]:
        info = get_worker_info()
        return {
            "square": float(index * index),
            "worker": -1 if info is None else info.id,
            "drawn": tl.rand(2).numpy(),
        }


class Shared(IterableDataset[int]):
    """A stream; each worker yields its share."""

    def __init__(self, count: int, shares: bool = True) -> None:
        self.count, self.shares = count, shares

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        if info is None or not self.shares:
            return iter(range(self.count))
        return iter(range(info.id, self.count, info.num_workers))


class Failing(Squares):
    def __getitem__(self, index: int) -> dict[str, Any]:
        if index == 5:
            raise ValueError("sample 5 is damaged")
        return super().__getitem__(index)


class Dying(Squares):
    def __getitem__(self, index: int) -> dict[str, Any]:
        import os

        os._exit(3)


def lists(loader: DataLoader[Any], key: str) -> list[Any]:
    return [batch[key].tolist() for batch in loader]


WAYS: dict[str, dict[str, Any]] = {
    "threads": {"num_workers": 3},
    "processes": {"num_workers": 2, "multiprocessing_context": "spawn"},
}


@pytest.mark.parametrize("way", WAYS)
def test_batches_are_those_without_workers(way: str) -> None:
    found = []
    for options in ({}, WAYS[way]):
        loader = DataLoader(Squares(11), batch_size=3, shuffle=True, seed=4, **options)
        found.append([lists(loader, "square") for _ in range(2)])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


@pytest.mark.parametrize("way", WAYS)
def test_the_number_of_workers_changes_no_random_number(way: str) -> None:
    found = []
    for number in (1, 2):
        options = {**WAYS[way], "num_workers": number}
        loader = DataLoader(Squares(7), batch_size=2, seed=1, **options)
        found.append([lists(loader, "drawn") for _ in range(2)])
    assert found[0] == found[1]
    drawn = np.concatenate([row for epoch in found[0] for row in epoch])
    assert len(np.unique(drawn)) == drawn.size  # of every sample, in every epoch


def test_threads_and_processes_draw_the_same() -> None:
    first, second = (lists(DataLoader(Squares(4), seed=1, **way), "drawn") for way in WAYS.values())
    assert first == second


def test_workers_take_turns_and_begin_with_their_numbers() -> None:
    begun: list[int] = []
    loader = DataLoader(
        Squares(8), batch_size=2, num_workers=2, worker_init_fn=begun.append, prefetch_factor=1
    )
    assert lists(loader, "worker") == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert sorted(begun) == [0, 1]
    assert get_worker_info() is None


def test_an_epoch_goes_on_where_it_was() -> None:
    def loader(number: int) -> DataLoader[Any]:
        return DataLoader(
            Squares(20), batch_size=2, shuffle=True, num_workers=number, generator=random.Random(3)
        )

    whole = [batch["drawn"].tolist() for batch in loader(2)]
    part = loader(2)
    batches = iter(part)
    for _ in range(4):
        next(batches)
    state = part.state_dict()
    again = loader(3)
    again.load_state_dict(state)
    assert [batch["drawn"].tolist() for batch in again] == whole[4:]


def test_batches_are_made_ahead() -> None:
    """While the program has not asked for them: the fourth, of two workers with two each."""
    reached = threading.Event()

    class Watched(Squares):
        def __getitem__(self, index: int) -> dict[str, Any]:
            if index == 3:
                reached.set()
            return super().__getitem__(index)

    batches = iter(DataLoader(Watched(9), num_workers=2))
    next(batches)
    assert reached.wait(60)
    batches.close()  # type: ignore[attr-defined]


def test_batches_as_they_come() -> None:
    """The second worker's come while the first one waits."""
    may_go = threading.Event()

    class Waiting(Squares):
        def __getitem__(self, index: int) -> dict[str, Any]:
            if index == 0:
                assert may_go.wait(60)
            return super().__getitem__(index)

    batches = iter(DataLoader(Waiting(4), num_workers=2, in_order=False))
    first = next(batches)["square"].item()
    assert first in (1, 9)
    may_go.set()
    assert sorted([first, *(batch["square"].item() for batch in batches)]) == [0, 1, 4, 9]


@pytest.mark.parametrize("way", WAYS)
def test_streams(way: str) -> None:
    options = WAYS[way]
    shared = [batch.tolist() for batch in DataLoader(Shared(10), batch_size=2, **options)]
    assert sorted(each for batch in shared for each in batch) == list(range(10))
    everything = DataLoader(Shared(3, shares=False), batch_size=None, **options)
    assert sorted(everything) == sorted([*range(3)] * options["num_workers"])
    short = DataLoader(Shared(10), batch_size=4, drop_last=True, **options)
    assert [len(batch) for batch in short] == ([4, 4] if options["num_workers"] == 2 else [4])


def test_workers_may_stay() -> None:
    begun: list[int] = []
    names = set()

    class Named(Squares):
        def __getitem__(self, index: int) -> dict[str, Any]:
            names.add(threading.get_ident())
            return super().__getitem__(index)

    loader = DataLoader(
        Named(4), num_workers=1, persistent_workers=True, worker_init_fn=begun.append
    )
    assert len(list(loader)) == len(list(loader)) == 4
    assert (begun, len(names)) == ([0], 1)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_tensors_in_threads(device: str) -> None:
    x = tl.arange(24.0).reshape(8, 3) * 2
    y = tl.arange(8)
    before = tl.default_device()
    tl.set_default_device(device)
    try:
        loader = DataLoader(TensorDataset(x, y), batch_size=3, num_workers=2)
        found = [(a.tolist(), b.tolist()) for a, b in loader]
    finally:
        tl.set_default_device(before)
    rows = (np.arange(24.0).reshape(8, 3) * 2).tolist()
    assert [row for a, _ in found for row in a] == rows
    assert [each for _, b in found for each in b] == list(range(8))


def test_tensors_from_processes() -> None:
    x = tl.arange(24.0).reshape(8, 3) * 2
    found = list(DataLoader(TensorDataset(x), batch_size=3, **WAYS["processes"]))
    assert [row for (a,) in found for row in a.tolist()] == x.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_an_error_of_a_sample_is_raised(way: str) -> None:
    batches = iter(DataLoader(Failing(9), batch_size=2, **WAYS[way]))
    next(batches)
    next(batches)
    with pytest.raises(ValueError, match="sample 5 is damaged"):
        next(batches)


def test_a_process_that_dies() -> None:
    with pytest.raises(DataWorkerError, match="worker 0 died"):
        list(DataLoader(Dying(4), num_workers=1, multiprocessing_context="spawn"))


def test_what_cannot_be_sent_to_a_process() -> None:
    loader = DataLoader(
        Squares(4), num_workers=1, multiprocessing_context="spawn", collate_fn=lambda batch: batch
    )
    with pytest.raises(DataWorkerError, match="must be picklable"):
        list(loader)


def test_a_late_batch() -> None:
    may_end = threading.Event()

    class Late(Squares):
        def __getitem__(self, index: int) -> dict[str, Any]:
            assert may_end.wait(60)
            return super().__getitem__(index)

    with pytest.raises(DataWorkerError, match=r"worker 0 made no batch within timeout=0.01 s"):
        next(iter(DataLoader(Late(4), num_workers=1, timeout=0.01)))
    may_end.set()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_workers": -1}, "num_workers=-1 is below 0"),
        ({"num_workers": 1, "timeout": -1}, "timeout=-1 is below 0"),
        ({"prefetch_factor": 2}, "prefetch_factor=2 with num_workers=0"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor=0"),
        ({"num_workers": 1, "multiprocessing_context": "nothing"}, "'nothing' is unknown here"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        list(DataLoader(Squares(4), **options))


def test_a_browser_has_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "platform", "emscripten")
    with pytest.warns(UserWarning, match="num_workers=2 works as 0"):
        assert lists(DataLoader(Squares(3), num_workers=2), "worker") == [[-1], [-1], [-1]]
