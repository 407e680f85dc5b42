"""The gradient interface of tensors: `requires_grad`, `backward`, `detach`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from weakref import ref

from .. import functions as f
from ..core.hooks import RemovableHandle
from ..errors import DTypeError, GradientError, ShapeError
from ..grad_mode import is_grad_enabled, no_grad
from ..graph import Node, alias
from ..tensor import Tensor, check_floating, derived
from . import hooks
from .gradients import Gradients
from .past import (
    Past,
    is_spent,
    is_tracked,
    leaf_of,
    passed_to,
    spend,
    stopped,
)
from .reverse import ancestry


class ReverseMode:
    """Gradients of tensors, by reverse mode."""

    def receive(self, tensor: Tensor, wanted: bool) -> None:
        """Sets whether `backward` stores gradients in a tensor."""
        if not wanted:
            tensor.node = stopped(tensor.node)
            return
        check_floating(tensor, "requires_grad")
        if leaf_of(tensor.node) is not tensor:  # another tensor may share the node
            tensor.node = alias(tensor.node, Past(leaf=ref(tensor)))

    def backward(
        self, tensor: Tensor, gradient: Tensor | None, keep: bool, differentiable: bool
    ) -> None:
        node = tensor.node
        order = ancestry([node])
        check_compiled(order, "backward")
        held = [each for each in order if each.past is not None and each.past.history]
        if any(map(is_spent, held)):
            raise GradientError(
                "backward: a second time through what a variable, such as a buffer of a module, "
                "was computed from; give the variable what detach() gives, or the first call "
                "retain_graph=True"
            )
        leaves: dict[int, Tensor] = {}
        groups: dict[int, list[Node]] = {}  # what receives may have been read several times
        for each in order:
            leaf = leaf_of(each)
            if leaf is not None:
                leaves[id(leaf)] = leaf
                groups.setdefault(id(leaf), []).append(each)
        if not leaves and is_spent(node):
            raise GradientError(
                "backward: a second time through the same graph, which the first call freed; give "
                "that call retain_graph=True, or compute the loss again"
            )
        if not leaves and not is_tracked(node):  # leaves that nobody holds any more are no error
            raise GradientError(
                "backward: nothing that this tensor is computed from requires a gradient; use "
                "asarray(..., requires_grad=True), nn.Parameter or requires_grad_()"
            )
        added: list[Tensor] = []
        with nullcontext() if differentiable else no_grad():
            start = seed(tensor, gradient, "backward")
            before = [leaf.grad for leaf in leaves.values()]
            wanted = [*groups.values()]
            made = Gradients([tensor], [start], wanted, before, order, not differentiable)
            for leaf, new in zip(leaves.values(), derived(made), strict=True):
                if new is not None:
                    leaf.grad = new
                    added.append(leaf)
        if not keep and tensor.node.is_buffer:  # not while a function is being traced
            for each in (tensor.node, *held):
                spend(each)
        for leaf in added:
            for hook in list(leaf.added_hooks.values()):
                hook(leaf)

    def detached(self, tensor: Tensor) -> Tensor:
        """The same values, which no gradient passes."""
        return Tensor(stopped(tensor.node))

    def hook(self, tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        return hooks.register(tensor, hook)

    def retain(self, tensor: Tensor) -> None:
        hooks.retain(tensor)

    def is_leaf(self, tensor: Tensor) -> bool:
        """Whether it is a leaf: nothing that it is computed from receives a gradient."""
        if leaf_of(tensor.node) is not None:
            return True
        return not is_spent(tensor.node) and not is_tracked(tensor.node)

    def reaches(self, tensor: Tensor) -> bool:
        """Whether `backward` would give a tensor a gradient: what functions such as `grad` return
        does not, unless a leaf is among what it was computed from."""
        return any(leaf_of(node) is not None for node in ancestry([tensor.node]))

    def changes(self, tensor: Tensor, free: bool) -> bool:
        """Whether a tensor may be changed in place."""
        return free or not is_grad_enabled() or leaf_of(tensor.node) is not tensor

    def replace(self, tensor: Tensor, value: Tensor, free: bool) -> None:
        """Replaces the value of a tensor in place."""
        before = tensor.node
        if leaf_of(before) is not tensor:
            unseen = free or not is_grad_enabled()
            hidden = unseen and is_tracked(before)  # as if nothing had happened
            tensor.node = alias(value.node, passed_to(before)) if hidden else value.node
            return
        if is_grad_enabled() and not free:
            raise GradientError(
                "in place: a tensor that requires a gradient is changed within `with tl.no_grad():`"
            )
        tensor.node = alias(stopped(value.node), Past(leaf=ref(tensor)))


def gradients_by(
    ends: Sequence[Tensor],
    wanted: Sequence[Tensor],
    starts: Sequence[Tensor | None],
    keep: bool,
    differentiable: bool,
    optional: bool,
) -> list[Tensor | None]:
    """The gradients of the ends by tensors, computed; see `tallow.autograd.grad`.

    starts: the gradients of the ends. keep: allows another call. differentiable: the gradients can
    be differentiated in turn. optional: None for a tensor that no end depends on; GradientError
    otherwise.
    """
    if any(is_spent(x.node) for x in ends):
        raise GradientError(
            "autograd.grad: a second time through the same graph, which the first call freed; "
            "give that call retain_graph=True, or compute the outputs again"
        )
    nodes = [x.node for x in ends]
    order = ancestry(nodes)
    check_compiled(order, "autograd.grad")
    # What receives a gradient may have been read several times, each time as another node.
    nodes_of = [[n for n in order if leaf_of(n) is x] or [x.node] for x in wanted]
    with nullcontext() if differentiable else no_grad():
        begin = [seed(x, g, "autograd.grad") for x, g in zip(ends, starts, strict=True)]
        before = [None] * len(wanted)
        found = derived(Gradients(ends, begin, nodes_of, before, order, not differentiable))
    for number, each in enumerate(found):
        if each is None and not optional:
            raise GradientError(
                f"autograd.grad: no output depends on input {number}; with allow_unused=True its "
                "gradient is None"
            )
    for x in ends:
        if not keep and x.node.is_buffer:
            spend(x.node)
    return found


def check_compiled(order: Iterable[Node], what: str) -> None:
    """GradientError if a gradient would have to pass a function that is compiled."""
    if any(node.past is not None and node.past.sealed for node in order):
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
