"""Blocks of quantised weights: what is in their bytes, and the graph that makes numbers of it.

A block of ggml's has a float16 scale, often a float16 minimum, and the codes of 32 or 256 elements,
interleaved as its kernels want them. Here each part becomes a *plane*: a constant of an element
type, with the elements of the whole tensor in row-major order. The weight is a graph over planes,
(codes - zero) * scale or codes * scale + minimum, all in float32. It has the bits of ggml's own
answer: scale times step times code is exact in float32, so only the minimum is rounded.

The layouts are those of ggml's `ggml-common.h` (github.com/ggml-org/ggml), restated.

name    planes: elements of one block (bits each)                              of the file's bytes
Q4_0    codes 32 (4), scale (16)                                                             1.000
Q4_1    codes 32 (4), scale, minimum (16)                                                    1.000
Q5_0    codes 32 (4), fifths 32 (1), scale (16)                                              1.000
Q5_1    codes 32 (4), fifths 32 (1), scale, minimum (16)                                     1.000
Q8_0    codes 32 (8), scale (16)                                                             1.000
IQ4_NL  codes 32 (4), scale (16); a code counts in a table of 16 values                      1.000
Q2_K    codes 256 (2), pairs 32 (4), halves 2 (16)                                           1.000
Q3_K    codes 256 (2), thirds 256 (1), steps 16 (8), scale (16)                              1.036
Q4_K    codes 256 (4), pairs 16 (8), halves 2 (16)                                           1.028
Q5_K    codes 256 (4), fifths 256 (1), pairs 16 (8), halves 2 (16)                           1.023
Q6_K    codes 256 (4), uppers 256 (2), steps 16 (8), scale (16)                              1.000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import functions as f
from ..core import dtype as dt
from ..core.codes import packed_bytes
from ..core.drivers import Steps, run_sync
from ..core.dtype import DType
from ..core.hostarray import HostArray, from_values
from ..core.shape import Shape, size_of
from ..files.arrays import ReadArray
from ..files.ranges import Ranges
from ..graph import constant
from ..tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

Planes = Mapping[str, Tensor]

_PIECE = 1 << 22
"""Bytes of a file that are taken apart at once."""


@dataclass(frozen=True)
class Plane:
    """dtype: its element type. count: its elements that belong to one block; of single bits, eight
    to a uint8, the bytes. taken: its bytes, (n, bytes of one block), of the bytes of n blocks."""

    dtype: DType
    count: int
    taken: Callable[[Array], Array]

    @property
    def nbytes(self) -> int:
        """The bytes that belong to one block."""
        return packed_bytes(self.dtype, self.count)


@dataclass(frozen=True)
class Block:
    """A type of blocks. length: elements of a block; nbytes: its bytes in a file. weight: the graph
    over its planes."""

    name: str
    length: int
    nbytes: int
    planes: Mapping[str, Plane]
    weight: Callable[[Planes], Tensor]


def read_blocks(source: Ranges, block: Block, shape: Shape, start: int) -> Steps[Tensor]:
    """The weight of float32 whose blocks begin at a byte of a file; they are within it. The last
    axis is in blocks. They are read and taken apart in pieces."""
    count = size_of(shape) // block.length
    stores = {name: bytearray(count * plane.nbytes) for name, plane in block.planes.items()}
    yield from _taken_apart(source, block, count, start, stores)

    def made(name: str, shape: Shape, dtype: DType) -> HostArray:
        return HostArray(memoryview(stores[name]).toreadonly(), shape, dtype)

    return _weight(block, shape, made)


def later_blocks(source: Ranges, block: Block, shape: Shape, start: int) -> Tensor:
    """As `read_blocks`, but each plane is read when its bytes are asked for, and not kept."""
    count = size_of(shape) // block.length

    def read(name: str) -> memoryview:
        store = bytearray(count * block.planes[name].nbytes)
        run_sync(_taken_apart(source, block, count, start, {name: store}))
        return memoryview(store)

    def made(name: str, shape: Shape, dtype: DType) -> HostArray:
        return ReadArray(lambda: read(name), shape, dtype)

    return _weight(block, shape, made)


def _taken_apart(
    source: Ranges, block: Block, count: int, start: int, stores: Mapping[str, bytearray]
) -> Steps[None]:
    """Fills the stores of some planes."""
    import numpy as np

    most = max(1, _PIECE // block.nbytes)
    for first in range(0, count, most):
        last = min(first + most, count)
        data = yield from source.read(start + first * block.nbytes, (last - first) * block.nbytes)
        raw = np.frombuffer(data, np.uint8).reshape(last - first, block.nbytes)
        for name, store in stores.items():
            plane = block.planes[name]
            whole = np.frombuffer(store, np.uint8).reshape(count, plane.nbytes)
            whole[first:last] = plane.taken(raw)


def _weight(block: Block, shape: Shape, made: Callable[[str, Shape, DType], HostArray]) -> Tensor:
    """The graph over planes. made: gives the array of a plane."""
    blocks = shape[-1] // block.length
    found = {}
    for name, plane in block.planes.items():
        data = made(name, (*shape[:-1], blocks * plane.count), plane.dtype)
        found[name] = Tensor(constant(data))
    return block.weight(found)


# ---- graphs -----------------------------------------------------------------------------------


def _spread(x: Tensor, like: Tensor) -> Tensor:
    """Each element of the last axis repeated, up to the length of another's."""
    times = like.shape[-1] // x.shape[-1] if x.shape[-1] else 1
    return f.repeat(x, times, -1) if times > 1 else x


def _number(x: Tensor) -> Tensor:
    return x.astype(dt.float32)


def _bits(x: Tensor) -> Tensor:
    """The bits of bytes as int8, the lowest first."""
    wide = (*x.shape, 8)
    shift = Tensor(constant(from_values(range(8), (8,), dt.uint8)))
    bits = f.bitwise_and(f.broadcast_to(x[..., None], wide) >> shift, 1)
    return f.reshape(bits, (*x.shape[:-1], 8 * x.shape[-1])).astype(dt.int8)


def _scaled(codes: Tensor, planes: Planes) -> Tensor:
    """Codes times the scale of their block."""
    return codes * _spread(_number(planes["scale"]), codes)


def _stepped(codes: Tensor, planes: Planes) -> Tensor:
    """Codes times their step of the scale of their block."""
    return codes * _spread(_steps(planes["scale"], planes["steps"]), codes)


def _steps(whole: Tensor, steps: Tensor) -> Tensor:
    return _spread(_number(whole), steps) * _number(steps)


def _plain(planes: Planes) -> Tensor:
    return _scaled(_number(planes["codes"]), planes)


def _raised(planes: Planes) -> Tensor:
    """Codes times their scale, plus the minimum."""
    return _added(_plain(planes), planes)


def _added(product: Tensor, planes: Planes) -> Tensor:
    return product + _spread(_number(planes["minimum"]), product)


def _lowered(codes: Tensor, planes: Planes) -> Tensor:
    """Codes times their step of the scale, less their floor of the minimum. Steps and floors take
    turns in one plane, scales and minima too, since a kernel reads from a few buffers only."""
    halves, pairs = planes["halves"], planes["pairs"]
    product = codes * _spread(_steps(halves[..., ::2], pairs[..., ::2]), codes)
    return product - _spread(_steps(halves[..., 1::2], pairs[..., 1::2]), product)


def _joined(codes: Tensor, upper: Tensor, value: int) -> Tensor:
    """Codes with what their upper bits count. They are joined as int8, so that a device that keeps
    no planes of few bits keeps one of bytes."""
    return _number(codes.astype(dt.int8) + upper.astype(dt.int8) * value)


def _with_bit(planes: Planes, bit: str, value: int) -> Tensor:
    """Codes with one bit more, which counts as a value."""
    return _joined(planes["codes"], _bits(planes[bit]), value)


_VALUES = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
"""What the codes of IQ4_NL count; not evenly spaced, as weights are not."""


def _looked_up(planes: Planes) -> Tensor:
    table = Tensor(constant(from_values(_VALUES, (16,), dt.int8)))
    return _scaled(_number(f.take(table, planes["codes"].astype(dt.uint8), 0)), planes)


# ---- bytes ------------------------------------------------------------------------------------


def _parts(raw: Array, run: int, bits: int) -> Array:
    """The codes in bytes of which the lowest bits of a run of bytes come first, then the next ones
    of the same run, and so on: one a byte."""
    import numpy as np

    count, width = raw.shape
    shifts = np.arange(0, 8, bits, dtype=np.uint8).reshape(1, 1, -1, 1)
    codes = raw.reshape(count, width // run, 1, run) >> shifts
    codes &= np.uint8((1 << bits) - 1)
    return codes.reshape(count, width * 8 // bits)


def _packed(codes: Array, bits: int) -> Array:
    """Codes, one a byte, as `HostArray` packs them: from the low bits on."""
    per_byte = 8 // bits
    found = codes[:, ::per_byte].copy()
    for index in range(1, per_byte):
        found |= codes[:, index::per_byte] << (bits * index)
    return found


def _field(at: int, length: int) -> Callable[[Array], Array]:
    """Bytes of a block as they are."""
    return lambda raw: raw[:, at : at + length]


def _repacked(at: int, length: int, run: int, bits: int, turned: int = 0) -> Callable[..., Array]:
    """Codes in the bytes from `at` on, in row-major order. turned: bits of each byte that count the
    other way."""
    return lambda raw: _packed(_parts(raw[:, at : at + length], run, bits), bits) ^ turned


def _single(at: int, turned: int = 0) -> Callable[[Array], Array]:
    """Single bits: each of 32 bytes holds those of eight elements that lie 32 apart."""
    return lambda raw: _bytes_of_bits(_parts(raw[:, at : at + 32], 32, 1)) ^ turned


def _bytes_of_bits(bits: Array) -> Array:
    import numpy as np

    return np.packbits(bits, axis=1, bitorder="little")


def _steps_of_3(raw: Array) -> Array:
    """Steps of Q3_K: four bits of 16, then two bits of each, less 32."""
    low, high = _parts(raw[:, 96:104], 8, 4), _parts(raw[:, 104:108], 4, 2)
    steps: Array = (low | high << 4) - 32  # wraps round to what int8 has
    return steps


def _six_bits(raw: Array) -> Array:
    """Steps and floors of Q4_K and Q5_K, in turns. Four steps have six bits of a byte, then four
    floors; the upper two bits there are those of four more, whose other bits come last."""
    import numpy as np

    steps, floors, rest = raw[:, 4:8], raw[:, 8:12], raw[:, 12:16]
    found = np.empty((len(raw), 8, 2), np.uint8)
    found[:, :4, 0], found[:, :4, 1] = steps & 63, floors & 63
    found[:, 4:, 0] = rest & 15 | steps >> 6 << 4
    found[:, 4:, 1] = rest >> 4 | floors >> 6 << 4
    return found.reshape(len(raw), 16)


def _half(at: int) -> Plane:
    return Plane(dt.float16, 1, _field(at, 2))


def _fours(at: int) -> Plane:
    return Plane(dt.uint4, 32, _repacked(at, 16, 16, 4))


_SIX = {
    "pairs": Plane(dt.uint8, 16, _six_bits), "halves": Plane(dt.float16, 2, _field(0, 4)),
}  # fmt: skip

BLOCKS: Mapping[int, Block] = {
    2: Block(  # codes less 8, as int4
        "Q4_0", 32, 18,
        {"codes": Plane(dt.int4, 32, _repacked(2, 16, 16, 4, 0x88)), "scale": _half(0)}, _plain,
    ),
    3: Block(
        "Q4_1", 32, 20, {"codes": _fours(4), "scale": _half(0), "minimum": _half(2)}, _raised
    ),
    6: Block(  # a fifth bit that is missing counts -16
        "Q5_0", 32, 22,
        {"codes": _fours(6), "fifths": Plane(dt.uint8, 4, lambda raw: raw[:, 2:6] ^ 0xFF),
         "scale": _half(0)},
        lambda p: _scaled(_with_bit(p, "fifths", -16), p),
    ),
    7: Block(
        "Q5_1", 32, 24,
        {"codes": _fours(8), "fifths": Plane(dt.uint8, 4, _field(4, 4)), "scale": _half(0),
         "minimum": _half(2)},
        lambda p: _added(_scaled(_with_bit(p, "fifths", 16), p), p),
    ),
    8: Block(
        "Q8_0", 32, 34,
        {"codes": Plane(dt.int8, 32, _field(2, 32)), "scale": _half(0)}, _plain,
    ),
    10: Block(
        "Q2_K", 256, 84,
        {"codes": Plane(dt.uint2, 256, _repacked(16, 64, 32, 2)),
         "pairs": Plane(dt.uint4, 32, _field(0, 16)),
         "halves": Plane(dt.float16, 2, _field(80, 4))},
        lambda p: _lowered(_number(p["codes"]), p),
    ),
    11: Block(  # a third bit that is missing counts -4
        "Q3_K", 256, 110,
        {"codes": Plane(dt.uint2, 256, _repacked(32, 64, 32, 2)),
         "thirds": Plane(dt.uint8, 32, _single(0, 0xFF)),
         "steps": Plane(dt.int8, 16, _steps_of_3), "scale": _half(108)},
        lambda p: _stepped(_with_bit(p, "thirds", -4), p),
    ),
    12: Block(
        "Q4_K", 256, 144,
        {"codes": Plane(dt.uint4, 256, _repacked(16, 128, 32, 4)), **_SIX},
        lambda p: _lowered(_number(p["codes"]), p),
    ),
    13: Block(
        "Q5_K", 256, 176,
        {"codes": Plane(dt.uint4, 256, _repacked(48, 128, 32, 4)),
         "fifths": Plane(dt.uint8, 32, _single(16)), **_SIX},
        lambda p: _lowered(_with_bit(p, "fifths", 16), p),
    ),
    14: Block(  # upper bits less 2, as int2
        "Q6_K", 256, 210,
        {"codes": Plane(dt.uint4, 256, _repacked(0, 128, 64, 4)),
         "uppers": Plane(dt.int2, 256, _repacked(128, 64, 32, 2, 0xAA)),
         "steps": Plane(dt.int8, 16, _field(192, 16)), "scale": _half(208)},
        lambda p: _stepped(_joined(p["codes"], p["uppers"], 16), p),
    ),
    20: Block("IQ4_NL", 32, 18, {"codes": _fours(2), "scale": _half(0)}, _looked_up),
}  # fmt: skip
"""Types of blocks, by ggml's numbers."""
