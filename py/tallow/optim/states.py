"""What an optimiser keeps of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray


class States(dict[int, dict[str, Any]]):
    """What an optimiser keeps of parameters, by their numbers: `state[p]`, which is an empty dict
    at first, `p in state`. leaves: what stands for parameters that are plain tensors, by their
    identity."""

    def __init__(self, leaves: Mapping[int, Variable]) -> None:
        super().__init__()
        self._leaves = leaves

    def _number(self, p: object) -> Any:
        """A parameter's number; a number itself."""
        if isinstance(p, Tensor) and not isinstance(p, Variable):
            p = self._leaves.get(id(p))
        return p.number if isinstance(p, Variable) else p

    def __getitem__(self, p: object) -> dict[str, Any]:
        return super().setdefault(self._number(p), {})

    def __setitem__(self, p: object, kept: dict[str, Any]) -> None:
        super().__setitem__(self._number(p), kept)

    def get(self, p: object, default: object = None) -> Any:
        """What is kept of a parameter, or the default."""
        return super().get(self._number(p), default)

    def setdefault(self, p: object, default: dict[str, Any] | None = None) -> dict[str, Any]:
        """What is kept of a parameter, which is the default from now on if there is nothing."""
        return super().setdefault(self._number(p), {} if default is None else default)

    def __contains__(self, p: object) -> bool:
        return super().__contains__(self._number(p))


def kept(value: object) -> Any:
    """The value now of what belongs to a state."""
    if isinstance(value, Variable):
        return Tensor(value.node).detach()
    return list(value) if isinstance(value, list) else value


def fitting(p: Parameter, name: str, value: object) -> Any:
    """A value that is loaded, in the type in which a step computes: the parameter's if it is of its
    shape, float32 for numbers. What is no tensor stays as it is."""
    if not hasattr(value, "shape"):
        return value
    tensor = asarray(value).detach()
    if name != "step" and tensor.shape == p.shape:
        return tensor.astype(p.dtype) if tensor.dtype.is_floating else tensor
    return tensor.astype("float32") if name == "step" or tensor.dtype.is_floating else tensor
