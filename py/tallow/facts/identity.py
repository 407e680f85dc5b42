"""How the values of facts are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import MethodType
from typing import Any
from weakref import ref


class _Missing:
    def __repr__(self) -> str:
        return "not there"


MISSING: Any = _Missing()
"""The value of an attribute, or of an entry in a table, that is not there."""


class Same:
    """Is equal for one object alone, which it does not keep alive if it can help it."""

    __slots__ = ("_get", "_hash")

    def __init__(self, value: object) -> None:
        self._hash = id(value)
        try:
            self._get: Callable[[], Any] = ref(value)
        except TypeError:
            self._get = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        mine = self._get()
        return isinstance(other, Same) and mine is not None and mine is other._get()

    def __repr__(self) -> str:
        value = self._get()
        if value is None or value is MISSING:
            return "an object that is gone" if value is None else "not there"
        return getattr(value, "__qualname__", None) or f"a {type(value).__name__}"


_PLAIN = {int, bool, str, bytes, type(None)}


def _is_number(kind: type) -> bool:
    """Of this kind are Python's numbers and NumPy's, which are no arrays."""
    return kind is complex or (hasattr(kind, "__float__") and kind.__hash__ is not None)


def identity(value: object) -> Hashable:
    """What of a value is compared. Numbers, texts and all else that is hashable by value and type,
    so that 1, 1.0 and True differ, and 0.0 and -0.0. Lists, tuples, dicts and sets by what they
    hold. Other objects by which object it is. A class says otherwise by a method `fact_identity`.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    own: Callable[[Any], Hashable] | None = getattr(kind, "fact_identity", None)
    if own is not None:
        return own(value)
    if _is_number(kind):
        return kind, repr(value)  # NaN equals itself this way
    try:
        if isinstance(value, (list, tuple)):
            return kind, *map(identity, value)
        if isinstance(value, dict):
            return kind, *[(identity(key), identity(each)) for key, each in value.items()]
        if isinstance(value, (set, frozenset)):
            return kind, frozenset(map(identity, value))
    except RecursionError:  # it holds itself
        return Same(value)
    if isinstance(value, MethodType):
        return kind, identity(value.__self__), Same(value.__func__)
    if kind.__eq__ is object.__eq__:
        return Same(value)
    try:
        hash(value)
    except TypeError:
        return Same(value)
    return kind, value


def lasts(value: object) -> bool:
    """Whether the identity of a value stays as it is for as long as no setter counts a change. A
    class says otherwise by an attribute `fact_lasts`."""
    if type(value) in _PLAIN:
        return True
    own: bool | None = getattr(type(value), "fact_lasts", None)
    if own is not None:
        return own
    if isinstance(value, (tuple, frozenset)):
        return all(map(lasts, value))
    return not isinstance(value, (list, dict, set, bytearray))


def equal(one: Hashable, other: Hashable) -> bool:
    """Whether two identities are equal."""
    try:
        return bool(one == other)
    except Exception:  # what compares by a user's method
        return False


def text(found: Hashable) -> str:
    """An identity in a message."""
    if isinstance(found, tuple) and found:
        kind, *rest = found
        if kind in _PLAIN:
            return f"{rest[0]!r:.60}"
        if isinstance(kind, type):
            return str(rest[0]) if _is_number(kind) else f"a {kind.__name__} of {len(rest)}"
        return f"{kind} {rest[0]}"
    return repr(found)
