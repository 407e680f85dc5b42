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
    """Draws numbers evenly between 0 and 1, both excluded: rand(2, 3), rand((2, 3)), rand(size=(2,
    3)).

    *dims: the shape, as numbers or as one sequence.
    size: the shape, instead of dims.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the numbers.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.rand`.
    """
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
    """Draws numbers of the standard normal distribution: randn(2, 3), randn((2, 3)), randn(size=(2,
    3)).

    *dims: the shape, as numbers or as one sequence.
    size: the shape, instead of dims.
    dtype: the element type; None is the default floating type, float32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    requires_grad: whether `backward` gives it a gradient.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the numbers.
    Raises: ShapeError for what is not a shape; GradientError for requires_grad if the type isn't
      floating.
    Source: PyTorch's documentation, `torch.randn`; Box and Muller 1958.
    """
    drawn = philox.normal(_shape(dims, size, "randn"), stream(generator))
    return placed(drawn.astype(dtype or dt.default_floating()), device, requires_grad)


def rand_like(x: Tensor, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """Draws numbers as `rand`, in the shape of x.

    x: a tensor, of which only the shape and the type count.
    dtype: the element type; None is that of x.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the numbers, of the shape of x.
    Source: PyTorch's documentation, `torch.rand_like`.
    """
    return rand(x.shape, dtype=dtype or x.dtype, device=device)


def randn_like(x: Tensor, dtype: TypeLike = None, device: str | None = None) -> Tensor:
    """Draws numbers as `randn`, in the shape of x.

    x: a tensor, of which only the shape and the type count.
    dtype: the element type; None is that of x.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    Returns: the numbers, of the shape of x.
    Source: PyTorch's documentation, `torch.randn_like`.
    """
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
    """Draws integers evenly: randint(2, 5, (3,)), randint(5, (3,)).

    low: the least integer; without high it is the upper bound, and the least is 0.
    high: the upper bound, which is excluded; or the shape.
    size: the shape.
    dtype: the element type; None is the default integer type, int32.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the integers.
    Raises: OptionError if there are none between, or more than 2 ** 31; ShapeError for what is not
      a shape.
    Source: PyTorch's documentation, `torch.randint`.
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
    """Gives the integers below n in a random order.

    n: how many there are.
    device: the device that computes it, such as "webgpu"; None leaves that open.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the integers, a vector (n,), of the default integer type.
    Raises: ShapeError for a negative n.
    Source: PyTorch's documentation, `torch.randperm`.
    """
    return placed(argsort(philox.random_bits((n,), stream(generator))), device)


def bernoulli(p: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draws 1 with the probability p, else 0.

    p: the probabilities, of any shape.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the draws, of the shape and the type of p.
    Source: PyTorch's documentation, `torch.bernoulli`.
    """
    return (philox.uniform(p.shape, stream(generator)) < p.astype(dt.float32)).astype(p.dtype)
