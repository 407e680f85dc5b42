"""Kernel templates: WGSL whose lines depend on named parameters.

A template repeats lines, leaves them out and fills them in by its parameters:

    //#include FILE                              the lines of another template
    //#if ROWS > 1  ...  //#else  ...  //#end    either lines
    //#for row in range(ROWS)  ...  //#end       lines for each value
    sum = vec4f(); //#if ROWS > 1                a line, likewise; of several directives, the last
                                                 is the outermost
    //#let last = ROWS - 1                       a name, up to the end of these lines
    sum${row} += ${"w" if ROWS > 1 else "x"};    values within a line
    //# a comment that is not part of the kernel

Expressions are Python, of parameters, loop variables, and these: `plus(3)` is " + 3u", and nothing
for 0; `each("a#", "xy")` is "ax, ay"; FOUR is what `plus` gives for 0 to 3. Directives are comments
of WGSL, so that editors take a template for what it is.
"""

# Why: docs/decisions/webgpu.md, "Kernels are expanded from templates, by a mechanism of our own"

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

from ....errors import OptionError

_DIRECTIVE = re.compile(r"\s*//#(\w*) ?(.*)")
_BEHIND = re.compile(r"(.*\S) +//#(if|for) (.*)")
_VALUE = re.compile(r"\$\{(.+?)\}")
_BLOCKS = ("if", "for")


def _plus(number: int) -> str:
    """What is added to an index: nothing for 0."""
    return f" + {number}u" if number else ""


def _each(text: str, values: Iterable[Any]) -> str:
    """The text with each value in the place of #, in a list."""
    return ", ".join(text.replace("#", str(value)) for value in values)


_FUNCTIONS = {
    "__builtins__": {"len": len, "range": range},
    "plus": _plus,
    "each": _each,
    "FOUR": [_plus(number) for number in range(4)],
}


@dataclass
class Part:
    """A line, or a directive with the parts that it decides about. place: file and line."""

    place: str
    word: str
    rest: str
    parts: list[Part] = field(default_factory=list)
    others: list[Part] | None = None  # behind //#else

    @property
    def last(self) -> list[Part]:
        """Where the next part goes."""
        return self.parts if self.others is None else self.others


def parse(file: str, read: Callable[[str], str]) -> Part:
    """A template, from the texts that `read` gives for files. Raises OptionError."""
    top = Part(file, "", "")
    within = [top]
    for number, line in enumerate(read(file).splitlines(), 1):
        part, inner = _part(f"{file}:{number}", line), within[-1]
        if part.word == "end" and len(within) > 1:
            within.pop()
        elif part.word == "else" and inner.word == "if" and inner.others is None:
            inner.others = []
        elif part.word == "include":
            inner.last.extend(parse(part.rest, read).parts)
        elif part.word in ("line", "let", *_BLOCKS):
            inner.last.append(part)
            within += [part] if part.word in _BLOCKS and not part.parts else []
        elif part.word:
            raise OptionError(f"{part.place}: //#{part.word} has no meaning here")
    if len(within) > 1:
        raise OptionError(f"{within[-1].place}: //#{within[-1].word} has no //#end")
    return top


def _part(place: str, line: str) -> Part:
    if directive := _DIRECTIVE.fullmatch(line):
        return Part(place, directive[1], directive[2])
    if behind := _BEHIND.fullmatch(line):
        return Part(place, behind[2], behind[3], [_part(place, behind[1])])
    return Part(place, "line", line)


def expand(template: Part, values: Mapping[str, Any]) -> str:
    """The text of a template. Raises OptionError where an expression fails, as one of a parameter
    that has no value does."""
    return "\n".join(_lines(template.parts, {**_FUNCTIONS, **values})).strip() + "\n"


def _lines(parts: list[Part], values: dict[str, Any]) -> Iterator[str]:
    for part in parts:
        if part.word == "line":
            yield _filled(part, values)
        elif part.word == "if":
            chosen = part.parts if _evaluated(part.rest, part, values) else part.others
            yield from _lines(chosen or [], values)
        elif part.word == "let":
            name, _, expression = part.rest.partition(" = ")
            values = {**values, name: _evaluated(expression, part, values)}
        elif part.word == "for":
            name, _, expression = part.rest.partition(" in ")
            for value in _evaluated(expression, part, values):
                yield from _lines(part.parts, {**values, name: value})


def _filled(part: Part, values: dict[str, Any]) -> str:
    """A line with its values."""
    return _VALUE.sub(lambda found: str(_evaluated(found[1], part, values)), part.rest)


def _evaluated(expression: str, part: Part, values: dict[str, Any]) -> Any:
    try:
        return eval(_code(expression), values)
    except Exception as error:
        raise OptionError(f"{part.place}: {expression!r}: {error}") from error


@cache
def _code(expression: str) -> CodeType:
    return compile(expression, "template", "eval")
