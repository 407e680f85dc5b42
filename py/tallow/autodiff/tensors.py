"""What tensors ask of derivatives: `requires_grad`, `backward`, `detach`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

from .. import functions as f
from ..errors import DTypeError, GradientError, ShapeError
from ..grad_mode import is_grad_enabled, no_grad
from ..graph import Node
from ..hooks import RemovableHandle
from ..tensor import Tensor, realize_now
from . import history, hooks
from .history import check_floating, leaf_of, mark_leaf, same, stopped
from .reverse import ancestry, pullback


class ReverseMode:
    """Gradients of tensors, by reverse mode."""

    def is_tracked(self, tensor: Tensor) -> bool:
        """Whether a gradient of this tensor reaches one that receives it."""
        return history.is_tracked(tensor.node)

    def receive(self, tensor: Tensor, wanted: bool) -> None:
        """Has a tensor receive gradients from now on, or no longer."""
        if not wanted:
            tensor.node = stopped(tensor.node)
            return
        check_floating(tensor, "requires_grad")
        if leaf_of(tensor.node) is not tensor:
            tensor.node = same(tensor.node)  # another tensor may share the node
            history.STEPS.pop(tensor.node, None)  # if it was made within no_grad
            mark_leaf(tensor.node, tensor)

    def backward(
        self, tensor: Tensor, gradient: Tensor | None, keep: bool, differentiable: bool
    ) -> None:
        """See `Tensor.backward`."""
        node = tensor.node
        order = ancestry([node])
        check_compiled(order, "backward")
        held = [each for each in order if each in history.HELD] if len(history.HELD) else []
        if any(each in history.SPENT for each in held):
            raise GradientError(
                "backward: a second time through what a variable, such as a buffer of a module, "
                "was computed from; give the variable what detach() gives, or the first call "
                "retain_graph=True"
            )
        leaves = [(each, found) for each in order if (found := leaf_of(each)) is not None]
        if not leaves and node in history.SPENT:
            raise GradientError(
                "backward: a second time through the same graph, which the first call let go; give "
                "that call retain_graph=True, or compute the loss again"
            )
        if not leaves:
            raise GradientError(
                "backward: nothing that this tensor is computed from requires a gradient; use "
                "asarray(..., requires_grad=True), nn.Parameter or requires_grad_()"
            )
        with nullcontext() if differentiable else no_grad():
            start = seed(tensor, gradient, "backward")
            parts = pullback([node], [start], [each for each, _ in leaves])
            new: dict[int, tuple[Tensor, Tensor]] = {}  # a leaf, and its gradient
            for (_, leaf), part in zip(leaves, parts, strict=True):
                if part is not None:
                    before = new[id(leaf)][1] if id(leaf) in new else leaf.grad
                    grown = Tensor(part) if before is None else before + Tensor(part)
                    new[id(leaf)] = leaf, grown
        realize_now([tensor, *(gradient for _, gradient in new.values())])
        for leaf, gradient in new.values():
            leaf.grad = gradient
        if not keep and tensor.node.is_buffer:  # not while a function is being traced
            history.STEPS.pop(tensor.node, None)
            history.SPENT.add(tensor.node)
            history.SPENT.update(held)

    def detached(self, tensor: Tensor) -> Tensor:
        """The same values, which no gradient passes."""
        return Tensor(stopped(tensor.node))

    def hook(self, tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """See `Tensor.register_hook`."""
        return hooks.register(tensor, hook)

    def retain(self, tensor: Tensor) -> None:
        """See `Tensor.retain_grad`."""
        hooks.retain(tensor)

    def is_leaf(self, tensor: Tensor) -> bool:
        """Whether nothing that it is computed from, itself aside, receives a gradient."""
        if leaf_of(tensor.node) is not None:
            return True
        return tensor.node not in history.SPENT and not self.is_tracked(tensor)

    def keeps(self, tensor: Tensor, free: bool) -> bool:
        """Whether the object itself must be changed in place."""
        receives = leaf_of(tensor.node) is tensor
        return receives and (free or not is_grad_enabled())

    def replace(self, tensor: Tensor, value: Tensor, free: bool) -> None:
        """Has a tensor stand for another value."""
        before = tensor.node
        if leaf_of(before) is not tensor:
            tensor.node = value.node
            unseen = free or not is_grad_enabled()
            if unseen and history.is_tracked(before):  # as if nothing had happened
                tensor.node = stopped(value.node)
                history.replaced_by_value(before, tensor.node)
            return
        if is_grad_enabled() and not free:
            raise GradientError(
                "in place: a tensor that requires a gradient is changed within `with tl.no_grad():`"
            )
        with no_grad():
            new = stopped(value.node)
        held = Tensor(new)
        realize_now([held])  # so that steps of training do not pile up
        tensor.node = same(held.node)
        history.STEPS.pop(tensor.node, None)
        mark_leaf(tensor.node, tensor)


def check_compiled(order: Sequence[Node], what: str) -> None:
    """GradientError if a gradient would have to pass a function that is compiled."""
    if history.COMPILED and any(node in history.COMPILED for node in order):
        raise GradientError(
            f"{what}: a result of a function under @tl.jit is part of this graph, through which no "
            "gradient passes; call backward or tl.grad within that function, or take the result's "
            "detach()"
        )


def seed(tensor: Tensor, gradient: Tensor | None, what: str) -> Node:
    """The gradient that a pullback begins with: that which is given, or 1 for a single number."""
    check_floating(tensor, what)
    if gradient is None:
        if tensor.size != 1:
            raise GradientError(
                f"{what}: the loss must be a single number, but its shape is {tensor.shape}; "
                "take its sum or mean first, or give a gradient of that shape"
            )
        return f.ones(tensor.shape, tensor.dtype).node
    if gradient.shape != tensor.shape:
        raise ShapeError(f"{what}: a gradient {gradient.shape} for a tensor {tensor.shape}")
    if gradient.dtype != tensor.dtype:
        raise DTypeError(
            f"{what}: a gradient of type {gradient.dtype.name} for a tensor of {tensor.dtype.name}"
        )
    return gradient.node
