"""Shapes, types, reductions and the commonest functions as methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..dtype import DType, in_pytorch, is_dtype, tensor_type
from ..errors import DTypeError
from .base import Axes, Base, Made, Number, Truth, Whole, where_to


class Common(Base[Made]):
    """Methods that give other tensors; Made is what they give.

    Axes go by PyTorch's names `dim` and `keepdim`, or the array API's `axis` and `keepdims`. Unlike
    in PyTorch, indices are int32.
    """

    __slots__ = ()

    # ---- shapes --------------------------------------------------------------------------------

    @property
    def T(self) -> Made:
        """A matrix transposed; a vector is left as it is. ShapeError beyond two axes: see `mT`."""
        return self.t()

    def t(self) -> Made:
        """As `T`."""
        return self._reordered(self._torch("t"), *reversed(range(len(self._it.shape))))

    def view(self, *shape: Any) -> Made:
        """As `reshape`. With an element type of as many bytes, the same bits in it."""
        if len(shape) == 1 and is_dtype(shape[0]):
            return self._array("bitcast", shape[0])
        return cast("Made", self._it.reshape(*shape))

    def flatten(self, start_dim: Whole = 0, end_dim: Whole = -1) -> Made:
        """The axes from start_dim to end_dim, inclusive, as one."""
        return self._reshaped(self._torch("flatten", start_dim, end_dim))

    def permute(self, *dims: Whole | Sequence[Whole]) -> Made:
        """Axis i of the result is axis dims[i]."""
        count = len(self._it.shape)
        order = dims if len(dims) != 1 or isinstance(dims[0], int) else dims[0]
        moved = self._torch("permute", *dims)
        return self._reordered(moved, *(cast("Whole", dim) % count for dim in order))

    def transpose(self, dim0: Whole, dim1: Whole) -> Made:
        """Two axes exchanged."""
        moved, order = self._torch("transpose", dim0, dim1), list(range(len(self._it.shape)))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return self._reordered(moved, *order)

    def unsqueeze(self, dim: Whole) -> Made:
        """An axis of length 1 inserted at the position dim of the result."""
        return self._reshaped(self._array("expand_dims", dim))

    def squeeze(self, dim: Axes = None, *, axis: Axes = None) -> Made:
        """Axes of length 1 removed: all, or those among dim; others stay, as in PyTorch."""
        return self._reshaped(self._torch("squeeze", axis if dim is None else dim))

    def expand(self, *sizes: Whole | Sequence[Whole]) -> Made:
        """Broadcast to a shape; -1 keeps an axis as it is."""
        return self._torch("expand", *sizes)

    def expand_as(self, other: Any) -> Made:
        """Broadcast to the shape of another tensor."""
        return self._torch("expand", other.shape)

    def repeat(self, *repeats: Whole | Sequence[Whole]) -> Made:
        """The whole repeated, with a count per axis: `tallow.tile`, not `tallow.repeat`."""
        return self._torch("repeated", *repeats)

    def chunk(self, chunks: Whole, dim: Whole = 0) -> tuple[Made, ...]:
        """As many pieces along an axis, or fewer: the last is shorter if it does not divide."""
        return self._cut(self._pieces("chunk", chunks, dim), dim)

    def split(self, split_size: Whole | Sequence[Whole], dim: Whole = 0) -> tuple[Made, ...]:
        """Pieces along an axis: of one length, the last perhaps shorter, or of several lengths."""
        return self._cut(cast("Any", self._array("split", split_size, dim)), dim)

    def unbind(self, dim: Whole = 0) -> tuple[Made, ...]:
        """The slices along an axis."""
        count = len(self._pieces("unbind", dim))
        return tuple(cast("Made", self._elements("select", dim, at)) for at in range(count))

    def dim(self) -> Whole:
        """How many axes there are."""
        return len(self._it.shape)

    def numel(self) -> Whole:
        """How many elements there are."""
        return int(self._it.size)

    # ---- copies and types ----------------------------------------------------------------------

    def contiguous(self, memory_format: Any = None) -> Made:
        """The tensor itself: its elements have no other order than row-major."""
        return cast("Made", self)

    def cpu(self, memory_format: Any = None) -> Made:
        """The tensor itself: `numpy()` reads from every device."""
        return cast("Made", self)

    def to(self, *args: Any, **options: Any) -> Made:
        """The tensor on another device, in another element type, or as another tensor has it:
        to("webgpu"), to("float16"), to("numpy", "int32"), to(other), to(dtype="int32").

        It is the tensor itself if nothing changes. "cpu" is where it is: `numpy()` reads from every
        device. Blocks if it moves. non_blocking, copy and memory_format change nothing. Raises
        OptionError for what is neither a device nor a type.
        """
        device, dtype = where_to(args, options)
        moved = self._it if dtype is None else self._as(dtype)
        return cast("Made", moved if device is None else moved._on(device))  # type: ignore[union-attr]

    def type(self, dtype: Any = None) -> Any:
        """In another element type; without one, the name of its own, such as "float32" or
        PyTorch's "torch.FloatTensor"."""
        if dtype is not None:
            return self._as(dtype)
        own: DType = self._it.dtype
        return tensor_type(own) if in_pytorch() else own.name

    def clone(self, *, memory_format: Any = None) -> Made:
        """Another tensor of the same values, through which gradients pass."""
        return self._array("reshape", self._it.shape)

    @property
    def data(self) -> Made:
        """The same values, which no gradient passes. In-place methods of it change this tensor."""
        return cast("Made", self._it.detach())

    @data.setter
    def data(self, value: Any) -> None:
        self._it._put(value, True)

    def type_as(self, other: Any) -> Made:
        """The elements in the type of another tensor."""
        return self._as(other.dtype)

    def is_floating_point(self) -> Truth:
        """Whether the elements are floating numbers."""
        return bool(self._it.dtype.is_floating)

    def half(self) -> Made:
        """The elements as float16."""
        return self._as("float16")

    def double(self) -> Made:
        """The elements as float64."""
        return self._as("float64")

    def long(self) -> Made:
        """The elements as int64."""
        return self._as("int64")

    def float(self) -> Made:
        """The elements as float32."""
        return self._as("float32")

    def int(self) -> Made:
        """The elements as int32."""
        return self._as("int32")

    def bool(self) -> Made:
        """Whether the elements are not 0."""
        return self._as("bool")

    def _as(self, dtype: Any) -> Made:
        return cast("Made", self._it.astype(dtype))

    # ---- reductions ----------------------------------------------------------------------------

    def sum(
        self,
        axis: Axes = None,
        keepdims: Truth = False,
        *,
        dim: Axes = None,
        keepdim: Truth = False,
        dtype: Any = None,
    ) -> Made:
        """The sum; of booleans and integers of fewer bits than 32 in int32, of unsigned ones in
        uint32. dtype: what the elements are cast to first."""
        axes, keep = axis if dim is None else dim, keepdims or keepdim
        return self._array("sum", axis=axes, keepdims=keep, dtype=dtype)

    def mean(
        self,
        axis: Axes = None,
        keepdims: Truth = False,
        *,
        dim: Axes = None,
        keepdim: Truth = False,
        dtype: Any = None,
    ) -> Made:
        """The arithmetic mean, in the floating type of the elements or else float32. dtype: what
        the elements are cast to first."""
        axes, keep = axis if dim is None else dim, keepdims or keepdim
        given: Any = self if dtype is None else self._as(dtype)
        if in_pytorch() and not given.dtype.is_floating:
            raise DTypeError(f"mean: of {given.dtype.name}; give dtype=, a floating type")
        return given._array("mean", axis=axes, keepdims=keep)  # type: ignore[no-any-return]

    def var(
        self,
        dim: Axes = None,
        unbiased: Truth = True,
        keepdim: Truth = False,
        *,
        correction: Number | None = None,
        axis: Axes = None,
        keepdims: Truth = False,
    ) -> Made:
        """The squared distance from the mean, summed and divided by count - correction, which is 1
        as in PyTorch; `tallow.var` takes 0."""
        taken = unbiased if correction is None else correction
        axes, keep = axis if dim is None else dim, keepdims or keepdim
        return self._array("var", axes, float(taken), keep)

    def std(
        self,
        dim: Axes = None,
        unbiased: Truth = True,
        keepdim: Truth = False,
        *,
        correction: Number | None = None,
        axis: Axes = None,
        keepdims: Truth = False,
    ) -> Made:
        """The square root of `var`."""
        taken = unbiased if correction is None else correction
        axes, keep = axis if dim is None else dim, keepdims or keepdim
        return self._array("std", axes, float(taken), keep)

    def max(
        self, dim: Any = None, keepdim: Truth = False, *, axis: Axes = None, keepdims: Truth = False
    ) -> Any:
        """The largest element; with axis, the array API's name, those along axes. With dim, a
        number, (values, indices) along that axis: the first of equal ones, which takes the whole
        gradient. With another tensor in its place, the larger of two elements."""
        return self._torch("max", dim, keepdim, axis, keepdims)

    def min(
        self, dim: Any = None, keepdim: Truth = False, *, axis: Axes = None, keepdims: Truth = False
    ) -> Any:
        """The smallest element, as `max` the largest."""
        return self._torch("min", dim, keepdim, axis, keepdims)

    def argmax(
        self,
        dim: Whole | None = None,
        keepdim: Truth = False,
        *,
        axis: Whole | None = None,
        keepdims: Truth = False,
    ) -> Made:
        """The int32 index of the first largest element; without dim, in the flattened tensor."""
        at, keep = axis if dim is None else dim, keepdims or keepdim
        return self._array("argmax", at, keep)

    def argmin(
        self,
        dim: Whole | None = None,
        keepdim: Truth = False,
        *,
        axis: Whole | None = None,
        keepdims: Truth = False,
    ) -> Made:
        """The int32 index of the first smallest element; without dim, in the flattened tensor."""
        at, keep = axis if dim is None else dim, keepdims or keepdim
        return self._array("argmin", at, keep)

    # ---- elementwise ---------------------------------------------------------------------------

    def exp(self) -> Made:
        """e to the power of each element."""
        return self._array("exp")

    def log(self) -> Made:
        """The natural logarithms."""
        return self._array("log")

    def sqrt(self) -> Made:
        """The square roots."""
        return self._array("sqrt")

    def abs(self) -> Made:
        """The absolute values."""
        return self._array("abs")

    def pow(self, exponent: Any) -> Made:
        """Each element to a power."""
        return self._array("pow", exponent)

    def clamp(self, min: Any = None, max: Any = None) -> Made:
        """The elements clamped to min and max, numbers or tensors; either may be None."""
        return self._torch("clamp", min, max)

    def relu(self) -> Made:
        """max(x, 0)."""
        return self._network("relu")

    def sigmoid(self) -> Made:
        """1 / (1 + exp(-x))."""
        return self._network("sigmoid")

    def tanh(self) -> Made:
        """The hyperbolic tangent."""
        return self._array("tanh")

    def softmax(self, dim: Whole = -1, dtype: Any = None) -> Made:
        """exp(x) / sum(exp(x)) along an axis."""
        given: Any = self if dtype is None else self._as(dtype)
        return given._network("softmax", dim)  # type: ignore[no-any-return]

    def log_softmax(self, dim: Whole = -1, dtype: Any = None) -> Made:
        """log(softmax(x)) along an axis."""
        given: Any = self if dtype is None else self._as(dtype)
        return given._network("log_softmax", dim)  # type: ignore[no-any-return]

    def eq(self, other: Any) -> Made:
        """Where the elements are equal."""
        return self._array("equal", other)

    def ne(self, other: Any) -> Made:
        """Where the elements differ."""
        return self._array("not_equal", other)

    def lt(self, other: Any) -> Made:
        """Where the elements are less."""
        return self._array("less", other)

    def le(self, other: Any) -> Made:
        """Where the elements are less or equal."""
        return self._array("less_equal", other)

    def gt(self, other: Any) -> Made:
        """Where the elements are greater."""
        return self._array("greater", other)

    def ge(self, other: Any) -> Made:
        """Where the elements are greater or equal."""
        return self._array("greater_equal", other)

    # ---- products and choices ------------------------------------------------------------------

    def matmul(self, other: Any) -> Made:
        """The matrix product over the last two axes; the others broadcast."""
        return self._array("matmul", other)

    def mm(self, mat2: Any) -> Made:
        """The product of two matrices."""
        return self._torch("mm", mat2)

    def bmm(self, mat2: Any) -> Made:
        """The products of two batches of as many matrices."""
        return self._torch("bmm", mat2)

    def masked_fill(self, mask: Any, value: Any) -> Made:
        """A number where the mask is true, else the element."""
        return self._torch("masked_fill", mask, value)

    def gather(self, dim: Whole, index: Any) -> Made:
        """One element per index along an axis, as `tallow.take_along_axis`."""
        return self._torch("gather", dim, index)
