"""`Fact`: an attribute of a class that counts its own changes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, Self, TypeVar, overload

from .identity import MISSING
from .notes import note, wrote
from .reads import reads

T = TypeVar("T")


class Fact(Generic[T]):
    """An attribute of a class that decides what a function builds.

    stored: the slot that has the value; the instance's `__dict__` if None. said: its name in
    messages and to users, if that is another one.
    """

    fact_notes_itself = True
    declared: list[tuple[type, Fact[Any]]] = []  # noqa: RUF012
    """Every one that there is, with its class."""

    def __init__(self, stored: str | None = None, said: str | None = None) -> None:
        self._stored, self._said = stored or "", said

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self._said or name
        self._stored = self._stored or name
        self._in_dict = self._stored == name
        Fact.declared.append((owner, self))

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if reads.running:
            note(instance, self.name, self.peek)
        if self._in_dict:
            try:
                return instance.__dict__[self._stored]
            except KeyError:
                raise AttributeError(self.name) from None
        return getattr(instance, self._stored)

    def __set__(self, instance: object, value: T) -> None:
        before = self.peek(instance, self.name)
        if self._in_dict:
            instance.__dict__[self._stored] = value
        else:
            setattr(instance, self._stored, value)
        if before is not value or reads.running:
            wrote(instance, self.name)

    def peek(self, instance: object, name: Hashable) -> Any:
        """The value, which is not noted."""
        if self._in_dict:
            return instance.__dict__.get(self._stored, MISSING)
        return getattr(instance, self._stored, MISSING)


class ReadOnly(Fact[T]):
    """A fact that only the class itself sets, by `put`."""

    def __set__(self, instance: object, value: T) -> None:
        raise AttributeError(f"{self.name} of {type(instance).__name__} cannot be set")

    def put(self, instance: object, value: T) -> None:
        """Sets it."""
        super().__set__(instance, value)
