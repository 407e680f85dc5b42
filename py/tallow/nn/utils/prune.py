"""torch.nn.utils.prune: parameters of which a mask hides elements.

A pruned parameter NAME becomes a parameter NAME_orig and a buffer NAME_mask; before each call the
module's NAME is their product. `remove` makes it a parameter again, with zeros where the mask has
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ... import functions as f
from ...errors import MissingError, OptionError
from ...grad_mode import no_grad
from ...tensor import Tensor, asarray
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity",
    "is_pruned", "l1_unstructured", "ln_structured", "random_structured", "random_unstructured",
    "remove",
]  # fmt: skip


class BasePruningMethod:
    """A way to choose a mask; a call of it before a module's puts the product in place.

    A subclass defines `compute_mask(t, default_mask)`, which gives 0 where elements of the scores t
    are hidden: also where the default mask, of what was pruned before, has 0.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name = ""

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask."""
        raise MissingError(f"{type(self).__name__} does not define compute_mask()")

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        name = self._tensor_name
        mask, original = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        product: Tensor = mask.astype(original.dtype) * original
        return product

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: object = None, **options: Any
    ) -> Any:
        """Prunes a parameter of a module, further if it is pruned already. Raises OptionError for
        a name that is no parameter, and for a part beyond 0 and 1."""
        method = cls(*args, **options)
        method._tensor_name = name
        before = next((h for h in _methods(module) if h._tensor_name == name), None)
        if before is None:
            original = module._parameters.get(name)
            if original is None:
                raise OptionError(f"prune: {name!r} is no parameter of {type(module).__name__}")
            default = f.ones_like(original.detach())
        else:
            original = getattr(module, f"{name}_orig")
            default = getattr(module, f"{name}_mask").detach()
        scores = original.detach() if importance_scores is None else asarray(importance_scores)
        with no_grad():
            mask = method.compute_mask(scores, default).detach().realize()
        if before is None:
            delattr(module, name)
            module.register_parameter(f"{name}_orig", original)
            module.register_buffer(f"{name}_mask", mask)
            module.register_forward_pre_hook(method)
        else:
            getattr(module, f"{name}_mask").assign(mask)
        setattr(module, name, method.apply_mask(module))
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """A tensor with zeros where its mask has them."""
        scores = t if importance_scores is None else importance_scores
        default = f.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default)


def _methods(module: Module) -> list[BasePruningMethod]:
    return [h for h in module._forward_pre_hooks.values() if isinstance(h, BasePruningMethod)]


def _count(amount: float, total: int) -> int:
    """How many of so many: a part from 0 to 1, or a number."""
    whole = isinstance(amount, int) and not isinstance(amount, bool)
    if amount < 0 or (not whole and amount > 1) or (whole and amount > total):
        raise OptionError(f"prune: the amount {amount} of {total} is not between 0 and 1, or all")
    return amount if whole else round(amount * total)  # type: ignore[return-value]


def _without(default: Tensor, scores: Tensor, amount: float) -> Tensor:
    """The default mask, without so many of the elements of least scores that it has left."""
    flat = f.reshape(default, (-1,))
    left = int(float(f.sum(flat)))
    count = min(_count(amount, left), left)
    if not count:
        return default
    kept = f.where(flat > 0, f.reshape(scores, (-1,)).astype("float32"), math.inf)
    ranks = f.argsort(f.argsort(kept))
    return f.reshape(f.where(ranks < count, 0.0, flat), default.shape).astype(default.dtype)


class Identity(BasePruningMethod):
    """A mask of ones."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: object) -> None:
        self.mask = asarray(mask)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.astype(default_mask.dtype)


class RandomUnstructured(BasePruningMethod):
    """Hides elements that are drawn. amount: which part, or how many."""

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, f.rand(tuple(t.shape)), self.amount)


class L1Unstructured(BasePruningMethod):
    """Hides the elements of the least absolute values. amount: which part, or how many."""

    def __init__(self, amount: float) -> None:
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(default_mask, f.abs(t), self.amount)


class RandomStructured(BasePruningMethod):
    """Hides slices along an axis that are drawn."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount, self.dim = amount, dim

    def scores(self, t: Tensor) -> Tensor:
        """A number for each slice; those of the least are hidden."""
        return f.rand((t.shape[self.dim],))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        axis = self.dim % t.ndim
        others = tuple(a for a in range(t.ndim) if a != axis)
        there = f.max(default_mask, others) if others else default_mask
        kept = _without(there, self.scores(t * default_mask), self.amount)
        return default_mask * f.reshape(kept, [-1 if a == axis else 1 for a in range(t.ndim)])


class LnStructured(RandomStructured):
    """Hides the slices along an axis of the least n-norm."""

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t: Tensor) -> Tensor:
        from ...functions.products import norm

        return norm(f.reshape(f.moveaxis(t, self.dim, 0), (t.shape[self.dim], -1)), self.n, 1)


def identity(module: Module, name: str) -> Module:
    """Adds a mask of ones to a parameter."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Hides elements that are drawn."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: object = None
) -> Module:
    """Hides the elements of the least absolute values, or scores."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Hides slices along an axis that are drawn."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: float | str,
    dim: int,
    importance_scores: object = None,
) -> Module:
    """Hides the slices along an axis of the least n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: object) -> Module:
    """Hides elements where a mask has 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[Sequence[Any]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Any] | None = None,
    **options: object,
) -> None:
    """Prunes several parameters, (module, name) each, as if they were one. Raises OptionError for a
    method of slices."""
    pairs = [(module, name) for module, name in parameters]
    if pruning_method.PRUNING_TYPE != "unstructured":
        raise OptionError("global_unstructured: takes methods that hide single elements")
    given = importance_scores or {}
    tensors, masks = [], []
    for module, name in pairs:
        pruned = hasattr(module, f"{name}_orig")
        value: Tensor = getattr(module, f"{name}_orig" if pruned else name)
        tensors.append(asarray(given.get((module, name), value)).detach())
        masks.append(getattr(module, f"{name}_mask") if pruned else f.ones_like(value.detach()))
    with no_grad():
        scores = f.concat([f.reshape(x, (-1,)) for x in tensors])
        default = f.concat([f.reshape(x, (-1,)) for x in masks])
        whole = pruning_method(**options).compute_mask(scores, default)
    start = 0
    for (module, name), x in zip(pairs, tensors, strict=True):
        stop = start + int(x.size)
        custom_from_mask(module, name, f.reshape(whole[start:stop], x.shape).realize())
        start = stop


def remove(module: Module, name: str) -> Module:
    """Makes the product a parameter again. Raises OptionError for one that is not pruned."""
    for key, method in list(module._forward_pre_hooks.items()):
        if isinstance(method, BasePruningMethod) and method._tensor_name == name:
            with no_grad():
                value = method.apply_mask(module).detach().realize()
            del module._forward_pre_hooks[key]
            delattr(module, name)
            delattr(module, f"{name}_orig")
            delattr(module, f"{name}_mask")
            setattr(module, name, Parameter(value))
            return module
    raise OptionError(f"prune: {name!r} of {type(module).__name__} is not pruned")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one within it, is pruned."""
    return any(_methods(each) for each in module.modules())
