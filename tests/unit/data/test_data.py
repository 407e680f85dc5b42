"""tallow.data: datasets, samplers, collating, and the loader, beside what PyTorch does."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import tallow as tl
from tallow import data
from tallow.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StratifiedSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    random_split,
)
from tallow.errors import DTypeError, IndexRangeError, OptionError, ShapeError
from tallow_build.paths import ROOT

X = np.arange(20, dtype=np.float32).reshape(10, 2)
Y = np.arange(10)


class Pair(NamedTuple):
    a: Any
    b: Any


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    tl.manual_seed(0)
    yield
    tl.manual_seed(None)


class Stream(IterableDataset[int]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


class Sized(Stream):
    def __len__(self) -> int:
        return self.count


class NoLength(Dataset[int]):
    def __getitem__(self, index: int) -> int:
        return index


def lists(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


# ---- datasets --------------------------------------------------------------------------------


def test_names() -> None:
    assert tl.data is data
    assert tl.utils.data.DataLoader is data.DataLoader
    assert all(hasattr(data, name) for name in data.__all__)
    assert data.get_worker_info() is None
    for imported, absent in (("tallow", "tallow.data"), ("tallow.data", "numpy")):
        code = f"import sys, {imported}; sys.exit({absent!r} in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "py")})
        assert done.returncode == 0


def test_a_tensor_dataset_has_the_samples_of_its_tensors() -> None:
    x = tl.asarray(X)
    dataset = TensorDataset(x, tl.asarray(Y))
    assert len(dataset) == 10 and dataset.tensors[0] is x
    point, label = dataset[-1]
    assert point.tolist() == [18.0, 19.0] and label.item() == 9
    assert dataset[[3, 1]][1].tolist() == [3, 1] and dataset[2:4][1].tolist() == [2, 3]
    assert [label.item() for _, label in dataset] == [*range(10)]  # until IndexError
    samples = dataset.__getitems__([4, 5, 6])
    assert len(samples) == 3 and [y.item() for _, y in samples[1:]] == [5, 6]
    with pytest.raises(IndexRangeError, match="index 10 is out of range for 10"):
        dataset[10]


def test_datasets_one_after_the_other_and_parts_of_them() -> None:
    both = TensorDataset(tl.asarray(Y)) + TensorDataset(tl.asarray(Y[:3] + 100))
    assert isinstance(both, ConcatDataset)
    assert [both[n][0].item() for n in (9, 10, -1)] == [9, 100, 102]
    assert len(both) == 13 and both.cumulative_sizes == [10, 13]
    part = Subset(both, tl.tensor([12, 0, 5]))
    assert [sample[0].item() for sample in part] == [102, 0, 5]
    assert lists(batch for (batch,) in DataLoader(part, batch_size=2)) == [[102, 0], [5]]
    assert Subset(TensorDataset(tl.asarray(Y)), [7, 8])[[1, 0]][0].tolist() == [8, 7]
    chained = Stream(2) + Stream(3)
    assert isinstance(chained, ChainDataset) and list(chained) == [0, 1, 0, 1, 2]
    assert len(ChainDataset([Sized(2), Sized(3)])) == 5


@pytest.mark.parametrize(
    ("lengths", "sizes"),
    [([6, 4], [6, 4]), ([10, 0], [10, 0]), ([0.5, 0.5], [5, 5]), ([0.75, 0.25], [8, 2]),
     ([0.3] * 3 + [0.1], [3, 3, 3, 1])],
)  # fmt: skip
def test_random_split(lengths: list[float], sizes: list[int]) -> None:
    parts = random_split(range(10), lengths)
    assert [len(part) for part in parts] == sizes
    assert sorted(index for part in parts for index in part.indices) == [*range(10)]


def test_random_split_is_repeatable() -> None:
    first, second = random_split(range(50), [25, 25]), random_split(range(50), [25, 25])
    assert first[0].indices != second[0].indices
    tl.manual_seed(0)
    assert random_split(range(50), [25, 25])[1].indices == first[1].indices
    one, two = (random_split(range(50), [0.5, 0.5], Random(7))[0].indices for _ in range(2))
    assert one == two
    assert [len(part) for part in random_split(["alone"], [0.5, 0.5])] == [1, 0]


# ---- samplers --------------------------------------------------------------------------------


def test_orders_are_whole_repeatable_and_differ_between_epochs() -> None:
    def epochs() -> list[list[int]]:
        tl.manual_seed(3)
        loader = DataLoader(range(40), batch_size=40, shuffle=True)
        return [batch.tolist() for _ in range(3) for batch in loader]

    first = epochs()
    assert epochs() == first
    assert all(sorted(order) == [*range(40)] for order in first)
    assert first[0] != first[1] != first[2] != first[0] and first[0] != [*range(40)]
    one, two = (
        lists(DataLoader(range(40), 8, shuffle=True, generator=Random(5))) for _ in range(2)
    )
    assert one == two


def test_samplers() -> None:
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    drawn = RandomSampler(range(5), replacement=True, num_samples=200)
    assert len(drawn) == 200 and set(drawn) == {*range(5)}
    several = RandomSampler(range(5), num_samples=12)
    order = list(several)
    assert len(order) == len(several) == 12
    assert sorted(order[:5]) == sorted(order[5:10]) == [*range(5)] and len({*order[10:]}) == 2
    assert sorted(SubsetRandomSampler(tl.tensor([4, 2, 9]))) == [2, 4, 9]
    batches = BatchSampler(SequentialSampler(range(7)), 3, False)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]] and len(batches) == 3
    batches = BatchSampler(range(7), 3, True)
    assert list(batches) == [[0, 1, 2], [3, 4, 5]] and len(batches) == 2


def test_samples_come_as_often_as_they_weigh() -> None:
    counts = Counter(WeightedRandomSampler([1, 0, 3], 4000))
    assert set(counts) == {0, 2} and abs(counts[0] - 1000) < 150
    firsts: Counter[int] = Counter()
    for _ in range(2000):
        order = list(WeightedRandomSampler(tl.tensor([1.0, 3.0, 0.0]), 2, replacement=False))
        assert sorted(order) == [0, 1]
        firsts[order[0]] += 1
    assert abs(firsts[0] - 500) < 100


# ---- collating -------------------------------------------------------------------------------


def test_default_collate() -> None:
    ints, floats, flags = (
        default_collate(values) for values in ([1, 2], [0.5, 1.5], [True, False])
    )
    assert (ints.dtype, floats.dtype, flags.dtype) == (tl.int32, tl.float32, tl.bool_)
    assert default_collate([np.float64(1.5), np.float64(2.5)]).dtype == tl.float64
    assert default_collate([np.str_("a"), "b"]) == ["a", "b"]
    arrays = default_collate([X, X + 1])
    assert arrays.shape == (2, 10, 2) and np.array_equal(arrays.numpy(), np.stack([X, X + 1]))
    found = default_collate([(1, "a", [0.5, np.int64(3)]), (2, "b", [1.5, np.int64(4)])])
    assert isinstance(found, list) and found[0].tolist() == [1, 2] and found[1] == ("a", "b")
    assert isinstance(found[2], list) and found[2][1].dtype == tl.int64
    pair = default_collate([Pair(1, {"x": 2.0}), Pair(3, {"x": 4.0})])
    assert isinstance(pair, Pair) and pair.b["x"].tolist() == [2.0, 4.0]
    mapping = default_collate([OrderedDict(k=tl.tensor([1, 2])), {"k": tl.tensor([3, 4])}])
    assert isinstance(mapping, OrderedDict) and mapping["k"].tolist() == [[1, 2], [3, 4]]


KINDS: dict[str, Callable[[tl.Tensor], tl.Tensor]] = {
    "constant": lambda x: x,
    "tensor": lambda x: tl.tensor(x.tolist()),
    "realized": lambda x: (x + 0).realize(),
    "lazy": lambda x: x + 0,
    "gradient": lambda x: (x + 0).requires_grad_(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_tensors_are_stacked(kind: str) -> None:
    x = KINDS[kind](tl.asarray(X))
    cases: list[Callable[[Any, int], Any]] = [
        lambda x, n: x[n],
        lambda x, n: x[n, 1],
        lambda x, n: x[n : n + 2],
        lambda x, n: x[n + 1 : n - 1 : -1] if n else x[1::-1],
        lambda x, n: x[n : n + 4 : 2, :1] * 2,
        lambda x, n: x[-1 - n],
    ]
    for case in cases:
        found = default_collate([case(x, n) for n in (4, 0, 4, 5)])
        assert found.tolist() == np.stack([case(X, n) for n in (4, 0, 4, 5)]).tolist()
    mixed = default_collate([x[3], (x * 2)[1], tl.tensor([7.0, 8.0]), x[0]])
    assert mixed.tolist() == [[6, 7], [4, 6], [7, 8], [0, 1]]
    two = default_collate([x[3], KINDS[kind](tl.asarray(-X[:4]))[2], x[9]])
    assert two.tolist() == [[6, 7], [-4, -5], [18, 19]]


def test_a_batch_passes_gradients() -> None:
    x = tl.asarray(X).requires_grad_()
    (batch,) = next(iter(DataLoader(TensorDataset(x), batch_size=2)))
    (batch * 3).sum().backward()
    assert x.grad is not None and x.grad.sum(1).tolist() == [6, 6] + [0] * 8


def test_default_convert() -> None:
    assert default_convert(3) == 3 and default_convert("a") == "a"
    found = default_convert({"x": X, "more": (1, [Y]), "pair": Pair(X, None)})
    assert found["x"].shape == (10, 2) and isinstance(found["more"], list)
    assert found["more"][1][0].tolist() == Y.tolist() and found["pair"].a.shape == (10, 2)
    assert default_convert(np.array(["a"]))[0] == "a"


# ---- the loader ------------------------------------------------------------------------------


def test_batches() -> None:
    loader = DataLoader(TensorDataset(tl.asarray(X), tl.asarray(Y)), batch_size=4)
    batches = list(loader)
    assert len(loader) == len(batches) == 3 and isinstance(batches[0], list)
    assert [x.shape for x, _ in batches] == [(4, 2), (4, 2), (2, 2)]
    assert np.array_equal(np.concatenate([x.numpy() for x, _ in batches]), X)
    assert lists(DataLoader(Y, 4, drop_last=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert lists(DataLoader([3, 1, 2])) == [[3], [1], [2]]
    assert lists(DataLoader(tl.asarray(X)[:3], 2)) == [[[0, 1], [2, 3]], [[4, 5]]]


def test_samplers_of_ones_own() -> None:
    class Backwards(Sampler[int]):
        def __iter__(self) -> Iterator[int]:
            return iter(range(4, -1, -1))

    loader = DataLoader(Y, 2, sampler=Backwards())
    assert lists(loader) == [[4, 3], [2, 1], [0]]
    with pytest.raises(TypeError, match="Backwards"):
        len(loader)
    assert lists(DataLoader(Y, batch_sampler=[[1, 2], np.array([5])])) == [[1, 2], [5]]
    order = tl.tensor([6, 0, 3])
    assert lists(DataLoader(Y, 2, sampler=order)) == [[6, 0], [3]]
    whole = TensorDataset(tl.asarray(Y))
    picked = DataLoader(whole, batch_size=None, sampler=BatchSampler(range(3), 2, False))
    assert lists(batch for (batch,) in picked) == [[0, 1], [2]]
    (batch,) = next(iter(DataLoader(whole, sampler=[-1])))
    assert batch.tolist() == [9]


def test_samples_alone_and_functions_that_collate() -> None:
    alone = list(DataLoader([(X[0], 1), (X[1], 2)], batch_size=None))
    assert alone[1][0].tolist() == [2, 3] and alone[1][1] == 2
    dataset = TensorDataset(tl.asarray(X), tl.asarray(Y))
    assert [y.item() for _, y in DataLoader(dataset, batch_size=None)] == Y.tolist()

    def collate(batch: Any) -> dict[str, Any]:
        points, labels = zip(*batch, strict=True)
        return {"x": tl.stack(points), "count": len(batch), "y": [tl.stack(labels)]}

    last = list(DataLoader(dataset, 4, collate_fn=collate))[-1]
    assert last["x"].tolist() == X[8:].tolist() and last["count"] == 2
    assert last["y"][0].tolist() == [8, 9]


def test_streams() -> None:
    assert lists(DataLoader(Stream(5), 2)) == [[0, 1], [2, 3], [4]]
    assert lists(DataLoader(Stream(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    lengths = [len(DataLoader(Sized(5), size)) for size in (2, 5, None)]
    assert lengths == [3, 1, 5] and len(DataLoader(Sized(5), 2, drop_last=True)) == 2


def test_pinned_memory_changes_nothing() -> None:
    loader = DataLoader(Y, 5, pin_memory=True, pin_memory_device="cuda")
    assert lists(loader) == [[*range(5)], [*range(5, 10)]]


# ---- errors ----------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "shuffle and sampler": (
        lambda: DataLoader(Y, shuffle=True, sampler=[1]), OptionError, "excludes shuffle=True"),
    "batch_sampler and others": (
        lambda: DataLoader(Y, 4, True, batch_sampler=[[1]]), OptionError,
        "excludes batch_size=4, shuffle=True"),
    "drop_last alone": (
        lambda: DataLoader(Y, None, drop_last=True), OptionError, "excludes drop_last=True"),
    "a stream shuffled": (
        lambda: DataLoader(Stream(3), shuffle=True), OptionError, "IterableDataset excludes sh"),
    "an iterator": (
        lambda: DataLoader(iter([1])), OptionError, "list_iterator has no __getitem__; derive"),
    "no length": (
        lambda: DataLoader(NoLength()), OptionError, "NoLength has no __len__"),
    "no length, split": (
        lambda: random_split(NoLength(), [0.5, 0.5]), OptionError, "NoLength has no __len__"),
    "length of a stream": (
        lambda: len(DataLoader(Stream(3))), TypeError, "object of type 'Stream' has no len"),
    "batch_size": (
        lambda: DataLoader(Y, 0), OptionError, "batch_size=0 is not a whole number above 0"),
    "num_workers": (lambda: DataLoader(Y, num_workers=-1), OptionError, "num_workers=-1"),
    "empty": (lambda: DataLoader([], shuffle=True), OptionError, "the dataset is empty"),
    "an empty batch": (
        lambda: list(DataLoader(Y, batch_sampler=[[]])), OptionError, "the batch is empty"),
    "a setting changed": (
        lambda: setattr(DataLoader(Y), "batch_size", 3), OptionError, "batch_size is fixed"),
    "generator": (
        lambda: DataLoader(Y, shuffle=True, generator=5), OptionError, "generator is a int"),
    "fractions": (
        lambda: random_split(Y, [0.5, 0.4]), OptionError, r"\[0.5, 0.4\] add up to 0.9; .*to 1$"),
    "lengths": (lambda: random_split(Y, [5, 4]), OptionError, "must add up to 10"),
    "below 0": (lambda: random_split(Y, [11, -1]), OptionError, r"\[11, -1\] is below 0"),
    "tensors of different lengths": (
        lambda: TensorDataset(tl.zeros(3, 2), tl.zeros(4)), ShapeError, r"\(3, 2\), \(4,\)"),
    "a number as a tensor": (lambda: TensorDataset(tl.tensor(1)), ShapeError, "first axis"),
    "no tensors": (TensorDataset, OptionError, "one tensor or more"),
    "no datasets": (lambda: ConcatDataset([]), OptionError, "one dataset or more"),
    "streams joined": (lambda: ConcatDataset([Stream(1)]), OptionError, "ChainDataset"),
    "a list as a stream": (lambda: ChainDataset([[1]]), OptionError, "list is no IterableDataset"),
    "shapes": (
        lambda: default_collate([X, X[:2], X]), ShapeError,
        r"different shapes: the first \(10, 2\), number 1 \(2, 2\)"),
    "lengths in a batch": (
        lambda: default_collate([[1], [1, 2]]), ShapeError, "lengths: the first 1, number 1 2"),
    "keys": (
        lambda: default_collate([{"x": 1}, {"y": 1}]), OptionError, "sample 1 .* lacks .* 'x'"),
    "None": (lambda: default_collate([None]), DTypeError, "NoneType .* collate_fn"),
    "None among arrays": (lambda: default_collate([X, None]), DTypeError, "NoneType"),
    "index": (
        lambda: list(DataLoader(TensorDataset(tl.zeros(3)), sampler=[3])), IndexRangeError,
        "index 3 is out of range for 3 samples"),
    "index of several": (lambda: ConcatDataset([Y, Y])[20], IndexRangeError, "20 is out of range"),
    "num_samples": (
        lambda: RandomSampler(Y, num_samples=1.5), OptionError, "num_samples=1.5"),
    "replacement": (lambda: RandomSampler(Y, replacement=1), OptionError, "replacement=1 is nei"),
    "weights": (lambda: WeightedRandomSampler([1, -1], 1), OptionError, "weight -1.0 of sample 1"),
    "few weights": (
        lambda: WeightedRandomSampler([1, 0], 2, replacement=False), OptionError,
        "1 of 2 weights are above 0"),
    "weights of two axes": (lambda: WeightedRandomSampler(X, 1), ShapeError, "a vector"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, error, words = ERRORS[name]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("labels", [[0] * 60 + [1] * 30 + [2] * 10, ["a"] * 50 + ["b"] * 50])
def test_every_batch_has_its_share_of_each_class(labels: list[Any]) -> None:
    sampler = StratifiedSampler(labels, generator=Random(1))
    first, second = list(sampler), list(sampler)
    assert len(sampler) == 100
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    shares = Counter(labels)
    for order in (first, second):
        for start in range(0, 100, 20):
            found = Counter(labels[index] for index in order[start : start + 20])
            assert all(abs(found[label] - share / 5) < 2 for label, share in shares.items())


def test_labels_of_a_tensor_are_read() -> None:
    order = list(StratifiedSampler(tl.tensor([0, 1, 0, 1])))
    assert {order[0] % 2, order[1] % 2} == {0, 1}
    with pytest.raises(OptionError, match="no labels"):
        StratifiedSampler([])
    with pytest.raises(ShapeError, match="labels must be a vector"):
        StratifiedSampler(tl.zeros((2, 2)))
