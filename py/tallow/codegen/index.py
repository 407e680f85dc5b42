"""Index expressions: whole-number arithmetic on coordinates, simplified as it is written.

An Index is a sum of terms, coefficient * atom, plus a constant. An atom is a variable of the
generated code, or the quotient or remainder of another index. Knowing how large each can become
lets divisions and remainders vanish: with c < 32, (32 * row + c) // 32 is row. Python integers may
stand wherever an Index may, so that the index rules of ops/movement.py serve the code generators
and compile/passes/fold.py alike. Each target prints what is left.
"""

from __future__ import annotations

import math
from typing import Union

from ..core.shape import Shape


class Atom:
    """A whole number from 0 to bound - 1.

    kind: "variable", whose name the code generator chose, or "quotient" or "remainder" of an index
    by a divisor. Equal if it is the same number, whatever is known of its bound.
    """

    __slots__ = ("_key", "bound", "divisor", "hash", "index", "kind", "name")

    def __init__(
        self, kind: str, bound: int, name: str = "", index: Coord = 0, divisor: int = 1
    ) -> None:
        self.kind, self.bound = kind, bound
        self.name, self.index, self.divisor = name, index, divisor
        parts = index if isinstance(index, int) else (index.terms, index.const)
        self._key = (kind, name, divisor, parts)
        self.hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self._key == other._key

    def __hash__(self) -> int:
        return self.hash

    def __repr__(self) -> str:
        operator = "//" if self.kind == "quotient" else "%"
        return self.name or f"({self.index} {operator} {self.divisor})"


Term = tuple[int, Atom]  # coefficient, atom


class Index:
    """terms + const; `bound` is one more than the largest value it takes where it is used."""

    __slots__ = ("_hash", "bound", "const", "terms")

    def __init__(self, terms: tuple[Term, ...], const: int, bound: int) -> None:
        self.terms, self.const, self.bound = terms, const, bound
        self._hash = 0

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Index)
            and self.const == other.const
            and self.bound == other.bound
            and self.terms == other.terms
        )

    def __hash__(self) -> int:
        """Kept, of what is cheap to look at: generators ask for it at every step."""
        if not self._hash:
            self._hash = hash((self.const, self.bound, *[c * a.hash for c, a in self.terms]))
        return self._hash

    def __repr__(self) -> str:
        parts = [f"{c} * {a}" if c != 1 else f"{a}" for c, a in self.terms]
        return " + ".join([*parts, *([str(self.const)] if self.const else [])])

    # ---- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Coord) -> Coord:
        if isinstance(other, int):
            return Index(self.terms, self.const + other, _bound_of(self.terms, self.const + other))
        terms = {atom: coefficient for coefficient, atom in self.terms}
        for coefficient, atom in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        return _make(terms, self.const + other.const)

    __radd__ = __add__

    def __sub__(self, other: Coord) -> Coord:
        return self + (-other if isinstance(other, int) else other * -1)

    def __rsub__(self, other: int) -> Coord:
        return self * -1 + other

    def __mul__(self, factor: int) -> Coord:
        terms = {atom: coefficient * factor for coefficient, atom in self.terms}
        return _make(terms, self.const * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Coord:
        if divisor == 1:
            return self
        if self.least >= 0 and self.bound <= divisor:
            return 0
        common = self._common(divisor)
        if common > 1:  # (4 a + 3) // 8 is a // 2
            return _exact(self, common) // (divisor // common)
        whole, rest = self._split(divisor)
        if _least(rest) >= 0 and _bound(rest) <= divisor:
            return whole // divisor if isinstance(whole, int) else _exact(whole, divisor)
        return _divided("quotient", self, divisor, (self.bound - 1) // divisor + 1)

    def __mod__(self, divisor: int) -> Coord:
        if self.least >= 0 and self.bound <= divisor:
            return self
        common = self._common(divisor)
        if common > 1:  # (4 a + 3) % 8 is 4 (a % 2) + 3
            return (_exact(self, common) % (divisor // common)) * common + self.const % common
        _, rest = self._split(divisor)
        if _least(rest) < 0:
            rest = self
        elif _bound(rest) <= divisor:
            return rest
        return _divided("remainder", rest, divisor, divisor)

    # ---- what is known -------------------------------------------------------------------------

    @property
    def least(self) -> int:
        """A lower bound."""
        return self.const + sum(c * (a.bound - 1) for c, a in self.terms if c < 0)

    def divisible(self, divisor: int) -> bool:
        """Whether it is certainly a multiple."""
        return self.const % divisor == 0 and all(c % divisor == 0 for c, _ in self.terms)

    def within(self, bound: int) -> Index:
        """The same, known to be below `bound` (and not negative) where it is used."""
        return Index(self.terms, self.const, min(bound, self.bound))

    def _common(self, divisor: int) -> int:
        """The largest number that divides the divisor and every coefficient."""
        return math.gcd(divisor, *(coefficient for coefficient, _ in self.terms))

    def _split(self, divisor: int) -> tuple[Coord, Coord]:
        """The part that the divisor certainly divides, and the rest."""
        whole = {a: c for c, a in self.terms if c % divisor == 0}
        rest = {a: c for c, a in self.terms if c % divisor}
        const = self.const % divisor
        return _make(whole, self.const - const), _make(rest, const)


Coord = Union[int, Index]  # noqa: UP007 - a runtime alias that names a class defined above
Coords = tuple[Coord, ...]


def variable(name: str, bound: int) -> Coord:
    """A whole number that is below `bound`; 0 if that is the only value."""
    if bound <= 1:
        return 0
    return Index(((1, Atom("variable", bound, name)),), 0, bound)


def _divided(kind: str, index: Coord, divisor: int, bound: int) -> Coord:
    if bound <= 1:
        return 0
    return Index(((1, Atom(kind, bound, "", index, divisor)),), 0, bound)


def is_multiple(coord: Coord, divisor: int) -> bool:
    """Whether the coordinate is certainly a multiple of the divisor."""
    return coord % divisor == 0 if isinstance(coord, int) else coord.divisible(divisor)


def joined(coord: Coord) -> Coord:
    """The same number, with 6 * (a // 6) + a % 6 written as a."""
    if isinstance(coord, int):
        return coord
    found = {atom: coefficient for coefficient, atom in coord.terms}
    for coefficient, part in coord.terms:
        whole = Atom("quotient", 0, "", part.index, part.divisor)
        if part.kind == "remainder" and found.get(whole) == coefficient * part.divisor:
            del found[part], found[whole]
            return joined(_make(found, coord.const) + part.index * coefficient)
    return coord


def lane_axis(shape: Shape) -> int:
    """The axis along which four elements are taken together: the last one longer than 1."""
    longer = [axis for axis, dim in enumerate(shape) if dim != 1]
    return longer[-1] if longer else len(shape) - 1


def lane(shape: Shape, coords: Coords, number: int) -> Coords:
    """The coordinates moved along the lane axis; a value without axes has a single element."""
    if not shape:
        return coords
    axis = lane_axis(shape)
    return (*coords[:axis], coords[axis] + number, *coords[axis + 1 :])


def _make(terms: dict[Atom, int], const: int) -> Coord:
    kept = tuple([(c, a) for a, c in terms.items() if c])
    return Index(kept, const, _bound_of(kept, const)) if kept else const


def _bound_of(terms: tuple[Term, ...], const: int) -> int:
    for c, a in terms:
        if c > 0:
            const += c * (a.bound - 1)
    return const + 1


def _exact(index: Index, divisor: int) -> Coord:
    """The floor of index / divisor, where the divisor divides every coefficient."""
    return _make({a: c // divisor for c, a in index.terms}, index.const // divisor)


def _least(coord: Coord) -> int:
    return coord if isinstance(coord, int) else coord.least


def _bound(coord: Coord) -> int:
    return coord + 1 if isinstance(coord, int) else coord.bound
