"""Parameters and buffers: the variables of modules."""

from __future__ import annotations

from ..core.dtype import DType
from ..runtime.variable import Variable


class Parameter(Variable):
    """A variable that an optimiser trains: `backward` gives it a gradient.

    data: what `asarray` takes, or a tensor; requires_grad: False freezes it. A module registers the
    parameters that are assigned to its attributes. It takes marks, such as
    `p.no_weight_decay = True`, which mean nothing to Tallow.
    """

    __slots__ = ("__dict__",)  # for marks

    def __init__(
        self,
        data: object,
        requires_grad: bool = True,
        *,
        dtype: DType | str | None = None,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(data, dtype, name=name, device=device, requires_grad=requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Variable):
    """A variable of a module that no optimiser trains, such as a running mean. persistent: whether
    it belongs to the `state_dict` of the module to which it is assigned."""

    __slots__ = ("__dict__", "persistent")

    def __init__(
        self,
        data: object,
        dtype: DType | str | None = None,
        *,
        persistent: bool = True,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__(data, dtype, name=name, device=device)
        self.persistent = persistent
