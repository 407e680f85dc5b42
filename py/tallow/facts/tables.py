"""`Table` and `Items`: a dict and a list that count their own changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from .changes import WHOLE
from .identity import MISSING, Same
from .notes import note, wrote
from .reads import reads

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

K = TypeVar("K")
V = TypeVar("V")


def _entry(table: Table[Any, Any], name: Hashable) -> Any:
    return dict.get(table, name, MISSING)


def _is_there(table: Table[Any, Any], name: tuple[str, Hashable]) -> bool:
    return dict.__contains__(table, name[1])


def _is_true(table: Table[Any, Any], name: tuple[str, Hashable]) -> bool:
    return bool(dict.get(table, name[1]))


def _entries(table: Table[Any, Any], name: Hashable) -> Any:
    return tuple(dict.items(table))


class Table(dict[K, V]):
    """A dict that counts its own changes; reads within a trace are noted, entry by entry.

    owner: the name of the class that holds it; name: that of the table, for messages.
    """

    __slots__ = ("__weakref__", "name", "owner")
    fact_notes_itself = fact_lasts = True

    def __init__(self, owner: str, name: str, *content: Mapping[K, V]) -> None:
        super().__init__(*content)
        self.owner, self.name = owner, name

    def fact_identity(self) -> Hashable:
        """Another table is another value; what it holds is noted by who reads it."""
        return Same(self)

    def fact_said(self, name: Hashable) -> str:
        """An entry, or all of them, in messages."""
        part = name[1] if isinstance(name, tuple) and len(name) == 2 else name
        return f"{getattr(self, 'owner', 'dict')}.{self.name if name is WHOLE else part}"

    def lend(self, name: K, value: V) -> None:
        """Replaces a value for a while: the function that is traced depends on the original one,
        and restores it by `lend` too."""
        if reads.running:
            note(self, name, _entry)
            note(self, WHOLE, _entries)
        self[name] = value

    def is_true(self, name: object) -> bool:
        """Whether an entry is neither 0 nor None: all that is noted of it."""
        if reads.running:
            note(self, ("true", name), _is_true)
        return _is_true(self, ("true", name))

    # ---- reads ----

    def __getitem__(self, name: K) -> V:
        if reads.running:
            note(self, name, _entry)
        return dict.__getitem__(self, name)

    def get(self, name: K, default: V | None = None) -> V | None:  # type: ignore[override]
        """As a dict's."""
        if reads.running:
            note(self, name, _entry)
        found: V | None = dict.get(self, name, default)
        return found

    def __contains__(self, name: object) -> bool:
        if reads.running:
            note(self, ("there", name), _is_there)
        return dict.__contains__(self, name)

    def __iter__(self) -> Iterator[K]:
        if reads.running:
            note(self, WHOLE, _entries)
        return dict.__iter__(self)

    def __len__(self) -> int:
        if reads.running:
            note(self, WHOLE, _entries)
        return dict.__len__(self)

    def keys(self) -> dict_keys[K, V]:
        """As a dict's."""
        if reads.running:
            note(self, WHOLE, _entries)
        return dict.keys(self)

    def values(self) -> dict_values[K, V]:
        """As a dict's."""
        if reads.running:
            note(self, WHOLE, _entries)
        return dict.values(self)

    def items(self) -> dict_items[K, V]:
        """As a dict's."""
        if reads.running:
            note(self, WHOLE, _entries)
        return dict.items(self)

    # ---- changes ----

    def __setitem__(self, name: K, value: V) -> None:
        before = dict.get(self, name, MISSING)
        dict.__setitem__(self, name, value)
        if before is not value or reads.running:
            wrote(self, name)

    def __delitem__(self, name: K) -> None:
        dict.__delitem__(self, name)
        wrote(self, name)

    def pop(self, name: K, *default: Any) -> Any:
        """As a dict's."""
        there = dict.__contains__(self, name)
        found = dict.pop(self, name, *default)
        if there:
            wrote(self, name)
        return found

    def popitem(self) -> tuple[K, V]:
        """As a dict's."""
        name, value = dict.popitem(self)
        wrote(self, name)
        return name, value

    def clear(self) -> None:
        """As a dict's."""
        for name in list(dict.keys(self)):
            del self[name]

    def copy(self) -> dict[K, V]:
        """A plain dict of the same."""
        return dict(self.items())

    def setdefault(self, name: K, default: Any = None) -> Any:
        """As a dict's."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **named: Any) -> None:
        """As a dict's."""
        for name, value in dict(*others, **named).items():
            self[name] = value

    def __ior__(self, other: Mapping[K, V]) -> Self:  # type: ignore[override, misc]
        self.update(other)
        return self


def _counting(name: str) -> Callable[..., Any]:
    plain = getattr(list, name)

    def change(self: Items, *args: object, **options: object) -> Any:
        found = plain(self, *args, **options)
        wrote(self, WHOLE)
        return self if found is self else found

    change.__name__, change.__doc__ = name, "As a list's."
    return change


class Items(list[Any]):
    """A list that counts its own changes. Who reads the fact that has it depends on all of it."""

    __slots__ = ("__weakref__",)
    fact_lasts = True

    def fact_content(self, name: Hashable) -> Any:
        """What is compared if it has changed."""
        return tuple(list.__iter__(self))

    def fact_identity(self) -> Hashable:
        """Another list is another value, though it holds the same."""
        return Same(self)

    def fact_said(self, name: Hashable) -> str:
        """In messages."""
        return "a list"


for _name in (
    "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert",
    "pop", "remove", "reverse", "sort",
):  # fmt: skip
    setattr(Items, _name, _counting(_name))
