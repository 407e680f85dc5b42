"""torch.utils._pytree: containers of tensors, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..autodiff.trees import Structure, flatten, unflatten
from ..tensor import Tensor


def tree_flatten(tree: object) -> tuple[list[Tensor], Structure]:
    """The leaves of dicts, lists and tuples, and the structure that held them."""
    leaves, structure = flatten(tree)
    return list(leaves), structure


def tree_unflatten(leaves: Iterable[Tensor], treespec: Structure) -> Any:
    """The containers of a structure, with these leaves."""
    return unflatten(treespec, list(leaves))


def tree_map(func: Callable[..., Tensor], tree: object, *rests: object) -> Any:
    """The containers, with what a function gives for each leaf."""
    leaves, structure = tree_flatten(tree)
    others = [tree_flatten(each)[0] for each in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], structure)


def tree_leaves(tree: object) -> list[Tensor]:
    """What stands in tuples, lists and dicts, at any depth, in order."""
    return tree_flatten(tree)[0]
