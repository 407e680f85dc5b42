"""`Leaf`: how an optimiser has a tensor that requires a gradient and is no parameter."""

from __future__ import annotations

from typing import Self

from ..core import context
from ..errors import OptionError
from ..graph import Node
from ..nn.parameter import Parameter
from ..runtime.buffer import Buffer, Memory
from ..tensor import Tensor


class Leaf(Parameter):
    """A parameter whose value and gradient are those of a tensor, such as
    `asarray(data, requires_grad=True)`. It changes outside of functions under `@tl.jit` alone: for
    these, a tensor is a constant.

    Raises OptionError for a tensor that requires no gradient, or that is computed from others.
    """

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor, owner: str) -> None:
        if not tensor.requires_grad:
            raise OptionError(
                f"{owner}: {tensor.described()} requires no gradient; call requires_grad_() first, "
                "or make an nn.Parameter of it"
            )
        if not tensor.is_leaf:
            raise OptionError(
                f"{owner}: {tensor.described()} is computed from other tensors; optimise these, "
                "or its copy, x.detach().requires_grad_()"
            )
        self.tensor = tensor
        super().__init__(tensor, device=tensor.device)

    @property
    def node(self) -> Node:  # type: ignore[override]
        return self.tensor.node

    @property
    def grad(self) -> Tensor | None:
        """The tensor's gradient."""
        return self.tensor.grad

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        self.tensor.grad = gradient

    @property
    def waits_for(self) -> Node | None:
        """Never any: the tensor has its value."""
        return None

    def buffer(self, memory: Memory | None = None) -> Buffer:
        """The buffer of the tensor's value, computed if it is not yet."""
        self.tensor.realize()
        self._buffer, self._initial = self._computed(self.tensor.detach()), None
        return super().buffer(memory)

    def assign(self, value: object) -> Self:
        """Gives the tensor another value. OptionError under `@tl.jit`."""
        if context.trace.get():
            raise OptionError(
                "an optimiser's step under @tl.jit cannot change a plain tensor, which is a "
                "constant there; make an nn.Parameter of it"
            )
        return super().assign(value)

    def settle(self, buffer: Buffer) -> None:
        """The tensor's value is in this buffer."""
        super().settle(buffer)
        self.tensor.node = buffer.node
        self.tensor.requires_grad = True
