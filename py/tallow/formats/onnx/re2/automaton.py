"""An automaton that says whether a whole text matches.

It is in a set of instructions at once, so that a text is read once. The sets that have come up are
kept with what follows each by every character, up to a bound, after which all are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable

from .characters import WORD, Characters, contains
from .tree import (
    BEGIN_LINE,
    BEGIN_TEXT,
    BOUNDARY,
    END_LINE,
    END_TEXT,
    INSIDE,
    Check,
    Choice,
    Joined,
    Letter,
    Repeat,
    Tree,
)

MOST_KEPT = 1 << 20
"""Members of all sets that are kept, and steps between them."""

Instruction = tuple[Characters | None, int, tuple[int, ...]]
"""The characters that it takes, if it takes one; what it demands of the place; what may follow."""


class _State:
    """Instructions that may be next. open: those of them that take characters, by what holds at
    the place; after: the state after a character, by it and by what holds before it."""

    __slots__ = ("after", "members", "open")

    def __init__(self, members: frozenset[int]) -> None:
        self.members = members
        self.open: dict[int, tuple[int, ...]] = {}
        self.after: dict[tuple[str, int], _State] = {}


class Automaton:
    """Made of a tree; `matches` says whether a whole text matches."""

    def __init__(self, tree: Tree) -> None:
        self._code: list[Instruction] = []
        self._add(tree)
        self._end = self._put()
        self._asks = any(condition for _, condition, _ in self._code)
        self._states: dict[frozenset[int], _State] = {}
        self._kept = 0
        self.steps = 0
        """Instructions that were looked at, all in all."""

    @property
    def size(self) -> int:
        """The number of its instructions."""
        return len(self._code)

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the text from its beginning to its end."""
        state = self._state(frozenset((0,)))
        holds = 0
        for place, letter in enumerate(text):
            if self._asks:
                holds = _holds(text, place)
            found = state.after.get((letter, holds))
            state = self._step(state, letter, holds) if found is None else found
            if not state.members:
                return False
        return self._end in self._open(state, _holds(text, len(text)))

    # ---- making --------------------------------------------------------------------------------

    def _put(
        self, characters: Characters | None = None, condition: int = 0, follows: Iterable[int] = ()
    ) -> int:
        """Adds an instruction, and gives its place."""
        self._code.append((characters, condition, tuple(follows)))
        return len(self._code) - 1

    def _lead(self, place: int, *follows: int) -> None:
        """Says what follows an instruction that takes no character."""
        self._code[place] = (None, 0, follows)

    def _add(self, tree: Tree) -> None:
        """Adds the instructions of a tree; they end where the next ones begin."""
        here = len(self._code)
        match tree:
            case Letter():
                self._put(tree.characters, 0, (here + 1,))
            case Check():
                self._put(None, tree.condition, (here + 1,))
            case Joined():
                for part in tree.parts:
                    self._add(part)
            case Choice():
                self._add_choice(tree)
            case Repeat():
                self._add_repeat(tree)

    def _add_choice(self, tree: Choice) -> None:
        fork = self._put()
        starts, ends = [], []
        for part in tree.parts:
            starts.append(len(self._code))
            self._add(part)
            ends.append(self._put())
        self._lead(fork, *starts)
        for end in ends:
            self._lead(end, len(self._code))

    def _add_repeat(self, tree: Repeat) -> None:
        for _ in range(tree.least):
            self._add(tree.part)
        if tree.most is None:
            fork = self._put()
            self._add(tree.part)
            back = self._put(follows=(fork,))
            self._lead(fork, fork + 1, back + 1)
            return
        forks = []
        for _ in range(tree.most - tree.least):
            forks.append(self._put())
            self._add(tree.part)
        for fork in forks:
            self._lead(fork, fork + 1, len(self._code))

    # ---- running -------------------------------------------------------------------------------

    def _state(self, members: frozenset[int]) -> _State:
        if members not in self._states:
            if self._kept > MOST_KEPT:
                self._states, self._kept = {}, 0
            self._kept += 1 + len(members)
            self._states[members] = _State(members)
        return self._states[members]

    def _step(self, state: _State, letter: str, holds: int) -> _State:
        """The state after a character."""
        code, places = ord(letter), self._open(state, holds)
        self.steps += len(places)
        following: set[int] = set()
        for place in places:
            characters, _, follows = self._code[place]
            if characters is not None and contains(characters, code):
                following.update(follows)
        found = self._state(frozenset(following))
        state.after[letter, holds] = found
        self._kept += 1
        return found

    def _open(self, state: _State, holds: int) -> tuple[int, ...]:
        """The instructions that take a character, and the last one, where `holds` holds."""
        if holds not in state.open:
            seen = set(state.members)
            todo, found = list(state.members), []
            while todo:
                place = todo.pop()
                characters, condition, follows = self._code[place]
                if characters is not None or place == self._end:
                    found.append(place)
                elif condition & holds == condition:
                    added = [other for other in follows if other not in seen]
                    seen.update(added)
                    todo += added
            self.steps += len(seen)
            self._kept += len(found)
            state.open[holds] = tuple(found)
        return state.open[holds]


def _holds(text: str, place: int) -> int:
    """What holds before the character at `place`."""
    holds = 0
    before, after = text[place - 1 : place] if place else "", text[place : place + 1]
    if not before:
        holds |= BEGIN_TEXT | BEGIN_LINE
    if not after:
        holds |= END_TEXT | END_LINE
    if before == "\n":
        holds |= BEGIN_LINE
    if after == "\n":
        holds |= END_LINE
    return holds | (INSIDE if _in_word(before) == _in_word(after) else BOUNDARY)


def _in_word(letter: str) -> bool:
    return bool(letter) and contains(WORD, ord(letter))
