"""A pattern as a tree."""

from __future__ import annotations

from dataclasses import dataclass

from .characters import Characters

BEGIN_TEXT, END_TEXT, BEGIN_LINE, END_LINE, BOUNDARY, INSIDE = (1 << i for i in range(6))
"""Conditions on a position between two characters; INSIDE: not a word boundary."""


@dataclass(frozen=True)
class Tree:
    """A part of a pattern. size: an upper bound on its number of instructions. repeats: how often
    counted repetitions repeat their innermost part."""

    size: int
    repeats: int


@dataclass(frozen=True)
class Letter(Tree):
    """One character of a set."""

    characters: Characters


@dataclass(frozen=True)
class Check(Tree):
    """No character, but a condition that must hold at this position."""

    condition: int


@dataclass(frozen=True)
class Joined(Tree):
    """One part after the other; without parts it matches the empty text."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice(Tree):
    """Any one of the parts."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat(Tree):
    """A part repeated from `minimum` to `maximum` times; None: without limit."""

    part: Tree
    minimum: int
    maximum: int | None
