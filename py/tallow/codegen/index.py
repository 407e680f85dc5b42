"""Index expressions: whole-number arithmetic on coordinates, simplified as it is written.

An Index is a sum of terms, coefficient * atom, plus a constant. An atom is a WGSL expression of
type u32. Knowing how large each can become lets divisions and remainders vanish: with c < 32,
(32 * row + c) // 32 is row. Python integers may stand wherever an Index may, so that the index
rules of ops/movement.py serve the code generator and compile/passes/fold.py alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Union

from ..shape import Shape

Term = tuple[int, str]  # coefficient, atom


@dataclass(frozen=True)
class Index:
    """terms + const; `bound` is one more than the largest value it takes where it is used."""

    terms: tuple[Term, ...]
    const: int
    bound: int
    bounds: tuple[tuple[str, int], ...]  # of each atom

    # ---- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Coord) -> Coord:
        if isinstance(other, int):
            return _make({a: c for c, a in self.terms}, self.const + other, self._limits())
        terms = {atom: coefficient for coefficient, atom in self.terms}
        for coefficient, atom in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        return _make(terms, self.const + other.const, {**self._limits(), **other._limits()})

    __radd__ = __add__

    def __sub__(self, other: Coord) -> Coord:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Coord:
        terms = {atom: coefficient * factor for coefficient, atom in self.terms}
        return _make(terms, self.const * factor, self._limits())

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
        return atom(f"({self.text} / {divisor}u)", (self.bound - 1) // divisor + 1)

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
        return atom(f"({text_of(rest)} % {divisor}u)", divisor)

    # ---- what is known -------------------------------------------------------------------------

    @property
    def least(self) -> int:
        """A lower bound."""
        limits = self._limits()
        return self.const + sum(c * (limits[a] - 1) for c, a in self.terms if c < 0)

    def divisible(self, divisor: int) -> bool:
        """Whether it is certainly a multiple."""
        return self.const % divisor == 0 and all(c % divisor == 0 for c, _ in self.terms)

    def within(self, bound: int) -> Index:
        """The same, known to be below `bound` (and not negative) where it is used."""
        return Index(self.terms, self.const, min(bound, self.bound), self.bounds)

    @property
    def text(self) -> str:
        """The WGSL expression, of type u32. Intermediate values may wrap, the result does not."""
        positive = [_product(c, a) for c, a in self.terms if c > 0]
        negative = [_product(-c, a) for c, a in self.terms if c < 0]
        if self.const > 0 or not positive:
            positive.append(f"{max(self.const, 0)}u")
        if self.const < 0:
            negative.append(f"{-self.const}u")
        text = " - ".join([" + ".join(positive), *negative])
        return text if len(positive) + len(negative) == 1 else f"({text})"

    def _limits(self) -> dict[str, int]:
        return dict(self.bounds)

    def _common(self, divisor: int) -> int:
        """The largest number that divides the divisor and every coefficient."""
        return math.gcd(divisor, *(coefficient for coefficient, _ in self.terms))

    def _split(self, divisor: int) -> tuple[Coord, Coord]:
        """The part that the divisor certainly divides, and the rest."""
        limits = self._limits()
        whole = {a: c for c, a in self.terms if c % divisor == 0}
        rest = {a: c for c, a in self.terms if c % divisor}
        const = self.const % divisor
        return _make(whole, self.const - const, limits), _make(rest, const, limits)


Coord = Union[int, Index]  # noqa: UP007 - a runtime alias that names a class defined above
Coords = tuple[Coord, ...]


def atom(text: str, bound: int) -> Coord:
    """A WGSL expression of type u32 that is below `bound`; 0 if that is the only value."""
    if bound <= 1:
        return 0
    return Index(((1, text),), 0, bound, ((text, bound),))


def text_of(coord: Coord) -> str:
    """The WGSL expression of a coordinate."""
    return f"{coord}u" if isinstance(coord, int) else coord.text


def is_multiple(coord: Coord, divisor: int) -> bool:
    """Whether the coordinate is certainly a multiple of the divisor."""
    return coord % divisor == 0 if isinstance(coord, int) else coord.divisible(divisor)


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


def _make(terms: dict[str, int], const: int, limits: dict[str, int]) -> Coord:
    kept = tuple((c, a) for a, c in terms.items() if c)
    if not kept:
        return const
    bound = const + sum(c * (limits[a] - 1) for c, a in kept if c > 0) + 1
    return Index(kept, const, bound, tuple((a, limits[a]) for _, a in kept))


def _exact(index: Index, divisor: int) -> Coord:
    """The floor of index / divisor, where the divisor divides every coefficient."""
    terms = {a: c // divisor for c, a in index.terms}
    return _make(terms, index.const // divisor, dict(index.bounds))


def _least(coord: Coord) -> int:
    return coord if isinstance(coord, int) else coord.least


def _bound(coord: Coord) -> int:
    return coord + 1 if isinstance(coord, int) else coord.bound


def _product(coefficient: int, atom_text: str) -> str:
    return atom_text if coefficient == 1 else f"{coefficient}u * {atom_text}"
