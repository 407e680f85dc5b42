"""Methods that change a tensor in place and that no other method computes: draws, copies, fills.

The other methods whose names end in an underscore put what the method without it gives: a row of
names.py says for which there are some. A tensor is a value, so these methods have the tensor object
stand for another value: what was computed from it before stays as it was.

A parameter, or a tensor that requires a gradient itself, is changed within `no_grad` only, as in
PyTorch: GradientError says so. Raises ShapeError if the result has another shape, DTypeError if an
integer tensor would have to be floating.
"""

from __future__ import annotations

import math

from ..errors import DTypeError, GradientError, OptionError, ShapeError
from ..functions import creation, elementwise, manipulation, randomness
from ..functions.selection import masked_fill
from ..functions.shapes import Shape, expand, numbers_of
from ..tensor import Scalar, Tensor, asarray
from . import views


def zero_(input: Tensor) -> Tensor:
    """Sets every element to 0.

    input: any tensor.
    Returns: the tensor itself.
    Raises: GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    return fill_(input, 0)


def fill_(input: Tensor, value: Scalar | Tensor) -> Tensor:
    """Sets every element to the same number.

    input: any tensor.
    value: the number, or a tensor of one.
    Returns: the tensor itself.
    Raises: GradientError outside of `no_grad`, if input requires a gradient itself; DTypeError for
      a floating number in an integer tensor.
    """
    number = value.astype(input.dtype) if isinstance(value, Tensor) else value
    return input.become(creation.zeros_like(input) + number)


def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Takes the elements of another tensor, in the type that this one has.

    input: any tensor.
    src: the tensor to copy, which broadcasts to the shape of input.
    non_blocking: changes nothing.
    Returns: the tensor itself.
    Raises: ShapeError for a src that does not broadcast, GradientError outside of `no_grad`, if
      input requires a gradient itself.
    """
    return input.become(expand(asarray(src).astype(input.dtype), input.shape))


def detach_(input: Tensor) -> Tensor:
    """Cuts the tensor off from what it was computed from; a leaf receives no gradient any more.

    input: any tensor.
    Returns: the tensor itself.
    """
    if input.is_leaf:
        return input.requires_grad_(False)
    return input.become(input.detach())


def fill_diagonal_(input: Tensor, fill_value: Scalar, wrap: bool = False) -> Tensor:
    """Sets the elements whose indices are all the same to a number.

    input: a matrix, or a tensor of more axes of one length.
    fill_value: the number.
    wrap: in a matrix of more rows than columns, the diagonal begins again below, one row apart.
    Returns: the tensor itself.
    Raises: ShapeError for fewer than two axes, or more of several lengths; GradientError outside
      of `no_grad`, if input requires a gradient itself.
    Source: PyTorch's documentation, `torch.Tensor.fill_diagonal_`.
    """
    shape = input.shape
    if len(shape) < 2 or (len(shape) > 2 and len({*shape}) > 1):
        raise ShapeError(f"fill_diagonal_: a matrix, or axes of one length, not {shape}")
    step = sum(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    end = input.node.size if wrap and len(shape) == 2 else min(shape) * step
    numbers = creation.arange(input.node.size)
    diagonal = elementwise.logical_and(numbers % step == 0, numbers < end)
    return input.become(masked_fill(input, diagonal.reshape(shape), fill_value))


# ---- draws -----------------------------------------------------------------------------------


def _check(name: str, input: Tensor, right: bool, wrong: str) -> None:
    """DTypeError if what is drawn can't be stored in input, OptionError if settings are wrong."""
    if not input.dtype.is_floating:
        raise DTypeError(f"{name}: draws floating numbers, and the tensor is {input.dtype.name}")
    if not right:
        raise OptionError(f"{name}: {wrong}")


def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Sets the elements to numbers drawn from a normal distribution.

    input: a floating tensor.
    mean, std: the mean and the standard deviation of the distribution.
    Returns: the tensor itself.
    Raises: DTypeError for a tensor of integers, OptionError for settings out of their range,
      GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    _check("normal_", input, std >= 0, f"std {std} is negative")
    return input.become(randomness.randn_like(input) * std + mean)


def uniform_(input: Tensor, from_: float = 0.0, to: float = 1.0, **named: float) -> Tensor:
    """Sets the elements to numbers drawn evenly between two bounds.

    input: a floating tensor.
    from_, to: the bounds.
    named: `from`, PyTorch's name of from_.
    Returns: the tensor itself.
    Raises: DTypeError for a tensor of integers, OptionError for settings out of their range,
      GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    low = named.get("from", from_)
    _check("uniform_", input, low <= to, f"no numbers from {low} to {to}")
    return input.become(randomness.rand_like(input) * (to - low) + low)


def bernoulli_(input: Tensor, p: float | Tensor = 0.5) -> Tensor:
    """Sets the elements to 1 with the probability p, else to 0.

    input: any tensor.
    p: the probability, or a tensor of them that broadcasts to the shape of input.
    Returns: the tensor itself.
    Raises: OptionError for a number that is no such probability, GradientError outside of
      `no_grad`, if input requires a gradient itself.
    """
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise OptionError(f"bernoulli_: {p} is no probability")
    return input.become((randomness.rand(input.shape) < p).astype(input.dtype))


def exponential_(input: Tensor, lambd: float = 1.0) -> Tensor:
    """Sets the elements to numbers drawn from an exponential distribution.

    input: a floating tensor.
    lambd: the rate, one over the mean.
    Returns: the tensor itself.
    Raises: DTypeError for a tensor of integers, OptionError for settings out of their range,
      GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    _check("exponential_", input, lambd > 0, f"lambd {lambd} is not above 0")
    return input.become(-elementwise.log(randomness.rand_like(input)) / lambd)


def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Sets the elements to numbers drawn from Cauchy's distribution.

    input: a floating tensor.
    median: the middle of the distribution.
    sigma: half its width at half its height.
    Returns: the tensor itself.
    Raises: DTypeError for a tensor of integers, OptionError for settings out of their range,
      GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    _check("cauchy_", input, sigma > 0, f"sigma {sigma} is not above 0")
    turn = (randomness.rand_like(input) - 0.5) * math.pi
    return input.become(elementwise.tan(turn) * sigma + median)


def geometric_(input: Tensor, p: float) -> Tensor:
    """Sets the elements to how many attempts, drawn, it takes until one succeeds.

    input: any tensor.
    p: the probability of success, above 0 and below 1.
    Returns: the tensor itself.
    Raises: OptionError for a number that is no such probability, GradientError outside of
      `no_grad`, if input requires a gradient itself.
    """
    if not 0 < p < 1:
        raise OptionError(f"geometric_: p {p} is not above 0 and below 1")
    drawn = elementwise.log(randomness.rand(input.shape)) / math.log1p(-p)
    return input.become(elementwise.clip(elementwise.ceil(drawn), 1).astype(input.dtype))


def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Sets the elements to e to the power of numbers drawn from a normal distribution.

    input: a floating tensor.
    mean, std: the mean and the standard deviation of the logarithms.
    Returns: the tensor itself.
    Raises: DTypeError for a tensor of integers, OptionError for settings out of their range,
      GradientError outside of `no_grad`, if input requires a gradient itself.
    """
    _check("log_normal_", input, std > 0, f"std {std} is not above 0")
    return input.become(elementwise.exp(randomness.randn_like(input) * std + mean))


def random_(input: Tensor, from_: int = 0, to: int | None = None) -> Tensor:
    """Sets the elements to whole numbers drawn evenly from one bound to below the other.

    input: any tensor.
    from_: the lower bound; given alone, the upper one, and the lower is 0.
    to: the upper bound, which is never drawn.
    Returns: the tensor itself.
    Raises: OptionError for bounds between which there is no integer, GradientError outside of
      `no_grad`, if input requires a gradient itself.
    """
    low, high = (0, from_) if to is None else (from_, to)
    return input.become(randomness.randint(low, high, input.shape).astype(input.dtype))


# ---- another shape ---------------------------------------------------------------------------


def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """Inserts an axis of length 1.

    input: any tensor.
    dim: the position of the axis in the result.
    Returns: the tensor itself.
    Raises: AxisError for a position that the result doesn't have, GradientError outside of
      `no_grad`, if input requires a gradient itself.
    """
    return input.become_shaped(views.unsqueeze(input, dim))


def squeeze_(input: Tensor, dim: int | None = None) -> Tensor:
    """Removes axes of length 1.

    input: any tensor.
    dim: the axis to remove, if its length is 1; None removes all of that length.
    Returns: the tensor itself.
    Raises: AxisError for an axis that input doesn't have, GradientError outside of `no_grad`, if
      input requires a gradient itself.
    """
    return input.become_shaped(views.squeeze(input, dim))


def resize_(input: Tensor, *sizes: Shape, memory_format: object = None) -> Tensor:
    """Takes another shape, of as many elements or not: the first ones stay, in their order.

    input: any tensor.
    sizes: the lengths of the axes, one by one or as one sequence.
    memory_format: changes nothing.
    Returns: the tensor itself; elements that it had not are 0.
    Raises: GradientError for a tensor that requires a gradient; OptionError where a view that has
      grown is changed.
    Source: PyTorch's documentation, `torch.Tensor.resize_`.
    """
    if input.requires_grad:
        raise GradientError("resize_: a tensor that requires a gradient keeps its shape")
    shape = tuple(numbers_of(sizes))
    count, had = math.prod(shape), input.node.size

    def again(whole: Tensor) -> Tensor:
        flat = whole.flatten()
        if count > had:
            return manipulation.concat([flat, flat.new_zeros(count - had)]).reshape(shape)
        return flat[:count].reshape(shape)

    def put_back(whole: Tensor, new: Tensor) -> Tensor:
        if count > had:
            raise OptionError(f"resize_: a view of {had} elements cannot have {count}")
        rest = whole.flatten()[count:]
        return manipulation.concat([new.flatten(), rest]).reshape(whole.shape)

    return input.become_shaped(again(input).view_of(input, again, put_back))


def resize_as_(input: Tensor, other: Tensor, memory_format: object = None) -> Tensor:
    """Takes the shape of another tensor; as `resize_`.

    input: any tensor.
    other: the tensor that has the shape.
    memory_format: changes nothing.
    Returns: the tensor itself.
    Raises: as `resize_`.
    Source: PyTorch's documentation, `torch.Tensor.resize_as_`.
    """
    return resize_(input, other.shape)


def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchanges two axes.

    input: any tensor.
    dim0, dim1: the axes.
    Returns: the tensor itself.
    Raises: AxisError for an axis that input doesn't have, GradientError outside of `no_grad`, if
      input requires a gradient itself.
    """
    return input.become_shaped(views.transpose(input, dim0, dim1))


def t_(input: Tensor) -> Tensor:
    """Transposes a matrix.

    input: a matrix, or a vector, which stays as it is.
    Returns: the tensor itself.
    Raises: ShapeError for more than two axes, GradientError outside of `no_grad`, if input requires
      a gradient itself.
    """
    return input.become_shaped(views.t(input))
