"""A function of addresses and sizes, while it is written."""

from __future__ import annotations

from collections.abc import Callable

from ..assembler import Function


class Writer:
    """A function of addresses and sizes, growing."""

    def __init__(self, addresses: int, sizes: int) -> None:
        self.function = Function(["i32"] * (addresses + sizes))
        self.emit, self.apply = self.function.emit, self.function.apply

    def advance(self, pointer: int, step: int) -> None:
        """pointer += step, both locals."""
        self.apply("i32.add", pointer, step, into=pointer)

    def add(self, local: int, number: int) -> None:
        """local += number."""
        self.apply("i32.add", local, number=number, into=local)

    def copied(self, local: int) -> int:
        """Another local with the same number."""
        made = self.function.local("i32")
        self.emit("local.get", local)
        self.emit("local.set", made)
        return made

    def times(self, count: int, write: Callable[[], None]) -> None:
        """Writes a loop of as many turns as the local `count` says, one or more."""
        with self.function.scope():
            left = self.copied(count)
            self.emit("loop")
            write()
            self.add(left, -1)
            self.emit("local.get", left)
            self.emit("br_if", 0)
            self.emit("end")

    def by(self, left: int, size: int, write: Callable[[], None]) -> None:
        """Writes a loop that takes `size` from the local `left` at each turn, while it can."""
        self.emit("block")
        self.emit("loop")
        self.apply("i32.lt_s", left, number=size)
        self.emit("br_if", 1)
        with self.function.scope():
            write()
        self.add(left, -size)
        self.emit("br", 0)
        self.emit("end")
        self.emit("end")
