"""Functions of `torch` that make tensors, and those whose meaning or arguments differ from
Tallow's function of the same name."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypedDict, Unpack

import tallow as tl

from .. import dtype as dt
from .. import functional, shape
from ..dtype import DType, as_dtype
from ..errors import ArgumentError, DTypeError, OptionError
from ..functions import draws, grids
from ..functions.creation import of_sizes_or_data, placed
from ..random import Generator
from ..shape import Size
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
        return tl.stack([tl.asarray(each) for each in data]).numpy()
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
    """1 everywhere, as `zeros`."""
    return _of(1, sizes, **options)


def empty(*sizes: Lengths, **options: Unpack[_Sized]) -> Tensor:
    """Unspecified elements, as `zeros`: 0."""
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
    """Numbers of the standard normal distribution; as `rand`."""
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


# ---- choices and joins ---------------------------------------------------------------------------


def where(
    condition: Tensor, input: Number | Tensor | None = None, other: Number | Tensor | None = None
) -> Any:
    """The element of input where the condition is true, else that of other. Of a condition alone,
    the places where it is true, a vector for each axis."""
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    return tl.where(condition, input, other)  # type: ignore[arg-type]


def pow(input: Number | Tensor, exponent: Number | Tensor) -> Tensor:
    """Each element to a power; one of the two may be a number."""
    return tl.pow(input, exponent)


def _only_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    given = list(tensors)
    for each in given:
        if not isinstance(each, Tensor):
            raise DTypeError(f"cat: takes tensors, not {type(each).__name__}")
    return given


def cat(
    tensors: Sequence[Tensor],
    dim: builtins.int = 0,
    *,
    axis: builtins.int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Tensors joined along an axis. Vectors without elements are left out, as in PyTorch."""
    given = _only_tensors(tensors)
    kept = [x for x in given if tuple(x.shape) != (0,)] or given
    made = tl.concat(kept, dim if axis is None else axis)
    return made if out is None else put_out(out, made)


concat = concatenate = cat


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: str | None = None
) -> tuple[Tensor, ...]:
    """Grids of vectors; indexing: "ij", the default, or "xy"."""
    return tl.meshgrid(*tensors, indexing=indexing or "ij")


def einsum(equation: str | Tensor, *operands: Any) -> Tensor:
    """The sum of products that an equation such as "bij,bjk->bik" describes. Lists of numbers that
    name axes, in place of the equation, as NumPy has them, too."""
    if isinstance(equation, str):
        return tl.einsum(equation, *operands)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    given: list[Any] = [equation, *operands]
    texts = ["".join("..." if n is ... else letters[n] for n in axes) for axes in given[1::2]]
    result = f"->{''.join('...' if n is ... else letters[n] for n in given[-1])}"
    joined = ",".join(texts) + (result if len(given) % 2 else "")
    return tl.einsum(joined, *given[: 2 * len(texts) : 2])


def unique(
    input: Tensor,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any:
    """The different elements in order; also the place of each element, and their counts."""
    return tl.unique(input, sorted, return_inverse, return_counts, dim)


def result_type(tensor1: Number | Tensor, tensor2: Number | Tensor) -> DType:
    """The type that operators on two tensors or numbers give."""
    return tl.result_type(tensor1, tensor2)


def promote_types(type1: DType, type2: DType) -> DType:
    """The type that holds both."""
    return dt.promote(as_dtype(type1), as_dtype(type2))


def _assert(condition: object, message: str) -> None:
    """Raises AssertionError where a condition is false."""
    assert condition, message


def numel(input: Tensor) -> builtins.int:
    """The number of elements."""
    return input.numel()


def is_tensor(obj: object) -> builtins.bool:
    """Whether this is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: object) -> builtins.bool:
    """False: tensors have no storages here."""
    return False


def typename(obj: object) -> str:
    """The name of a tensor's type, such as "torch.FloatTensor", or of another object's."""
    return str(obj.type()) if isinstance(obj, Tensor) else type(obj).__qualname__


def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged: no element is complex."""
    return input.mT


def real(input: Tensor) -> Tensor:
    """The tensor itself: no element is complex."""
    return input


def fill(input: Tensor, value: Number) -> Tensor:
    """A number in the shape and type of a tensor."""
    return full_like(input, value)


def constant_pad_nd(input: Tensor, pad: Sequence[builtins.int], value: Number = 0) -> Tensor:
    """`torch.nn.functional.pad` with a number."""
    return functional.pad(input, pad, "constant", value)


def clone(input: Tensor, *, memory_format: object = None) -> Tensor:
    """Another tensor of the same values, through which gradients pass."""
    return input.clone()


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


def broadcast_shapes(*shapes: builtins.int | Sequence[builtins.int]) -> Size:
    """The shape to which shapes, or lengths of one axis, are broadcast together."""
    given = [(each,) if isinstance(each, builtins.int) else tuple(each) for each in shapes]
    return Size(shape.broadcast_shapes(*given))


# ---- types of tensors ----------------------------------------------------------------------------


class _TensorType(type):
    """The type of FloatTensor and its kin: a tensor of the element type is an instance."""

    tallow_dtype: DType

    def __instancecheck__(cls, instance: object) -> builtins.bool:
        return isinstance(instance, Tensor) and instance.dtype == cls.tallow_dtype

    def __call__(cls, *given: object, device: str | None = None) -> Tensor:
        """A tensor of lengths, FloatTensor(2, 3), or of data, LongTensor([1, 2])."""
        return of_sizes_or_data(*given, device=device, dtype=cls.tallow_dtype)

    def __repr__(cls) -> str:
        return f"<class '{dt.tensor_type(cls.tallow_dtype)}'>"


def tensor_types() -> dict[str, type]:
    """FloatTensor and its kin, by name."""
    return {
        f"{kind}Tensor": _TensorType(f"{kind}Tensor", (), {"tallow_dtype": dt.BY_NAME[name]})
        for kind, name in dt.TENSOR_TYPES.items()
    }


__all__ = [
    "adjoint", "arange", "as_tensor", "asarray", "broadcast_shapes", "cat", "clone", "concat",
    "concatenate", "constant_pad_nd", "einsum", "empty", "empty_like", "eye", "fill",
    "from_numpy", "frombuffer", "full", "full_like", "is_storage", "is_tensor", "linspace",
    "logspace", "meshgrid", "normal", "numel", "ones", "ones_like", "pow", "promote_types",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "range",
    "real", "result_type", "scalar_tensor", "tensor", "typename", "unique", "where", "zeros",
    "zeros_like",
]  # fmt: skip
