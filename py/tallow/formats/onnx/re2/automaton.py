"""An automaton that decides whether a whole text matches.

It is in a set of instructions at once, so it reads a text once. It caches the sets it has met and
the steps between them, and clears the cache when it reaches a limit.
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

MAX_CACHED = 1 << 20
"""The total of the members of all cached sets and the steps between them."""

Instruction = tuple[Characters | None, int, tuple[int, ...]]
"""The characters it consumes, if any; the condition on its position; the next instructions."""


class _State:
    """The possible next instructions. open: those that consume a character, by the conditions that
    hold at the position; after: the next state, by a character and the conditions before it."""

    __slots__ = ("after", "members", "open")

    def __init__(self, members: frozenset[int]) -> None:
        self.members = members
        self.open: dict[int, tuple[int, ...]] = {}
        self.after: dict[tuple[str, int], _State] = {}


class Automaton:
    """Built from a tree; `matches` tells whether a whole text matches."""

    def __init__(self, tree: Tree) -> None:
        self._code: list[Instruction] = []
        self._add(tree)
        self._end = self._put()
        self._has_conditions = any(condition for _, condition, _ in self._code)
        self._states: dict[frozenset[int], _State] = {}
        self._cached = 0
        self.steps = 0
        """The total number of instructions visited."""

    @property
    def size(self) -> int:
        """The number of its instructions."""
        return len(self._code)

    def matches(self, text: str) -> bool:
        """Whether the pattern matches the text from its beginning to its end."""
        state = self._state(frozenset((0,)))
        holds = 0
        for position, letter in enumerate(text):
            if self._has_conditions:
                holds = _holds(text, position)
            found = state.after.get((letter, holds))
            state = self._step(state, letter, holds) if found is None else found
            if not state.members:
                return False
        return self._end in self._open(state, _holds(text, len(text)))

    # ---- building ------------------------------------------------------------------------------

    def _put(
        self, characters: Characters | None = None, condition: int = 0, follows: Iterable[int] = ()
    ) -> int:
        """Adds an instruction and returns its index."""
        self._code.append((characters, condition, tuple(follows)))
        return len(self._code) - 1

    def _link(self, index: int, *follows: int) -> None:
        """Sets what follows an instruction that consumes no character."""
        self._code[index] = (None, 0, follows)

    def _add(self, tree: Tree) -> None:
        """Adds the instructions of a tree, which continue with the instruction after them."""
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
        self._link(fork, *starts)
        for end in ends:
            self._link(end, len(self._code))

    def _add_repeat(self, tree: Repeat) -> None:
        for _ in range(tree.minimum):
            self._add(tree.part)
        if tree.maximum is None:
            fork = self._put()
            self._add(tree.part)
            back = self._put(follows=(fork,))
            self._link(fork, fork + 1, back + 1)
            return
        forks = []
        for _ in range(tree.maximum - tree.minimum):
            forks.append(self._put())
            self._add(tree.part)
        for fork in forks:
            self._link(fork, fork + 1, len(self._code))

    # ---- running -------------------------------------------------------------------------------

    def _state(self, members: frozenset[int]) -> _State:
        if members not in self._states:
            if self._cached > MAX_CACHED:
                self._states, self._cached = {}, 0
            self._cached += 1 + len(members)
            self._states[members] = _State(members)
        return self._states[members]

    def _step(self, state: _State, letter: str, holds: int) -> _State:
        """The state after a character."""
        code, indices = ord(letter), self._open(state, holds)
        self.steps += len(indices)
        following: set[int] = set()
        for index in indices:
            characters, _, follows = self._code[index]
            if characters is not None and contains(characters, code):
                following.update(follows)
        found = self._state(frozenset(following))
        state.after[letter, holds] = found
        self._cached += 1
        return found

    def _open(self, state: _State, holds: int) -> tuple[int, ...]:
        """The reachable instructions that consume a character, or the last one, given `holds`."""
        if holds not in state.open:
            seen = set(state.members)
            todo, found = list(state.members), []
            while todo:
                index = todo.pop()
                characters, condition, follows = self._code[index]
                if characters is not None or index == self._end:
                    found.append(index)
                elif condition & holds == condition:
                    added = [other for other in follows if other not in seen]
                    seen.update(added)
                    todo += added
            self.steps += len(seen)
            self._cached += len(found)
            state.open[holds] = tuple(found)
        return state.open[holds]


def _holds(text: str, position: int) -> int:
    """The conditions that hold before the character at `position`."""
    holds = 0
    before = text[position - 1 : position] if position else ""
    after = text[position : position + 1]
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
