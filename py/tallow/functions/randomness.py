"""Random tensors, under PyTorch's names. `manual_seed` makes them the same again."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import dtype as dt
from ..core.dtype import DType, as_dtype
from ..core.shape import Shape, check_shape
from ..errors import OptionError
from ..random import Generator, stream
from ..tensor import Tensor
from . import philox
from .arrange import argsort
from .creation import placed

TypeLike = DType | str | None


def _shape(
    dims: Sequence[int | Sequence[int]], size: int | Sequence[int] | None, what: str
) -> Shape:
    """A shape that is given as numbers or as one sequence of them, or by a keyword."""
    given = dims if size is None else (size, *dims)
    if len(given) == 1 and not isinstance(given[0], int):
        return check_shape(given[0], what)
    return check_shape(given, what)  # type: ignore[arg-type]


def rand(
    *dims: int | Sequence[int],
    size: int | Sequence[int] | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Numbers drawn evenly between 0 and 1, both excluded, of a shape: rand(2, 3), rand((2, 3)),
    rand(size=(2, 3)). device and requires_grad as for `full`. generator: draws instead of the
    numbers that `tl.manual_seed` begins, here and in the functions below."""
    drawn = philox.uniform(_shape(dims, size, "rand"), stream(generator))
    return placed(drawn.astype(dtype or dt.default_floating()), device, requires_grad)


def randn(
    *dims: int | Sequence[int],
    size: int | Sequence[int] | None = None,
    dtype: TypeLike = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Numbers of the standard normal distribution, of a shape; the rest as for `rand`."""
    drawn = philox.normal(_shape(dims, size, "randn"), stream(generator))
    return placed(drawn.astype(dtype or dt.default_floating()), device, requires_grad)


def rand_like(x: Tensor, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """As `rand`, in the shape and type of x."""
    return rand(x.shape, dtype=dtype or x.dtype, device=device)


def randn_like(x: Tensor, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """As `randn`, in the shape and type of x."""
    return randn(x.shape, dtype=dtype or x.dtype, device=device)


def randint(
    low: int,
    high: int | Sequence[int] | None = None,
    size: Sequence[int] = (),
    dtype: TypeLike = None,
    *,
    device: str | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Integers drawn evenly from low up to but excluding high; with one bound, from 0 up to it:
    randint(2, 5, (3,)), randint(5, (3,)).

    Raises OptionError if there are none between, or more than 2 ** 31.
    """
    if isinstance(high, Sequence):
        size, high = high, None
    if high is None:
        low, high = 0, low
    span = high - low
    if not 0 < span <= 1 << 31:
        raise OptionError(f"randint: no integers from {low} to {high}, or too many")
    words = philox.random_bits(check_shape(size, "randint"), stream(generator))
    # 16 bits at a time, so that products stay within 32.
    upper, lower = words >> 16, words & 0xFFFF
    narrow = span <= 1 << 16
    found = (upper * span + (lower * span >> 16)) >> 16 if narrow else words % span
    whole = (found.astype(dt.int32) + low).astype(as_dtype(dtype or dt.default_integer()))
    return placed(whole, device)


def randperm(n: int, *, device: str | None = None, generator: Generator | None = None) -> Tensor:
    """The integers below n in a random order."""
    return placed(argsort(philox.random_bits((n,), stream(generator))), device)


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability p, else 0, in the shape and type of p."""
    return (philox.uniform(p.shape, stream(generator)) < p.astype(dt.float32)).astype(p.dtype)
