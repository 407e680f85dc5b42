"""Lines of WGSL, some of whose accesses to buffers are still open.

A buffer is bound as single elements, or as vectors of four if anything in the module reads or
writes four of them at a time. That is known once all functions of the module are written; until
then an access is a record of both forms, and a line a sequence of texts and accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Access:
    """A read of single elements. binding: of what. narrow, wide: its text where the binding is of
    single elements, and of fours."""

    binding: str
    narrow: str
    wide: str

    def text(self, declared: Mapping[str, int]) -> str:
        """The text. declared: the widths of the bindings; 1 where there is none."""
        return self.wide if declared.get(self.binding, 1) == 4 else self.narrow

    def changed(self, change: Callable[[str], str]) -> Access:
        """Both texts after a change."""
        return Access(self.binding, change(self.narrow), change(self.wide))


Code = str | Access | tuple[str | Access, ...]
"""What has a value, or is part of a line."""


def parts_of(code: Code) -> tuple[str | Access, ...]:
    """The texts and accesses of which code is made."""
    return code if isinstance(code, tuple) else (code,)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a function. name: what it gives a name to, if that is all that it does."""

    parts: tuple[str | Access, ...]
    name: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it reads single elements of a buffer, which four at a time could be."""
        return any(isinstance(part, Access) for part in self.parts)

    def text(self, declared: Mapping[str, int]) -> str:
        """The text, for these widths of the bindings."""
        return "".join(
            [part if isinstance(part, str) else part.text(declared) for part in self.parts]
        )

    def texts(self) -> list[str]:
        """All texts that are in it, in any form."""
        found: list[str] = []
        for part in self.parts:
            found += [part] if isinstance(part, str) else [part.narrow, part.wide]
        return found

    def changed(self, change: Callable[[str], str]) -> Line:
        """The line after a change of each of its texts."""
        parts = [part if isinstance(part, Access) else change(part) for part in self.parts]
        opened = [part.changed(change) if isinstance(part, Access) else part for part in parts]
        return replace(self, parts=tuple(opened))

    def indented(self) -> Line:
        """The line, four spaces in."""
        return replace(self, parts=("    ", *self.parts))


def line(text: str) -> Line:
    """A line of text alone."""
    return Line((text,))


def let(name: str, value: Code) -> Line:
    """A line that gives a value a name."""
    return Line((f"let {name} = ", *parts_of(value), ";"), name)


def block(head: str, lines: Iterable[Line]) -> list[Line]:
    """The lines of `head { ... }`."""
    return [line(head + " {"), *(each.indented() for each in lines), line("}")]


def written(functions: Iterable[Sequence[Line]], declared: Mapping[str, int]) -> str:
    """The text of functions, with a blank line between them."""
    return "\n\n".join("\n".join(each.text(declared) for each in lines) for lines in functions)
