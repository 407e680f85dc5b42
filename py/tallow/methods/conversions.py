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

    Blocks if it moves. "cpu" is where the tensor is: `numpy()` reads from every device.

    input: any tensor.
    args: up to four: a device, an element type, or a tensor that has both. Booleans, non_blocking
      and copy in PyTorch, change nothing.
    options: device and dtype by name; non_blocking, copy and memory_format change nothing.
    Returns: the tensor itself if nothing changes, else another one.
    Raises: OptionError for what is neither a device, an element type nor a tensor;
      DeviceUnavailableError for a device that is not there.
    Source: PyTorch, `torch.Tensor.to`.
    """
    device, dtype = where_to(args, options)
    moved = input if dtype is None else input.astype(dtype)
    return moved if device is None else moved.on_device(device)


def cpu(input: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself: `numpy()` reads from every device.

    input: any tensor.
    memory_format: changes nothing.
    Returns: input.
    """
    return input


def cuda(
    input: Tensor, device: builtins.int | str | None = None, non_blocking: builtins.bool = False
) -> Tensor:
    """The tensor itself: it is on the best device of this machine already. A warning says so once.

    input: any tensor.
    device: the index or the name of a device, such as 0 or "cuda:0".
    non_blocking: changes nothing.
    Returns: input.
    Raises: DeviceUnavailableError for the index of a device that is not there.
    """
    resolved(f"cuda:{device}" if isinstance(device, builtins.int) else str(device or "cuda"))
    return input


def contiguous(input: Tensor, memory_format: object = None) -> Tensor:
    """The tensor itself: its elements have no other order than row-major.

    input: any tensor.
    memory_format: changes nothing.
    Returns: input.
    """
    return input


def type(input: Tensor, dtype: TypeLike | None = None) -> Any:
    """The tensor in another element type, or the name of its own.

    input: any tensor.
    dtype: the type to convert to; None asks for the name.
    Returns: the tensor in that type; or a text such as "float32", or "torch.FloatTensor" where
      `tallow.torch` was imported.
    Raises: DTypeError for a name that no type has.
    Source: PyTorch, `torch.Tensor.type`.
    """
    if dtype is not None:
        return input.astype(dtype)
    return tensor_type(input.dtype) if in_pytorch() else input.dtype.name


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the type of another tensor.

    input: any tensor.
    other: the tensor that has the type.
    Returns: the tensor in that type.
    """
    return input.astype(other.dtype)


def half(input: Tensor) -> Tensor:
    """The elements as float16.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("float16")


def bfloat16(input: Tensor) -> Tensor:
    """The elements as bfloat16, in which no device keeps or computes anything.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("bfloat16")


def double(input: Tensor) -> Tensor:
    """The elements as float64.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("float64")


def float(input: Tensor) -> Tensor:
    """The elements as float32.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("float32")


def long(input: Tensor) -> Tensor:
    """The elements as int64.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("int64")


def int(input: Tensor) -> Tensor:
    """The elements as int32.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("int32")


def short(input: Tensor) -> Tensor:
    """The elements as int16.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("int16")


def char(input: Tensor) -> Tensor:
    """The elements as int8.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("int8")


def byte(input: Tensor) -> Tensor:
    """The elements as uint8.

    input: any tensor.
    Returns: the tensor in that type.
    """
    return input.astype("uint8")


def bool(input: Tensor) -> Tensor:
    """Whether the elements are not 0.

    input: any tensor.
    Returns: booleans, in the shape of input.
    """
    return input.astype("bool")


def to_dense(input: Tensor, dtype: TypeLike | None = None) -> Tensor:
    """The tensor itself, or in another type: every element is stored.

    input: any tensor.
    dtype: the type to convert to; None leaves it.
    Returns: the tensor in that type.
    """
    return input if dtype is None else input.astype(dtype)


# ---- others like it --------------------------------------------------------------------------


Sizes = builtins.int | Sequence[builtins.int]


def new_full(
    input: Tensor, size: Sequence[builtins.int], fill_value: Scalar, dtype: TypeLike | None = None
) -> Tensor:
    """A number in a shape, in the type of this tensor.

    input: the tensor that has the type.
    size: the shape.
    fill_value: the number.
    dtype: another type than that of input.
    Returns: a tensor of that shape.
    Source: PyTorch, `torch.Tensor.new_full`.
    """
    return creation.full(tuple(size), fill_value, dtype or input.dtype)


def new_zeros(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """0 in a shape, in the type of this tensor: x.new_zeros(2, 3), x.new_zeros((2, 3)).

    input: the tensor that has the type.
    size: the lengths of the axes, one by one or as one sequence.
    dtype: another type than that of input.
    Returns: a tensor of that shape.
    Source: PyTorch, `torch.Tensor.new_zeros`.
    """
    return new_full(input, _lengths(size), 0, dtype)


def new_ones(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """1 in a shape, in the type of this tensor: x.new_ones(2, 3), x.new_ones((2, 3)).

    input: the tensor that has the type.
    size: the lengths of the axes, one by one or as one sequence.
    dtype: another type than that of input.
    Returns: a tensor of that shape.
    Source: PyTorch, `torch.Tensor.new_ones`.
    """
    return new_full(input, _lengths(size), 1, dtype)


def new_empty(input: Tensor, *size: Sizes, dtype: TypeLike | None = None) -> Tensor:
    """Unspecified elements in a shape, in the type of this tensor: zeros.

    input: the tensor that has the type.
    size: the lengths of the axes, one by one or as one sequence.
    dtype: another type than that of input.
    Returns: a tensor of that shape.
    Source: PyTorch, `torch.Tensor.new_empty`.
    """
    return new_full(input, _lengths(size), 0, dtype)


def _lengths(given: Sequence[Sizes]) -> Sequence[builtins.int]:
    """The lengths of axes that are given one by one or as one sequence."""
    first = given[0] if given else ()
    return given if isinstance(first, builtins.int) else first  # type: ignore[return-value]


def new_tensor(input: Tensor, data: object, dtype: TypeLike | None = None) -> Tensor:
    """A tensor of data, in the type of this one.

    input: the tensor that has the type.
    data: a number, nested lists, or an array, which is copied.
    dtype: another type than that of input.
    Returns: a tensor of the data.
    Raises: ShapeError and DTypeError, as `asarray`.
    Source: PyTorch, `torch.Tensor.new_tensor`.
    """
    return tensor_of(data, dtype or input.dtype)


def new(input: Tensor, *data: object, device: str | None = None) -> Tensor:
    """A tensor of lengths, x.new(2, 3), or of data, x.new([1, 2]), in the type of this one.

    input: the tensor that has the type.
    data: the lengths of the axes, or one argument: nested lists, an array or a tensor.
    device: where it is stored; None leaves that open.
    Returns: zeros of that shape, or a tensor of the data.
    Raises: ShapeError and DTypeError, as `asarray`.
    Source: PyTorch, `torch.Tensor.new`.
    """
    return creation.of_sizes_or_data(*data, device=device, dtype=input.dtype)


def clone(input: Tensor, *, memory_format: object = None) -> Tensor:
    """Another tensor of the same values, through which gradients pass.

    input: any tensor.
    memory_format: changes nothing.
    Returns: a tensor of its own: changes in place leave input as it is.
    Source: PyTorch, `torch.clone`.
    """
    return manipulation.reshape(input, input.shape)


def _data(input: Tensor) -> Tensor:
    """The same values, which no gradient passes. In-place methods of it change this tensor."""
    return input.detach()


def _set_data(input: Tensor, value: Tensor) -> None:
    input.become(value, True)


data = property(_data, _set_data)
