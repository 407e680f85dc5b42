"""Normalisations: to mean 0 and variance 1, or to length 1, over some axes.

The names and options are torch.nn.functional's. If sums over float16 would lose too much precision,
the caller converts first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from .. import functions as f
from ..autodiff import with_gradient
from ..casting import in_float32
from ..core.shape import size_of
from ..errors import OptionError, ShapeError
from ..functions.reduction import powers, root
from ..tensor import Tensor


@runtime_checkable
class Assignable(Protocol):
    """A tensor whose value can be replaced: `tallow.Variable`."""

    def assign_later(self, value: Any) -> Any:
        """Replaces the value when something next is computed."""


def standardized(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + eps) over the axes; the mean; 1 / sqrt(variance + eps)."""
    result, mean, _, inverse = _standardized(x, axes, eps)
    return result, mean, inverse


def _standardized(
    x: Tensor, axes: Sequence[int], eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As `standardized`, with the variance before the last."""
    mean = f.mean(x, axes, True)
    centred = x - mean
    var = f.mean(centred * centred, axes, True)
    inverse = f.reciprocal(f.sqrt(var + eps))
    result = centred * inverse

    def pull(gradient: Tensor, result: Tensor, inverse: Tensor) -> list[Tensor]:
        """What the gradient has along 1 and along the result passes on to neither."""
        along = f.mean(gradient * result, axes, True)
        return [inverse * (gradient - f.mean(gradient, axes, True) - result * along)]

    return with_gradient(result, [x], pull, [inverse]), mean, var, inverse


def _trailing(
    name: str, x: Tensor, normalized_shape: Sequence[int], **given: Tensor | None
) -> tuple[int, ...]:
    """The last axes, after checking that they have that shape, and so do the parameters."""
    shape = tuple(normalized_shape)
    if not shape or x.shape[max(x.ndim - len(shape), 0) :] != shape:
        raise ShapeError(f"{name}: input {x.shape} does not end in {shape}")
    for each, value in given.items():
        if value is not None and value.shape != shape:
            raise ShapeError(f"{name}: {each} {value.shape} for normalized_shape {shape}")
    return tuple(range(x.ndim - len(shape), x.ndim))


@in_float32
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over the last axes, then weight and bias.

    input: numbers, (..., *normalized_shape).
    normalized_shape: the lengths of the last axes, over which it normalises.
    weight: a factor for each element, in this shape; None is 1.
    bias: added to each element, in this shape; None is 0.
    eps: what is added to the variance.
    Returns: the shape of input.
    Raises: ShapeError if the last axes, the weight or the bias do not have normalized_shape.
    Source: Ba et al. 2016.
    """
    axes = _trailing("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    result, _, _ = standardized(input, axes, eps)
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


_EPSILONS = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}
"""The distance from 1 to the next number of a floating type, by its bytes."""


@in_float32
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """input / sqrt(mean of squares + eps) over the last axes, then weight.

    input: numbers, (..., *normalized_shape).
    normalized_shape: the lengths of the last axes, over which it normalises.
    weight: a factor for each element, in this shape; None is 1.
    eps: what is added to the mean; None is the distance from 1 to the next number of the element
      type.
    Returns: the shape of input.
    Raises: ShapeError if the last axes or the weight do not have normalized_shape.
    Source: Zhang and Sennrich 2019.
    """
    axes = _trailing("rms_norm", input, normalized_shape, weight=weight)
    least = _EPSILONS[input.dtype.size] if eps is None else eps
    square = f.mean(input * input, axes, True)
    result = input * f.reciprocal(f.sqrt(square + least))
    return result if weight is None else result * weight


def _channels(name: str, x: Tensor, **given: Tensor | None) -> tuple[int, ...]:
    """The shape of one number per channel, axis 1, that broadcasts to x; after checking that the
    parameters are that many."""
    for each, value in given.items():
        if value is not None and value.shape != x.shape[1:2]:
            raise ShapeError(f"{name}: {each} {value.shape} for the channels of {x.shape}")
    return (-1, *(1,) * (x.ndim - 2))


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """x (n, c, ...) times a weight per channel, plus a bias."""
    shape = (-1, *(1,) * (x.ndim - 2))
    if weight is not None:
        x = x * f.reshape(weight, shape)
    return x if bias is None else x + f.reshape(bias, shape)


def _follow(name: str, running: Tensor | None, value: Tensor, momentum: float | Tensor) -> None:
    """Moves a running statistic towards a value, when something next is computed."""
    if running is None:
        return
    if not isinstance(running, Assignable):
        raise OptionError(
            f"{name}: a running statistic must be a Variable to be updated, "
            f"not {running.described()}"
        )
    value = f.reshape(value, running.shape).astype(running.dtype).detach()
    running.assign_later(running * (1.0 - momentum) + value * momentum)


@in_float32
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float | Tensor = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(input - mean) / sqrt(var + eps) per channel, axis 1, then weight and bias.

    input: numbers, (n, c, ...).
    running_mean: the mean of each channel, (c,), a Variable if it is to follow; None in training
      only.
    running_var: the variance of each channel, likewise.
    weight: a factor for each channel, (c,); None is 1.
    bias: added to each channel, (c,); None is 0.
    training: takes mean and variance of the batch, and moves the running ones towards them;
      otherwise takes the running ones.
    momentum: the share by which the running ones move.
    eps: what is added to the variance.
    Returns: the shape of input.
    Raises: ShapeError for shapes that do not fit and, in training, for a batch with one number per
      channel; OptionError for running statistics that are missing or cannot change.
    Source: Ioffe and Szegedy 2015.
    """
    if input.ndim < 2:
        raise ShapeError(f"batch_norm: expected an input (n, c, ...), got {input.shape}")
    shape = _channels("batch_norm", input, running_mean=running_mean, running_var=running_var,
                      weight=weight, bias=bias)  # fmt: skip
    if training:
        axes = (0, *range(2, input.ndim))
        count = size_of(input.shape[axis] for axis in axes)
        if count == 1:
            raise ShapeError(
                f"batch_norm: one number per channel, in {input.shape}, has no variance to train by"
            )
        result, mean, var, _ = _standardized(input, axes, eps)
        if count:  # nothing has no mean to move towards
            _follow("batch_norm", running_mean, mean, momentum)
            _follow("batch_norm", running_var, var * (count / (count - 1)), momentum)
        return _scaled(result, weight, bias)
    if running_mean is None or running_var is None:
        raise OptionError("batch_norm: without training it needs running_mean and running_var")
    scale = f.reciprocal(f.sqrt(running_var + eps))
    scale = scale if weight is None else weight * scale
    shift = -running_mean * scale if bias is None else bias - running_mean * scale
    return input * f.reshape(scale, shape) + f.reshape(shift, shape)


@in_float32
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over each channel of each image, then weight and bias per channel.

    input: numbers, (n, c, ...), with one axis or more after the channels.
    running_mean: the mean of each channel, (c,), a Variable if it is to follow, or None.
    running_var: the variance of each channel, likewise.
    weight: a factor for each channel, (c,); None is 1.
    bias: added to each channel, (c,); None is 0.
    use_input_stats: takes mean and variance of each image, and moves running ones, if given,
      towards the means of those; otherwise takes the running ones.
    momentum: the share by which the running ones move.
    eps: what is added to the variance.
    Returns: the shape of input.
    Raises: ShapeError for shapes that do not fit and for channels of one number, OptionError for
      running statistics that are missing or cannot change.
    Source: Ulyanov et al. 2016.
    """
    if input.ndim < 3:
        raise ShapeError(f"instance_norm: expected an input (n, c, ...), got {input.shape}")
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    _channels("instance_norm", input, running_mean=running_mean, running_var=running_var,
              weight=weight, bias=bias)  # fmt: skip
    count = size_of(input.shape[2:])
    if count == 1:
        raise ShapeError(
            f"instance_norm: one number per channel, in {input.shape}, has no variance"
        )
    result, mean, var, _ = _standardized(input, tuple(range(2, input.ndim)), eps)
    if running_mean is not None or running_var is not None:
        share = count / max(count - 1, 1)
        _follow("instance_norm", running_mean, f.mean(mean, 0), momentum)
        _follow("instance_norm", running_var, f.mean(var, 0) * share, momentum)
    return _scaled(result, weight, bias)


@in_float32
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over groups of channels, then weight and bias per channel.

    input: numbers, (n, c, ...).
    num_groups: the number of groups, which divides the channels.
    weight: a factor for each channel, (c,); None is 1.
    bias: added to each channel, (c,); None is 0.
    eps: what is added to the variance.
    Returns: the shape of input.
    Raises: ShapeError for shapes that do not fit.
    Source: Wu and He 2018.
    """
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise ShapeError(
            f"group_norm: the channels of {input.shape} do not divide into {num_groups} groups"
        )
    _channels("group_norm", input, weight=weight, bias=bias)
    length = size_of(input.shape[1:]) // num_groups
    grouped, _, _ = standardized(f.reshape(input, (input.shape[0], num_groups, length)), (2,), eps)
    return _scaled(f.reshape(grouped, input.shape), weight, bias)


@in_float32
def normalize(
    input: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12, *, dim: int | None = None
) -> Tensor:
    """The input divided by its p-norm along an axis, or by eps where that norm is less.

    input: numbers, of any shape with an axis or more.
    p: which norm; 2 is the Euclidean length.
    axis: the axis of the vectors.
    eps: the least divisor.
    dim: PyTorch's name of axis.
    Returns: the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.nn.functional.normalize`.
    """
    x = input
    axis = axis if dim is None else dim
    if p == 1:
        norm = f.sum(f.abs(x), axis, True)
    elif p == 2:
        norm = root(f.sum(x * x, axis, True))
    else:
        norm = root(f.sum(powers(f.abs(x), p), axis, True), p)
    return x / f.maximum(norm, eps)


@in_float32
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """input / (k + alpha / size * sum of squares over `size` channels) ** beta.

    The window reaches size // 2 channels down, the rest up, as in PyTorch.

    input: numbers, (n, c, ...), with one axis or more after the channels.
    size: the number of channels in a window, 1 or more.
    alpha: the factor of the mean of squares.
    beta: the exponent.
    k: what is added to the mean of squares.
    Returns: the shape of input.
    Raises: ShapeError for an input without spatial axes, and for a size below 1.
    Source: Krizhevsky et al. 2012.
    """
    if input.ndim < 3 or size < 1:
        raise ShapeError(
            f"local_response_norm: {size} channels of an input (n, c, ...) {input.shape}"
        )
    return response_normalized(input, size // 2, (size - 1) // 2, alpha / size, beta, k)


def response_normalized(
    x: Tensor, below: int, above: int, factor: float, beta: float, k: float
) -> Tensor:
    """x / (k + factor * sum of squares) ** beta; the sum is over axis 1, from `below` channels
    before each one to `above` behind it."""
    channels = x.shape[1]
    furthest = max(channels - 1, 0)
    below, above = min(below, furthest), min(above, furthest)
    squares = f.pad(x * x, [(0, 0), (below, above)] + [(0, 0)] * (x.ndim - 2))
    total = squares[:, 0:channels]
    for shift in range(1, below + above + 1):
        total = total + squares[:, shift : shift + channels]
    return x / f.pow(total * factor + k, beta)
