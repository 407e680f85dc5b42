"""Methods that call a function of the same name, which is looked up when they are first called."""

from __future__ import annotations

import math
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


class _Second(_Function):
    """A method of which the tensor is the second argument of the function."""

    def __get__(self, tensor: Any, owner: type | None = None) -> Callable[..., Any]:
        found = function(self._package, self._name)
        return found if tensor is None else lambda first: found(first, tensor)


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
    logaddexp2 = _Function("torch_math")
    ger = _Function("torch_math")
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

    # ---- torch_numbers.py, torch_lines.py -------------------------------------------------------

    addbmm = _Function("torch_lines")
    addr = _Function("torch_lines")
    arccos = _Function("torch_numbers")
    arccosh = _Function("torch_numbers")
    arcsin = _Function("torch_numbers")
    arcsinh = _Function("torch_numbers")
    arctan = _Function("torch_numbers")
    arctanh = _Function("torch_numbers")
    bitwise_not = _Function("torch_numbers")
    corrcoef = _Function("torch_lines")
    diagflat = _Function("torch_lines")
    fix = _Function("torch_numbers")
    float_power = _Function("torch_numbers")
    fmax = _Function("torch_numbers")
    fmin = _Function("torch_numbers")
    frexp = _Function("torch_numbers")
    gcd = _Function("torch_numbers")
    histc = _Function("torch_lines")
    histogram = _Function("torch_lines")
    is_complex = _Function("torch_numbers")
    is_nonzero = _Function("torch_numbers")
    isneginf = _Function("torch_numbers")
    isposinf = _Function("torch_numbers")
    isreal = _Function("torch_numbers")
    lcm = _Function("torch_numbers")
    ldexp = _Function("torch_numbers")
    logcumsumexp = _Function("torch_lines")
    msort = _Function("torch_lines")
    nextafter = _Function("torch_numbers")
    renorm = _Function("torch_lines")
    sgn = _Function("torch_numbers")

    # ---- torch_orders.py ------------------------------------------------------------------------

    kthvalue = _Function("torch_orders")
    median = _Function("torch_orders")
    mode = _Function("torch_orders")
    nanmedian = _Function("torch_orders")
    nanquantile = _Function("torch_orders")
    quantile = _Function("torch_orders")

    # ---- torch_shapes.py ------------------------------------------------------------------------

    argwhere = _Function("torch_shapes")
    as_strided = _Function("torch_shapes")
    diag_embed = _Function("torch_shapes")
    dsplit = _Function("torch_shapes")
    fliplr = _Function("torch_shapes")
    flipud = _Function("torch_shapes")
    hsplit = _Function("torch_shapes")
    masked_select = _Function("torch_shapes")
    nonzero = _Function("torch_shapes")
    ravel = _Function("torch_shapes")
    rot90 = _Function("torch_shapes")
    split_with_sizes = _Function("torch_shapes")
    swapdims = _Function("torch_shapes")
    tensor_split = _Function("torch_shapes")
    vsplit = _Function("torch_shapes")

    # ---- torch_places.py ------------------------------------------------------------------------

    cummax = _Function("torch_places")
    cummin = _Function("torch_places")
    diagonal_scatter = _Function("torch_places")
    index_copy = _Function("torch_places")
    index_fill = _Function("torch_places")
    index_put = _Function("torch_places")
    index_reduce = _Function("torch_places")
    masked_scatter = _Function("torch_places")
    put = _Function("torch_places")
    scatter_reduce = _Function("torch_places")
    select_scatter = _Function("torch_places")
    slice_scatter = _Function("torch_places")
    unfold = _Function("torch_places")
    unique = _Function("torch_places")
    unique_consecutive = _Function("torch_places")

    # ---- torch_special.py -----------------------------------------------------------------------

    digamma = _Function("torch_special")
    erfinv = _Function("torch_special")
    lgamma = _Function("torch_special")
    multinomial = _Function("torch_special")
    i0 = _Function("torch_bessel")
    igamma = _Function("torch_gamma")
    igammac = _Function("torch_gamma")
    mvlgamma = _Function("torch_gamma")
    polygamma = _Second("torch_gamma")

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

    absolute_ = _InPlace()
    acos_ = _InPlace()
    acosh_ = _InPlace()
    addbmm_ = _InPlace()
    addmm_ = _InPlace()
    addmv_ = _InPlace()
    addr_ = _InPlace()
    arccos_ = _InPlace()
    arccosh_ = _InPlace()
    arcsin_ = _InPlace()
    arcsinh_ = _InPlace()
    arctan2_ = _InPlace()
    arctan_ = _InPlace()
    arctanh_ = _InPlace()
    asin_ = _InPlace()
    asinh_ = _InPlace()
    atan2_ = _InPlace()
    atan_ = _InPlace()
    atanh_ = _InPlace()
    baddbmm_ = _InPlace()
    bitwise_and_ = _InPlace()
    bitwise_not_ = _InPlace()
    bitwise_or_ = _InPlace()
    bitwise_xor_ = _InPlace()
    ceil_ = _InPlace()
    clamp_max_ = _InPlace()
    clamp_min_ = _InPlace()
    clip_ = _InPlace()
    copysign_ = _InPlace()
    cos_ = _InPlace()
    cosh_ = _InPlace()
    cumprod_ = _InPlace()
    cumsum_ = _InPlace()
    deg2rad_ = _InPlace()
    digamma_ = _InPlace()
    divide_ = _InPlace()
    eq_ = _InPlace()
    erf_ = _InPlace()
    erfc_ = _InPlace()
    erfinv_ = _InPlace()
    exp2_ = _InPlace()
    expm1_ = _InPlace()
    fix_ = _InPlace()
    float_power_ = _InPlace()
    floor_divide_ = _InPlace()
    fmod_ = _InPlace()
    frac_ = _InPlace()
    gcd_ = _InPlace()
    ge_ = _InPlace()
    greater_ = _InPlace()
    greater_equal_ = _InPlace()
    gt_ = _InPlace()
    heaviside_ = _InPlace()
    hypot_ = _InPlace()
    i0_ = _InPlace()
    igamma_ = _InPlace()
    igammac_ = _InPlace()
    index_copy_ = _InPlace()
    index_fill_ = _InPlace()
    index_put_ = _InPlace()
    index_reduce_ = _InPlace()
    lcm_ = _InPlace()
    ldexp_ = _InPlace()
    le_ = _InPlace()
    less_ = _InPlace()
    less_equal_ = _InPlace()
    lgamma_ = _InPlace()
    log10_ = _InPlace()
    log1p_ = _InPlace()
    log2_ = _InPlace()
    logical_and_ = _InPlace()
    logical_not_ = _InPlace()
    logical_or_ = _InPlace()
    logical_xor_ = _InPlace()
    logit_ = _InPlace()
    lt_ = _InPlace()
    masked_scatter_ = _InPlace()
    multiply_ = _InPlace()
    mvlgamma_ = _InPlace()
    nan_to_num_ = _InPlace()
    ne_ = _InPlace()
    negative_ = _InPlace()
    nextafter_ = _InPlace()
    not_equal_ = _InPlace()
    polygamma_ = _InPlace()
    put_ = _InPlace()
    rad2deg_ = _InPlace()
    reciprocal_ = _InPlace()
    remainder_ = _InPlace()
    renorm_ = _InPlace()
    scatter_reduce_ = _InPlace()
    sgn_ = _InPlace()
    sign_ = _InPlace()
    sin_ = _InPlace()
    sinc_ = _InPlace()
    sinh_ = _InPlace()
    square_ = _InPlace()
    subtract_ = _InPlace()
    tan_ = _InPlace()
    tril_ = _InPlace()
    triu_ = _InPlace()
    true_divide_ = _InPlace()
    trunc_ = _InPlace()
    xlogy_ = _InPlace()

    def exponential_(self, lambd: float = 1.0) -> Any:
        """Numbers drawn from an exponential distribution."""
        self._it.uniform_()
        return self._it._put(-self._it.log() / lambd)

    def cauchy_(self, median: float = 0.0, sigma: float = 1.0) -> Any:
        """Numbers drawn from Cauchy's distribution."""
        self._it.uniform_()
        return self._it._put(((self._it - 0.5) * math.pi).tan() * sigma + median)

    def geometric_(self, p: float) -> Any:
        """How many attempts, drawn, it takes until one of a probability succeeds."""
        drawn = function("functions", "rand")(self._it.shape)
        return self._it._put((drawn.log() / math.log1p(-p)).ceil().clamp(1).to(self._it.dtype))

    def log_normal_(self, mean: float = 1.0, std: float = 2.0) -> Any:
        """e to the power of numbers drawn from a normal distribution."""
        self._it.normal_(mean, std)
        return self._it.exp_()

    def random_(self, from_: int = 0, to: int | None = None) -> Any:
        """Whole numbers drawn evenly from from_, or 0, to below the other bound."""
        low, high = (0, from_) if to is None else (from_, to)
        drawn = function("functions", "randint")(low, high, self._it.shape)
        return self._it._put(drawn.astype(self._it.dtype))

    def fill_diagonal_(self, fill_value: float) -> Any:
        """One number on the diagonal of a matrix."""
        eye = function("functions", "eye")(*self._it.shape, dtype="bool")
        return self._it.masked_fill_(eye, fill_value)

    # ---- in place, with another shape -----------------------------------------------------------

    def unsqueeze_(self, dim: int) -> Any:
        """As `unsqueeze`. A view keeps its shape: this and those below raise OptionError for it."""
        return self._it._turned(self._it.unsqueeze(dim))

    def squeeze_(self, dim: Any = None) -> Any:
        """As `squeeze`."""
        return self._it._turned(self._it.squeeze(dim))

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """As `transpose`."""
        return self._it._turned(self._it.transpose(dim0, dim1))

    def swapaxes_(self, axis0: int, axis1: int) -> Any:
        """As `transpose`."""
        return self._it._turned(self._it.transpose(axis0, axis1))

    def swapdims_(self, dim0: int, dim1: int) -> Any:
        """As `transpose`."""
        return self._it._turned(self._it.transpose(dim0, dim1))

    def t_(self) -> Any:
        """As `t`."""
        return self._it._turned(self._it.t())

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

    def take(self, index: Any) -> Any:
        """The elements at places among all, negative ones from the end."""
        flat = self._it.reshape(-1)
        return function("functions", "take")(flat, index, 0)

    def stride(self, dim: int | None = None) -> Any:
        """How far apart elements along an axis are, or along each: as of row-major order."""
        found: list[int] = []
        step = 1
        for size in reversed(self._it.shape):
            found.insert(0, step)
            step *= max(size, 1)
        return tuple(found) if dim is None else found[dim]

    def storage_offset(self) -> Any:
        """0."""
        return 0

    def is_signed(self) -> Any:
        """Whether the type has negative numbers."""
        return self._it.dtype.kind in "if"

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
