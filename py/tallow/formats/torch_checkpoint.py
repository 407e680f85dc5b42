"""PyTorch's checkpoints, without PyTorch and without running what they contain: what `torch.save`
writes today, a ZIP archive, and what it wrote before version 1.6, a row of pickles.

Both hold one pickle of the object, in which tensors refer to storages, and the storages' bytes.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple, NoReturn

from ..core import dtype as dt
from ..core.dtype import DType
from ..core.shape import Shape, size_of, strides_of
from ..errors import FormatError
from ..tensor import Tensor
from .archives import Archive
from .arrays import checked_shape, number, tensor_of
from .pickles import Function, Named, Restricted, State, check

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_START = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
"""A pickle of that number, with which the older files begin."""

_LEGACY_PROTOCOL = 1001
_LITTLE = "little_endian"

_STORAGES = {
    "BFloat16": dt.bfloat16, "Bool": dt.bool_, "Byte": dt.uint8, "Char": dt.int8,
    "Double": dt.float64, "Float": dt.float32, "Half": dt.float16, "Int": dt.int32,
    "Long": dt.int64, "Short": dt.int16,
}  # fmt: skip

_TYPES = {
    "bfloat16": dt.bfloat16, "bool": dt.bool_, "uint8": dt.uint8, "int8": dt.int8,
    "float64": dt.float64, "double": dt.float64, "float32": dt.float32, "float": dt.float32,
    "float16": dt.float16, "half": dt.float16, "int32": dt.int32, "int": dt.int32,
    "int64": dt.int64, "long": dt.int64, "int16": dt.int16, "short": dt.int16,
    "uint16": dt.uint16, "uint32": dt.uint32, "uint64": dt.uint64,
    "float8_e4m3fn": dt.float8_e4m3fn, "float8_e4m3fnuz": dt.float8_e4m3fnuz,
    "float8_e5m2": dt.float8_e5m2, "float8_e5m2fnuz": dt.float8_e5m2fnuz,
    "float8_e8m0fnu": dt.float8_e8m0fnu,
}  # fmt: skip

_COPIES = 4
"""Strided tensors are copied; all copies together may be as many times the file's bytes, and 1 MiB
more."""
_SPARE = 1 << 20


class Storage(NamedTuple):
    """Elements in a row, of one type. data: None while only their offset in the file is looked
    for."""

    dtype: DType
    data: memoryview | None


def read_zip(data: memoryview, source: str, limit: int) -> Any:
    """The object in a checkpoint of today. Raises FormatError for anything but a sound file of
    tensors, numbers, texts, and lists and dicts of them."""
    with Archive(data, source, limit) as archive:
        pickles = [name for name in archive.names if name.rpartition("/")[2] == "data.pkl"]
        if len(pickles) != 1:
            raise FormatError(f"{source}: the archive has {len(pickles)} data.pkl, expected one")
        folder = pickles[0].removesuffix("data.pkl")
        if f"{folder}constants.pkl" in archive.names:
            raise FormatError(f"{source}: is a TorchScript program; save its state_dict() instead")
        order = f"{folder}byteorder"
        if order in archive.names and bytes(archive.read(order)).strip() != b"little":
            raise FormatError(f"{source}: was written on a big-endian machine")
        found: dict[str, memoryview] = {}

        def bytes_of(key: str, dtype: DType, count: int) -> memoryview:
            if key not in found:
                found[key] = archive.read(f"{folder}data/{key}")
            return found[key]

        file = io.BytesIO(archive.read(pickles[0]))
        check(file, source, _Rebuild(source, 0).names())
        return _object(file, 0, source, data.nbytes, bytes_of)


def read_legacy(data: memoryview, source: str) -> Any:
    """The object in a checkpoint of the older format. Raises FormatError as `read_zip`."""
    file = io.BytesIO(data)
    starts = []
    names = _Rebuild(source, 0).names()
    for _ in range(5):  # magic number, protocol, system, object, storage keys
        starts.append(file.tell())
        check(file, source, names)
    end = file.tell()
    if _plain(file, starts[0], source) != LEGACY_MAGIC:
        raise FormatError(f"{source}: is not a checkpoint of PyTorch")
    if _plain(file, starts[1], source) != _LEGACY_PROTOCOL:
        raise FormatError(f"{source}: is a checkpoint of an unknown protocol")
    system = _plain(file, starts[2], source)
    if not isinstance(system, dict) or system.get(_LITTLE) is not True:
        raise FormatError(f"{source}: was written on a big-endian machine")
    keys = _plain(file, starts[4], source)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise FormatError(f"{source}: the list of storages is damaged")
    types: dict[str, DType] = {}

    def note(key: str, dtype: DType, count: int) -> None:
        types[key] = dtype

    _object(file, starts[3], source, data.nbytes, note)
    storages: dict[str, memoryview] = {}
    for key in keys:
        if key not in types or key in storages or data.nbytes - end < 8:
            raise FormatError(f"{source}: the storage {key[:40]!r} is damaged")
        (count,) = struct.unpack_from("<q", data, end)
        size = number(count, f"{source}: storage {key[:40]!r}") * types[key].size
        if size > data.nbytes - end - 8:
            raise FormatError(f"{source}: the file is cut short: storage {key[:40]!r}")
        # A copy: their offsets are not aligned.
        storages[key] = memoryview(bytes(data[end + 8 : end + 8 + size]))
        end += 8 + size
    if end != data.nbytes:
        raise FormatError(f"{source}: {data.nbytes - end} bytes behind the last storage")

    def bytes_of(key: str, dtype: DType, count: int) -> memoryview:
        if key not in storages:
            raise FormatError(f"{source}: the storage {key[:40]!r} is missing")
        return storages[key]

    return _object(file, starts[3], source, data.nbytes, bytes_of)


def _plain(file: io.BytesIO, start: int, source: str) -> Any:
    """A pickle of numbers, texts, lists and dicts."""

    def none(pid: object) -> NoReturn:
        raise FormatError(f"{source}: a storage where none belongs")

    file.seek(start)
    return Restricted(file, source, {}, none).run()


def _object(
    file: io.BytesIO,
    start: int,
    source: str,
    size: int,
    bytes_of: Callable[[str, DType, int], memoryview | None],
) -> Any:
    """The pickled object. bytes_of: the bytes of a storage, by its key, type and length."""
    makes = _Rebuild(source, size)

    def storage(pid: object) -> Storage:
        found = _storage_of(pid, source)
        data = bytes_of(*found)
        key, dtype, count = found
        if data is not None and data.nbytes != count * dtype.size:
            raise FormatError(f"{source}: storage {key!r} has {data.nbytes} bytes, "
                              f"expected {count} of {dtype.name}")  # fmt: skip
        return Storage(dtype, data)

    file.seek(start)
    result = Restricted(file, source, makes.names(), storage).run()
    makes.check()
    return result


def _storage_of(pid: object, source: str) -> tuple[str, DType, int]:
    """Key, type and length of a storage; a view of one, which only old files have, is refused."""
    what = f"{source}: a reference to a storage"
    if not isinstance(pid, tuple) or len(pid) not in (5, 6) or pid[0] != "storage":
        raise FormatError(f"{what} is damaged")
    if len(pid) == 6 and pid[5] is not None:
        raise FormatError(f"{what} names a part of another one, which is not supported")
    kind, key, count = pid[1], pid[2], number(pid[4], what)
    dtype = kind.value if isinstance(kind, Named) else None
    safe = isinstance(key, str) and key.isalnum() and len(key) <= 32
    if not isinstance(dtype, DType) or not safe:
        raise FormatError(f"{what} is damaged")
    return key, dtype, count


class _Rebuild:
    """What a pickle may call, under PyTorch's names. size: bytes of the file."""

    def __init__(self, source: str, size: int) -> None:
        self._source = source
        self._budget = _COPIES * size + _SPARE
        self._made: list[tuple[Tensor, Any]] = []

    def names(self) -> Mapping[str, Named]:
        """The whole table."""
        known: dict[str, Named] = {
            f"torch.{name}Storage": Named(dtype) for name, dtype in _STORAGES.items()
        }
        known |= {f"torch.{name}": Named(dtype) for name, dtype in _TYPES.items()}
        functions = {
            "collections.OrderedDict": self._ordered,
            "torch.Size": self._size,
            "torch.device": lambda *name: name[0] if name else None,
            "torch._utils._rebuild_parameter": lambda data, *_: data,
            "torch._utils._rebuild_parameter_with_state": lambda data, *_: data,
            "torch._utils._rebuild_tensor": self._tensor,
            "torch._utils._rebuild_tensor_v2": lambda *args: self._tensor(*args[:4]),
            "torch._utils._rebuild_tensor_v3": self._of_kind,
        }
        known |= {name: Function(function) for name, function in functions.items()}
        known["torch.storage.UntypedStorage"] = known["torch.UntypedStorage"] = Named(dt.uint8)
        return known

    def check(self) -> None:
        """Raises FormatError if the pickle changed a tensor after it was made."""
        if any(tensor.node is not node for tensor, node in self._made):
            raise FormatError(f"{self._source}: the pickle changes a tensor")

    def _ordered(self, pairs: object = ()) -> State:
        """PyTorch gives no pairs, old Pythons did; a pickle could have them copied endlessly."""
        if not isinstance(pairs, (list, tuple)):
            raise FormatError(f"{self._source}: an OrderedDict is damaged")
        self._spend(8 * len(pairs))
        return State(pairs)

    def _spend(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise FormatError(f"{self._source}: repeats what is in the file too often")

    def _size(self, lengths: object) -> Shape:
        return checked_shape(lengths, f"{self._source}: a torch.Size")

    def _of_kind(self, *args: object) -> Tensor | None:
        """Storage, offset, lengths, strides, two that do not matter here, element type."""
        storage, offset, lengths, strides, _, _, kind = args[:7]
        return self._tensor(storage, offset, lengths, strides, kind)

    def _tensor(
        self, storage: object, offset: object, lengths: object, strides: object, kind: object = None
    ) -> Tensor | None:
        """A tensor of some elements of a storage; None while the storages are not known."""
        what = f"{self._source}: a tensor"
        if not isinstance(storage, Storage):
            raise FormatError(f"{what} is not made of a storage")
        dtype = storage.dtype
        if kind is not None:
            named = kind.value if isinstance(kind, Named) else None
            if not isinstance(named, DType):
                raise FormatError(f"{what} has no element type")
            dtype = named
        shape, start = checked_shape(lengths, what), number(offset, what)
        if not isinstance(strides, tuple) or len(strides) != len(shape):
            raise FormatError(f"{what} of shape {shape} has other strides")
        steps = tuple(number(stride, what) for stride in strides)
        if storage.data is None:
            return None
        data = self._elements(storage.data, dtype, start, shape, steps)
        if dtype.kind == "b":
            self._spend(data.nbytes)  # which tensor_of looks at
        found = tensor_of(data, shape, dtype, what)
        self._made.append((found, found.node))
        return found

    def _elements(
        self, data: memoryview, dtype: DType, start: int, shape: Shape, strides: Shape
    ) -> memoryview:
        """The elements in row-major order: the bytes themselves if they lie so."""
        count, size = size_of(shape), dtype.size
        if not count:
            return memoryview(b"")
        last = start + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        if (last + 1) * size > data.nbytes:
            raise FormatError(
                f"{self._source}: a tensor of shape {shape} reaches element {last} of a storage "
                f"of {data.nbytes // size}"
            )
        if all(n == 1 or a == b for n, a, b in zip(shape, strides, strides_of(shape), strict=True)):
            return data[start * size : (start + count) * size]
        self._spend(count * size)
        return _gathered(data, size, start, shape, strides)


def _gathered(data: memoryview, size: int, start: int, shape: Shape, strides: Shape) -> memoryview:
    """A copy of strided elements, a slice for each line of the last axis."""
    whole = data[: data.nbytes // size * size]
    formats: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
    words = whole.cast(formats[size])
    result = bytearray()
    length, step = shape[-1], strides[-1]
    for index in product(*map(range, shape[:-1])):
        first = start + sum(i * stride for i, stride in zip(index, strides, strict=False))
        if step:
            result += words[first : first + (length - 1) * step + 1 : step].tobytes()
        else:
            result += words[first : first + 1].tobytes() * length
    return memoryview(bytes(result))
