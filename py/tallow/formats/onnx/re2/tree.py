"""A pattern as a tree."""

from __future__ import annotations

from dataclasses import dataclass

from .characters import Characters

BEGIN_TEXT, END_TEXT, BEGIN_LINE, END_LINE, BOUNDARY, INSIDE = (1 << i for i in range(6))
"""What may be demanded of the place between two characters; INSIDE: no boundary of a word."""


@dataclass(frozen=True)
class Tree:
    """A part of a pattern. size: an upper bound of its instructions, counted before any is made.
    turns: how often counted repetitions repeat what is innermost."""

    size: int
    turns: int


@dataclass(frozen=True)
class Letter(Tree):
    """One character of a set."""

    characters: Characters


@dataclass(frozen=True)
class Check(Tree):
    """No character, but something that must hold at this place."""

    condition: int


@dataclass(frozen=True)
class Joined(Tree):
    """One part after the other; no parts match the empty text."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice(Tree):
    """Any one of the parts."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat(Tree):
    """A part from `least` to `most` times; None: without end."""

    part: Tree
    least: int
    most: int | None
