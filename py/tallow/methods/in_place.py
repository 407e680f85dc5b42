"""PyTorch's methods that change a tensor in place: their names end in an underscore.

A tensor here is a value. So these methods have the tensor object stand for another value: what was
computed from it before stays as it was. A variable or a parameter is assigned to.

A parameter, or a tensor that requires a gradient itself, is changed within `no_grad` only, as in
PyTorch. What is changed through `x.data`, `x.detach()`, `x[...]`, `x.view(...)` and the like
changes x, as long as x is there. To read, a view keeps the values that x had when it was taken; a
change through it begins with those that x has by now.
"""

from __future__ import annotations

from typing import Any, Self

from .base import Base, Made, Number


class InPlace(Base[Made]):
    """Methods that change a tensor. They give the tensor itself.

    Raises GradientError for a parameter outside of `no_grad`, ShapeError if the result has another
    shape, DTypeError if an integer tensor would have to be floating.
    """

    __slots__ = ()

    def _put(self, value: Any) -> Self:
        raise NotImplementedError

    def _renew(self) -> None:
        raise NotImplementedError

    def _by(self, method: str, *args: Any, **options: Any) -> Self:
        """Puts what a method that computes the new value gives."""
        self._renew()
        return self._put(getattr(self, method)(*args, **options))

    def add_(self, other: Any, *, alpha: Number = 1) -> Self:
        """Adds alpha * other."""
        return self._by("add", other, alpha=alpha)

    def sub_(self, other: Any, *, alpha: Number = 1) -> Self:
        """Subtracts alpha * other."""
        return self._by("sub", other, alpha=alpha)

    def mul_(self, other: Any) -> Self:
        """Multiplies by other."""
        return self._by("mul", other)

    def div_(self, other: Any, *, rounding_mode: str | None = None) -> Self:
        """Divides by other."""
        return self._by("div", other, rounding_mode=rounding_mode)

    def pow_(self, exponent: Any) -> Self:
        """Raises each element to a power."""
        return self._by("pow", exponent)

    def addcmul_(self, tensor1: Any, tensor2: Any, *, value: Number = 1) -> Self:
        """Adds value * tensor1 * tensor2."""
        return self._by("addcmul", tensor1, tensor2, value=value)

    def addcdiv_(self, tensor1: Any, tensor2: Any, *, value: Number = 1) -> Self:
        """Adds value * tensor1 / tensor2."""
        return self._by("addcdiv", tensor1, tensor2, value=value)

    def lerp_(self, end: Any, weight: Any) -> Self:
        """Goes the part `weight` of the way to `end`."""
        return self._by("lerp", end, weight)

    def clamp_(self, min: Any = None, max: Any = None) -> Self:
        """Clamps the elements to min and max; either may be None."""
        return self._by("clamp", min, max)

    def neg_(self) -> Self:
        """Negates the elements."""
        return self._by("neg")

    def abs_(self) -> Self:
        """Takes the absolute values."""
        return self._by("abs")

    def exp_(self) -> Self:
        """Takes e to the power of each element."""
        return self._by("exp")

    def log_(self) -> Self:
        """Takes the natural logarithms."""
        return self._by("log")

    def sqrt_(self) -> Self:
        """Takes the square roots."""
        return self._by("sqrt")

    def rsqrt_(self) -> Self:
        """Takes 1 / sqrt of each element."""
        return self._by("rsqrt")

    def relu_(self) -> Self:
        """Takes max(x, 0)."""
        return self._by("relu")

    def sigmoid_(self) -> Self:
        """Takes 1 / (1 + exp(-x))."""
        return self._by("sigmoid")

    def tanh_(self) -> Self:
        """Takes the hyperbolic tangents."""
        return self._by("tanh")

    def round_(self) -> Self:
        """Rounds to whole numbers."""
        return self._by("round")

    def floor_(self) -> Self:
        """Rounds down."""
        return self._by("floor")

    def masked_fill_(self, mask: Any, value: Any) -> Self:
        """Sets the elements where the mask is true."""
        return self._by("masked_fill", mask, value)

    def scatter_(self, dim: int, index: Any, src: Any, *, reduce: str = "none") -> Self:
        """As `scatter`."""
        return self._by("scatter", dim, index, src, reduce=reduce)

    def scatter_add_(self, dim: int, index: Any, src: Any) -> Self:
        """As `scatter_add`."""
        return self._by("scatter_add", dim, index, src)

    def index_add_(self, dim: int, index: Any, source: Any, *, alpha: Number = 1) -> Self:
        """As `index_add`."""
        return self._by("index_add", dim, index, source, alpha=alpha)

    def zero_(self) -> Self:
        """0 everywhere."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Self:
        """The same number everywhere."""
        number = value if not hasattr(value, "detach") else value.astype(self._it.dtype)
        return self._put(self._array("zeros_like") + number)

    def copy_(self, src: Any, non_blocking: bool = False) -> Self:
        """The elements of another tensor, which broadcasts, in the type that this one has."""
        return self._put(src.astype(self._it.dtype).expand(self._it.shape))

    def normal_(self, mean: Number = 0.0, std: Number = 1.0) -> Self:
        """Numbers drawn from a normal distribution."""
        return self._put(self._array("randn_like") * std + mean)  # type: ignore[operator]

    def uniform_(self, from_: Number = 0.0, to: Number = 1.0, **named: Number) -> Self:
        """Numbers drawn evenly between two; the first is named `from` in PyTorch."""
        low = named.get("from", from_)
        return self._put(self._array("rand_like") * (to - low) + low)  # type: ignore[operator]

    def bernoulli_(self, p: Any = 0.5) -> Self:
        """1 with the probability p, else 0."""
        drawn: Any = self._array("rand_like")
        return self._put((drawn < p).astype(self._it.dtype))

    def detach_(self) -> Self:
        """Ends the way of gradients here."""
        return self._put(self._it.detach())
