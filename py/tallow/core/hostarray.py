"""HostArray: shape, element type and bytes in host memory, without NumPy.

Constants of a graph and results of a run are HostArrays, so that the WebGPU road needs no NumPy;
where NumPy is there, `numpy()` gives a view.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import DTypeError, ShapeError
from . import dtype as dt
from .codes import decoded, encoded, pack, packed_bytes, unpack
from .dtype import DType
from .shape import Shape, check_rank, size_of

_FORMATS = {
    "?": dt.bool_, "b": dt.int8, "B": dt.uint8, "h": dt.int16, "H": dt.uint16, "e": dt.float16,
    "f": dt.float32, "d": dt.float64,
}  # fmt: skip
_INTEGERS = {("i", 4): dt.int32, ("i", 8): dt.int64, ("u", 4): dt.uint32, ("u", 8): dt.uint64}


@dataclass(frozen=True, eq=False, slots=True)
class HostArray:
    """`data`: row-major bytes, little-endian; `shape`; `dtype`.

    Elements of less than a byte are packed, from the low bits on.
    """

    data: memoryview
    shape: Shape
    dtype: DType

    def __post_init__(self) -> None:
        if self.data.nbytes != self.nbytes:
            raise ShapeError(
                f"{self.data.nbytes} bytes do not hold {self.dtype.name} {self.shape}, "
                f"which needs {self.nbytes}"
            )

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of its data."""
        return packed_bytes(self.dtype, self.size)

    @property
    def origin(self) -> object | None:
        """What has the bytes: arrays of one origin have the same ones, whatever their type. None
        for bytes that others may change."""
        if not self.data.readonly:
            return None
        whole: Any = self.data.obj
        return whole if memoryview(whole).nbytes == self.data.nbytes else self

    def flat(self) -> list[Any]:
        """All elements in row-major order, as Python numbers."""
        if self.dtype.code == "e":  # which memoryview does not read
            return [item[0] for item in struct.iter_unpack("<e", self.data)]
        values: list[Any] = elements(self.words(), self.dtype).tolist()
        return decoded(values, self.dtype) if self.dtype.coded else values

    def extremes(self) -> tuple[Any, Any]:
        """The least and the greatest element, of one or more numbers. Many take NumPy, where it is
        loaded, a third of the time."""
        if self.size >= 256 and sys.modules.get("numpy"):
            array = self.numpy()
            return array.min().item(), array.max().item()
        items = self.flat()
        return min(items), max(items)

    def words(self) -> memoryview:
        """The bytes with no two elements in one: of a coded type, its codes."""
        return unpack(self.data, self.dtype, self.size)

    def made(self, make: Callable[[HostArray], HostArray], shape: Shape, dtype: DType) -> HostArray:
        """What a function makes of it. One whose bytes are read later has it made then."""
        return make(self)

    def tolist(self) -> Any:
        """Nested lists; a number if there are no axes."""
        values: list[Any] = self.flat()
        if not self.shape:
            return values[0]
        for axis in range(len(self.shape) - 1, 0, -1):
            step, count = self.shape[axis], size_of(self.shape[:axis])
            values = [values[i * step : (i + 1) * step] for i in range(count)]
        return values

    def numpy(self) -> Any:
        """A NumPy array over the same bytes.

        Of a coded type: of ml_dtypes' type of that name or, where that package is missing,
        of the unsigned integers that are its codes.
        """
        import numpy as np

        if self.dtype.coded:
            codes = np.frombuffer(self.words(), f"u{self.dtype.size}").reshape(self.shape)
            try:
                import ml_dtypes
            except ImportError:
                return codes
            return codes.view(getattr(ml_dtypes, self.dtype.name))
        return np.frombuffer(self.data, dtype=self.dtype.name).reshape(self.shape)

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.size != 1:
            raise ShapeError(f"item: an array of shape {self.shape} has {self.size} elements")
        return self.flat()[0]


def elements(data: memoryview, dtype: DType) -> Any:
    """Bytes as a memoryview of numbers of a type."""
    view: Any = data
    return view.cast("B").cast(dtype.code)


def from_values(values: Iterable[Any], shape: Shape, dtype: DType) -> HostArray:
    """A HostArray of Python numbers in row-major order; values that overflow raise DTypeError."""
    items = list(values)
    if dtype.coded:
        codes = array(dtype.code, (encoded(item, dtype) for item in items))
        return from_words(memoryview(codes), shape, dtype)
    try:
        if dtype.code in "?e":
            data = struct.pack(f"<{len(items)}{dtype.code}", *items)
        else:
            data = array(dtype.code, items).tobytes()
    except (OverflowError, struct.error, TypeError) as error:
        raise DTypeError(f"a value does not fit {dtype.name}: {error}") from error
    return HostArray(memoryview(data), shape, dtype)


def from_words(words: memoryview, shape: Shape, dtype: DType) -> HostArray:
    """A HostArray of a coded type from its codes, one to a word."""
    return HostArray(pack(words.cast("B"), dtype), shape, dtype)


def from_buffer(value: Any) -> HostArray:
    """A HostArray over anything with the buffer protocol: NumPy arrays, array, bytes, memoryview,
    or of an array of ml_dtypes.

    A contiguous buffer is not copied.
    """
    given: Any = getattr(value, "dtype", None)
    if getattr(given, "isbuiltin", 1) != 1:  # a type of another package; NumPy has its own ready
        coded = dt.BY_NAME.get(given.name)
        if coded is not None and coded.coded:
            words = memoryview(value.view(f"u{coded.size}").tobytes())
            return from_words(words, tuple(value.shape), coded)
    try:
        view = memoryview(value)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"{type(value).__name__} is not an array of numbers") from error
    code = view.format.lstrip("<=@|") if view.format else "B"
    if view.format and view.format.startswith((">", "!")):
        raise DTypeError(f"a big-endian buffer ({view.format}) must be swapped first")
    dtype = _FORMATS.get(code)
    if dtype is None and code in "iIlLqQnN":
        dtype = _INTEGERS["u" if code in "ILQN" else "i", view.itemsize]
    if dtype is None:
        raise DTypeError(f"a buffer of format {view.format!r} has no element type here")
    shape = tuple(view.shape or ())
    data = view if view.c_contiguous else memoryview(view.tobytes())
    if 0 in shape:
        data = memoryview(b"")
    if data.format != "B" or data.ndim != 1:
        data = data.cast("B")
    return HostArray(data, shape, dtype)


_NUMPY: dict[tuple[type, Any], DType] = {}
"""The element types of arrays that `from_array` has met, by their class and NumPy's type."""


def from_array(value: Any) -> HostArray:
    """A HostArray itself, or one over a NumPy array or scalar or whatever `from_buffer` takes.

    Raises DTypeError for what is not numeric.
    """
    if isinstance(value, HostArray):
        return value
    kind = type(value), getattr(value, "dtype", None)
    known = _NUMPY.get(kind)  # each call of a compiled function brings some
    if known is not None and value.size and value.flags.c_contiguous:
        return HostArray(memoryview(value).cast("B"), value.shape, known)
    if hasattr(value, "__array__"):
        value = value.__array__()  # NumPy's scalars have no buffer of their own
    try:
        found = from_buffer(value)
    except TypeError as error:
        if isinstance(error, DTypeError):
            raise
        raise DTypeError(
            f"asarray: {type(value).__name__} is neither a number, a list of numbers, "
            f"nor a numeric buffer ({error})"
        ) from error
    if type(value) is kind[0] and hasattr(value, "flags") and not found.dtype.coded:
        _NUMPY[kind] = found.dtype
    return found


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _nested_shape(value: Any) -> Shape:
    """The shape of nested lists; ShapeError if they are ragged."""
    if not _is_list(value):
        return ()
    inner = [_nested_shape(item) for item in value]
    for shape in inner[1:]:
        if shape != inner[0]:
            raise ShapeError(
                f"asarray: nested lists are ragged: shapes {inner[0]} and {shape} side by side"
            )
    return (len(inner), *(inner[0] if inner else ()))


def _flatten(value: Any) -> Iterable[Any]:
    if _is_list(value):
        for item in value:
            yield from _flatten(item)
    else:
        yield value


def from_python(value: object, dtype: DType | None = None) -> HostArray:
    """A HostArray of a number or of nested lists of numbers.

    Without a dtype: bool, or the default integer or floating type, the first that holds all.
    """
    shape = check_rank(_nested_shape(value), "asarray")
    items = list(_flatten(value))
    for item in items:
        if not isinstance(item, (bool, int, float)):
            if hasattr(item, "__array__"):
                return _of_arrays(value)
            what = repr(item) if isinstance(item, str) else type(item).__name__
            raise DTypeError(f"asarray: {what} is neither a number nor a list of numbers")
    if dtype is None:
        if items and all(isinstance(item, bool) for item in items):
            dtype = dt.bool_
        elif items and all(isinstance(item, int) for item in items):
            dtype = dt.default_integer()
        else:
            dtype = dt.default_floating()
    if dtype.is_integer:
        items = [int(item) for item in items]
    return from_values(items, shape, dtype)


def _of_arrays(value: object) -> HostArray:
    """A HostArray of nested lists of arrays, in the type that NumPy finds."""
    import numpy as np

    try:
        return from_array(np.asarray(value))
    except ValueError as error:
        raise ShapeError(f"asarray: arrays of different shapes in a list: {error}") from error


@dataclass(frozen=True, slots=True)
class StringArray:
    """Texts in row-major order, and their shape: no device computes them."""

    values: tuple[str, ...]
    shape: Shape

    @property
    def size(self) -> int:
        """The number of texts."""
        return size_of(self.shape)

    def numpy(self) -> Any:
        """A NumPy array of Python texts, of the dtype object."""
        import numpy as np

        return np.array(self.values, dtype=object).reshape(self.shape)
