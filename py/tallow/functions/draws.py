"""Draws of counts, candidates of which are accepted or rejected, a fixed number of rounds at once,
so that they need no loop on the device. The probability that a draw has no accepted candidate is
below 1e-12; then the last one stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..core.shape import Shape
from ..errors import DTypeError, OptionError, ShapeError
from ..random import Generator
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, randomness
from .cumulative import cumulative_sum
from .elementwise import clip
from .manipulation import broadcast_arrays, broadcast_to, expand_dims, squeeze
from .orders import topk
from .randomness import rand
from .reduction import sum as sum_of


def normal(
    mean: Scalar | Tensor = 0.0, std: Scalar | Tensor = 1.0, size: Sequence[int] | None = None
) -> Tensor:
    """Draws numbers from normal distributions.

    mean: a number, or a tensor of means.
    std: the standard deviations, a number or a tensor that broadcasts with mean.
    size: the shape of the result; None is that of mean and std together.
    Returns: the numbers, float32 unless mean or std has a wider type.
    Raises: OptionError for a std that is a number below 0; ShapeError for shapes that do not
      broadcast.
    Source: PyTorch's documentation, `torch.normal`.
    """
    if isinstance(std, (int, float)) and not std >= 0:
        raise OptionError(f"normal: std must not be below 0, and is {std}")
    shape = (asarray(mean) + asarray(std)).shape if size is None else tuple(size)
    return randomness.randn(shape) * std + mean


def randint_like(input: Tensor, low: int, high: int | None = None) -> Tensor:
    """Draws integers evenly, in the shape and the type of a tensor.

    input: a tensor, of which only the shape and the type count.
    low: the least integer; without high it is the upper bound, and the least is 0.
    high: the upper bound, which is excluded.
    Returns: the integers, of the shape and the type of input.
    Raises: OptionError if there are no integers between, or more than 2 ** 31.
    Source: PyTorch's documentation, `torch.randint_like`.
    """
    low, high = (0, low) if high is None else (low, high)
    return randomness.randint(low, high, input.shape).astype(input.dtype)


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draws indices by weights, num_samples for each row.

    input: the weights, floating, (classes,) or (n, classes); a row need not add up to 1.
    num_samples: how many indices to draw for each row.
    replacement: whether a row may draw an index twice.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the indices, (num_samples,) or (n, num_samples).
    Raises: ShapeError or DTypeError for other weights; OptionError for fewer than one sample, or
      for more than classes without replacement.
    Source: PyTorch's documentation, `torch.multinomial`; without replacement Efraimidis and
      Spirakis 2006.
    """
    if input.ndim not in (1, 2) or not input.shape[-1]:
        raise ShapeError(f"multinomial: weights {input.shape} are not (classes,) or (n, classes)")
    if not input.dtype.is_floating:
        raise DTypeError(f"multinomial: weights must be floating, not {input.dtype.name}")
    classes = input.shape[-1]
    if num_samples < 1 or (num_samples > classes and not replacement):
        raise OptionError(f"multinomial: {num_samples} of {classes} classes without replacement")
    weights = input.detach()
    if not replacement:  # those whose exponential times end first (Efraimidis, Spirakis 2006)
        times = -elementwise.log(rand(input.shape, dtype=input.dtype, generator=generator))
        return topk(weights / times, num_samples).indices
    rows = weights if input.ndim == 2 else expand_dims(weights, 0)
    running = cumulative_sum(rows, 1)
    drawn = rand((rows.shape[0], num_samples), dtype=input.dtype, generator=generator)
    drawn = drawn * running[:, -1:]
    below = expand_dims(running, 1) <= expand_dims(drawn, 2)
    found = sum_of(below, 2)
    found = elementwise.minimum(found, classes - 1)
    return found if input.ndim == 2 else squeeze(found, 0)


def accepted(candidates: Tensor, accept: Tensor) -> Tensor:
    """Along the first axis the first candidate that is accepted; the last one if none is."""
    found = candidates[-1]
    for number in range(candidates.shape[0] - 2, -1, -1):
        found = elementwise.where(accept[number], candidates[number], found)
    return found


_COUNT_ROUNDS = 20  # each round fails with a probability below 0.25


_FEW = 10.0  # the mean from which on candidates are drawn instead of counting up


_MOST = 48  # draws of a smaller mean exceed it with a probability below 1e-16


def _counted(
    first: Tensor,
    grow: Callable[[Tensor, float], Tensor],
    shape: Shape,
    generator: Generator | None,
) -> Tensor:
    """How many numbers have a distribution function below an even draw: draws by inversion. first:
    the probability of 0. grow(p, k): that of k + 1, of the probability of k."""
    even = rand(shape, generator=generator)
    below, probability = first, first
    found = (even > below).astype("float32")
    for k in range(_MOST):
        probability = grow(probability, float(k))
        below = below + probability
        found = found + (even > below).astype("float32")
    return found


def _stirling(k: Tensor) -> Tensor:
    """What log(k!) is more than Stirling's formula (Loader 2000)."""
    inverse = 1.0 / k
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260)))


def _deviance(x: Tensor, mean: Tensor) -> Tensor:
    """x log(x / mean) + mean - x (Loader 2000)."""
    change = elementwise.maximum((x - mean) / mean, -1 + 1e-7)
    return x * elementwise.log1p(change) + (mean - x)


def poisson_draws(rate: Tensor, shape: Shape, generator: Generator | None = None) -> Tensor:
    """Draws of Poisson's distribution, in a shape that rate broadcasts to: by inversion for a rate
    below 10, else by transformed rejection (Hoermann 1993, PTRS)."""
    mean = broadcast_to(rate, shape).detach().astype("float32")
    few = mean < _FEW
    low = elementwise.where(few, mean, 1.0)
    counted = _counted(
        elementwise.exp(-low), lambda p, k: p * low * (1 / (k + 1.0)), shape, generator
    )
    mu = elementwise.where(few, _FEW, mean)
    b = 0.931 + 2.53 * elementwise.sqrt(mu)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    steep = 0.9277 - 3.6224 / (b - 2.0)
    u = rand((_COUNT_ROUNDS, *shape), generator=generator) - 0.5
    v = rand((_COUNT_ROUNDS, *shape), generator=generator)
    side = 0.5 - elementwise.abs(u)
    k = elementwise.floor((2.0 * a / side + b) * u + mu + 0.43)
    at_once = (side >= 0.07) & (v <= steep)
    held = elementwise.maximum(k, 1.0)
    log_p = -_deviance(held, mu) - _stirling(held) - 0.5 * elementwise.log(2 * math.pi * held)
    log_p = elementwise.where(k < 1.0, -mu, log_p)
    level = (
        elementwise.log(v) + elementwise.log(inverse_alpha) - elementwise.log(a / (side * side) + b)
    )
    refused = (k < 0.0) | ((side < 0.013) & (v > side))
    many = accepted(elementwise.maximum(k, 0.0), at_once | (~refused & (level <= log_p)))
    return elementwise.where(few, counted, many).astype(rate.dtype)


def binomial_draws(
    total_count: Tensor, probs: Tensor, shape: Shape, generator: Generator | None = None
) -> Tensor:
    """Draws of the binomial distribution, in a shape that both broadcast to: by inversion for a
    mean below 10, else by transformed rejection (Hoermann 1993, BTRS)."""
    n = broadcast_to(total_count, shape).detach().astype("float32")
    whole = broadcast_to(probs, shape).detach().astype("float32")
    turned = whole > 0.5
    p = elementwise.where(turned, 1.0 - whole, whole)
    few = n * p < _FEW
    low = elementwise.where(few, p, 0.0)
    odds = low / (1.0 - low)
    size = elementwise.where(few, n, 1.0)
    counted = _counted(
        elementwise.exp(size * elementwise.log1p(-low)),
        lambda q, k: q * elementwise.maximum(size - k, 0.0) * odds * (1 / (k + 1.0)),
        shape,
        generator,
    )
    counted = elementwise.minimum(counted, n)
    n_, p_ = elementwise.where(few, 40.0, n), elementwise.where(few, 0.5, p)
    mean, other = n_ * p_, n_ * (1.0 - p_)
    spread = elementwise.sqrt(mean * (1.0 - p_))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p_
    steep = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    middle = elementwise.floor((n_ + 1.0) * p_)
    u = rand((_COUNT_ROUNDS, *shape), generator=generator) - 0.5
    v = rand((_COUNT_ROUNDS, *shape), generator=generator)
    side = 0.5 - elementwise.abs(u)
    k = elementwise.floor((2.0 * a / side + b) * u + mean + 0.5)
    inside = (k >= 0.0) & (k <= n_)

    def log_p(count: Tensor) -> Tensor:
        """Less what does not depend on the count."""
        ones = clip(count, 0.25, n_ - 0.25)
        rest = n_ - ones
        found = -_deviance(ones, mean) - _deviance(rest, other)
        found = (
            found
            - _stirling(elementwise.maximum(ones, 1.0))
            - _stirling(elementwise.maximum(rest, 1.0))
        )
        return found - 0.5 * (elementwise.log(ones) + elementwise.log(rest))

    level = elementwise.log(v) + elementwise.log(alpha) - elementwise.log(a / (side * side) + b)
    accept = inside & (((side >= 0.07) & (v <= steep)) | (level <= log_p(k) - log_p(middle)))
    many = accepted(clip(k, 0.0, n_), accept)
    found = elementwise.where(few, counted, many)
    return elementwise.where(turned, n - found, found).astype(probs.dtype)


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws counts of what happens `input` times on average.

    input: the means, of any shape.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the counts, of the shape and the type of input.
    Source: PyTorch's documentation, `torch.poisson`; from a mean of 10 on Hoermann 1993, PTRS.
    """
    return poisson_draws(input, input.shape, generator)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws how many of a number of attempts succeed.

    count: how many attempts there are.
    prob: the probability of each to succeed, floating, of a shape that broadcasts with count.
    generator: what draws; None is the global generator, which `tl.manual_seed` seeds.
    Returns: the numbers of successes, of the broadcast shape, in the type of prob.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.binomial`; from a mean of 10 on Hoermann 1993, BTRS.
    """
    attempts, chances = broadcast_arrays(count, prob)
    return binomial_draws(attempts, chances, chances.shape, generator)
