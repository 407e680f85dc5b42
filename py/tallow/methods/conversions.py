"""Methods that give a tensor in another type, on another device, or one like it."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.device_name import DeviceName, resolved
from ..core.dtype import DType, as_dtype, in_pytorch, is_dtype, tensor_type
from ..errors import OptionError
from ..functions import creation, manipulation
from ..functions.creation import tensor as tensor_of
from ..tensor import Scalar, Tensor

TypeLike = DType | str


def where_to(
    args: Sequence[object], options: Mapping[str, object]
) -> tuple[str | None, DType | None]:
    """The device and the element type that arguments of `to` name. Raises OptionError."""
    unknown = set(options) - {"device", "dtype", "non_blocking", "copy", "memory_format"}
    if unknown or len(args) > 4:
        raise OptionError(f"to: takes a device and a type, not {', '.join(sorted(unknown))}")
    device, dtype = options.get("device"), options.get("dtype")
    for value in args:
        if is_dtype(value):
            dtype = value
        elif isinstance(value, str):
            device = value
        elif isinstance(value, builtins.int) and not isinstance(value, builtins.bool):
            device = DeviceName("cuda", value)
        elif hasattr(value, "dtype") and hasattr(value, "device"):
            device, dtype = value.device, value.dtype
        elif value is not None and not isinstance(value, builtins.bool):
            raise OptionError(f"to: {value!r} is neither a device, an element type nor a tensor")
    kind = None if dtype is None else as_dtype(dtype)
    return resolved(device), kind  # type: ignore[arg-type]


def to(input: Tensor, *args: object, **options: object) -> Tensor:
    """The tensor on another device, in another element type, or as another tensor has it:
    to("webgpu"), to("float16"), to("numpy", "int32"), to(other), to(dtype="int32").

    It is the tensor itself if nothing changes. "cpu" is where it is: `numpy()` reads from every
    device. Blocks if it moves. non_blocking, copy and memory_format change nothing. Raises
    OptionError for what is neither a device nor a type.
    """
    device, dtype = where_to(args, options)
    moved = input if dtype is None else input.astype(dtype)
    return moved if device is None else moved.on_device(device)


def cpu(input: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself: `numpy()` reads from every device."""
    return input


def cuda(
    input: Tensor, device: builtins.int | str | None = None, non_blocking: builtins.bool = False
) -> Tensor:
    """The tensor itself: it is on the best device of this machine already. Says so once. Raises
    DeviceUnavailableError for the index of a device that is not there."""
    resolved(f"cuda:{device}" if isinstance(device, builtins.int) else str(device or "cuda"))
    return input


def contiguous(input: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself: its elements have no other order than row-major."""
    return input


def type(input: Tensor, dtype: TypeLike | None = None) -> Any:
    """In another element type; without one, the name of its own, such as "float32" or PyTorch's
    "torch.FloatTensor"."""
    if dtype is not None:
        return input.astype(dtype)
    return tensor_type(input.dtype) if in_pytorch() else input.dtype.name


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the type of another tensor."""
    return input.astype(other.dtype)


def half(input: Tensor) -> Tensor:
    """The elements as float16."""
    return input.astype("float16")


def bfloat16(input: Tensor) -> Tensor:
    """The elements as bfloat16, which is kept and computed nowhere."""
    return input.astype("bfloat16")


def double(input: Tensor) -> Tensor:
    """The elements as float64."""
    return input.astype("float64")


def float(input: Tensor) -> Tensor:
    """The elements as float32."""
    return input.astype("float32")


def long(input: Tensor) -> Tensor:
    """The elements as int64."""
    return input.astype("int64")


def int(input: Tensor) -> Tensor:
    """The elements as int32."""
    return input.astype("int32")


def short(input: Tensor) -> Tensor:
    """The elements as int16."""
    return input.astype("int16")


def char(input: Tensor) -> Tensor:
    """The elements as int8."""
    return input.astype("int8")


def byte(input: Tensor) -> Tensor:
    """The elements as uint8."""
    return input.astype("uint8")


def bool(input: Tensor) -> Tensor:
    """Whether the elements are not 0."""
    return input.astype("bool")


def to_dense(input: Tensor, dtype: TypeLike | None = None) -> Tensor:
    """The tensor itself, or in another type: every element is stored."""
    return input if dtype is None else input.astype(dtype)


# ---- others like it --------------------------------------------------------------------------


Sizes = builtins.int | Sequence[builtins.int]


def new_full(
    input: Tensor, size: Sequence[builtins.int], fill_value: Scalar, dtype: TypeLike | None = None
) -> Tensor:
    """A number in a shape, in the type of this tensor."""
    return creation.full(tuple(size), fill_value, dtype or input.dtype)


def new_zeros(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """0 in a shape, in the type of this tensor: x.new_zeros(2, 3), x.new_zeros((2, 3))."""
    return new_full(input, _lengths(size), 0, dtype)


def new_ones(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """1 in a shape, in the type of this tensor."""
    return new_full(input, _lengths(size), 1, dtype)


def new_empty(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """Unspecified elements in a shape, in the type of this tensor: 0."""
    return new_full(input, _lengths(size), 0, dtype)


def _lengths(given: Sequence[Sizes]) -> Sequence[builtins.int]:
    """The lengths of axes that are given one by one or as one sequence."""
    first = given[0] if given else ()
    return given if isinstance(first, builtins.int) else first  # type: ignore[return-value]


def new_tensor(input: Tensor, data: object, dtype: TypeLike | None = None) -> Tensor:
    """A tensor of data, in the type of this one. Raises what `asarray` raises."""
    return tensor_of(data, dtype or input.dtype)


def new(input: Tensor, *data: object, device: str | None = None) -> Tensor:
    """A tensor of lengths, x.new(2, 3), or of data, x.new([1, 2]), in the type of this one. Raises
    what `asarray` raises."""
    return creation.of_sizes_or_data(*data, device=device, dtype=input.dtype)


def clone(input: Tensor, *, memory_format: object = None) -> Tensor:
    """Another tensor of the same values, through which gradients pass."""
    return manipulation.reshape(input, input.shape)


def _data(input: Tensor) -> Tensor:
    """The same values, which no gradient passes. In-place methods of it change this tensor."""
    return input.detach()


def _set_data(input: Tensor, value: Tensor) -> None:
    input.become(value, True)


data = property(_data, _set_data)
