"""Element types and constants: two chapters of the array API, and PyTorch's names for the same."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..core import dtype as dt
from ..core.dtype import DType, as_dtype, promote
from ..errors import DTypeError, OptionError
from ..tensor import Tensor
from .elementwise import common_type

e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "",
    "numeric": "iuf",
}


def astype(x: Tensor, dtype: DType | str, *, copy: bool = True) -> Tensor:
    """Converts the elements to another type.

    x: a tensor of any shape and type.
    dtype: the type that they get.
    copy: changes nothing, since nobody sees the difference.
    Returns: the elements in that type.
    Raises: DTypeError for a name that is no type.
    Source: Python array API standard 2024.12, `astype`.
    """
    return x.astype(dtype)


def can_cast(source: Tensor | DType | str, to: DType | str) -> bool:
    """Tells whether the type `to` holds all of source's, by the array API's table of promotions.

    source: a type, or a tensor, whose type counts.
    to: the type to convert to.
    Returns: True or False.
    Raises: DTypeError for a name that is no type.
    Source: Python array API standard 2024.12, `can_cast`.
    """
    kind, wanted = _type_of(source), as_dtype(to)
    try:
        return promote(kind, wanted) == wanted
    except DTypeError:  # they have no common type
        return False


def result_type(*values: Tensor | DType | str | bool | float) -> DType:
    """Gives the type that operators on such tensors and types give.

    values: tensors, types, and Python numbers, which change the kind but not the width.
    Returns: the type.
    Raises: DTypeError where there is no common type; OptionError for no values.
    Source: Python array API standard 2024.12, `result_type`.
    """
    if not values:
        raise OptionError("result_type: takes one value or more")
    return common_type([x if isinstance(x, (bool, int, float)) else _type_of(x) for x in values])


def isdtype(dtype: DType | str, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Tells whether a type is another one, or of a kind, or one of several.

    dtype: the type.
    kind: a type; or "bool", "signed integer", "unsigned integer", "integral", "real floating",
      "complex floating" or "numeric"; or a tuple of these.
    Returns: True or False.
    Raises: DTypeError for a name that is neither a type nor a kind.
    Source: Python array API standard 2024.12, `isdtype`.
    """
    found = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(found, each) for each in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return found.kind in _KINDS[kind]
    return found == as_dtype(kind)


def _type_of(value: Tensor | DType | str) -> DType:
    return value.dtype if isinstance(value, Tensor) else as_dtype(value)


class FloatFacts(NamedTuple):
    """What a floating type holds. eps: from 1 to the next number; tiny: the least normal one."""

    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float


class IntegerFacts(NamedTuple):
    """What an integer type holds."""

    dtype: str
    bits: int
    max: int
    min: int


_FLOATS = {"float16": (10, 15, 1e-3), "float32": (23, 127, 1e-6), "float64": (52, 1023, 1e-15)}


def finfo(type: DType | str = dt.float32) -> FloatFacts:
    """Tells what a floating type holds.

    type: float16, float32 or float64.
    Returns: its name, its bits, eps, max, min, tiny, smallest_normal and resolution.
    Raises: DTypeError for another type.
    Source: Python array API standard 2024.12, `finfo`.
    """
    kind = as_dtype(type)
    if kind.name not in _FLOATS:
        raise DTypeError(f"finfo: {kind.name} is not float16, float32 or float64")
    digits, most, resolution = _FLOATS[kind.name]
    largest = (2 - 2.0**-digits) * 2.0**most
    least = 2.0 ** (1 - most)
    bits = kind.size * 8
    return FloatFacts(kind.name, bits, 2.0**-digits, largest, -largest, least, least, resolution)


def iinfo(type: DType | str) -> IntegerFacts:
    """Tells what an integer type holds.

    type: an integer type.
    Returns: its name, its bits, max and min.
    Raises: DTypeError for another type.
    Source: Python array API standard 2024.12, `iinfo`.
    """
    kind = as_dtype(type)
    if not kind.is_integer or kind.coded:
        raise DTypeError(f"iinfo: {kind.name} is no integer type")
    bits = kind.size * 8
    if kind.kind == "u":
        return IntegerFacts(kind.name, bits, 2**bits - 1, 0)
    return IntegerFacts(kind.name, bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)))


def get_default_dtype() -> DType:
    """Gives the type of what is made without a type from Python's floats.

    Returns: float32.
    Source: PyTorch's documentation, `torch.get_default_dtype`.
    """
    return dt.float32


def is_floating_point(input: Tensor) -> bool:
    """Tells whether the elements are floating numbers.

    input: a tensor.
    Returns: True or False.
    Source: PyTorch's documentation, `torch.is_floating_point`.
    """
    return input.dtype.is_floating
