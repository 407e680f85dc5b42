"""The texts of a form as a network of nodes: which character may come next, and where it leads.

A recursive transition network (Woods 1970): an edge reads a character, jumps, or calls a rule,
which comes back to where it was called from. A state is all places where a reader of the text so
far may be, each with the places to come back to. States are made when they are first met, so that
nothing is spent on texts that do not come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..errors import OptionError
from ..text.charsets import Ranges

Stack = tuple[()] | tuple[int, "Stack"]
Place = tuple[int, Stack]
Build = Callable[[int], int]
"""Adds what may follow a node, and gives the node behind it."""

_MOST = 200_000
"""How many nodes a form may have; each takes about 200 bytes."""

_MANY = 64
"""Of fewer characters a run is not noted: their tokens are found as fast one by one."""

_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF
"""Bytes that are no whole character, as `bytes.decode` gives them with "surrogateescape"."""


class State:
    """What is known of a text so far.

    places: where a reader may be, those alone that read a character. ends: whether the text may
    end here. half: bytes of a character that is not whole yet.
    """

    __slots__ = ("ends", "half", "moves", "places")

    def __init__(self, places: frozenset[Place], ends: bool, half: bytes) -> None:
        self.places, self.ends, self.half = places, ends, half
        self.moves: dict[str, State | None] = {}


class Grammar:
    """A form that is built node by node, then read character by character.

    `rule` begins a rule, the first is the form itself; `seal` ends the building.
    """

    def __init__(self) -> None:
        self.reads: list[list[tuple[Ranges, int]]] = []
        self.runs: dict[int, tuple[Ranges, int | None]] = {}
        self._jumps: list[list[int]] = []
        self._calls: list[list[tuple[int, int]]] = []  # the rule's number, the node behind
        self._rules: list[tuple[int, int]] = []  # where each starts and ends
        self._ends: set[int] = set()
        self._alive: list[bool] = []
        self._states: dict[tuple[frozenset[Place], bool, bytes], State] = {}

    # ---- building ------------------------------------------------------------------------------

    def node(self) -> int:
        """A new node. Raises OptionError for too many."""
        if len(self.reads) >= _MOST:
            raise OptionError(
                f"the form has more than {_MOST:,} places: it repeats too much, too often"
            )
        self.reads.append([])
        self._jumps.append([])
        self._calls.append([])
        return len(self.reads) - 1

    def jump(self, at: int, to: int) -> None:
        """From a node to another one without a character."""
        self._jumps[at].append(to)

    def read(self, at: int, chars: Ranges, to: int) -> None:
        """From a node to another one by one of some characters."""
        self.reads[at].append((chars, to))

    def one(self, at: int, chars: Ranges) -> int:
        """One of some characters; of none, nothing may follow."""
        to = self.node()
        if chars:
            self.read(at, chars, to)
        return to

    def text(self, at: int, text: str) -> int:
        """This very text."""
        for char in text:
            at = self.one(at, ((ord(char), ord(char)),))
        return at

    def either(self, at: int, ways: Iterable[Build]) -> int:
        """One of several ways."""
        to = self.node()
        for way in ways:
            self.jump(way(at), to)
        return to

    def maybe(self, at: int, way: Build) -> int:
        """A way, or nothing."""
        return self.either(at, [way, lambda at: at])

    def repeat(self, at: int, way: Build, low: int, high: int | None) -> int:
        """A way from `low` to `high` times; None is without an end."""
        for _ in range(low):
            at = way(at)
        if high is None:
            loop = self.node()
            self.jump(at, loop)
            self.jump(way(loop), loop)
            return loop
        out = self.node()
        self.jump(at, out)
        for _ in range(high - low):
            at = way(at)
            self.jump(at, out)
        return out

    def run(
        self, at: int, chars: Ranges, low: int, high: int | None, other: Build | None = None
    ) -> int:
        """From `low` to `high` of some characters, or of what another way reads as one of them.

        It is what `repeat` gives; but its nodes stand in a row, which `runs` notes, so that a token
        of these characters alone is one look."""
        if low == high == 1 and other is None:
            return self.one(at, chars)
        many = sum(last - first + 1 for first, last in chars) > _MANY
        count = low if high is None else high
        row = [self.node() for _ in range(count + 1)]
        out = self.node()
        self.jump(at, row[0])
        for here, following in zip(row, [*row[1:], row[-1] if high is None else None], strict=True):
            if following is not None:
                if chars:
                    self.read(here, chars, following)
                    if many:
                        self.runs[here] = (chars, None if high is None else row[-1] - here)
                if other is not None:
                    self.jump(other(here), following)
        for here in row[low:]:
            self.jump(here, out)
        return out

    def rule(self) -> tuple[int, int]:
        """A new rule: its number and its first node."""
        start, end = self.node(), self.node()
        self._rules.append((start, end))
        self._ends.add(end)
        return len(self._rules) - 1, start

    def finish(self, rule: int, at: int) -> None:
        """A rule ends behind a node."""
        self.jump(at, self._rules[rule][1])

    def call(self, at: int, rule: int) -> int:
        """What a rule reads."""
        to = self.node()
        self._calls[at].append((rule, to))
        return to

    def seal(self, what: str) -> Grammar:
        """Ends the building. what: what errors call the form.

        Raises: OptionError for a form that no text has, and for a rule that calls itself before it
        reads anything.
        """
        self._check_rules(what)
        alive = self._alive = [False] * len(self.reads)
        for end in self._ends:
            alive[end] = True
        changed = True
        while changed:
            changed = False
            for at in range(len(alive) - 1, -1, -1):
                if not alive[at] and self._leads_on(at):
                    alive[at] = changed = True
        if not alive[self._rules[0][0]]:
            raise OptionError(f"{what}: no text has this form")
        return self

    def _leads_on(self, at: int) -> bool:
        alive = self._alive
        return (
            any(alive[to] for to in self._jumps[at])
            or any(alive[to] for _, to in self.reads[at])
            or any(alive[to] and alive[self._rules[rule][0]] for rule, to in self._calls[at])
        )

    def _check_rules(self, what: str) -> None:
        """No rule may call itself before it has read a character."""
        left = {rule: self._called_first(start) for rule, (start, _) in enumerate(self._rules)}
        while left:
            free = [rule for rule, called in left.items() if not called & left.keys()]
            if not free:
                raise OptionError(f"{what}: a part is defined by itself alone")
            for rule in free:
                del left[rule]

    def _called_first(self, start: int) -> set[int]:
        seen, rest, found = {start}, [start], set[int]()
        while rest:
            at = rest.pop()
            found |= {rule for rule, _ in self._calls[at]}
            for to in self._jumps[at]:
                if to not in seen:
                    seen.add(to)
                    rest.append(to)
        return found

    # ---- reading -------------------------------------------------------------------------------

    def start(self) -> State:
        """The state before the first character."""
        return self._state([(self._rules[0][0], ())])

    def step(self, state: State, char: str) -> State | None:
        """The state behind a character; None if it may not follow.

        char: a character, or a byte of one, as "surrogateescape" gives it.
        """
        try:
            return state.moves[char]
        except KeyError:
            found = state.moves[char] = self._moved(state, char)
            return found

    def _moved(self, state: State, char: str) -> State | None:
        code = ord(char)
        if _FIRST_BYTE <= code <= _LAST_BYTE:
            half = state.half + bytes([code - 0xDC00])
            try:
                code = ord(half.decode())
            except UnicodeDecodeError as error:
                if error.reason != "unexpected end of data":
                    return None
                low, high = _completed(half)
                if not any(
                    a <= high and low <= b
                    for node, _ in state.places
                    for chars, _ in self.reads[node]
                    for a, b in chars
                ):
                    return None
                return self._kept(state.places, state.ends, half)
        elif state.half:
            return None
        places = [
            (to, stack)
            for node, stack in state.places
            for chars, to in self.reads[node]
            if self._alive[to] and any(low <= code <= high for low, high in chars)
        ]
        return self._state(places) if places else None

    def _state(self, places: Iterable[Place]) -> State:
        seen = set(places)
        rest = list(seen)
        reading, ends = set(), False
        while rest:
            node, stack = rest.pop()
            following: list[Place] = [(to, stack) for to in self._jumps[node]]
            following += [
                (self._rules[rule][0], (to, stack))
                for rule, to in self._calls[node]
                if self._alive[to]
            ]
            if node in self._ends:
                if stack:
                    following.append(stack)
                else:
                    ends = True
            if self.reads[node]:
                reading.add((node, stack))
            for place in following:
                if self._alive[place[0]] and place not in seen:
                    seen.add(place)
                    rest.append(place)
        return self._kept(frozenset(reading), ends, b"")

    def _kept(self, places: frozenset[Place], ends: bool, half: bytes) -> State:
        key = (places, ends, half)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = State(places, ends and not half, half)
        return found

    def accepts(self, text: str) -> bool:
        """Whether a text has the form."""
        state: State | None = self.start()
        for char in text:
            state = self.step(state, char) if state else None
        return state is not None and state.ends


def _completed(half: bytes) -> tuple[int, int]:
    """The first and the last character of those whose UTF-8 begins with some bytes."""
    length = 2 if half[0] < 0xE0 else 3 if half[0] < 0xF0 else 4
    value = half[0] & (0x7F >> length)
    for byte in half[1:]:
        value = value << 6 | byte & 0x3F
    rest = 6 * (length - len(half))
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length]
    return max(value << rest, least), min((value + 1 << rest) - 1, 0x10FFFF)
