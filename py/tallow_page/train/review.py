"""Labels in doubt, duplicates, and a visitor's changes: samples relabelled and thrown out.

The page has the list of changes (web/views/train/seen/changes.js), and gives it to the runs that
learn from them.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import AsyncGenerator, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import tallow as tl
from tallow import nn
from tallow.core import dtype as dt
from tallow.core.drivers import run_async
from tallow.core.hostarray import HostArray
from tallow.data import TensorDataset
from tallow.errors import OptionError
from tallow.grad_mode import no_grad
from tallow.graph import constant
from tallow.runtime.jit import Jitted
from tallow.tensor import Tensor, reading

from .insight import finite

if TYPE_CHECKING:
    from ..contract.train import Doubt, Duplicate
    from .data import Data

__all__ = ["PARTS", "applied", "decided_of", "doubts", "duplicates", "numbers_of", "scored"]

PARTS = ("train", "valid")

NEAR_AT_MOST = 10_000
"""Pictures among which near duplicates are looked for: all pairs are compared."""

ALIKE = 0.995
"""The correlation of two samples from which on they are near duplicates. Of the 10,000 digits that
MNIST has for tests, drawn apart, 6 are so near to another one; at 0.98 there are 526."""

_SIDE = 16
_BATCH = 500
_STEP = 0.05
"""Seconds after which a long action lets others in, about."""


# ---- changes --------------------------------------------------------------------------------


def numbers_of(data: Data, part: str) -> Sequence[int]:
    """The number of each sample of a part, by which changes know it: that of the visitor's example;
    else its place among all, those of "train" first."""
    own = data.numbers.get(part)
    if own is not None:
        return own
    start = len(data.labels.get("train", ())) if part == "valid" else 0
    return range(start, start + len(data.labels.get(part, ())))


def applied(data: Data, changes: Iterable[Mapping[str, Any]]) -> Data:
    """Data with a visitor's changes, in order: the last one about a sample counts.

    changes: {"number": of a sample (`numbers_of`), "label": the name of its class from now on, or
      None for a sample that is thrown out}. What the data do not have, or no longer have, is left
      out: examples and classes may have been removed since.
    Returns: the data themselves if nothing changes.
    Raises: OptionError for a change that is none, and if no sample is left to learn from.
    """
    decided = decided_of(data, changes)
    parts = {part: numbers_of(data, part) for part in PARTS}
    changed = {
        part
        for part, numbers in parts.items()
        for number, label in zip(numbers, data.labels.get(part, ()), strict=True)
        if decided.get(number, label) != label
    }
    if not changed:
        return data
    pixels, labels, numbers = dict(data.pixels), dict(data.labels), dict(parts)
    datasets: dict[str, Any] = {"train": data.train, "valid": data.valid}
    for part in changed:
        before = data.labels[part]
        now = [decided.get(n, label) for n, label in zip(parts[part], before, strict=True)]
        left = [index for index, label in enumerate(now) if label is not None]
        labels[part] = [label for label in now if label is not None]
        numbers[part] = [parts[part][index] for index in left]
        datasets[part] = _relabelled(datasets[part], left, labels[part])
        pixels[part] = _picked(pixels[part], len(before), left)
    if datasets["train"] is None:
        raise OptionError(
            f"all {len(data.labels['train']):,} samples to learn from are thrown out; undo some"
        )
    return replace(data, **datasets, pixels=pixels, labels=labels, numbers=numbers)


def decided_of(data: Data, changes: Iterable[Mapping[str, Any]]) -> dict[int, int | None]:
    """The class of each sample that was decided about, by number; None: thrown out. Raises
    OptionError for a change that is none."""
    classes = {name: index for index, name in enumerate(data.classes)}
    found: dict[int, int | None] = {}
    for each in changes:
        number, label = each.get("number"), each.get("label")
        if not isinstance(number, int) or not (label is None or isinstance(label, str)):
            raise OptionError(
                f"a change has the number of a sample and the name of a class or None, not {each!r}"
            )
        if label is None or label in classes:
            found[number] = None if label is None else classes[label]
    return found


def _relabelled(dataset: Any, left: Sequence[int], labels: Sequence[int]) -> Any:
    """A `TensorDataset` of (inputs, labels) at some indices, with other labels; None of none."""
    if not left:
        return None
    inputs, before = dataset.tensors
    marks = memoryview(array("i", labels)).cast("B")
    y = Tensor(constant(HostArray(marks, (len(labels),), dt.int32)))
    if len(left) == before.shape[0]:
        return TensorDataset(inputs, y)
    (x,) = TensorDataset(inputs)[list(left)]
    return TensorDataset(x, y)


def _picked(pixels: memoryview, count: int, left: Sequence[int]) -> memoryview:
    """The bytes of the pictures at some indices, of so many."""
    if len(left) == count:
        return pixels
    size = len(pixels) // count
    return memoryview(b"".join(pixels[at * size : (at + 1) * size] for at in left))


# ---- labels in doubt ------------------------------------------------------------------------


async def scored(learner: Any, dataset: Any) -> AsyncGenerator[int | Tensor, None]:
    """How probable each class is for each sample. Yields how many samples are done, and last the
    probabilities, (N, C)."""
    count = len(dataset)
    found: list[Tensor] = []
    for start in range(0, count, _BATCH):
        (inputs, *_) = dataset[list(range(start, min(count, start + _BATCH)))]
        scores = await learner.predict_async([inputs])
        found.append(nn.functional.softmax(scores.astype("float32"), dim=1).realize())
        yield min(count, start + _BATCH)
    yield tl.concat(found).realize()


async def doubts(
    shares: Tensor, labels: Sequence[int], numbers: Sequence[int], decided: Container[int]
) -> list[Doubt]:
    """The samples whose label is in doubt, the most doubtful first.

    A class claims a sample if it is the most probable one of those whose probability is at least
    the mean among the samples that have it as their label; so classes that the network is less sure
    of count as much. How often each class claims samples of another label tells how many of them
    are wrong. In doubt are so many of those that the network takes for that class, the ones for
    which it is the most probable beside their label.

    shares: (N, C), how probable each class is. Best by networks that have not learned from the
      sample ("valid"); one that has ("train") believes some wrong labels, and so doubts fewer.
    labels, numbers: of the N samples. decided: the numbers of those that the visitor has decided
      about, which are left out.
    Raises: OptionError for probabilities that are not finite.
    Source: Northcutt, Jiang and Chuang 2021, "Confident Learning: Estimating Uncertainty in Dataset
      Labels": the confident joint, calibrated (section 3.1); prune by noise rate (section 3.2).
    """
    with no_grad():
        own = tl.asarray(labels, dtype="int32")
        (read,) = await run_async(reading([_claims(shares, own)]))
    values = read.data.cast("B").cast("f")
    claims, guesses, probable, beside = (values[at::4].tolist() for at in range(4))
    if any(each != each for each in beside):
        raise OptionError("the network's probabilities are not finite; train it anew")
    joint = Counter((label, int(k)) for label, k in zip(labels, claims, strict=True) if k >= 0)
    claimed, sizes = Counter[int](), Counter(labels)
    for (label, _), count in joint.items():
        claimed[label] += count
    suspects: dict[tuple[int, int], list[int]] = {}
    for i, label in enumerate(labels):
        if int(guesses[i]) != label:
            suspects.setdefault((label, int(guesses[i])), []).append(i)
    found: list[int] = []
    for (label, guess), those in suspects.items():
        wrong = round(sizes[label] * joint[label, guess] / max(1, claimed[label]))
        those.sort(key=lambda i: beside[i] - probable[i])
        found += those[:wrong]
    found.sort(key=lambda i: beside[i] - probable[i])
    return [
        {
            "index": i,
            "number": numbers[i],
            "label": labels[i],
            "guess": int(guesses[i]),
            "probability": finite(probable[i]),
            "own": finite(beside[i]),
        }
        for i in found
        if numbers[i] not in decided
    ]


def _claims(shares: Tensor, labels: Tensor) -> Tensor:
    """(N, 4): the class that claims a sample, or -1; the most probable class, and its probability;
    that of the label."""
    classes = tl.arange(shares.shape[1])
    member = (tl.expand_dims(labels, 1) == classes).astype("float32")
    sizes = tl.sum(member, axis=0)
    means = tl.sum(member * shares, axis=0) / tl.where(sizes > 0, sizes, tl.ones_like(sizes))
    able = (shares >= means) & (sizes > 0)
    none = tl.zeros_like(shares) - 1.0
    claims = tl.argmax(tl.where(able, shares, none), axis=1).astype("float32")
    claims = tl.where(tl.any(able, axis=1), claims, none[:, 0])
    guesses = tl.argmax(shares, axis=1).astype("float32")
    own = tl.sum(member * shares, axis=1)
    return tl.stack([claims, guesses, tl.max(shares, axis=1), own], axis=1)


# ---- duplicates -----------------------------------------------------------------------------


async def duplicates(
    dataset: Any, labels: Sequence[int], numbers: Sequence[int], decided: Container[int]
) -> AsyncGenerator[int | list[Duplicate], None]:
    """Samples that are the same as an earlier one, or nearly. Yields how many samples are done, and
    last the duplicates: the same ones first, then the nearest.

    The same are those of the same elements, by a hash of them. Near are those that correlate,
    pictures as grey ones 16 pixels wide; of more than `NEAR_AT_MOST`, none are looked for.

    labels, numbers, decided: as for `doubts`.
    """
    count = len(dataset)
    first: dict[bytes, int] = {}
    found: list[tuple[int, int, float]] = []
    looks = count <= NEAR_AT_MOST
    small: list[Tensor] = []
    shrink = Jitted(_shrunk, frozenset(), None)
    until = perf_counter() + _STEP
    same: set[int] = set()
    for start in range(0, count, _BATCH):
        (inputs, *_) = dataset[list(range(start, min(count, start + _BATCH)))]
        (read,) = await run_async(reading([inputs]))
        content = read.data.cast("B")
        size = len(content) // read.shape[0]
        for number in range(read.shape[0]):
            part = content[number * size : (number + 1) * size]
            index = start + number
            earlier = first.setdefault(hashlib.blake2b(part, digest_size=16).digest(), index)
            if earlier != index:
                same.add(index)
                found.append((index, earlier, 1.0))
        if looks:
            small.append(shrink(inputs))
        if perf_counter() > until:
            yield min(count, start + _BATCH)
            until = perf_counter() + _STEP
    if looks and count > 1:
        near: list[tuple[int, int, float]] = []
        async for pair in _nearest(tl.concat(small).realize()):
            if pair is None:
                yield count
            elif pair[0] not in same:
                near.append(pair)
        found += sorted(near, key=lambda each: -each[2])
    twins: list[Duplicate] = [
        {
            "index": index,
            "number": numbers[index],
            "label": labels[index],
            "of": other,
            "other": labels[other],
            "alike": alike,
            "same": index in same,
        }
        for index, other, alike in found
        if numbers[index] not in decided
    ]
    yield twins


def _shrunk(inputs: Tensor) -> Tensor:
    """(N, ...) as rows that are small enough to compare all pairs."""
    x = inputs.astype("float32")
    if x.ndim == 4:
        x = tl.mean(x, axis=1, keepdims=True)
        if min(x.shape[2:]) > _SIDE:
            x = nn.functional.adaptive_avg_pool2d(x, _SIDE)
    return x.reshape((x.shape[0], -1))


async def _nearest(rows: Tensor) -> AsyncGenerator[tuple[int, int, float] | None, None]:
    """Pairs of rows that are alike, and how much: each with the most alike of those before it. In
    between None, where others may be let in."""
    with no_grad():
        units = _units(rows).realize()
        count = units.shape[0]
        block = Jitted(_most_alike, frozenset(), None)
        for start in range(0, count, _BATCH):
            stop = min(count, start + _BATCH)
            at = tl.arange(start, stop, dtype="int32").realize()
            (read,) = await run_async(reading([block(units, units[start:stop].realize(), at)]))
            values = read.data.cast("B").cast("f")
            for number, (alike, other) in enumerate(
                zip(values[0::2].tolist(), values[1::2].tolist(), strict=True)
            ):
                if alike >= ALIKE:
                    yield start + number, int(other), min(alike, 1.0)
            yield None


def _units(rows: Tensor) -> Tensor:
    """Rows whose products are their correlation; zeros for a row that is the same all over."""
    centred = rows - tl.mean(rows, axis=1, keepdims=True)
    length = tl.sqrt(tl.sum(centred * centred, axis=1, keepdims=True))
    return centred / tl.where(length > 0, length, tl.ones_like(length))


def _most_alike(units: Tensor, some: Tensor, at: Tensor) -> Tensor:
    """(N, 2): the largest product of each row with one before it, and its index."""
    products = some @ tl.matrix_transpose(units)
    before = tl.arange(units.shape[0], dtype="int32") < tl.expand_dims(at, 1)
    products = tl.where(before, products, tl.zeros_like(products) - 2.0)
    found = tl.argmax(products, axis=1)
    return tl.stack([tl.max(products, axis=1), found.astype("float32")], axis=1)
