"""JSON Schema as a form: what `json.loads` reads and the schema accepts.

https://json-schema.org/draft/2020-12/json-schema-validation names the keywords. A text has the
properties in the schema's order, and at most one space, behind a comma or a colon. What a form
can't promise is refused; annotations, and keywords that nobody knows, say nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import OptionError
from ..text.charsets import Ranges, inverse, union
from .grammar import Build, Grammar
from .regex import Reader

_REFUSED = (
    *("not", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies"),
    *("patternProperties", "propertyNames", "minProperties", "maxProperties", "uniqueItems"),
    *("contains", "minContains", "maxContains", "multipleOf", "unevaluatedProperties"),
    *("unevaluatedItems", "additionalItems", "$dynamicRef", "nullable"),
)
_BY_KIND = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
_KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")
_ASSERTS = {
    *("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"),
    *(name for names in _BY_KIND.values() for name in names),
}
_DEEPEST = 100

_ESCAPES = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_PLAIN: Ranges = inverse(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0xD800, 0xDFFF)))

_DIGITS = 16
"""Of a whole number that has no bound: float64 has no more."""
_EXACT = 15
"""So many digits are never rounded to a bound."""
_NUMBER = r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,16})?([eE][+-]?[0-9]{1,2})?"
_FRACTION = r"(\.[0-9]{1,16})?"

_DATE = (
    "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
    "-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)"
)
_TIME = (
    r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
    r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "ipv4": rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}",
    "email": r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*@[A-Za-z0-9]+([.-][A-Za-z0-9]+)*\.[A-Za-z]{2,}",
}
"""Other formats are annotations."""


def schema(given: object) -> Grammar:
    """The texts that `json.loads` reads as a value which a JSON Schema accepts.

    given: the schema, an object of JSON or true.
    Raises: OptionError for what is no schema, for keywords that a form can't promise, and for a
      schema that no value fits.
    """
    try:
        return _Schema(given).grammar.seal("schema")
    except RecursionError:
        raise OptionError(
            "schema: it nests too deeply, or a part is defined by itself alone"
        ) from None


class _Schema:
    def __init__(self, root: object) -> None:
        self._root, self.grammar = root, Grammar()
        self._rules: dict[str, int] = {}
        self._text = Reader(self.grammar, self._content)
        self._number = Reader(self.grammar, self.grammar.run)
        rule, start = self.grammar.rule()
        self._rules["#"] = rule
        self.grammar.finish(rule, self._value(start, root, "#"))

    # ---- any value -----------------------------------------------------------------------------

    def _value(self, at: int, given: object, where: str) -> int:
        """A value of a schema, behind a node. where: a pointer to the schema, for errors."""
        if given is True or given == {}:
            return self._called(at, "any", self._anything)
        if given is False:
            return self.grammar.node()
        own = self._whole(given, where)
        if not own:
            return self._called(at, "any", self._anything)
        if "$ref" in own:
            return self._referred(at, own["$ref"], where)
        for name in ("anyOf", "oneOf"):
            if name in own:
                return self._one_of(at, own, name, where)
        if "enum" in own or "const" in own:
            return self._literals(at, own, where)
        kinds = self._kinds(own, where)
        return self.grammar.either(
            at, [partial(self._of_kind, kind=kind, own=own, where=where) for kind in kinds]
        )

    def _whole(self, given: object, where: str) -> dict[str, Any]:
        """What a schema asserts, with all of `allOf`. Raises OptionError."""
        if not isinstance(given, Mapping):
            raise OptionError(f"{where} is {given!r:.60}, no JSON schema: an object, or true")
        for name in _REFUSED:
            if given.get(name, False) is not False:
                raise OptionError(f"{where} uses {name!r}, which no text can be held to here")
        own = {name: value for name, value in given.items() if name in _ASSERTS}
        parts = own.pop("allOf", [])
        for at, part in enumerate(_list(parts, f"{where}/allOf")):
            own = _both(own, self._resolved(part, f"{where}/allOf/{at}"), where)
        return own

    def _resolved(self, given: object, where: str) -> dict[str, Any]:
        """A part of `allOf`, with what it refers to."""
        for _ in range(_DEEPEST):
            if given is True:
                return {}
            own = self._whole(given, where)
            if set(own) != {"$ref"}:
                return own
            where, given = str(own["$ref"]), self._at(own["$ref"], where)
        raise OptionError(f"{where}: a part is defined by itself alone")

    def _one_of(self, at: int, own: dict[str, Any], name: str, where: str) -> int:
        rest = {key: value for key, value in own.items() if key != name}
        options = _list(own[name], f"{where}/{name}")
        if name == "oneOf":
            self._check_apart(options, f"{where}/oneOf")
        ways: list[Build] = []
        for number, option in enumerate(options):
            spot = f"{where}/{name}/{number}"
            if rest and option is not False:
                option = _both(rest, self._resolved(option, spot), spot)
            ways.append(partial(self._value, given=option, where=spot))
        return self.grammar.either(at, ways)

    def _check_apart(self, options: Sequence[object], where: str) -> None:
        """No value fits two options of `oneOf`, as far as their types and constants tell."""
        seen: list[tuple[set[str], dict[str, set[str]]]] = []
        for number, option in enumerate(options):
            own = self._resolved(option, f"{where}/{number}") if option is not False else {}
            kinds = set(self._kinds(own, where)) if own else set(_KINDS)
            marks = {"": _values(own)} if _values(own) else {}
            for name in own.get("required", ()) if kinds == {"object"} else ():
                part = own.get("properties", {}).get(name)
                if isinstance(part, Mapping) and _values(part):
                    marks[name] = _values(part)
            for others, marked in seen:
                met = kinds & others or {"number", "integer"} <= kinds | others
                apart = any(marks[name].isdisjoint(marked[name]) for name in marks.keys() & marked)
                if met and not apart:
                    raise OptionError(
                        f"{where}/{number}: a value may fit another option too: use anyOf"
                    )
            seen.append((kinds, marks))

    def _kinds(self, own: Mapping[str, Any], where: str) -> list[str]:
        given = own.get("type")
        if given is None:
            if "enum" in own or "const" in own:
                return sorted({_kind(json.loads(each)) for each in _values(own)})
            found = [kind for kind, names in _BY_KIND.items() if any(n in own for n in names)]
            return found or list(_KINDS)
        kinds = [given] if isinstance(given, str) else given
        if not isinstance(kinds, list) or not kinds or not all(each in _KINDS for each in kinds):
            raise OptionError(f"{where}/type is {given!r:.60}: there are {', '.join(_KINDS)}")
        return [each for each in kinds if each != "integer" or "number" not in kinds]

    def _of_kind(self, at: int, kind: str, own: Mapping[str, Any], where: str) -> int:
        if kind == "object":
            return self._object(at, own, where)
        if kind == "array":
            return self._array(at, own, where)
        if kind == "string":
            return self._string(at, own, where)
        if kind in ("number", "integer"):
            return self._number.add(at, _number(own, kind, where))
        words = ("true", "false") if kind == "boolean" else ("null",)
        return self.grammar.either(at, [partial(self.grammar.text, text=word) for word in words])

    def _literals(self, at: int, own: Mapping[str, Any], where: str) -> int:
        other = sorted(set(own) - {"enum", "const", "type"})
        if other:
            raise OptionError(f"{where} has {other[0]!r} beside given values: leave it out")
        if "enum" in own:
            _list(own["enum"], f"{where}/enum")
        kinds = set(self._kinds(own, where)) if "type" in own else set(_KINDS)
        fitting = [
            each
            for each in sorted(_values(own))
            if (kind := _kind(json.loads(each))) in kinds
            or (kind == "integer" and "number" in kinds)
        ]
        return self.grammar.either(at, [partial(self.grammar.text, text=each) for each in fitting])

    # ---- references ----------------------------------------------------------------------------

    def _called(self, at: int, name: str, build: Build) -> int:
        """A value of a rule that is built when it is first used."""
        if name not in self._rules:
            rule, start = self.grammar.rule()
            self._rules[name] = rule
            self.grammar.finish(rule, build(start))
        return self.grammar.call(at, self._rules[name])

    def _referred(self, at: int, ref: object, where: str) -> int:
        given = self._at(ref, where)
        return self._called(at, str(ref), partial(self._value, given=given, where=str(ref)))

    def _at(self, ref: object, where: str) -> object:
        """The schema at a pointer into this document (RFC 6901)."""
        if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
            raise OptionError(f"{where}/$ref is {ref!r:.80}: it has to begin with #/")
        found: Any = self._root
        for part in ref.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                raise OptionError(f"{where}/$ref is {ref!r:.80}, and the schema has no such part")
        return found

    def _anything(self, at: int) -> int:
        kinds = [each for each in _KINDS if each != "integer"]
        return self.grammar.either(
            at, [partial(self._of_kind, kind=kind, own={}, where="#") for kind in kinds]
        )

    # ---- objects and arrays --------------------------------------------------------------------

    def _object(self, at: int, own: Mapping[str, Any], where: str) -> int:
        properties = own.get("properties", {})
        required = _list(own.get("required", []), f"{where}/required")
        if not isinstance(properties, Mapping) or not all(isinstance(n, str) for n in required):
            raise OptionError(f"{where}: properties are an object, and required is a list of names")
        more = own.get("additionalProperties", not properties)
        rest = own.get("additionalProperties", True)
        wanted = {**properties, **{name: rest for name in required if name not in properties}}
        text = self.grammar.text
        first, later = text(at, "{"), self.grammar.node()
        for name, part in wanted.items():
            key = self.grammar.node()
            self.grammar.jump(first, key)
            self.grammar.jump(self._comma(later), key)
            key = self._space(text(key, f"{json.dumps(name, ensure_ascii=False)}:"))
            end = self._value(key, part, f"{where}/properties/{name}")
            fresh, behind = self.grammar.node(), self.grammar.node()
            self.grammar.jump(end, behind)
            if name not in required:
                self.grammar.jump(first, fresh)
                self.grammar.jump(later, behind)
            first, later = fresh, behind
        if more is not False:
            key = self.grammar.node()
            self.grammar.jump(first, key)
            self.grammar.jump(self._comma(later), key)
            end = self._space(text(self._other_key(key, list(wanted)), ":"))
            spot = f"{where}/additionalProperties"
            end = self._called(end, spot, partial(self._value, given=more, where=spot))
            self.grammar.jump(end, later)
        out = self.grammar.node()
        self.grammar.jump(first, out)
        self.grammar.jump(later, out)
        return text(out, "}")

    def _array(self, at: int, own: Mapping[str, Any], where: str) -> int:
        firsts = _list(own.get("prefixItems", []), f"{where}/prefixItems")
        low = _count(own, "minItems", where) or 0
        high = _count(own, "maxItems", where)
        items = own.get("items", True)
        at = self.grammar.text(at, "[")
        ends = self.grammar.node()
        if low == 0:
            self.grammar.jump(at, ends)
        count = 0
        while (high is None or count < high) and count < max(low, len(firsts)):
            at = self._comma(at) if count else at
            part, spot = items, f"{where}/items"
            if count < len(firsts):
                part, spot = firsts[count], f"{where}/prefixItems/{count}"
            at = self._called(at, spot, partial(self._value, given=part, where=spot))
            count += 1
            if count >= low:
                self.grammar.jump(at, ends)
        spot = f"{where}/items"
        build = partial(self._value, given=items, where=spot)
        if high is None or count < high:
            if not count:
                at = self._called(at, spot, build)
                count = 1
                self.grammar.jump(at, ends)
            at = self.grammar.repeat(
                at,
                lambda at: self._called(self._comma(at), spot, build),
                0,
                None if high is None else high - count,
            )
            self.grammar.jump(at, ends)
        return self.grammar.text(ends, "]")

    def _comma(self, at: int) -> int:
        return self._space(self.grammar.text(at, ","))

    def _space(self, at: int) -> int:
        return self.grammar.maybe(at, lambda at: self.grammar.text(at, " "))

    def _other_key(self, at: int, names: list[str]) -> int:
        """A key that is none of some names. It has no escapes, so that it is what it looks like."""
        grammar = self.grammar
        at, out = grammar.text(at, '"'), grammar.node()
        free = grammar.node()
        grammar.jump(grammar.run(free, _PLAIN, 0, None), out)
        row = {"": at}
        for length in range(max(map(len, names), default=0) + 1):
            for start in [each for each in row if len(each) == length]:
                following = sorted({n[length] for n in names if n.startswith(start) and n != start})
                if start not in names:
                    grammar.jump(row[start], out)
                taken: Ranges = tuple((ord(char), ord(char)) for char in following)
                grammar.jump(grammar.one(row[start], _less(_PLAIN, taken)), free)
                for char in following:
                    if _has(_PLAIN, char):
                        row[start + char] = grammar.text(row[start], char)
        return grammar.text(out, '"')

    # ---- strings -------------------------------------------------------------------------------

    def _string(self, at: int, own: Mapping[str, Any], where: str) -> int:
        low, high = _count(own, "minLength", where), _count(own, "maxLength", where)
        form = own.get("format")
        pattern = own.get("pattern") or (_FORMATS.get(form) if isinstance(form, str) else None)
        at = self.grammar.text(at, '"')
        if pattern is None:
            at = self._content(at, ((0, 0x10FFFF),), low or 0, high)
        elif low is not None or high is not None or ("pattern" in own and form in _FORMATS):
            raise OptionError(
                f"{where} has a pattern or a format, and a length beside it: say the length there"
            )
        else:
            at = self._text.add(at, pattern, anywhere="pattern" in own)
        return self.grammar.text(at, '"')

    def _content(self, at: int, chars: Ranges, low: int, high: int | None) -> int:
        """Characters as a string of JSON has them."""
        plain = _less(chars, inverse(_PLAIN))
        escapes = "".join(short for char, short in _ESCAPES.items() if _has(chars, char))
        signs: Ranges = union([((ord(each), ord(each)),) for each in escapes])

        def escaped(at: int) -> int:
            return self.grammar.one(self.grammar.text(at, "\\"), signs)

        return self.grammar.run(at, plain, low, high, escaped if escapes else None)


def _both(one: Mapping[str, Any], other: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What two schemas assert together. Raises OptionError where that is no schema."""
    found = dict(one)
    for name, value in other.items():
        if name not in found or found[name] == value:
            found[name] = value
        elif name == "required":
            found[name] = [*found[name], *(each for each in value if each not in found[name])]
        elif name == "properties" and all(found[name].get(n, v) == v for n, v in value.items()):
            found[name] = {**found[name], **value}
        else:
            raise OptionError(f"{where} says {name!r} twice, in other ways: say it once")
    return found


def _number(own: Mapping[str, Any], kind: str, where: str) -> str:
    """A pattern of the numbers within bounds."""
    low, high, open_low, open_high = -math.inf, math.inf, False, False
    for name in _BY_KIND["number"]:
        bound = own.get(name)
        if bound is None:
            continue
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            raise OptionError(f"{where}/{name} is {bound!r:.60}, not a number")
        excluded = name.startswith("exclusive")
        if kind == "number" and bound != int(bound):
            raise OptionError(f"{where}/{name} is {bound}: of numbers, bounds are whole here")
        if "inimum" in name:
            low, open_low = max((low, open_low), (bound, excluded))
        else:
            high, inner = max((-high, open_high), (-bound, excluded))
            high, open_high = -high, inner
    if kind == "number" and (low, high) == (-math.inf, math.inf):
        return _NUMBER
    if kind == "integer":
        low = math.floor(low) + 1 if open_low else low if math.isinf(low) else math.ceil(low)
        high = math.ceil(high) - 1 if open_high else high if math.isinf(high) else math.floor(high)
        open_low = open_high = False
    ways = [
        *_magnitudes(max(low, 0), high, open_low and low >= 0, open_high, kind),
        *(
            f"-{each}"
            for each in _magnitudes(max(-high, 0), -low, open_high and high <= 0, open_low, kind)
            if each != "0"
        ),
    ]
    return f"({'|'.join(ways)})" if ways else "[^\\x00-\\U0010ffff]"


def _magnitudes(low: float, high: float, open_low: bool, open_high: bool, kind: str) -> list[str]:
    """Patterns of the numbers from 0 on within bounds."""
    if low > high or (low == high and (open_low or open_high)):
        return []
    first = int(low)
    last = int(high) if math.isfinite(high) else max(10**_DIGITS - 1, 10 * first)
    if kind == "integer":
        return [f"({_between(first, last)})"] if last else ["0"]
    ways = [] if open_high else [rf"{last}(\.0)?"]
    for edge in sorted({first, last - 1}) if first < last else ():
        digits = _EXACT - len(str(edge))
        if digits > 0:
            ways.append(rf"{edge}\.[0-9]{{0,{digits - 1}}}[1-9]")
        if edge > first or not open_low:
            ways.append(rf"{edge}(\.0)?")
    if first + 1 < last - 1:
        ways.append(f"({_between(first + 1, last - 2)}){_FRACTION}")
    return ways


def _between(low: int, high: int) -> str:
    """A pattern of the whole numbers from `low`, 0 or more, to `high`."""
    ways = []
    for length in range(len(str(low)), len(str(high)) + 1):
        least = 10 ** (length - 1) if length > 1 else 0
        ways.append(_as_long(str(max(low, least)), str(min(high, 10**length - 1))))
    return "|".join(ways)


def _as_long(low: str, high: str) -> str:
    """The same where both have as many digits."""
    if low == high:
        return low
    rest = len(low) - 1
    if low[0] == high[0]:
        return f"{low[0]}({_as_long(low[1:], high[1:])})"
    if set(low[1:]) <= {"0"} and set(high[1:]) <= {"9"}:
        return f"[{low[0]}-{high[0]}]" + (f"[0-9]{{{rest}}}" if rest else "")
    ways = [f"{low[0]}({_as_long(low[1:], '9' * rest)})"]
    if int(low[0]) + 1 < int(high[0]):
        ways.append(f"[{int(low[0]) + 1}-{int(high[0]) - 1}][0-9]{{{rest}}}")
    ways.append(f"{high[0]}({_as_long('0' * rest, high[1:])})")
    return "|".join(ways)


def _values(own: Mapping[str, Any]) -> set[str]:
    """The values that `enum` and `const` leave, as JSON."""
    write: Callable[[Any], str] = partial(json.dumps, ensure_ascii=False)
    try:
        found = {write(each) for each in own.get("enum", ())}
        if "const" in own:
            const = write(own["const"])
            found = {const} if "enum" not in own or const in found else set()
    except (TypeError, ValueError) as error:
        raise OptionError(f"a given value is no JSON: {error}") from error
    return found


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds = {dict: "object", list: "array", str: "string", int: "integer", float: "number"}
    return kinds.get(type(value), "null")


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise OptionError(f"{where} is {value!r:.60}, not a list")
    return list(value)


def _count(own: Mapping[str, Any], name: str, where: str) -> int | None:
    value = own.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise OptionError(f"{where}/{name} is {value!r:.60}, not a whole number from 0 on")
    return value


def _less(chars: Ranges, other: Ranges) -> Ranges:
    return inverse(union([inverse(chars), other]))


def _has(chars: Ranges, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in chars)
