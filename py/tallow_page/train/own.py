"""The visitor's own examples: signs, pictures and sounds of classes that the visitor has named; and
a text.

The page keeps them (web/site/own_examples.js). Here they become data for training. What
is computed of each, such as the features of a picture, is computed once, and the page keeps it.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.data import TensorDataset
from tallow.errors import DataError, OptionError
from tallow.graph import constant
from tallow.tensor import Tensor

from ..app import Fetch
from ..javascript import copied
from ..steps import Answer, streamed
from .data import Data
from .features import THUMB, opened_features, thumbnail
from .spectrograms import BANDS, COLUMNS, log_mel, spectrogram_picture
from .texts import text_data

if TYPE_CHECKING:
    from ..contract.train import Gathered, Gathering, ReadExamples

__all__ = ["gather_examples", "gather_text", "own_data", "read_examples"]

_MOST = 1000
"""The most classes that a network learns."""
_SIGN = 28
"""Pixels of a sign's side."""
_FLOAT = 4
_REPORTED = 8
"""The page is told how far reading is each time this many examples are read."""


class _Example(NamedTuple):
    """number: the page's. content: the bytes that the network takes, followed by those that are
    shown, if these are others."""

    number: int
    label: int
    content: bytes


_known: dict[str, dict[int, bytes]] = {"signs": {}, "pictures": {}, "sounds": {}}
"""What was computed of examples, by kind and number."""

_gathered: dict[str, Data] = {}
_versions = 0


def own_data(kind: str) -> Data:
    """The examples that were gathered last. Raises OptionError if none were."""
    if kind not in _gathered:
        raise OptionError(f"no {kind} were gathered; gather_examples comes first")
    return _gathered[kind]


@streamed
async def gather_examples(
    kind: str,
    classes: str,
    take: Callable[[int], Awaitable[Any]],
    keep: Callable[[int, Any], Awaitable[Any]],
    card: str,
    fetch: Fetch,
) -> AsyncGenerator[Any, None]:
    """Makes data for training from the visitor's examples; `own_data` has them afterwards.

    kind: "signs", "pictures" or "sounds". classes: JSON, [{"name", "examples": [number, …]}, …].
    take: an example by its number: an object with `content` (signs: 784 bytes, ink on 0; pictures:
      RGBA, 224 x 224; sounds: int16, 16,000 samples), or None if it is damaged; and `computed`,
      what `keep` was given, or None.
    keep: takes what was computed of an example, so that it need not be computed again.
    card, fetch: of the network whose features pictures become; not used for other kinds.
    Yields a `Gathering` after every few examples, and last a `Gathered`. Raises DataError for no
    class, for a single one, for too many, and for a class without examples; OptionError for another
    kind.
    """
    reading = _Reading(kind, take, keep, card, fetch)
    given = json.loads(classes)
    names = [str(each["name"]) for each in given]
    _check(names, [len(each["examples"]) for each in given])
    wanted = [(number, label) for label, each in enumerate(given) for number in each["examples"]]
    known = _known[kind]
    for gone in known.keys() - {number for number, _ in wanted}:
        del known[gone]
    async with aclosing(reading.of([number for number, _ in wanted])) as steps:
        async for step in steps:
            yield step
    made = [_Example(number, label, known[number]) for number, label in wanted if number in known]
    counts = [sum(each.label == label for each in made) for label in range(len(names))]
    _check(names, counts)
    data = _gathered[kind] = _data(kind, names, made)
    answer: Gathered = {
        "version": _version(),
        "train": len(data.train),
        "valid": 0 if data.valid is None else len(data.valid),
        "computed": reading.computed,
        "damaged": reading.damaged,
    }
    yield Answer(answer)


@streamed
async def read_examples(
    kind: str,
    numbers: str,
    take: Callable[[int], Awaitable[Any]],
    keep: Callable[[int, Any], Awaitable[Any]],
    card: str,
    fetch: Fetch,
) -> AsyncGenerator[Any, None]:
    """Computes in advance what `gather_examples` will need of some examples, so that a run starts
    sooner.

    numbers: JSON, [number, …]. The others: as for `gather_examples`. Yields a `Gathering` after
    every few examples, and last a `ReadExamples`. Raises OptionError for another kind.
    """
    reading = _Reading(kind, take, keep, card, fetch)
    async with aclosing(reading.of(json.loads(numbers))) as steps:
        async for step in steps:
            yield step
    answer: ReadExamples = {"computed": reading.computed, "damaged": reading.damaged}
    yield Answer(answer)


class _Reading:
    """Reads examples, and computes of each what a network takes, once; `_known` has it then.

    Raises OptionError for another kind.
    """

    def __init__(
        self,
        kind: str,
        take: Callable[[int], Awaitable[Any]],
        keep: Callable[[int, Any], Awaitable[Any]],
        card: str,
        fetch: Fetch,
    ) -> None:
        if kind not in _known:
            raise OptionError(f"kind={kind!r} is none of {', '.join(_known)}")
        self._kind, self._take, self._keep = kind, take, keep
        self._network = card, fetch
        self.computed = 0
        self.damaged: list[int] = []
        """The numbers of those that could not be read."""

    async def of(self, numbers: Sequence[int]) -> AsyncGenerator[Gathering, None]:
        """Reads the examples of these numbers; yields how far it is after every few."""
        for done, number in enumerate(numbers):
            if done % _REPORTED == 0:
                yield {"stage": "gather", "done": done, "total": len(numbers)}
            if number not in _known[self._kind]:
                await self._read(number)

    async def _read(self, number: int) -> None:
        record = await self._take(number)
        found = None if record.computed is None else bytes(copied(record.computed))
        if found is None and record.content is None:
            self.damaged.append(number)
            return
        if found is None:
            found = await _computed(self._kind, record.content, *self._network)
            self.computed += 1
            if self._kind != "signs":
                await self._keep(number, found)
        _known[self._kind][number] = found


async def gather_text(name: str, text: str) -> str:
    """Makes data for training from a text; `own_data("text")` has them afterwards. Returns a
    `Gathered`. Raises DataError for a text from which nothing can be learned."""
    data = _gathered["text"] = text_data(name, text)
    answer: Gathered = {
        "version": _version(),
        "train": len(data.train),
        "valid": len(data.valid),
        "computed": 0,
        "damaged": [],
    }
    return json.dumps(answer)


def _version() -> int:
    global _versions
    _versions += 1
    return _versions


def _check(names: Sequence[str], counts: Sequence[int]) -> None:
    """DataError for what no network learns from."""
    if not names:
        raise DataError("there is no class; add two or more, with examples of each")
    if len(names) == 1:
        raise DataError(f"there is only one class, {names[0]!r}; add another to tell it from")
    if len(names) > _MOST:
        raise DataError(f"there are {len(names):,} classes; at most {_MOST:,} can be learned")
    for name, count in zip(names, counts, strict=True):
        if not count:
            raise DataError(f"the class {name!r} has no examples; add some, or remove the class")


async def _computed(kind: str, content: Any, card: str, fetch: Fetch) -> bytes:
    """What is kept of an example: a sign itself, a picture's features and how it is shown, a
    sound's spectrogram."""
    if kind == "signs":
        sign = bytes(copied(content))
        if len(sign) != _SIGN * _SIGN:
            raise DataError(f"a sign has {_SIGN * _SIGN} bytes, not {len(sign):,}")
        return sign
    if kind == "sounds":
        numbers = await log_mel(content)
        return numbers + spectrogram_picture(numbers)
    features = await opened_features(card, fetch)
    return await features.of(content) + thumbnail(content)


def _data(kind: str, names: Sequence[str], examples: Sequence[_Example]) -> Data:
    indices = _parts([each.label for each in examples])
    parts = {part: [examples[at] for at in some] for part, some in indices.items() if some}
    shown = {"signs": (1, _SIGN, _SIGN), "sounds": (1, BANDS, COLUMNS)}.get(kind, (3, THUMB, THUMB))
    size = len(examples[0].content)
    width = size if kind == "signs" else size - math.prod(shown)
    shape = (width // _FLOAT,) if kind == "pictures" else shown
    dtype = dt.uint8 if kind == "signs" else dt.float32

    def dataset(part: str) -> TensorDataset | None:
        if part not in parts:
            return None
        joined = b"".join(each.content[:width] for each in parts[part])
        labels = [each.label for each in parts[part]]
        x = Tensor(constant(HostArray(memoryview(joined), (len(labels), *shape), dtype)))
        y = Tensor(constant(HostArray(memoryview(_int32(labels)), (len(labels),), dt.int32)))
        return TensorDataset(x, y)

    train = dataset("train")
    assert train is not None  # every class has an example, and its first one is for training
    mean, deviation = _moments(parts["train"], width, dtype)
    return Data(
        name=kind,
        kind={"signs": "pictures", "pictures": "features"}.get(kind, kind),
        classes=list(names),
        train=train,
        valid=dataset("valid"),
        shape=shape,
        mean=mean,
        deviation=deviation,
        shown=shown,
        pixels={
            part: memoryview(b"".join(each.content[-math.prod(shown) :] for each in chosen))
            for part, chosen in parts.items()
        },
        labels={part: [each.label for each in chosen] for part, chosen in parts.items()},
        numbers={part: [each.number for each in chosen] for part, chosen in parts.items()},
    )


def _parts(labels: Sequence[int]) -> Mapping[str, list[int]]:
    """The indices of those to train with, and of those to validate with: of each class the last of
    every five, or the last one of three or four."""
    parts: dict[str, list[int]] = {"train": [], "valid": []}
    of_class: dict[int, list[int]] = {}
    for index, label in enumerate(labels):
        of_class.setdefault(label, []).append(index)
    for indices in of_class.values():
        count = len(indices)
        for at, index in enumerate(indices):
            last = at % 5 == 4 if count >= 5 else count >= 3 and at == count - 1
            parts["valid" if last else "train"].append(index)
    return parts


def _int32(numbers: Sequence[int]) -> bytes:
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def _moments(
    examples: Sequence[_Example], width: int, dtype: dt.DType, most: int = 200
) -> tuple[float, float]:
    """The mean of all numbers of some examples, and their standard deviation."""
    values: list[float] = []
    for each in examples[:: max(1, len(examples) // most)]:
        held = memoryview(each.content)[:width]
        values += held if dtype == dt.uint8 else held.cast("f")
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    return mean, max(variance**0.5, 1e-6)
