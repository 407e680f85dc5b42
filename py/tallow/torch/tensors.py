"""Functions of `torch` that make tensors, and the types of tensors."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypedDict, Unpack

import tallow as tl

from ..core import dtype as dt
from ..core.dtype import DType, as_dtype
from ..errors import ArgumentError, DTypeError, OptionError
from ..functions import draws, grids
from ..functions.creation import of_sizes_or_data, placed
from ..random import Generator
from ..tensor import Tensor
from .calls import put_out
from .types import Number

if TYPE_CHECKING:
    import numpy as np

TypeLike = DType | str | None
Lengths = SupportsIndex | Sequence[SupportsIndex]


class _Item(Protocol):
    """A tensor or an array of one number, or NumPy's scalar."""

    def item(self) -> Number: ...


def _number(value: Number | _Item) -> Number:
    return value.item() if hasattr(value, "item") else value


class _Filled(TypedDict, total=False):
    """Options of `full`; the last two change nothing."""

    out: Tensor | None
    dtype: TypeLike
    device: str | None
    requires_grad: builtins.bool
    layout: object
    pin_memory: builtins.bool


class _Sized(_Filled, total=False):
    """Options of what takes lengths; memory_format changes nothing."""

    size: Lengths | None
    memory_format: object


class _Draw(_Sized, total=False):
    """Options of what is drawn."""

    generator: Generator | None


# ---- from data -----------------------------------------------------------------------------------


def tensor(
    data: object,
    *,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """A tensor of a number, nested sequences or an array, which is copied; integers become int64,
    floating numbers the default floating type."""
    return tl.tensor(_listed(data), dtype, device, requires_grad)


def _listed(data: Any) -> Any:
    """Sequences that are neither lists nor tuples, such as a deque, as lists."""
    if isinstance(data, (str, bytes)) or hasattr(data, "__array__") or not hasattr(data, "__len__"):
        return data
    if type(data) not in (list, tuple, range):
        data = list(data)
    if any(isinstance(each, Tensor) for each in data):
        return tl.stack([tl.asarray(each) for each in data]).numpy(force=True)
    return data


def from_numpy(ndarray: np.ndarray[Any, np.dtype[Any]]) -> Tensor:
    """A tensor of an array, of its type. The elements are copied: unlike PyTorch's tensor, it does
    not see later changes of the array."""
    if not hasattr(ndarray, "__array_interface__"):
        raise DTypeError(f"from_numpy: takes a NumPy array, not {type(ndarray).__name__}")
    return tl.asarray(ndarray.copy()).detach()


def as_tensor(data: object, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """A tensor of data: itself, if it is one of that type already."""
    return grids.as_tensor(_listed(data), dtype, device)


def asarray(
    obj: object,
    *,
    dtype: TypeLike = None,
    device: str | None = None,
    copy: builtins.bool | None = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of data: itself, if it is one already, unless copy is true."""
    made = as_tensor(obj, dtype, device)
    made = made.clone().detach() if copy else made
    return made.requires_grad_() if requires_grad else made


def scalar_tensor(s: Number, *, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """One number without axes, in the default floating type."""
    return tl.tensor(s, dtype or dt.default_floating(), device)


def frombuffer(
    buffer: bytes | bytearray | memoryview,
    *,
    dtype: DType,
    count: builtins.int = -1,
    offset: builtins.int = 0,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """A tensor of the bytes of a buffer, `count` elements from the byte `offset` on."""
    import numpy as np

    kind = as_dtype(dtype)
    if kind.coded:
        raise OptionError(f"frombuffer: {kind.name} has no NumPy type; read uint16 or uint8")
    made = tl.asarray(np.frombuffer(buffer, kind.name, count, offset).copy())
    return made.requires_grad_() if requires_grad else made


# ---- of one number -------------------------------------------------------------------------------


def full(
    size: Sequence[builtins.int],
    fill_value: Number | _Item,
    *,
    out: Tensor | None = None,
    dtype: TypeLike = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """One number in a shape, in its type: int64, bool or the default floating one."""
    made = tl.full(size, _number(fill_value), dtype, device=device, requires_grad=requires_grad)
    return made if out is None else put_out(out, made)


def _of(
    value: builtins.int,
    sizes: tuple[Lengths, ...],
    size: Lengths | None = None,
    out: Tensor | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    **needless: object,
) -> Tensor:
    lengths: Any = size
    if size is None:
        lengths = sizes[0] if len(sizes) == 1 and not hasattr(sizes[0], "__index__") else sizes
    if isinstance(lengths, str) or not all(hasattr(length, "__index__") for length in lengths):
        raise ArgumentError(f"argument 'size' must be whole numbers, not {lengths!r}")
    kind = dtype or dt.default_floating()
    made = tl.full(tuple(lengths), value, kind, device=device, requires_grad=requires_grad)
    return made if out is None else put_out(out, made)


def zeros(*sizes: Lengths, **options: Unpack[_Sized]) -> Tensor:
    """0 everywhere: zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3)). Options: out, dtype, device,
    requires_grad."""
    return _of(0, sizes, **options)


def ones(*sizes: Lengths, **options: Unpack[_Sized]) -> Tensor:
    """1 everywhere: ones(2, 3), ones((2, 3)), ones(size=(2, 3)). Options: out, dtype, device,
    requires_grad."""
    return _of(1, sizes, **options)


def empty(*sizes: Lengths, **options: Unpack[_Sized]) -> Tensor:
    """Elements that a program is to set, here 0: empty(2, 3), empty((2, 3)). Options: out, dtype,
    device, requires_grad."""
    return _of(0, sizes, **options)


def _like(function: Callable[..., Tensor], what: str) -> Callable[..., Tensor]:
    def like(
        input: Tensor,
        *,
        dtype: TypeLike = None,
        layout: object = None,
        device: str | None = None,
        requires_grad: builtins.bool = False,
        memory_format: object = None,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        made = function(tuple(input.shape), dtype=dtype or input.dtype, device=device)
        return placed(made, None, requires_grad)

    like.__doc__ = f"{what} in the shape of a tensor, and by default in its type."
    return like


zeros_like = _like(zeros, "0")
ones_like = _like(ones, "1")
empty_like = _like(empty, "Unspecified elements")
rand_like = _like(lambda *a, **k: tl.rand(*a, **k), "Numbers drawn evenly between 0 and 1")
randn_like = _like(lambda *a, **k: tl.randn(*a, **k), "Numbers of a normal distribution")


def full_like(
    input: Tensor, fill_value: Number, memory_format: object = None, **options: Unpack[_Filled]
) -> Tensor:
    """One number in the shape of a tensor, and by default in its type."""
    options["dtype"] = options.get("dtype") or input.dtype
    return full(input.shape, fill_value, **options)


# ---- lines ---------------------------------------------------------------------------------------


def arange(
    start: Number | _Item | None = None,
    end: Number | _Item | None = None,
    step: Number | _Item = 1,
    *,
    out: Tensor | None = None,
    dtype: TypeLike = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """start, start + step, ... up to but excluding end: arange(5), arange(1, 5), arange(end=5)."""
    first, last = (None if x is None else _number(x) for x in (start, end))
    if last is None:
        first, last = 0, first
    made = placed(
        tl.arange(first or 0, last, _number(step), dtype, device=device), None, requires_grad
    )
    return made if out is None else put_out(out, made)


def range(start: Number, end: Number, step: Number = 1, *, dtype: TypeLike = None) -> Tensor:
    """start, start + step, ... up to and including end, in the default floating type."""
    count = builtins.int((end - start) / step + 1)
    line = tl.arange(count).astype(dtype or dt.default_floating()) * step + start
    return line.astype(dtype or dt.default_floating())


def linspace(
    start: Number | _Item,
    end: Number | _Item,
    steps: builtins.int,
    *,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    **needless: object,
) -> Tensor:
    """`steps` evenly spaced numbers from start to end, both included."""
    made = tl.linspace(_number(start), _number(end), steps, dtype=dtype, device=device)
    return placed(made, None, requires_grad)


def logspace(
    start: Number,
    end: Number,
    steps: builtins.int,
    base: builtins.float = 10.0,
    *,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """`steps` powers of a base, whose exponents go from start to end."""
    made = grids.logspace(start, end, steps, base)
    return placed(made if dtype is None else made.astype(dtype), device, requires_grad)


def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    *,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    **needless: object,
) -> Tensor:
    """1 on the diagonal of an n by m matrix, 0 elsewhere."""
    return placed(tl.eye(n, m, dtype=dtype, device=device), None, requires_grad)


# ---- draws ---------------------------------------------------------------------------------------


def _drawn(
    function: Callable[..., Tensor],
    sizes: tuple[Lengths, ...],
    out: Tensor | None = None,
    layout: object = None,
    pin_memory: builtins.bool = False,
    **options: object,
) -> Tensor:
    made = function(*sizes, **options)
    return made if out is None else put_out(out, made)


def rand(*sizes: Lengths, **options: Unpack[_Draw]) -> Tensor:
    """Numbers drawn evenly between 0 and 1: rand(2, 3). Options: generator, out, dtype, device,
    requires_grad."""
    return _drawn(tl.rand, sizes, **options)


def randn(*sizes: Lengths, **options: Unpack[_Draw]) -> Tensor:
    """Numbers of the standard normal distribution: randn(2, 3). Options: generator, out, dtype,
    device, requires_grad."""
    return _drawn(tl.randn, sizes, **options)


def randint(
    low: builtins.int,
    high: builtins.int | Sequence[builtins.int] | None = None,
    size: Sequence[builtins.int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
    **needless: object,
) -> Tensor:
    """Integers drawn evenly from low up to but excluding high: randint(3, 5, (2,)),
    randint(5, (2,)), randint(high=5, size=(2,))."""
    if size is None:
        if high is None or isinstance(high, builtins.int):
            raise ArgumentError("randint: give size, the shape")
        size = high
        low, high = 0, low
    made = tl.randint(low, high, tuple(size), dtype, device=device, generator=generator)
    return placed(made, None, requires_grad)


def randint_like(
    input: Tensor, low: builtins.int, high: builtins.int | None = None, *, dtype: TypeLike = None
) -> Tensor:
    """Integers drawn evenly, in the shape of a tensor, and by default in its type."""
    if high is None:
        low, high = 0, low
    return randint(low, high, input.shape, dtype=dtype or input.dtype)


def randperm(
    n: builtins.int,
    *,
    generator: Generator | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    **needless: object,
) -> Tensor:
    """The integers below n in a random order."""
    made = tl.randperm(n, device=device, generator=generator)
    return made if dtype is None else made.astype(dtype)


def normal(
    mean: Number | Tensor = 0.0,
    std: Number | Tensor = 1.0,
    size: Sequence[builtins.int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: builtins.bool = False,
) -> Tensor:
    """Numbers of normal distributions, in the shape of mean and std, or in `size`."""
    drawn = draws.normal(mean, std, size)
    made = placed(drawn if dtype is None else drawn.astype(dtype), device, requires_grad)
    return made if out is None else put_out(out, made)


# ---- types of tensors ----------------------------------------------------------------------------


class _TensorType(type):
    """The type of FloatTensor and the like: a tensor of the element type is an instance."""

    tallow_dtype: DType

    def __instancecheck__(cls, instance: object) -> builtins.bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.tallow_dtype

    def __call__(cls, *given: object, device: str | None = None) -> Tensor:
        """A tensor of lengths, FloatTensor(2, 3), or of data, LongTensor([1, 2])."""
        return of_sizes_or_data(*given, device=device, dtype=cls.tallow_dtype)

    def __repr__(cls) -> str:
        return f"<class '{dt.tensor_type(cls.tallow_dtype)}'>"


def tensor_types() -> dict[str, type]:
    """FloatTensor and the like, by name."""
    return {
        f"{kind}Tensor": _TensorType(f"{kind}Tensor", (), {"tallow_dtype": dt.BY_NAME[name]})
        for kind, name in dt.TENSOR_TYPES.items()
    }


__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "frombuffer",
    "full", "full_like", "linspace", "logspace", "normal", "ones", "ones_like", "rand",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "range",
    "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip
