"""Numbers within bounds, and the multiples of a number, as JSON writes them.

Decimal fractions count as they are written: 0.3 is a multiple of 0.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ..errors import OptionError
from ..text.charsets import union
from .grammar import Build, Grammar
from .regex import Reader

BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")

_DIGITS = 16
"""Of a whole number that has no bound: float64 has no more."""
_EXACT = 15
"""So many digits are never rounded to a bound."""
_FARTHEST = 10**308
"""Of bounds and steps; about what a float64 holds."""
_MOST = 20_000
"""How many remainders are told apart, at all digits together."""

_NUMBER = r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?([eE][+-]?[0-9]{1,2})?"
_FRACTION = r"(\.[0-9]{1,16})?"


class _Span(NamedTuple):
    """From one number to another. open: whether it is without that end."""

    low: Fraction | float = -math.inf
    high: Fraction | float = math.inf
    open_low: bool = False
    open_high: bool = False


class Numbers:
    """Adds numbers to a grammar.

    own: a schema; its bounds and `multipleOf` count. without: numbers that are left out. where: a
    pointer to the schema, for errors.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._reader = Reader(grammar, grammar.run)

    def add(
        self, at: int, own: Mapping[str, Any], kind: str, without: Iterable[Fraction], where: str
    ) -> int:
        """A number behind a node. kind: "number" or "integer". Raises OptionError."""
        step, spans = _step(own, where), _spans(own, without, where)
        if kind == "integer":
            step = Fraction((step or Fraction(1)).numerator)
        ways: list[Build] = []
        if step is not None:
            points = _points(step, where)
            for span in spans:
                for count in range(points + 1):
                    whole = (step * 10**count).numerator
                    ways += self._multiples(span, whole, count, where)
        elif spans == [_Span()]:
            return self._reader.add(at, _NUMBER)
        else:
            for span in spans:
                ways += self._fractions(_checked(span, where))
        return self._grammar.either(at, ways)

    def whole(
        self, own: Mapping[str, Any], without: Iterable[Fraction], where: str, most: int
    ) -> list[int] | None:
        """The whole numbers of a schema; None if there are too many. Raises OptionError."""
        step = (_step(own, where) or Fraction(1)).numerator
        found: list[int] = []
        for span in _spans(own, without, where):
            if math.isinf(span.low) or math.isinf(span.high):
                return None
            first, last = _inside(span, step, 0)
            some = range(first + -first % step, last + 1, step)
            if len(some) > most - len(found):
                return None
            found += some
        return found

    def _multiples(self, span: _Span, step: int, points: int, where: str) -> list[Build]:
        """Ways to write the multiples of a step, in units of the last place. points: digits behind
        the point."""
        first, last = _inside(span, step, points)
        spot = f"{where}/multipleOf"
        digits = partial(self._digits, step=step, points=points, where=spot)
        return [
            partial(digits, low=max(first, 0), high=last),
            partial(digits, low=max(-last, 1), high=-first, sign="-"),
        ]

    def _fractions(self, span: _Span) -> list[Build]:
        """Ways to write the numbers between whole ones."""
        low, high, open_low, open_high = span
        return [
            *self._from_zero(_Span(max(low, 0), high, open_low and low >= 0, open_high), ""),
            *self._from_zero(_Span(max(-high, 0), -low, open_high and high <= 0, open_low), "-"),
        ]

    def _from_zero(self, span: _Span, sign: str) -> list[Build]:
        low, high, open_low, open_high = span
        if low > high or (low == high and (open_low or open_high)):
            return []
        first = int(low)
        last = int(high) if math.isfinite(high) else max(10**_DIGITS - 1, 10 * first)
        patterns = [] if open_high else [rf"{last}(\.0)?"]
        for edge in sorted({first, last - 1}) if first < last else ():
            digits = _EXACT - len(str(edge))
            if digits > 0:
                patterns.append(rf"{edge}\.[0-9]{{0,{digits - 1}}}[1-9]")
            if edge > first or not open_low:
                patterns.append(rf"{edge}(\.0)?")
        ways: list[Build] = [
            partial(self._reader.add, pattern=f"{sign}{pattern}") for pattern in patterns
        ]
        if first + 1 < last - 1:
            between = partial(self._digits, low=first + 1, high=last - 2, sign=sign)
            ways.append(lambda at: self._reader.add(between(at), _FRACTION))
        return ways

    def _digits(
        self,
        at: int,
        low: int,
        high: int,
        step: int = 1,
        points: int = 0,
        sign: str = "",
        where: str = "",
    ) -> int:
        """The multiples of a step from `low`, 0 or more, to `high`. points: so many of the digits
        stand behind a point."""
        grammar, end = self._grammar, self._grammar.node()
        known: dict[tuple[int, int, int, int], int] = {}

        def rest(left: int, low: int, high: int, need: int) -> int | None:
            """The node before so many digits, whose number lies within bounds and leaves this
            remainder; None if there is no such number."""
            if low + (need - low) % step > high:
                return None
            if not left:
                return end
            key = left, low, high, need
            if key not in known:
                if len(known) >= _MOST:
                    raise OptionError(
                        f"{where}: it leaves more than {_MOST:,} remainders: give nearer bounds"
                    )
                known[key] = here = grammar.node()
                if left == points:
                    here = grammar.text(here, ".")
                unit, ways = 10 ** (left - 1), dict[int, list[int]]()
                for digit in range(low // unit, high // unit + 1):
                    taken = digit * unit
                    bounds = max(low - taken, 0), min(high - taken, unit - 1)
                    to = rest(left - 1, *bounds, (need - taken) % step)
                    if to is not None:
                        ways.setdefault(to, []).append(ord("0") + digit)
                for to, codes in ways.items():
                    grammar.read(here, union([((code, code),) for code in codes]), to)
            return known[key]

        at = grammar.text(at, sign)
        shortest, longest = (max(len(str(end)), points + 1) for end in (low, max(high, 0)))
        for length in range(shortest, longest + 1):
            least = 10 ** (length - 1) if length > points + 1 else 0
            start = rest(length, max(low, least), min(high, 10**length - 1), 0)
            if start is not None:
                grammar.jump(at, start)
        return end


def _exact(own: Mapping[str, Any], name: str, where: str) -> Fraction | None:
    """A number of a schema, as it is written; None if it is not there."""
    value = own.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(f"{where}/{name} is {value!r:.60}, not a number")
    if not abs(value) <= _FARTHEST:
        raise OptionError(f"{where}/{name} is not a number from -1e308 to 1e308")
    return exact(value)


def exact(value: float) -> Fraction:
    """A number as it is written."""
    return Fraction(repr(float(value)) if isinstance(value, float) else value)


def _step(own: Mapping[str, Any], where: str) -> Fraction | None:
    step = _exact(own, "multipleOf", where)
    if step is not None and step <= 0:
        raise OptionError(f"{where}/multipleOf is {own['multipleOf']!r}: it has to be more than 0")
    return step


def _points(step: Fraction, where: str) -> int:
    """How many digits a step has behind its point."""
    for count in range(_EXACT):
        if (step * 10**count).denominator == 1:
            return count
    raise OptionError(f"{where}/multipleOf is {float(step)!r}: it has too many decimals")


def _spans(own: Mapping[str, Any], without: Iterable[Fraction], where: str) -> list[_Span]:
    """What the bounds allow, cut at the numbers that are left out."""
    low: Fraction | float = -math.inf
    high: Fraction | float = math.inf
    open_low = open_high = False
    for name in BOUNDS:
        bound = _exact(own, name, where)
        if bound is None:
            continue
        is_open = name.startswith("exclusive")
        if "inimum" in name:
            low, open_low = max((low, open_low), (bound, is_open))
        else:
            high, open_high = max((-high, open_high), (-bound, is_open))
            high = -high
    spans = []
    for each in sorted(set(without)):
        if low <= each <= high:
            spans.append(_Span(low, each, open_low, True))
            low, open_low = each, True
    return [*spans, _Span(low, high, open_low, open_high)]


def _checked(span: _Span, where: str) -> _Span:
    for bound in span[:2]:
        if isinstance(bound, Fraction) and bound.denominator > 1:
            raise OptionError(
                f"{where}: of numbers without multipleOf, bounds are whole here, and so is what "
                f"`not` leaves out; {float(bound)} is not"
            )
    return span


def _inside(span: _Span, step: int, points: int) -> tuple[int, int]:
    """The first and the last whole number of a span, in units of a place behind the point."""
    unit, most = 10**points, 10**_EXACT - 1
    ends: list[int] = []
    for bound, is_open, side in (
        (span.low, span.open_low, 1),
        (span.high, span.open_high, -1),
    ):
        if isinstance(bound, Fraction):
            inner = bound * unit * side
            ends.append(side * (math.floor(inner) + 1 if is_open else math.ceil(inner)))
        else:
            other = span.high if side > 0 else span.low
            far = abs(int(other)) if isinstance(other, Fraction) else 0
            ends.append(-side * max(10**_DIGITS - 1, 10 * far, 10 * step))
    first, last = ends
    return (max(first, -most), min(last, most)) if points else (first, last)
