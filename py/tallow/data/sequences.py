"""Datasets of windows: over sequences, sound, and the characters of a text."""

from __future__ import annotations

import os
import wave
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..core import dtype as dt
from ..core.hostarray import HostArray
from ..errors import DataError, OptionError
from ..graph import constant
from ..tensor import Tensor, asarray
from .dataset import Dataset
from .rows import checked


class _Windows(Dataset[Any]):
    """Parts of equal length, `stride` apart, of the first axis of `data`. more: how many elements
    after a part its sample needs."""

    def __init__(self, data: Tensor, length: int, stride: int, more: int) -> None:
        name = type(self).__name__
        for what, value in (("length", length), ("stride", stride)):
            if value < 1:
                raise OptionError(f"{name}: {what}={value} is below 1")
        if not data.ndim or data.shape[0] < length + more:
            raise DataError(
                f"{name}: the data, {data.shape}, are shorter than one sample, {length + more}"
            )
        self.data, self.length, self.stride = data, length, stride
        self._count = (data.shape[0] - length - more) // stride + 1

    def _start(self, index: int) -> int:
        (number,) = checked([index], self._count, type(self).__name__)
        return number * self.stride

    def __len__(self) -> int:
        return self._count


class WindowDataset(_Windows):
    """Windows over a sequence whose first axis is time, such as sound (time, channels).

    data: a tensor or an array (time, ...). length: of a window; stride: from one to the next.
    horizon: how many steps after the window are its target: sample i is (window, target); with 0
    it is the window alone. Raises OptionError for a length or stride below 1, or a horizon below
    0, DataError if the data are too short.
    """

    def __init__(self, data: Any, length: int, stride: int = 1, horizon: int = 0) -> None:
        if horizon < 0:
            raise OptionError(f"WindowDataset: horizon={horizon} is below 0")
        super().__init__(asarray(data), length, stride, horizon)
        self.horizon = horizon

    def __getitem__(self, index: int) -> Any:
        start = self._start(index)
        end = start + self.length
        window = self.data[start:end]
        return (window, self.data[end : end + self.horizon]) if self.horizon else window


class CharDataset(_Windows):
    """A text by its characters: sample i is (window, the window one character on), both int64
    (length,), numbers of characters in `vocabulary`.

    text: what is read, such as Path("a.txt").read_text(). length: of a window; stride: from one to
    the next. vocabulary: all characters, in order; those of the text, sorted, if None. Raises
    DataError for a character that is not in it, and for a text that is too short.
    """

    def __init__(
        self, text: str, length: int, stride: int = 1, vocabulary: Iterable[str] | None = None
    ) -> None:
        self.vocabulary = sorted(set(text)) if vocabulary is None else list(vocabulary)
        self._numbers = {each: number for number, each in enumerate(self.vocabulary)}
        super().__init__(self.encode(text), length, stride, 1)

    def encode(self, text: str) -> Tensor:
        """The numbers of a text's characters, int64. Raises DataError for an unknown one."""
        try:
            found = array("q", [self._numbers[each] for each in text])
        except KeyError as error:
            (unknown,) = error.args
            raise DataError(
                f"CharDataset: {unknown!r}, character {text.index(unknown)} of the text, is not in "
                "the vocabulary"
            ) from None
        return Tensor(constant(HostArray(memoryview(found.tobytes()), (len(found),), dt.int64)))

    def decode(self, numbers: Tensor | Sequence[int]) -> str:
        """The text of some numbers. A tensor is read."""
        found = numbers.tolist() if isinstance(numbers, Tensor) else numbers
        return "".join(self.vocabulary[each] for each in found)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        start = self._start(index)
        end = start + self.length
        return self.data[start:end], self.data[start + 1 : end + 1]


def read_wav(path: str | os.PathLike[str]) -> tuple[Tensor, int]:
    """The sound of a WAV file, float32 (time, channels) from -1 to 1, and its rate in samples per
    second. Raises DataError for a damaged file, and for one that is packed."""
    import numpy as np

    try:
        with Path(path).open("rb") as file, wave.open(file) as sound:
            width, channels = sound.getsampwidth(), sound.getnchannels()
            wanted = sound.getnframes() * width * channels
            content = sound.readframes(sound.getnframes())
            rate = sound.getframerate()
    except (wave.Error, EOFError) as error:
        raise DataError(f"{path} is damaged, or no WAV file of plain samples: {error}") from error
    if len(content) < wanted:
        raise DataError(f"{path} is damaged: {len(content):,} of {wanted:,} bytes of sound")
    raw = np.frombuffer(content, np.uint8).reshape(-1, width)
    if width == 1:
        found: Any = (raw[:, 0].astype(np.float32) - 128) / 128
    else:  # the bytes of a sample are the upper ones of 32 bits
        padded = np.zeros((len(raw), 4), np.uint8)
        padded[:, 4 - width :] = raw
        found = padded.view("<i4")[:, 0].astype(np.float32) / np.float32(2**31)
    return asarray(found.reshape(-1, channels)), rate
