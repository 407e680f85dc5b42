"""Methods that call a function of the same name, which is looked up when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .base import Base, Made, function


class _Function:
    """A method of the name of a function in a file of functions/."""

    def __init__(self, file: str = "") -> None:
        self._package = f"functions.{file}" if file else "functions"

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, owner: type | None = None) -> Callable[..., Any]:
        found = function(self._package, self._name)
        return found if tensor is None else partial(found, tensor)


class _InPlace:
    """A method that has the tensor stand for what another one gives: the name without the "_"."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.removesuffix("_")

    def __get__(self, tensor: Any, owner: type | None = None) -> Callable[..., Any]:
        if tensor is None:
            return lambda tensor, *args, **options: tensor._by(self._name, *args, **options)
        return partial(tensor._by, self._name)


class Forwarded(Base[Made]):
    """Methods that few need; see the functions, and methods/in_place.py for what ends in "_"."""

    __slots__ = ()

    # ---- the array API --------------------------------------------------------------------------

    acos = _Function()
    acosh = _Function()
    asin = _Function()
    asinh = _Function()
    atanh = _Function()
    bitwise_and = _Function()
    bitwise_or = _Function()
    bitwise_xor = _Function()
    bernoulli = _Function()
    cosh = _Function()
    det = _Function()
    divide = _Function()
    floor_divide = _Function()
    fmod = _Function()
    greater = _Function()
    greater_equal = _Function()
    less = _Function()
    less_equal = _Function()
    logical_xor = _Function()
    multiply = _Function()
    negative = _Function()
    not_equal = _Function()
    remainder = _Function()
    sinh = _Function()
    subtract = _Function()
    tile = _Function()

    # ---- torch_math.py --------------------------------------------------------------------------

    absolute = _Function("torch_math")
    addmv = _Function("torch_math")
    aminmax = _Function("torch_math")
    arctan2 = _Function("torch_math")
    atan2 = _Function("torch_math")
    baddbmm = _Function("torch_math")
    bincount = _Function("torch_math")
    cdist = _Function("torch_math")
    copysign = _Function("torch_math")
    count_nonzero = _Function("torch_math")
    cov = _Function("torch_math")
    cross = _Function("torch_math")
    deg2rad = _Function("torch_math")
    diff = _Function("torch_math")
    erfc = _Function("torch_math")
    exp2 = _Function("torch_math")
    frac = _Function("torch_math")
    heaviside = _Function("torch_math")
    hypot = _Function("torch_math")
    inner = _Function("torch_math")
    kron = _Function("torch_math")
    logaddexp = _Function("torch_math")
    logit = _Function("torch_math")
    nan_to_num = _Function("torch_math")
    nanmean = _Function("torch_math")
    nansum = _Function("torch_math")
    rad2deg = _Function("torch_math")
    signbit = _Function("torch_math")
    sinc = _Function("torch_math")
    take_along_dim = _Function("torch_math")
    trace = _Function("torch_math")
    true_divide = _Function("torch_math")
    xlogy = _Function("torch_math")

    # ---- torch_orders.py ------------------------------------------------------------------------

    kthvalue = _Function("torch_orders")
    median = _Function("torch_orders")
    mode = _Function("torch_orders")
    nanmedian = _Function("torch_orders")
    nanquantile = _Function("torch_orders")
    quantile = _Function("torch_orders")

    # ---- torch_shapes.py ------------------------------------------------------------------------

    argwhere = _Function("torch_shapes")
    diag_embed = _Function("torch_shapes")
    fliplr = _Function("torch_shapes")
    flipud = _Function("torch_shapes")
    masked_select = _Function("torch_shapes")
    nonzero = _Function("torch_shapes")
    ravel = _Function("torch_shapes")
    rot90 = _Function("torch_shapes")
    tensor_split = _Function("torch_shapes")

    # ---- torch_places.py ------------------------------------------------------------------------

    cummax = _Function("torch_places")
    cummin = _Function("torch_places")
    index_copy = _Function("torch_places")
    index_fill = _Function("torch_places")
    masked_scatter = _Function("torch_places")
    scatter_reduce = _Function("torch_places")
    unfold = _Function("torch_places")
    unique = _Function("torch_places")

    # ---- torch_special.py -----------------------------------------------------------------------

    digamma = _Function("torch_special")
    erfinv = _Function("torch_special")
    lgamma = _Function("torch_special")
    multinomial = _Function("torch_special")

    # ---- torch_linalg.py -------------------------------------------------------------------------

    cholesky = _Function("torch_linalg")
    cholesky_inverse = _Function("torch_linalg")
    cholesky_solve = _Function("torch_linalg")
    dist = _Function("torch_linalg")
    inverse = _Function("torch_linalg")
    logdet = _Function("torch_linalg")
    matrix_exp = _Function("torch_linalg")
    matrix_power = _Function("torch_linalg")
    pinverse = _Function("torch_linalg")
    slogdet = _Function("torch_linalg")

    # ---- in place -------------------------------------------------------------------------------

    addmm_ = _InPlace()
    ceil_ = _InPlace()
    clamp_max_ = _InPlace()
    clamp_min_ = _InPlace()
    clip_ = _InPlace()
    cos_ = _InPlace()
    cumsum_ = _InPlace()
    erfinv_ = _InPlace()
    index_copy_ = _InPlace()
    index_fill_ = _InPlace()
    masked_scatter_ = _InPlace()
    nan_to_num_ = _InPlace()
    reciprocal_ = _InPlace()
    scatter_reduce_ = _InPlace()
    sign_ = _InPlace()
    sin_ = _InPlace()
    square_ = _InPlace()
    tril_ = _InPlace()
    triu_ = _InPlace()
    trunc_ = _InPlace()

    def exponential_(self, lambd: float = 1.0) -> Any:
        """Numbers drawn from an exponential distribution."""
        self._it.uniform_()
        return self._it._put(-self._it.log() / lambd)

    def random_(self, from_: int = 0, to: int | None = None) -> Any:
        """Whole numbers drawn evenly from from_, or 0, to below the other bound."""
        low, high = (0, from_) if to is None else (from_, to)
        drawn = function("functions", "randint")(low, high, self._it.shape)
        return self._it._put(drawn.astype(self._it.dtype))

    def fill_diagonal_(self, fill_value: float) -> Any:
        """One number on the diagonal of a matrix."""
        eye = function("functions", "eye")(*self._it.shape, dtype="bool")
        return self._it.masked_fill_(eye, fill_value)

    # ---- facts and types -----------------------------------------------------------------------

    def bfloat16(self) -> Any:
        """The elements as bfloat16, which is kept and computed nowhere."""
        return self._it.astype("bfloat16")

    def short(self) -> Any:
        """The elements as int16."""
        return self._it.astype("int16")

    def byte(self) -> Any:
        """The elements as uint8."""
        return self._it.astype("uint8")

    def new(self, *data: Any, device: Any = None) -> Any:
        """A tensor of lengths, x.new(2, 3), or of data, x.new([1, 2]), in the type of this one."""
        make = function("functions.creation", "of_sizes_or_data")
        return make(*data, device=device, dtype=self._it.dtype)

    def new_empty(self, *size: Any, dtype: Any = None) -> Any:
        """0 in a shape, in the type of this tensor."""
        return self._it.new_zeros(*size, dtype=dtype)

    def pin_memory(self) -> Any:
        """The tensor itself."""
        return self

    @property
    def itemsize(self) -> Any:
        """The bytes of an element."""
        return self._it.dtype.size

    @property
    def nbytes(self) -> Any:
        """The bytes of all elements."""
        return self._it.dtype.size * self._it.size
