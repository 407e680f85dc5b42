"""Replaces the symbolic dimensions of a model's inputs by lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...core.shape import Shape, check_shape
from ...errors import ShapeError
from .records import ValueInfo

Shapes = Mapping[str, int | Sequence[int]]


def concrete_shapes(inputs: Sequence[ValueInfo], given: Shapes | None) -> dict[str, Shape]:
    """The shape of each input by name.

    given: lengths by dimension name, or shapes by input name. A leading symbolic dimension defaults
    to 1 (one image, one row); any other must be given, or a ShapeError names it.
    """
    lengths = given_lengths(inputs, given or {})
    for info in inputs:
        if info.shape and isinstance(info.shape[0], str):
            lengths.setdefault(info.shape[0], 1)
    result = {}
    for info in inputs:
        if info.shape is None:
            wanted = (given or {}).get(info.name)
            if wanted is None or isinstance(wanted, int):
                raise ShapeError(
                    f"the file does not give the shape of the input {info.name!r}: pass it, "
                    f"as in shapes={{{info.name!r}: (1, 3, 224, 224)}}"
                )
            result[info.name] = check_shape(wanted, f"shapes[{info.name!r}]")
            continue
        for dim in info.shape:
            if isinstance(dim, str) and dim not in lengths:
                raise ShapeError(
                    f"the input {info} has the dimension {dim!r}, which is not fixed: pass its "
                    f"length, as in shapes={{{dim!r}: 128}}, or the whole shape, as "
                    f"shapes={{{info.name!r}: (...)}}"
                )
        result[info.name] = tuple(
            lengths[dim] if isinstance(dim, str) else dim for dim in info.shape
        )
    return result


def guessed(inputs: Sequence[ValueInfo], given: Shapes | None) -> bool:
    """Whether `concrete_shapes` falls back to 1 for a leading dimension."""
    leading = {info.shape[0] for info in inputs if info.shape and isinstance(info.shape[0], str)}
    return bool(leading - given_lengths(inputs, given or {}).keys())


def given_lengths(inputs: Sequence[ValueInfo], given: Shapes) -> dict[str, int]:
    """Lengths by dimension name; ShapeError for shapes that do not fit the inputs."""
    by_name = {info.name: info for info in inputs}
    names = {dim for info in inputs for dim in info.shape or () if isinstance(dim, str)}
    lengths: dict[str, int] = {}
    for key, value in given.items():
        if isinstance(value, int):
            if key not in names:
                raise ShapeError(
                    f"shapes[{key!r}]: there is no dimension of that name; {_known(names)}"
                )
            _set(lengths, key, check_shape([value], f"shapes[{key!r}]")[0], key)
            continue
        if key not in by_name:
            raise ShapeError(f"shapes[{key!r}]: there is no input of that name; the inputs are "
                             f"{', '.join(map(repr, by_name)) or 'none'}")  # fmt: skip
        info, wanted = by_name[key], check_shape(value, f"shapes[{key!r}]")
        if info.shape is None:
            continue
        fits = len(wanted) == len(info.shape) and all(
            isinstance(dim, str) or dim == length
            for dim, length in zip(info.shape, wanted, strict=True)
        )
        if not fits:
            raise ShapeError(f"shapes[{key!r}] is {wanted}, but the model has {info}")
        for dim, length in zip(info.shape, wanted, strict=True):
            if isinstance(dim, str):
                _set(lengths, dim, length, key)
    return lengths


def _set(lengths: dict[str, int], name: str, length: int, key: str) -> None:
    if lengths.setdefault(name, length) != length:
        raise ShapeError(
            f"shapes[{key!r}]: the dimension {name!r} cannot be both {lengths[name]} and {length}"
        )


def _known(names: Iterable[str]) -> str:
    listed = ", ".join(map(repr, sorted(names)))
    return f"the symbolic ones are {listed}" if listed else "every dimension is fixed"
