"""Tensors in tuples, lists and dicts: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ..tensor import Tensor, asarray


class Structure(NamedTuple):
    """What holds tensors. key: equal for equal structures. size: how many tensors. build: makes
    it of others."""

    key: Hashable
    size: int
    build: Callable[[list[Tensor]], Any]


def flatten(value: object) -> tuple[list[Tensor], Structure]:
    """The tensors of a value in order, and its structure; what is no tensor stays as it is."""
    tensors: list[Tensor] = []
    structure = _taken(value, tensors)
    return tensors, structure


def unflatten(structure: Structure, tensors: Sequence[Tensor]) -> Any:
    """A value of that structure with these tensors."""
    rest = list(tensors)[::-1]
    return structure.build(rest)


def as_tensors(value: object) -> Any:
    """The same value, with tensors for the Python floats and the arrays in it."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, float) or hasattr(value, "__array_interface__"):
        return asarray(value)
    if isinstance(value, dict):
        return {name: as_tensors(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        found = [as_tensors(each) for each in value]
        return type(value)(*found) if hasattr(value, "_fields") else type(value)(found)
    return value


def _taken(value: object, tensors: list[Tensor]) -> Structure:
    if isinstance(value, Tensor):
        tensors.append(value)
        return Structure(Tensor, 1, lambda rest: rest.pop())
    if isinstance(value, dict):
        names = sorted(value)
        parts = [_taken(value[name], tensors) for name in names]

        def build_dict(rest: list[Tensor]) -> Any:
            found = {name: part.build(rest) for name, part in zip(names, parts, strict=True)}
            return {name: found[name] for name in value}

        key = ("dict", *((n, part.key) for n, part in zip(names, parts, strict=True)))
        return Structure(key, sum(part.size for part in parts), build_dict)
    if isinstance(value, (tuple, list)):
        parts = [_taken(each, tensors) for each in value]
        kind = type(value)

        def build(rest: list[Tensor]) -> Any:
            found = [part.build(rest) for part in parts]
            return kind(*found) if hasattr(kind, "_fields") else kind(found)

        keys: list[Hashable] = [kind.__name__, *(part.key for part in parts)]
        return Structure(tuple(keys), sum(part.size for part in parts), build)
    return Structure(None, 0, lambda rest: value)
