# Types for the type checker: NumPy's arrays, and the module NumPy, as kernels use them. Evaluators
# take the module as an argument (op.py), so that Tallow imports without NumPy. There is no such
# module at run time: import it under TYPE_CHECKING.

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from numpy import dtype

Operand: TypeAlias = Array | complex  # What arithmetic combines with an array.

Lengths: TypeAlias = int | Sequence[int]
Axes: TypeAlias = int | tuple[int, ...] | None

class Flags(Protocol):  # How an array lies in memory.
    c_contiguous: bool
    f_contiguous: bool
    writeable: bool
    owndata: bool

class Array(Protocol):  # An array or a scalar of NumPy's, with elements of any type.
    shape: tuple[int, ...]
    dtype: dtype[Any]
    ndim: int
    size: int
    nbytes: int
    itemsize: int
    strides: tuple[int, ...]
    flags: Flags
    T: Array
    real: Array
    imag: Array
    flat: Any
    data: memoryview
    base: object
    def __array__(self) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __getitem__(self, key: object, /) -> Array: ...
    def __setitem__(self, key: object, value: object, /) -> None: ...
    def __neg__(self) -> Array: ...
    def __abs__(self) -> Array: ...
    def __invert__(self) -> Array: ...
    def __add__(self, other: Operand, /) -> Array: ...
    def __matmul__(self, other: Array, /) -> Array: ...
    def __radd__(self, other: Operand, /) -> Array: ...
    def __sub__(self, other: Operand, /) -> Array: ...
    def __rsub__(self, other: Operand, /) -> Array: ...
    def __mul__(self, other: Operand, /) -> Array: ...
    def __rmul__(self, other: Operand, /) -> Array: ...
    def __truediv__(self, other: Operand, /) -> Array: ...
    def __rtruediv__(self, other: Operand, /) -> Array: ...
    def __floordiv__(self, other: Operand, /) -> Array: ...
    def __rfloordiv__(self, other: Operand, /) -> Array: ...
    def __mod__(self, other: Operand, /) -> Array: ...
    def __pow__(self, other: Operand, /) -> Array: ...
    def __rpow__(self, other: Operand, /) -> Array: ...
    def __lshift__(self, other: Operand, /) -> Array: ...
    def __rlshift__(self, other: Operand, /) -> Array: ...
    def __rshift__(self, other: Operand, /) -> Array: ...
    def __and__(self, other: Operand, /) -> Array: ...
    def __rand__(self, other: Operand, /) -> Array: ...
    def __or__(self, other: Operand, /) -> Array: ...
    def __ror__(self, other: Operand, /) -> Array: ...
    def __xor__(self, other: Operand, /) -> Array: ...
    def __lt__(self, other: Operand, /) -> Array: ...
    def __le__(self, other: Operand, /) -> Array: ...
    def __gt__(self, other: Operand, /) -> Array: ...
    def __ge__(self, other: Operand, /) -> Array: ...
    def __eq__(self, other: object, /) -> Array: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Array: ...  # type: ignore[override]
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def tobytes(self) -> bytes: ...
    def astype(self, dtype: object, /, *, copy: bool = True) -> Array: ...
    def view(self, dtype: object, /) -> Array: ...
    def copy(self) -> Array: ...
    def fill(self, value: Operand, /) -> None: ...
    def reshape(self, *shape: Lengths, order: str = "C") -> Array: ...
    def transpose(self, *axes: Lengths) -> Array: ...
    def swapaxes(self, axis1: int, axis2: int, /) -> Array: ...
    def ravel(self) -> Array: ...
    def take(self, indices: Operand, axis: int | None = None) -> Array: ...
    def clip(self, low: Operand | None, high: Operand | None, /) -> Array: ...
    def any(self, axis: Axes = None, *, keepdims: bool = False) -> Array: ...
    def all(self, axis: Axes = None, *, keepdims: bool = False) -> Array: ...
    def sum(self, axis: Axes = None, **options: object) -> Array: ...
    def max(self, axis: Axes = None, **options: object) -> Array: ...
    def prod(self, axis: Axes = None, **options: object) -> Array: ...
    def min(self, axis: Axes = None, **options: object) -> Array: ...
    def argsort(self, axis: int = -1, **options: object) -> Array: ...

Function: TypeAlias = Callable[..., Array]
Several: TypeAlias = Callable[..., tuple[Array, ...]]
Test: TypeAlias = Callable[..., bool]

class UFunc(Protocol):  # A function of single elements.
    reduce: Function
    accumulate: Function
    at: Callable[[Array, Array, Operand], None]
    def __call__(
        self, *operands: Operand, out: Array | None = None, **options: object
    ) -> Array: ...

class LinAlg(Protocol):  # numpy.linalg.
    LinAlgError: type[Exception]
    cholesky: Function
    det: Function
    eigh: Several
    eigvalsh: Function
    inv: Function
    matrix_rank: Function
    pinv: Function
    qr: Several
    slogdet: Several
    solve: Function
    svd: Callable[..., Any]

class FFT(Protocol):  # numpy.fft.
    fft: Function
    ifft: Function
    rfft: Function
    irfft: Function

class Limits(Protocol):  # What numpy.iinfo and numpy.finfo say.
    min: float
    max: float
    eps: float

class Sliced(
    Protocol
):  # What arrays of NumPy's and tensors share, for code that computes with either.
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> object: ...
    @property
    def ndim(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Self: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __and__(self, other: Any, /) -> Self: ...

A = TypeVar("A", bound=Sliced)  # noqa: PYI001
A_co = TypeVar("A_co", bound=Sliced, covariant=True)  # noqa: PYI001

class Functions(
    Protocol[A_co]
):  # The functions of the array API that such code calls: NumPy, or tallow.functions.
    @property
    def expand_dims(self) -> Callable[..., A_co]: ...
    @property
    def matmul(self) -> Callable[..., A_co]: ...
    @property
    def stack(self) -> Callable[..., A_co]: ...
    @property
    def tril(self) -> Callable[..., A_co]: ...
    @property
    def concat(self) -> Callable[..., A_co]: ...
    @property
    def full(self) -> Callable[..., A_co]: ...
    @property
    def pad(self) -> Callable[..., A_co]: ...
    @property
    def permute_dims(self) -> Callable[..., A_co]: ...
    @property
    def reshape(self) -> Callable[..., A_co]: ...
    @property
    def sum(self) -> Callable[..., A_co]: ...
    @property
    def zeros(self) -> Callable[..., A_co]: ...

class NumPy(Protocol):  # The module NumPy: the functions that Tallow uses.
    inf: float
    nan: float
    ndarray: type[Any]
    dtype: Callable[[object], dtype[Any]]
    iinfo: Callable[[object], Limits]
    finfo: Callable[[object], Limits]
    from_dlpack: Callable[[object], Any]
    errstate: Callable[..., AbstractContextManager[object]]
    linalg: LinAlg
    fft: FFT

    bool_: Function
    float16: Function
    float32: Function
    float64: Function
    int8: Function
    int16: Function
    int32: Function
    int64: Function
    intp: Function
    uint8: Function
    uint16: Function
    uint32: Function
    uint64: Function

    copyto: Callable[..., None]
    broadcast_arrays: Several
    broadcast_shapes: Callable[..., tuple[int, ...]]
    may_share_memory: Test
    shares_memory: Test
    ndindex: Callable[..., Iterator[tuple[int, ...]]]
    nonzero: Several
    shape: Callable[[object], tuple[int, ...]]
    split: Callable[..., list[Array]]
    unique: Several
    vectorize: Callable[..., Function]

    abs: UFunc
    add: UFunc
    bitwise_and: UFunc
    bitwise_or: UFunc
    bitwise_xor: UFunc
    ceil: UFunc
    divide: UFunc
    equal: UFunc
    exp: UFunc
    expm1: UFunc
    floor: UFunc
    floor_divide: UFunc
    fmod: UFunc
    invert: UFunc
    isfinite: UFunc
    isinf: UFunc
    isnan: UFunc
    left_shift: UFunc
    less: UFunc
    log1p: UFunc
    log2: UFunc
    logical_and: UFunc
    logical_not: UFunc
    logical_or: UFunc
    logical_xor: UFunc
    matmul: UFunc
    maximum: UFunc
    minimum: UFunc
    multiply: UFunc
    negative: UFunc
    not_equal: UFunc
    power: UFunc
    reciprocal: UFunc
    remainder: UFunc
    right_shift: UFunc
    rint: UFunc
    sign: UFunc
    subtract: UFunc
    tanh: UFunc
    true_divide: UFunc

    any: Function
    arange: Function
    argsort: Function
    array: Function
    asarray: Function
    ascontiguousarray: Function
    broadcast_to: Function
    choose: Function
    clip: Function
    compress: Function
    concat: Function
    concatenate: Function
    cumsum: Function
    delete: Function
    einsum: Function
    empty: Function
    empty_like: Function
    expand_dims: Function
    eye: Function
    flatnonzero: Function
    frombuffer: Function
    full: Function
    full_like: Function
    indices: Function
    max: Function
    min: Function
    moveaxis: Function
    ones: Function
    ones_like: Function
    pad: Function
    permute_dims: Function
    polyval: Function
    prod: Function
    repeat: Function
    reshape: Function
    round: Function
    squeeze: Function
    stack: Function
    sum: Function
    take: Function
    take_along_axis: Function
    tile: Function
    transpose: Function
    tril: Function
    where: Function
    zeros: Function
    zeros_like: Function
