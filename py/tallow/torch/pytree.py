"""torch.utils._pytree: containers of tensors, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autodiff.trees import flatten, unflatten


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of dicts, lists and tuples, and the structure that held them."""
    leaves, structure = flatten(tree)
    return list(leaves), structure


def tree_unflatten(leaves: Any, treespec: Any) -> Any:
    """The containers of a structure, with these leaves."""
    return unflatten(treespec, list(leaves))


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """The containers, with what a function gives for each leaf."""
    leaves, structure = tree_flatten(tree)
    others = [tree_flatten(each)[0] for each in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], structure)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree)[0]
