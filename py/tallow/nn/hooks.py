"""Hooks of modules that see the gradients of a call's arguments and of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..autodiff.hooks import joined, notes
from ..errors import GradientError
from ..tensor import Tensor

Hooks = Mapping[int, Callable[..., Any]]


class WatchedCall:
    """A call of a module whose gradients pass hooks.

    It must not hold gradients: what the way back notes for later is in `notes`.
    """

    def __init__(self, module: object, before: Hooks, hooks: Hooks) -> None:
        self._module = module
        self._before, self._hooks = before, hooks

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The positional arguments, whose gradients pass the hooks."""
        self._given = _floating_indices(args)
        self._given_count = len(args)
        self._reached = any(args[n].requires_grad for n in self._given)
        if not self._reached:
            return args
        changed = list(args)
        tensors = [args[n] for n in self._given]
        for n, new in zip(
            self._given, joined(tensors, [x.node for x in tensors], self._pull_inputs), strict=True
        ):
            changed[n] = new
        return tuple(changed)

    def outputs(self, result: object) -> Any:
        """The result, whose gradients pass the hooks. Raises GradientError if it is neither a
        tensor nor a tuple or list."""
        if not isinstance(result, (Tensor, tuple, list)):
            raise GradientError(
                f"{type(self._module).__name__}: a module with backward hooks must return a tensor "
                f"or a tuple of tensors, not {type(result).__name__}"
            )
        outputs: list[Any] = [result] if isinstance(result, Tensor) else list(result)
        self._left = _floating_indices(outputs)
        self._left_count = len(outputs)
        tensors = [outputs[n] for n in self._left]
        new = joined(tensors, [x.node for x in tensors], self._pull_outputs)
        for n, each in zip(self._left, new, strict=True):
            outputs[n] = each
        if isinstance(result, Tensor):
            return outputs[0]
        kind: Callable[..., Any] = type(result)
        return kind(*outputs) if hasattr(result, "_fields") else kind(outputs)

    def _pull_outputs(self, gradients: list[Tensor]) -> list[Tensor | None]:
        whole = _filled(self._left, self._left_count, gradients)
        for hook in list(self._before.values()):
            whole = self._changed(hook(self._module, whole), whole)
        notes.get()[self] = whole
        if not self._reached:
            for hook in list(self._hooks.values()):
                hook(self._module, (None,) * self._given_count, whole)
        return [whole[n] for n in self._left]

    def _pull_inputs(self, gradients: list[Tensor]) -> list[Tensor | None]:
        whole = _filled(self._given, self._given_count, gradients)
        outputs = notes.get().get(self, (None,) * self._left_count)
        for hook in list(self._hooks.values()):
            whole = self._changed(hook(self._module, whole, outputs), whole)
        return [whole[n] for n in self._given]

    def _changed(
        self, given: Tensor | Iterable[Tensor | None] | None, whole: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """The gradients after a hook."""
        if given is None:
            return whole
        new = (given,) if isinstance(given, Tensor) else tuple(given)
        if len(new) != len(whole):
            raise GradientError(
                f"{type(self._module).__name__}: a backward hook gives {len(new)} gradients "
                f"instead of {len(whole)}"
            )
        return new


def _floating_indices(values: Sequence[Any]) -> list[int]:
    """The indices of floating tensors."""
    return [n for n, x in enumerate(values) if isinstance(x, Tensor) and x.dtype.is_floating]


def _filled(indices: Sequence[int], count: int, gradients: Sequence[Tensor]) -> tuple[Any, ...]:
    """Gradients at their indices, None at the others."""
    found: list[Tensor | None] = [None] * count
    for n, gradient in zip(indices, gradients, strict=True):
        found[n] = gradient
    return tuple(found)
