"""What the readers by ranges share: a header of unknown length, and tensors that lie in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..core.drivers import Steps, run_sync
from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..errors import FormatError
from ..files.arrays import ReadArray
from ..files.ranges import Ranges
from ..graph import constant
from ..tensor import Tensor
from .arrays import tensor_of

T = TypeVar("T")

_FIRST, _GROWTH = 1 << 16, 2
"""Bytes of a header that are read at first, and how many times more if it goes on."""


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of a file.

    kind: the format's own name of its elements, such as "F16" or "Q4_K". dtype: their type; of
    blocks float32, which they stand for. start: its first byte in the file. nbytes: how many there
    are.
    """

    name: str
    shape: Shape
    kind: str
    dtype: DType
    start: int
    nbytes: int


class CutShortError(Exception):
    """A header goes on behind the bytes that were given; needed: how many it has at least."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


def header(source: Ranges, parse: Callable[[bytes, int], T]) -> Steps[T]:
    """What a function makes of the beginning of a file, which is read as far as it needs.

    parse: is given the bytes read so far, and the length of the file; raises CutShortError if they
      are too few.
    Raises: FormatError if the file itself ends too early.
    """
    size = yield from source.size()
    have = b""
    wanted = min(size, _FIRST)
    while True:
        have += bytes((yield from source.read(len(have), wanted - len(have))))
        try:
            return parse(have, size)
        except CutShortError as error:
            if error.needed > size:
                raise FormatError(
                    f"{source.name}: the header needs {error.needed:,} bytes, and the file has "
                    f"{size:,}: it is cut short, or damaged"
                ) from None
            wanted = min(size, max(error.needed, _GROWTH * len(have)))


def read_plain(source: Ranges, info: TensorInfo) -> Steps[Tensor]:
    """A tensor whose elements lie in a file as they are. Raises FormatError for bytes of a bool
    that are neither 0 nor 1."""
    data = yield from source.read(info.start, info.nbytes)
    if info.start % info.dtype.size:
        data = memoryview(bytes(data))  # of a view, which begins at no multiple of its elements
    return tensor_of(data, info.shape, info.dtype, f"{source.name}: {info.name!r:.80}")


def later_plain(source: Ranges, info: TensorInfo) -> Tensor:
    """As `read_plain`, but it is read when its bytes are asked for, and not kept."""

    def read() -> memoryview:
        data: HostArray = run_sync(read_plain(source, info)).node.attrs["data"]
        return data.data

    return Tensor(constant(ReadArray(read, info.shape, info.dtype)))


def check_apart(tensors: Iterable[TensorInfo], source: str) -> None:
    """Raises FormatError for tensors that share bytes."""
    end, before = 0, ""
    for each in sorted(tensors, key=lambda tensor: (tensor.start, tensor.nbytes)):
        if each.nbytes and each.start < end:
            raise FormatError(f"{source}: {each.name!r:.80} overlaps {before!r:.80}")
        end, before = max(end, each.start + each.nbytes), each.name
