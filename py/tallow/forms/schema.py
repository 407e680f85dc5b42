"""JSON Schema as a form: what `json.loads` reads and the schema accepts.

https://json-schema.org/draft/2020-12/json-schema-validation names the keywords. A text has the
properties in the schema's order, and at most one space, behind a comma or a colon. What a form
can't promise is refused; annotations, and keywords that nobody knows, say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import OptionError
from ..text.charsets import Ranges, inverse, union
from .grammar import Build, Grammar
from .numbers import BOUNDS, Numbers, exact
from .regex import Reader

_REFUSED = (
    *("if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies"),
    *("patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("contains", "minContains", "maxContains", "unevaluatedProperties"),
    *("unevaluatedItems", "additionalItems", "$dynamicRef", "nullable"),
)
_BY_KIND = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": (*BOUNDS, "multipleOf"),
}
_KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")
_ASSERTS = {
    *("type", "enum", "const", "not", "anyOf", "oneOf", "allOf", "$ref"),
    *(name for names in _BY_KIND.values() for name in names),
}
_DEEPEST = 100
_MOST_SETS = 5000
"""How many sets of values may stand in an array whose values differ: all those of 12."""
_WORDS = {"boolean": ("true", "false"), "null": ("null",)}

_ESCAPES = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_EVERY: Ranges = ((0, 0x10FFFF),)
_PLAIN: Ranges = inverse(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0xD800, 0xDFFF)))

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
        self._numbers = Numbers(self.grammar)
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
        if own.keys() == {"$ref"}:
            return self._referred(at, own["$ref"], where)
        own = self._resolved(given, where)
        for name in ("anyOf", "oneOf"):
            if name in own:
                ways = [
                    partial(self._value, given=option, where=spot)
                    for option, spot in self._options(own, name, where)
                ]
                return self.grammar.either(at, ways)
        if "enum" in own or "const" in own:
            return self.grammar.either(at, map(self._written, self._fitting(own, where)))
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
        own = {
            name: value
            for name, value in given.items()
            if name in _ASSERTS and not (value is False and name in ("not", "uniqueItems"))
        }
        parts = own.pop("allOf", [])
        for at, part in enumerate(_list(parts, f"{where}/allOf")):
            own = _both(own, self._resolved(part, f"{where}/allOf/{at}"), where)
        return own

    def _resolved(self, given: object, where: str) -> dict[str, Any]:
        """The same, with what it refers to."""
        own = {} if given is True else self._whole(given, where)
        for _ in range(_DEEPEST):
            if "$ref" not in own:
                return own
            ref = own.pop("$ref")
            part = self._at(ref, where)
            own = _both(own, {} if part is True else self._whole(part, str(ref)), where)
        raise OptionError(f"{where}: a part is defined by itself alone")

    def _options(
        self, own: Mapping[str, Any], name: str, where: str
    ) -> Iterable[tuple[object, str]]:
        """The schemas of `anyOf` or `oneOf`, each with what stands beside these, and where."""
        rest = {key: value for key, value in own.items() if key != name}
        options = _list(own[name], f"{where}/{name}")
        if name == "oneOf":
            self._check_apart(options, f"{where}/oneOf")
        for number, option in enumerate(options):
            spot = f"{where}/{name}/{number}"
            if rest and option is not False:
                yield _both(rest, self._resolved(option, spot), spot), spot
            else:
                yield option, spot

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
        """The types of a schema's values, without "integer" beside "number"."""
        denied, _ = self._denied(own, where)
        if "type" in own:
            kinds = self._types(own, where)
        elif "enum" in own or "const" in own:
            kinds = sorted({_kind(json.loads(each)) for each in _values(own)})
        else:
            found = [kind for kind, names in _BY_KIND.items() if any(n in own for n in names)]
            kinds = found or list(_KINDS)
        if "integer" in denied and "number" not in denied and "number" in kinds:
            raise OptionError(
                f"{where}/not: no text can be held to numbers that are no integers: give the types"
            )
        without = denied | {"integer"} if "number" in {*kinds, *denied} else denied
        return [each for each in kinds if each not in without]

    def _types(self, own: Mapping[str, Any], where: str) -> list[str]:
        given = own.get("type", list(_KINDS))
        kinds = [given] if isinstance(given, str) else given
        if not isinstance(kinds, list) or not kinds or not all(each in _KINDS for each in kinds):
            raise OptionError(f"{where}/type is {given!r:.60}: there are {', '.join(_KINDS)}")
        return kinds

    def _denied(self, own: Mapping[str, Any], where: str) -> tuple[set[str], list[Any]]:
        """The types, and the single values, that `not` leaves out."""
        return self._covered(own.get("not", False), f"{where}/not")

    def _covered(self, given: object, where: str) -> tuple[set[str], list[Any]]:
        """The types, and the single values, that fit a schema."""
        if given is False:
            return set(), []
        own = self._resolved(given, where)
        if own.keys() == {"anyOf"}:
            parts = [self._covered(each, spot) for each, spot in self._options(own, "anyOf", where)]
            kinds = {kind for some, _ in parts for kind in some}
            return kinds, [value for _, values in parts for value in values]
        other = sorted(own.keys() - {"type", "enum", "const"})
        if other:
            raise OptionError(
                f"{where} uses {other[0]!r}: a text can be kept from types and given values alone"
            )
        if "enum" in own or "const" in own:
            return set(), [json.loads(each) for each in self._fitting(own, where)]
        return set(self._types(own, where)), []

    def _of_kind(self, at: int, kind: str, own: Mapping[str, Any], where: str) -> int:
        without = [each for each in self._denied(own, where)[1] if _fits(each, {kind})]
        if kind in ("object", "array") and without:
            raise OptionError(f"{where}/not: no text can be kept from a single {kind} here")
        if kind == "object":
            return self._object(at, own, where)
        if kind == "array":
            return self._array(at, own, where)
        if kind == "string":
            return self._string(at, own, without, where)
        if kind in ("number", "integer"):
            return self._numbers.add(at, own, kind, map(exact, without), where)
        words = _WORDS[kind]
        return self.grammar.either(
            at, [self._written(word) for word in words if json.loads(word) not in without]
        )

    def _written(self, text: str) -> Build:
        return partial(self.grammar.text, text=text)

    def _fitting(self, own: Mapping[str, Any], where: str) -> list[str]:
        """The given values, as JSON, that fit the rest of a schema."""
        other = sorted(own.keys() - {"enum", "const", "type", "not"})
        if other:
            raise OptionError(f"{where} has {other[0]!r} beside given values: leave it out")
        if "enum" in own:
            _list(own["enum"], f"{where}/enum")
        kinds = set(self._types(own, where))
        denied, without = self._denied(own, where)
        same = set(map(_same, without))
        return [
            each
            for each in sorted(_values(own))
            if _fits(value := json.loads(each), kinds)
            and not _fits(value, denied)
            and _same(value) not in same
        ]

    def _finite(self, given: object, where: str) -> list[str] | None:
        """All values of a schema, as JSON; None for those that are too many, or not known."""
        if given is False:
            return []
        own = self._resolved(given, where)
        for name in ("anyOf", "oneOf"):
            if name in own:
                parts = [self._finite(*each) for each in self._options(own, name, where)]
                if None in parts:
                    return None
                return [value for part in parts for value in part or ()]
        if "enum" in own or "const" in own:
            return self._fitting(own, where)
        found: list[str] = []
        for kind in self._kinds(own, where):
            without = [each for each in self._denied(own, where)[1] if _fits(each, {kind})]
            if kind == "integer":
                numbers = self._numbers.whole(own, map(exact, without), where, _MOST_SETS)
                if numbers is None:
                    return None
                found += map(str, numbers)
            elif kind in _WORDS:
                found += [word for word in _WORDS[kind] if json.loads(word) not in without]
            else:
                return None
        return found

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
            end = self._space(text(self._other_string(key, list(wanted)), ":"))
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
        if own.get("uniqueItems", True) is not True:
            raise OptionError(f"{where}/uniqueItems is {own['uniqueItems']!r:.60}, not a boolean")
        if "uniqueItems" in own and (high is None or high > 1):
            return self._different(at, [*firsts, items], low, high, where)
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

    def _different(
        self, at: int, parts: Sequence[object], low: int, high: int | None, where: str
    ) -> int:
        """An array of different values. parts: the schemas of its first items, and of the rest."""
        known = [self._finite(part, f"{where}/items") for part in parts[:high]]
        values: list[list[tuple[str, str]]] = []
        for each in known:
            if each is None:
                raise OptionError(
                    f"{where}/uniqueItems: nothing keeps values apart that are not given: "
                    "name them by enum"
                )
            values.append([(text, _same(json.loads(text))) for text in each])
        ends, start = self.grammar.node(), self.grammar.text(at, "[")
        nodes = {frozenset[str](): start}
        rest = list(nodes)
        while rest:
            there = rest.pop()
            at, count = nodes[there], len(there)
            if count >= low:
                self.grammar.jump(at, ends)
            at = self._comma(at) if count else at
            for text, key in values[min(count, len(values) - 1)]:
                if key in there:
                    continue
                following = there | {key}
                end = self._called(at, f"={text}", self._written(text))
                if count + 1 == high:
                    if high >= low:
                        self.grammar.jump(end, ends)
                    continue
                if following not in nodes:
                    if len(nodes) >= _MOST_SETS:
                        raise OptionError(
                            f"{where}/uniqueItems: more than {_MOST_SETS:,} sets of values may "
                            "stand there: give fewer values, or maxItems"
                        )
                    nodes[following] = self.grammar.node()
                    rest.append(following)
                self.grammar.jump(end, nodes[following])
        return self.grammar.text(ends, "]")

    def _comma(self, at: int) -> int:
        return self._space(self.grammar.text(at, ","))

    def _space(self, at: int) -> int:
        return self.grammar.maybe(at, lambda at: self.grammar.text(at, " "))

    def _other_string(self, at: int, strings: Sequence[str]) -> int:
        """A string that is none of some."""
        grammar = self.grammar
        at, out = grammar.text(at, '"'), grammar.node()
        free = grammar.node()
        grammar.jump(self._content(free, _EVERY, 0, None), out)
        row = {"": at}
        for length in range(max(map(len, strings), default=0) + 1):
            for start in [each for each in row if len(each) == length]:
                here = row[start]
                following = sorted(
                    {each[length] for each in strings if each.startswith(start) and each != start}
                )
                if start not in strings:
                    grammar.jump(here, out)
                others = inverse(tuple((ord(char), ord(char)) for char in following))
                grammar.jump(grammar.one(here, _less(others, inverse(_PLAIN))), free)
                grammar.jump(self._escaped(here, others), free)
                for char in following:
                    if char in _ESCAPES:
                        row[start + char] = grammar.text(here, f"\\{_ESCAPES[char]}")
                    elif _has(_PLAIN, char):
                        row[start + char] = grammar.text(here, char)
        return grammar.text(out, '"')

    # ---- strings -------------------------------------------------------------------------------

    def _string(self, at: int, own: Mapping[str, Any], without: Sequence[str], where: str) -> int:
        low, high = _count(own, "minLength", where), _count(own, "maxLength", where)
        form = own.get("format")
        pattern = own.get("pattern") or (_FORMATS.get(form) if isinstance(form, str) else None)
        if without:
            if (pattern, low, high) != (None, None, None):
                raise OptionError(
                    f"{where} leaves strings out beside a length, a pattern or a format: say one"
                )
            return self._other_string(at, without)
        at = self.grammar.text(at, '"')
        if pattern is None:
            at = self._content(at, _EVERY, low or 0, high)
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
        has_escapes = any(_has(chars, char) for char in _ESCAPES)
        escaped = partial(self._escaped, chars=chars)
        return self.grammar.run(at, plain, low, high, escaped if has_escapes else None)

    def _escaped(self, at: int, chars: Ranges) -> int:
        """One of some characters that a string of JSON has behind a backslash."""
        codes = [ord(short) for char, short in _ESCAPES.items() if _has(chars, char)]
        signs = union([((code, code),) for code in codes])
        return self.grammar.one(self.grammar.text(at, "\\"), signs)


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
        elif name == "not":
            found[name] = {"anyOf": [found[name], value]}
        else:
            raise OptionError(f"{where} says {name!r} twice, in other ways: say it once")
    return found


def _values(own: Mapping[str, Any]) -> set[str]:
    """The values that `enum` and `const` leave, as JSON."""
    write: Callable[[Any], str] = partial(json.dumps, ensure_ascii=False, allow_nan=False)
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


def _fits(value: object, kinds: set[str]) -> bool:
    kind = _kind(value)
    if kind in ("integer", "number") and "number" in kinds:
        return True
    return kind in kinds or ("integer" in kinds and isinstance(value, float) and value.is_integer())


def _same(value: object) -> str:
    """A text that equal values of JSON share, such as 1 and 1.0."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return json.dumps(plain(value), sort_keys=True)


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
