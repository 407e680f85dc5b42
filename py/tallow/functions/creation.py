"""Creation functions. Nothing is stored: a filled tensor is a broadcast number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtype as dt
from ..core.dtype import DType, as_dtype
from ..core.hostarray import from_values
from ..core.shape import Size, check_shape
from ..errors import DTypeError, OptionError, ShapeError
from ..graph import constant, make
from ..ops import source
from ..ops.numpy_kernels import numpy_module
from ..tensor import Scalar, Tensor, asarray
from .elementwise import dtype_cast, expand_node

TypeLike = DType | str | None


def placed(made: Tensor, device: str | None, requires_grad: bool = False) -> Tensor:
    """The same tensor on a device, and as one that `backward` gives a gradient."""
    made = made if device is None else made.to(device)
    return made.requires_grad_() if requires_grad else made


def full(
    shape: int | Sequence[int],
    fill_value: Scalar,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has `fill_value` everywhere.

    shape: a length, or the lengths of the axes.
    fill_value: a number or a boolean.
    dtype: the element type; None follows the value: bool, or the default integer or floating type,
      int32 and float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating; DeviceUnavailableError for a device that is not there.
    Source: Python array API standard 2024.12, `full`.
    """
    dims = check_shape([shape] if isinstance(shape, int) else shape, "full")
    if dtype is None:
        wanted = dt.default_floating() if type(fill_value) is float else asarray(fill_value).dtype
    else:
        wanted = as_dtype(dtype)
    value = from_values([dtype_cast(fill_value, wanted)], (1,) * len(dims), wanted)
    return placed(Tensor(expand_node(constant(value), dims)), device, requires_grad)


def from_dlpack(x: Any, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """Makes a tensor of the elements of another library's array in the processor's memory.

    x: an array with the methods `__dlpack__` and `__dlpack_device__`, of NumPy, PyTorch, JAX and
      others.
    device: the name of the tensor's device; None is the default one.
    copy: None and True copy where the device needs it, as always here.
    Returns: the tensor, in the shape and the type of x.
    Raises: OptionError for copy=False, since tensors share no memory; NumPy's errors for an array
      on a GPU or of a type that NumPy doesn't have.
    Source: Python array API standard 2024.12, `from_dlpack`.
    """
    if copy is False:
        raise OptionError("from_dlpack: tensors share no memory, so that copy=False is impossible")
    return placed(asarray(numpy_module().from_dlpack(x).copy()), device)


def _filled(
    value: int,
    dims: tuple[Any, ...],
    shape: int | Sequence[int] | None,
    size: int | Sequence[int] | None,
    dtype: TypeLike,
    **options: Any,
) -> Tensor:
    """A shape in one of the forms that `zeros` takes."""
    named = size if shape is None else shape
    if named is not None:
        dims = (named, *dims)
    first, *rest = dims or ((),)
    if rest and (isinstance(first, int) and all(isinstance(each, int) for each in rest)):
        first, rest = dims, []
    if len(rest) > 1:
        raise ShapeError(f"{dims} is not a shape")
    wanted = rest[0] if rest else dtype
    return full(first, value, dt.default_floating() if wanted is None else wanted, **options)


def zeros(
    *dims: int | Sequence[int] | TypeLike,
    shape: int | Sequence[int] | None = None,
    size: int | Sequence[int] | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has 0 everywhere: zeros((2, 3)), zeros(2, 3), zeros((2, 3), "int32").

    *dims: the shape, as one sequence or as numbers; after a sequence, the element type may follow.
    shape: the shape, instead of dims.
    size: PyTorch's name of shape.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating.
    Source: Python array API standard 2024.12, `zeros`.
    """
    return _filled(0, dims, shape, size, dtype, device=device, requires_grad=requires_grad)


def ones(
    *dims: int | Sequence[int] | TypeLike,
    shape: int | Sequence[int] | None = None,
    size: int | Sequence[int] | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has 1 everywhere: ones((2, 3)), ones(2, 3), ones((2, 3), "int32").

    *dims: the shape, as one sequence or as numbers; after a sequence, the element type may follow.
    shape: the shape, instead of dims.
    size: PyTorch's name of shape.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating.
    Source: Python array API standard 2024.12, `ones`.
    """
    return _filled(1, dims, shape, size, dtype, device=device, requires_grad=requires_grad)


def empty(
    *dims: int | Sequence[int] | TypeLike,
    shape: int | Sequence[int] | None = None,
    size: int | Sequence[int] | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor whose elements are unspecified: they are 0.

    *dims: the shape, as one sequence or as numbers; after a sequence, the element type may follow.
    shape: the shape, instead of dims.
    size: PyTorch's name of shape.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating.
    Source: Python array API standard 2024.12, `empty`.
    """
    return _filled(0, dims, shape, size, dtype, device=device, requires_grad=requires_grad)


def full_like(
    x: Tensor,
    fill_value: Scalar,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has `fill_value` everywhere, in the shape of x.

    x: a tensor, of which only the shape and the type count.
    fill_value: a number or a boolean.
    dtype: the element type; None is that of x.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: GradientError for requires_grad if the type isn't floating.
    Source: Python array API standard 2024.12, `full_like`.
    """
    return full(x.shape, fill_value, dtype or x.dtype, device=device, requires_grad=requires_grad)


def zeros_like(
    x: Tensor,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has 0 everywhere, in the shape of x.

    x: a tensor, of which only the shape and the type count.
    dtype: the element type; None is that of x.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: GradientError for requires_grad if the type isn't floating.
    Source: Python array API standard 2024.12, `zeros_like`.
    """
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


def ones_like(
    x: Tensor,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor that has 1 everywhere, in the shape of x.

    x: a tensor, of which only the shape and the type count.
    dtype: the element type; None is that of x.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: GradientError for requires_grad if the type isn't floating.
    Source: Python array API standard 2024.12, `ones_like`.
    """
    return full_like(x, 1, dtype, device=device, requires_grad=requires_grad)


def _iota(shape: tuple[int, ...], axis: int) -> Tensor:
    return Tensor(make(source.iota, shape=shape, dtype=dt.int32, axis=axis))


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Counts from start up to but excluding stop: start, start + step, ...

    start: the first number; if it is the only one, it is the stop, and the first number is 0.
    stop: the end, which is excluded.
    step: the distance of neighbours, positive or negative.
    dtype: the element type; None is the default integer type if all three are integers, else the
      default floating type.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the numbers, a vector.
    Raises: ShapeError for a step of 0.
    Source: Python array API standard 2024.12, `arange`.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ShapeError("arange: the step must not be 0")
    count = max(0, math.ceil((stop - start) / step))
    whole = all(isinstance(value, int) for value in (start, stop, step))
    wanted = (
        as_dtype(dtype)
        if dtype is not None
        else dt.default_integer()
        if whole
        else dt.default_floating()
    )
    line = _iota((count,), 0)
    if not whole:
        line = line.astype(dt.float32)
    if step != 1:
        line = line * step
    if start != 0:
        line = line + start
    return placed(line.astype(wanted), device)


def linspace(
    start: float,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool = True,
    *,
    end: float | None = None,
    steps: int | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
) -> Tensor:
    """Makes evenly spaced numbers from start to stop.

    start: the first number.
    stop: the last number.
    num: how many numbers there are.
    endpoint: whether the last one is stop; without it, stop is the one that would follow.
    end, steps: PyTorch's names of stop and num.
    dtype: the element type; None is the default floating type, float32. Integers are cut towards
      zero.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the numbers, a vector (num,).
    Raises: OptionError without stop or num; ShapeError for a negative num.
    Source: Python array API standard 2024.12, `linspace`.
    """
    stop, num = end if stop is None else stop, steps if num is None else num
    if stop is None or num is None:
        raise OptionError("linspace: give the last number, and how many there are")
    (count,) = check_shape([num], "linspace")
    wanted = dt.default_floating() if dtype is None else as_dtype(dtype)
    steps = count - 1 if endpoint else count
    if wanted.is_integer or wanted == dt.float64:  # exact, where float32 would round
        numbers = _exact_line(start, stop, count, steps, wanted)
        return placed(asarray(from_values(numbers, (count,), wanted)), device)
    step = (stop - start) / steps if steps > 0 else 0.0
    line = _iota((count,), 0).astype(dt.float32)
    return placed((line * step + start).astype(wanted), device)


def _exact_line(start: float, stop: float, count: int, steps: int, dtype: DType) -> list[Scalar]:
    """The numbers of linspace: of whole ends exactly, of others in float64."""
    parts = max(steps, 1)
    if dtype.is_integer and isinstance(start, int) and isinstance(stop, int):
        tops = [start * parts + (stop - start) * index for index in range(count)]
        return [-(-top // parts) if top < 0 else top // parts for top in tops]
    numbers = [start + (stop - start) * (index / parts) for index in range(count)]
    return [int(number) for number in numbers] if dtype.is_integer else numbers


def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: TypeLike = None,
    *,
    device: str | None = None,
) -> Tensor:
    """Makes a matrix that has 1 on its k-th diagonal and 0 elsewhere.

    n: how many rows it has.
    m: how many columns it has; None is n.
    k: which diagonal: 0 is the main one, positive ones are above it.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the matrix (n, m).
    Raises: ShapeError for a negative number of rows or columns.
    Source: Python array API standard 2024.12, `eye`.
    """
    shape = check_shape([n, n if m is None else m], "eye")
    ones_there = _iota(shape, 1) == _iota(shape, 0) + k
    return placed(ones_there.astype(as_dtype(dtype or dt.default_floating())), device)


def _triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(f"tril and triu need at least two axes, but the shape is {x.shape}")
    shape = x.shape[-2:]
    column, row = _iota(shape, 1), _iota(shape, 0) + k
    mask = column <= row if lower else column >= row
    from .elementwise import broadcast

    nodes = broadcast("triangle", [x, asarray(0).astype(x.dtype)])
    expanded = expand_node(mask.node, x.shape)
    from ..ops.elementwise import where

    return Tensor(make(where, expanded, *nodes))


def tril(x: Tensor, k: int = 0, *, diagonal: int | None = None) -> Tensor:
    """Keeps the elements on and below the k-th diagonal of the last two axes; those above become 0.

    x: matrices (..., m, n).
    k: which diagonal: 0 is the main one, positive ones are above it.
    diagonal: PyTorch's name of k.
    Returns: the lower triangles, of the shape and the type of x.
    Raises: ShapeError for fewer than two axes.
    Source: Python array API standard 2024.12, `tril`.
    """
    return _triangle(x, k if diagonal is None else diagonal, True)


def triu(x: Tensor, k: int = 0, *, diagonal: int | None = None) -> Tensor:
    """Keeps the elements on and above the k-th diagonal of the last two axes; those below become 0.

    x: matrices (..., m, n).
    k: which diagonal: 0 is the main one, positive ones are above it.
    diagonal: PyTorch's name of k.
    Returns: the upper triangles, of the shape and the type of x.
    Raises: ShapeError for fewer than two axes.
    Source: Python array API standard 2024.12, `triu`.
    """
    return _triangle(x, k if diagonal is None else diagonal, False)


def of_sizes_or_data(*given: Any, device: str | None = None, dtype: DType | None = None) -> Tensor:
    """Makes what PyTorch's `torch.Tensor` makes: a tensor of a shape, or of data.

    given: lengths, or a `torch.Size`: a tensor of that shape, whose elements are unspecified:
      zeros; or nested lists, an array or a tensor: those elements. Nothing, or None: an empty
      vector.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    dtype: the element type; None is the default floating type.
    Returns: the tensor, which receives no gradient.
    Raises: what `asarray` raises.
    Source: PyTorch's documentation, `torch.Tensor`.
    """
    kind = dt.default_floating() if dtype is None else dtype
    if not given or given[0] is None:
        return full((0,), 0.0, kind)
    if all(hasattr(each, "__index__") and not hasattr(each, "shape") for each in given):
        return placed(full(given, 0.0, kind), device)
    (data,) = given
    if type(data) is Size:
        return placed(full(data, 0.0, kind), device)
    return placed(asarray(data).astype(kind).detach(), device)


def tensor(
    data: Any,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Makes a tensor of a number, nested lists or an array, which is copied.

    data: the elements. Python's integers become int32, its floating numbers float32.
    dtype: the element type; None is that of the data.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    Returns: the tensor.
    Raises: what `asarray` raises: ShapeError for ragged lists, DTypeError for what is not numeric;
      GradientError for requires_grad if the type isn't floating.
    Source: PyTorch's documentation, `torch.tensor`.
    """
    if hasattr(data, "__array__") and not isinstance(data, Tensor):
        data = data.__array__().copy()
    made = asarray(data, dtype)
    if isinstance(data, Tensor) or made.node.size == 1:  # a number that is no part of an op
        made = made.detach()
    made = made if device is None else made.to(device)
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: Any) -> Tensor:
    """Makes a tensor of an array, which is not copied: do not change it afterwards.

    ndarray: a NumPy array, or what has `__array__`.
    Returns: the tensor, of the shape and the type of the array.
    Raises: DTypeError for what is not an array.
    Source: PyTorch's documentation, `torch.from_numpy`.
    """
    if not hasattr(ndarray, "__array__"):
        raise DTypeError(f"from_numpy: {type(ndarray).__name__} is not a NumPy array")
    return asarray(ndarray)


def is_tensor(obj: object) -> bool:
    """Tells whether an object is a tensor.

    obj: any object.
    Returns: True or False.
    Source: PyTorch's documentation, `torch.is_tensor`.
    """
    return isinstance(obj, Tensor)
