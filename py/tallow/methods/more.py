"""Arithmetic, selections, orders and facts as methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from .base import Axes, Base, Made, Number, Truth, Whole, function


class More(Base[Made]):
    """Methods that give other tensors, or facts about one."""

    __slots__ = ()

    # ---- arithmetic ----------------------------------------------------------------------------

    def add(self, other: Any, *, alpha: Number = 1) -> Made:
        """self + alpha * other."""
        return cast("Made", self._elements("add", other, alpha=alpha))

    def sub(self, other: Any, *, alpha: Number = 1) -> Made:
        """self - alpha * other."""
        return cast("Made", self._elements("sub", other, alpha=alpha))

    def mul(self, other: Any) -> Made:
        """self * other."""
        return self._array("multiply", other)

    def div(self, other: Any, *, rounding_mode: str | None = None) -> Made:
        """self / other; rounding_mode: None, "floor" or "trunc"."""
        return cast("Made", self._elements("div", other, rounding_mode=rounding_mode))

    def neg(self) -> Made:
        """The negated elements."""
        return self._array("negative")

    def square(self) -> Made:
        """The squares."""
        return self._array("square")

    def rsqrt(self) -> Made:
        """1 / sqrt(x)."""
        return cast("Made", self._elements("rsqrt"))

    def reciprocal(self) -> Made:
        """1 / x."""
        return self._array("reciprocal")

    def log2(self) -> Made:
        """The logarithms to the base of 2."""
        return cast("Made", self._elements("log2"))

    def log10(self) -> Made:
        """The logarithms to the base of 10."""
        return cast("Made", self._elements("log10"))

    def log1p(self) -> Made:
        """log(1 + x)."""
        return self._array("log1p")

    def expm1(self) -> Made:
        """exp(x) - 1."""
        return self._array("expm1")

    def sin(self) -> Made:
        """The sines."""
        return self._array("sin")

    def cos(self) -> Made:
        """The cosines."""
        return self._array("cos")

    def tan(self) -> Made:
        """The tangents."""
        return self._array("tan")

    def atan(self) -> Made:
        """The arc tangents."""
        return self._array("atan")

    def erf(self) -> Made:
        """The error function."""
        return self._array("erf")

    def sign(self) -> Made:
        """-1, 0 or 1."""
        return self._array("sign")

    def floor(self) -> Made:
        """Rounded down."""
        return self._array("floor")

    def ceil(self) -> Made:
        """Rounded up."""
        return self._array("ceil")

    def trunc(self) -> Made:
        """Rounded towards 0."""
        return self._array("trunc")

    def round(self, *, decimals: Whole = 0) -> Made:
        """Rounded to whole numbers, or to so many decimal places, halves to even ones."""
        return self._array("round", decimals=decimals)

    def maximum(self, other: Any) -> Made:
        """The greater of two elements."""
        return self._array("maximum", other)

    def minimum(self, other: Any) -> Made:
        """The lesser of two elements."""
        return self._array("minimum", other)

    def clip(self, min: Any = None, max: Any = None) -> Made:
        """As `clamp`."""
        return self._torch("clamp", min, max)

    def clamp_min(self, min: Any) -> Made:
        """At least min."""
        return self._torch("clamp", min, None)

    def clamp_max(self, max: Any) -> Made:
        """At most max."""
        return self._torch("clamp", None, max)

    def lerp(self, end: Any, weight: Any) -> Made:
        """self + weight * (end - self)."""
        return cast("Made", self._elements("lerp", end, weight))

    def addcmul(self, tensor1: Any, tensor2: Any, *, value: Number = 1) -> Made:
        """self + value * tensor1 * tensor2."""
        return cast("Made", self._elements("addcmul", tensor1, tensor2, value=value))

    def addcdiv(self, tensor1: Any, tensor2: Any, *, value: Number = 1) -> Made:
        """self + value * tensor1 / tensor2."""
        return cast("Made", self._elements("addcdiv", tensor1, tensor2, value=value))

    def addmm(self, mat1: Any, mat2: Any, *, beta: Number = 1, alpha: Number = 1) -> Made:
        """beta * self + alpha * (mat1 @ mat2)."""
        return cast("Made", self._elements("addmm", mat1, mat2, beta=beta, alpha=alpha))

    def mv(self, vec: Any) -> Made:
        """A matrix times a vector."""
        return cast("Made", self._elements("mv", vec))

    def dot(self, tensor: Any) -> Made:
        """The inner product of two vectors."""
        return cast("Made", self._elements("dot", tensor))

    def outer(self, vec2: Any) -> Made:
        """The outer product of two vectors."""
        return cast("Made", self._elements("outer", vec2))

    # ---- truth ---------------------------------------------------------------------------------

    def isnan(self) -> Made:
        """Where elements are not numbers."""
        return self._array("isnan")

    def isinf(self) -> Made:
        """Where elements are infinite."""
        return self._array("isinf")

    def isfinite(self) -> Made:
        """Where elements are finite."""
        return cast("Made", self._elements("isfinite"))

    def logical_not(self) -> Made:
        """Where elements are 0 or False."""
        return self._array("logical_not") if self._it.dtype.kind == "b" else self._it == 0

    def logical_and(self, other: Any) -> Made:
        """Where both are not 0."""
        return cast("Made", self._it.bool() & other.bool())

    def logical_or(self, other: Any) -> Made:
        """Where one is not 0."""
        return cast("Made", self._it.bool() | other.bool())

    def where(self, condition: Any, other: Any) -> Made:
        """The element where the condition is true, else that of other."""
        return cast("Made", function("functions", "where")(condition, self, other))

    def equal(self, other: Any) -> Truth:
        """Whether shape and all elements are equal; reads them."""
        same = self._it.shape == other.shape
        return same and Truth(self._array("equal", other).all())  # type: ignore[attr-defined]

    def allclose(
        self, other: Any, rtol: Number = 1e-05, atol: Number = 1e-08, equal_nan: Truth = False
    ) -> Truth:
        """Whether all elements are close; reads them."""
        return Truth(self._elements("allclose", other, rtol, atol, equal_nan))

    def isclose(
        self, other: Any, rtol: Number = 1e-05, atol: Number = 1e-08, equal_nan: Truth = False
    ) -> Made:
        """Where elements are close."""
        return cast("Made", self._elements("isclose", other, rtol, atol, equal_nan))

    def all(self, dim: Axes = None, keepdim: Truth = False) -> Made:
        """Whether all elements along axes are true."""
        return self._array("all", axis=dim, keepdims=keepdim)

    def any(self, dim: Axes = None, keepdim: Truth = False) -> Made:
        """Whether any element along axes is true."""
        return self._array("any", axis=dim, keepdims=keepdim)

    # ---- reductions and orders -----------------------------------------------------------------

    def prod(self, dim: Axes = None, keepdim: Truth = False, *, dtype: Any = None) -> Made:
        """The product along axes, in the types of `sum`."""
        return self._array("prod", axis=dim, keepdims=keepdim, dtype=dtype)

    def amax(self, dim: Axes = None, keepdim: Truth = False) -> Made:
        """The largest element along axes."""
        return self._array("max", axis=dim, keepdims=keepdim)

    def amin(self, dim: Axes = None, keepdim: Truth = False) -> Made:
        """The smallest element along axes."""
        return self._array("min", axis=dim, keepdims=keepdim)

    def norm(self, p: Any = "fro", dim: Axes = None, keepdim: Truth = False) -> Made:
        """The p-norm along axes."""
        return cast("Made", self._elements("norm", p, dim, keepdim))

    def logsumexp(self, dim: Axes, keepdim: Truth = False) -> Made:
        """log(sum(exp(x))) along axes."""
        return cast("Made", self._elements("logsumexp", dim, keepdim))

    def cumsum(self, dim: Whole, *, dtype: Any = None) -> Made:
        """The running sums along an axis, in the types of `sum`."""
        return self._array("cumulative_sum", dim, dtype)

    def cumprod(self, dim: Whole, *, dtype: Any = None) -> Made:
        """The running products along an axis, in the types of `sum`."""
        return self._array("cumulative_prod", dim, dtype)

    def sort(self, dim: Whole = -1, descending: Truth = False) -> Any:
        """(values, indices): the elements in order along an axis, and their places."""
        return self._array("sort", descending=descending, dim=dim)

    def argsort(self, dim: Whole = -1, descending: Truth = False) -> Made:
        """The int32 indices that sort the elements along an axis."""
        return self._array("argsort", dim, descending)

    def topk(self, k: Whole, dim: Whole = -1, largest: Truth = True, sorted: Truth = True) -> Any:
        """(values, indices): the k largest or smallest elements along an axis, in order."""
        return self._elements("topk", k, dim, largest, sorted)

    # ---- selections ----------------------------------------------------------------------------

    def narrow(self, dim: Whole, start: Whole, length: Whole) -> Made:
        """`length` slices along an axis from `start` on."""
        return cast("Made", self._elements("narrow", dim, start, length))

    def select(self, dim: Whole, index: Whole) -> Made:
        """One slice along an axis, without that axis."""
        return cast("Made", self._elements("select", dim, index))

    def index_select(self, dim: Whole, index: Any) -> Made:
        """The slices along an axis at the indices of a vector."""
        return cast("Made", self._elements("index_select", dim, index))

    def scatter(self, dim: Whole, index: Any, src: Any, *, reduce: str = "none") -> Made:
        """Elements of src, or a number, written at indices along an axis; reduce: "none", or "add"
        or "multiply" with what is there."""
        return cast("Made", self._elements("scatter_along", dim, index, src, reduce))

    def scatter_add(self, dim: Whole, index: Any, src: Any) -> Made:
        """Elements of src added at indices along an axis."""
        return cast("Made", self._elements("scatter_add", dim, index, src))

    def index_add(self, dim: Whole, index: Any, source: Any, *, alpha: Number = 1) -> Made:
        """Slices of source, times alpha, added at the indices of a vector."""
        return cast("Made", self._elements("index_add", dim, index, source, alpha=alpha))

    def flip(self, *dims: Whole | Sequence[Whole]) -> Made:
        """The order along axes reversed."""
        return self._array("flip", dims if isinstance(dims[0], int) else dims[0])

    def roll(self, shifts: Whole | Sequence[Whole], dims: Axes = None) -> Made:
        """The elements shifted along axes, round the end."""
        return cast("Made", self._elements("roll", shifts, dims))

    def tril(self, diagonal: Whole = 0) -> Made:
        """The lower triangle of matrices; 0 above."""
        return self._array("tril", k=diagonal)

    def triu(self, diagonal: Whole = 0) -> Made:
        """The upper triangle of matrices; 0 below."""
        return self._array("triu", k=diagonal)

    def diag(self, diagonal: Whole = 0) -> Made:
        """The diagonal of a matrix, or the matrix with a vector as its diagonal."""
        return cast("Made", self._elements("diag", diagonal))

    def diagonal(self, offset: Whole = 0, dim1: Whole = 0, dim2: Whole = 1) -> Made:
        """The elements on a diagonal of two axes, as the last axis."""
        return cast("Made", self._elements("diagonal", offset, dim1, dim2))

    def repeat_interleave(self, repeats: Any, dim: Whole | None = None) -> Made:
        """Each element repeated, along an axis or of the flattened tensor."""
        return self._array("repeat", repeats, dim)

    def movedim(self, source: Whole, destination: Whole) -> Made:
        """An axis moved to another position."""
        count = len(self._it.shape)
        order = [axis for axis in range(count) if axis != source % count]
        order.insert(destination % count, source % count)
        return self._reordered(self._array("moveaxis", source, destination), *order)

    def swapaxes(self, axis0: Whole, axis1: Whole) -> Made:
        """Two axes exchanged."""
        return cast("Made", self._it.transpose(axis0, axis1))

    def unflatten(self, dim: Whole, sizes: Sequence[Whole]) -> Made:
        """An axis split into several; one of the sizes may be -1."""
        shape = self._it.shape
        at = dim % len(shape)
        known = 1
        for size in sizes:
            known *= size if size != -1 else 1
        whole = [shape[at] // known if size == -1 else size for size in sizes]
        result = self._array("reshape", (*shape[:at], *whole, *shape[at + 1 :]))
        return self._reshaped(result)

    def view_as(self, other: Any) -> Made:
        """In the shape of another tensor."""
        return cast("Made", self._it.reshape(other.shape))

    def reshape_as(self, other: Any) -> Made:
        """In the shape of another tensor."""
        return cast("Made", self._it.reshape(other.shape))

    def broadcast_to(self, shape: Sequence[Whole]) -> Made:
        """Broadcast to a shape."""
        return self._array("broadcast_to", shape)

    # ---- other tensors -------------------------------------------------------------------------

    def new_zeros(self, *size: Whole | Sequence[Whole], dtype: Any = None) -> Made:
        """0 in a shape, in the type of this tensor."""
        return self._new(0, size, dtype)

    def new_ones(self, *size: Whole | Sequence[Whole], dtype: Any = None) -> Made:
        """1 in a shape, in the type of this tensor."""
        return self._new(1, size, dtype)

    def new_full(self, size: Sequence[Whole], fill_value: Number, dtype: Any = None) -> Made:
        """A number in a shape, in the type of this tensor."""
        return self._new(fill_value, (size,), dtype)

    def _new(self, number: Number, size: Sequence[Any], dtype: Any) -> Made:
        shape = size if not size or isinstance(size[0], int) else size[0]
        made = function("functions", "full")(tuple(shape), number, dtype or self._it.dtype)
        return cast("Made", made)

    def new_tensor(self, data: Any, dtype: Any = None) -> Made:
        """A tensor of data, in the type of this one."""
        made = function("functions.torch_names", "tensor")(data, dtype or self._it.dtype)
        return cast("Made", made)

    # ---- facts ---------------------------------------------------------------------------------

    def ndimension(self) -> Whole:
        """How many axes there are."""
        return len(self._it.shape)

    def nelement(self) -> Whole:
        """How many elements there are."""
        return self._it.numel()  # type: ignore[no-any-return]

    def element_size(self) -> Whole:
        """The bytes of an element."""
        return self._it.dtype.size  # type: ignore[no-any-return]

    def is_contiguous(self) -> Truth:
        """True: elements have no other order than row-major."""
        return True
