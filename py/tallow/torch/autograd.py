"""torch.autograd: Tallow's, `Variable` of older programs, and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import tallow as tl
import tallow.autograd as _autograd
from tallow.autograd import *  # noqa: F403
from tallow.autograd import Function

from ..binding import imported
from ..errors import GradientError
from ..tensor import Tensor
from .rooms import missing

__path__: list[str] = []  # its rooms, such as functional, are in names.py


class _VariableType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableType):
    """What tensors with gradients were called before PyTorch 0.4: the call gives the tensor itself,
    and every tensor is an instance."""

    def __new__(cls, data: object, requires_grad: bool = False, volatile: bool = False) -> Any:
        made = data.detach() if isinstance(data, Tensor) else tl.asarray(data)
        return made.requires_grad_() if requires_grad else made


class detect_anomaly(nullcontext[None]):  # noqa: N801 - PyTorch's name
    """Changes nothing within it; `tallow.debug_nans(True)` names the op that made a NaN."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()


class set_detect_anomaly(nullcontext[None]):  # noqa: N801 - PyTorch's name
    """Changes nothing, as a plain call or in a with statement: see `detect_anomaly`."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()


InplaceFunction = Function


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **options: object,
) -> bool:
    """Whether the gradients of a function by floating inputs are those of its differences, in
    float64. Raises GradientError where they are not, or gives False without raise_exception."""
    given = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    for number, x in enumerate(given):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        found = _autograd.grad(_total(func(*given)), x, allow_unused=True)[0]
        exact = tl.zeros_like(x) if found is None else found
        for index in range(int(x.size)):
            step = tl.reshape(tl.asarray([eps * (n == index) for n in range(int(x.size))]), x.shape)
            ends = []
            for sign in (1.0, -1.0):
                moved = [*given]
                moved[number] = x.detach() + (step * sign).astype(x.dtype)
                ends.append(float(_total(func(*moved))))
            wanted = (ends[0] - ends[1]) / (2 * eps)
            got = float(tl.reshape(exact, (-1,))[index])
            if abs(got - wanted) > atol + rtol * abs(wanted):
                if not raise_exception:
                    return False
                raise GradientError(
                    f"gradcheck: the gradient by element {index} of input {number} is {got}, the "
                    f"difference {wanted}"
                )
    return True


def _total(result: Tensor | Sequence[Tensor]) -> Tensor:
    """One number that depends on every element, each with a weight of its own."""
    parts: Sequence[Tensor] = [result] if isinstance(result, Tensor) else result
    total = tl.asarray(0.0)
    for part in parts:
        weights = tl.reshape(tl.arange(int(part.size)), part.shape).astype(part.dtype) + 1.0
        total = total + (part * weights).sum()
    return total


def __getattr__(name: str) -> Any:
    if name in ("function", "functional", "grad_mode", "variable", "profiler"):
        return imported(f"{__name__}.{name}")
    raise missing("torch.autograd", name)


__all__ = [*_autograd.__all__, "Variable", "detect_anomaly", "gradcheck", "set_detect_anomaly"]
