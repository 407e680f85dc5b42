"""Layers that learn the number of their inputs' features from the first input, and then become the
layers after which they are named."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core import context
from ..errors import TallowError
from ..facts import Table, became
from . import convolution, linear, normalization
from .module import Module


class _Unknown(Table[str, Any]):
    """The parameters of a layer that has none yet."""

    def items(self) -> Any:
        raise TallowError(
            "a lazy layer has no parameters before its first input: call the network once before "
            "you give its parameters to an optimiser, move them or save them"
        )


class LazyModule(Module):
    """A layer that waits for its first input. Raises TallowError when its parameters are asked for
    before."""

    becomes: ClassVar[type[Module]]
    axis: ClassVar[int]
    """The axis of inputs that has the features."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__()
        self._parameters = _Unknown(type(self).__name__, "_parameters")
        self._settings = args, options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        (given, options), input = self._settings, args[0]
        kind: Any = self.becomes
        # Under `@tl.jit`, too, its numbers are drawn now, and not by each call of the plan.
        with context.trace.override(None), context.draws.override(None):
            made: Module = kind(input.shape[self.axis], *given, **options)
        made.train(self.training)
        hooks = {name: table for name, table in vars(self).items() if name.endswith("_hooks")}
        vars(self).clear()
        vars(self).update(vars(made) | hooks)
        self.__class__ = kind
        became(self)
        return self(*args, **kwargs)


def _lazy(kind: type[Module], axis: int) -> type[LazyModule]:
    text = f"A `{kind.__name__}` that learns the number of its inputs' features from the first one."
    known = {"becomes": kind, "axis": axis, "__doc__": text, "__module__": __name__}
    return type(f"Lazy{kind.__name__}", (LazyModule,), known)


LazyLinear = _lazy(linear.Linear, -1)
LazyConv1d = _lazy(convolution.Conv1d, -2)
LazyConv2d = _lazy(convolution.Conv2d, -3)
LazyConv3d = _lazy(convolution.Conv3d, -4)
LazyConvTranspose1d = _lazy(convolution.ConvTranspose1d, -2)
LazyConvTranspose2d = _lazy(convolution.ConvTranspose2d, -3)
LazyConvTranspose3d = _lazy(convolution.ConvTranspose3d, -4)
LazyBatchNorm1d = _lazy(normalization.BatchNorm1d, 1)
LazyBatchNorm2d = _lazy(normalization.BatchNorm2d, 1)
LazyBatchNorm3d = _lazy(normalization.BatchNorm3d, 1)
LazyInstanceNorm1d = _lazy(normalization.InstanceNorm1d, -2)
LazyInstanceNorm2d = _lazy(normalization.InstanceNorm2d, -3)
LazyInstanceNorm3d = _lazy(normalization.InstanceNorm3d, -4)

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip
