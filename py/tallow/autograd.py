"""torch.autograd's names: gradients by given tensors, and functions with a rule of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from .autodiff.hooks import joined
from .autodiff.tensors import gradients_by
from .autodiff.trees import flatten, unflatten
from .errors import GradientError
from .functions import zeros
from .grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .tensor import Tensor

__all__ = [
    "Function", "backward", "enable_grad", "grad", "inference_mode", "is_grad_enabled", "no_grad",
    "set_grad_enabled",
]  # fmt: skip

Tensors = Tensor | Sequence[Tensor]


def _listed(value: Tensor | Sequence[Tensor | None] | None, count: int | None = None) -> list[Any]:
    """One tensor or several as a list; None as that many."""
    if value is None:
        return [None] * (count or 0)
    return [value] if isinstance(value, Tensor) else list(value)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of outputs by inputs; `grad` of no tensor changes.

    outputs: one tensor or several, which are computed from the inputs.
    inputs: one tensor or several, each of which requires a gradient.
    grad_outputs: a gradient for each output; None for a single number is 1.
    retain_graph: allows another call through the same graph; None is create_graph.
    create_graph: the gradients can be differentiated in turn.
    only_inputs: changes nothing.
    allow_unused: gives None for an input that no output depends on.
    materialize_grads: gives zeros for an input that no output depends on.
    Returns: a gradient for each input, a tuple.
    Raises: GradientError for an output that is not a single number and has no gradient, for an
      unused input that is not allowed, and for a graph that an earlier call let go.
    Source: PyTorch, `torch.autograd.grad`.
    """
    ends, wanted = _listed(outputs), _listed(inputs)
    starts = _listed(grad_outputs, len(ends))
    if len(starts) != len(ends):
        raise GradientError(f"autograd.grad: {len(starts)} grad_outputs for {len(ends)} outputs")
    keep = create_graph if retain_graph is None else retain_graph
    optional = bool(allow_unused or materialize_grads)
    found = gradients_by(ends, wanted, starts, keep, create_graph, optional)
    if materialize_grads:
        pairs = zip(wanted, found, strict=True)
        return tuple([zeros(x.shape, x.dtype) if each is None else each for x, each in pairs])
    return tuple(found)


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """`Tensor.backward` of each tensor, with its gradient.

    tensors: one tensor or several.
    grad_tensors: a gradient for each tensor; None for a single number is 1.
    retain_graph: allows another call through the same graph; None is create_graph.
    create_graph: the gradients can be differentiated in turn.
    Returns: nothing.
    Raises: GradientError, as `Tensor.backward`.
    Source: PyTorch, `torch.autograd.backward`.
    """
    ends = _listed(tensors)
    for x, gradient in zip(ends, _listed(grad_tensors, len(ends)), strict=True):
        x.backward(gradient, retain_graph, create_graph)


class Context:
    """What the forward rule of a `Function` leaves for its backward rule; attributes of one's own
    may be set too.

    saved_tensors: what `save_for_backward` was given.
    needs_input_grad: for each argument whether it requires a gradient.
    """

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()
        self._whole: set[int] = set()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors, or None, for the backward rule."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Marks results that no gradient passes."""
        self._whole |= {id(each) for each in tensors}

    def set_materialize_grads(self, value: bool) -> None:
        """Accepted for PyTorch's sake; gradients that are missing are always zeros."""

    def without_gradient(self, tensor: Tensor) -> bool:
        """Whether this result was marked by `mark_non_differentiable`."""
        return id(tensor) in self._whole


class Function:
    """A function with a user-defined gradient rule.

        class Cube(tl.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x ** 3

            @staticmethod
            def backward(ctx, gradient):
                (x,) = ctx.saved_tensors
                return 3 * x ** 2 * gradient

        y = Cube.apply(x)

    `forward` may also go without ctx, if there is `setup_context(ctx, inputs, output)`. `backward`
    gives a gradient, or None, for each argument of `forward`.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value: one tensor or a tuple.

        args, kwargs: the arguments; the first is a `Context`, unless there is a `setup_context`.
        """
        raise GradientError("autograd.Function: a subclass defines forward()")

    @staticmethod
    def backward(ctx: Context, *gradients: Any) -> Any:
        """The gradients of the arguments.

        ctx: what the forward rule left.
        gradients: those of the results, in their order.
        Returns: a gradient, or None, for each argument of `forward`.
        """
        raise GradientError("autograd.Function: a subclass defines backward()")

    setup_context: Callable[..., None] | None = None

    @classmethod
    def apply(cls, *args: object) -> Any:
        """The function of these arguments, with its own gradient.

        args: the arguments of `forward`, without the context.
        Returns: what `forward` gives.
        Raises: GradientError, in the backward pass, if `backward` gives another number of gradients
          than there are arguments.
        """
        operands = [x for x in args if isinstance(x, Tensor)]
        needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        context = Context(needs)
        with no_grad():
            if cls.setup_context is None:
                result = cls.forward(context, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(context, args, result)
        if not is_grad_enabled():
            return result
        saved, structure = flatten(context.saved_tensors)

        def pull(gradients: list[Tensor], *saved: Tensor) -> list[Tensor | None]:
            own = copy(context)
            own.saved_tensors = unflatten(structure, saved)
            given = cls.backward(own, *(_filled(indices, len(results), gradients, kinds)))
            given = given if isinstance(given, tuple) else (given,)
            if len(given) != len(args):
                raise GradientError(
                    f"{cls.__name__}: backward gives {len(given)} gradients for {len(args)} "
                    "arguments of forward"
                )
            return [g for g, x in zip(given, args, strict=True) if isinstance(x, Tensor)]

        results = [result] if isinstance(result, Tensor) else list(result)
        indices = [
            n for n, x in enumerate(results)
            if isinstance(x, Tensor) and x.dtype.is_floating and not context.without_gradient(x)
        ]  # fmt: skip
        kinds = [(x.shape, x.dtype) if isinstance(x, Tensor) else None for x in results]
        context.saved_tensors = ()
        new = joined(
            [results[n] for n in indices], [x.node for x in operands], pull, [x.node for x in saved]
        )
        found = list(results)
        for n, each in zip(indices, new, strict=True):
            found[n] = each
        return found[0] if isinstance(result, Tensor) else tuple(found)


def _filled(
    indices: Sequence[int], count: int, gradients: Sequence[Tensor], kinds: Sequence[Any]
) -> list[Tensor | None]:
    """A gradient for each result: zeros for those that none passes, None for what is no tensor."""
    found: list[Tensor | None] = [kind and zeros(*kind) for kind in kinds]
    for n, gradient in zip(indices, gradients, strict=True):
        found[n] = gradient
    return found
