"""Reading a tokenizer's description: each part is checked where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from ..errors import TextError
from .patterns import Pattern, literal

_Made = TypeVar("_Made")

# Descriptions of published tokenizers nest two deep.
_DEEPEST = 16


class Spec:
    """One part of a description, such as a normalizer. where: its name for messages."""

    def __init__(self, value: object, where: str, depth: int = 0) -> None:
        """Raises: TextError for what is no part, or nests without end."""
        if not isinstance(value, Mapping):
            raise TextError(f"{where} is {value!r:.60}, not an object of JSON")
        if depth > _DEEPEST:
            raise TextError(f"{where} nests more than {_DEEPEST} deep")
        self.value, self.where, self.depth = value, where, depth

    @property
    def kind(self) -> str:
        """What kind of part it is."""
        return self.text("type")

    def chosen(self, known: Mapping[str, _Made]) -> _Made:
        """What is known under the part's kind. Raises: TextError for a kind that is not."""
        kind = self.value.get("type")
        if not isinstance(kind, str) or kind not in known:
            raise TextError(
                f"{self.where} has the type {kind!r:.60}: there are {', '.join(sorted(known))}"
            )
        return known[kind]

    def _of(self, key: str, kind: type | tuple[type, ...], default: object, name: str) -> Any:
        value = self.value.get(key, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise TextError(f"{self.where} has {key} {value!r:.60}, not {name}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """A text."""
        return str(self._of(key, str, default, "a text"))

    def maybe_text(self, key: str) -> str | None:
        """A text, or none."""
        return None if self.value.get(key) is None else self.text(key)

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        return bool(self._of(key, bool, default, "true or false"))

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number that is not negative."""
        value = int(self._of(key, int, default, "a whole number"))
        if value < 0:
            raise TextError(f"{self.where} has {key} {value}, below 0")
        return value

    def list(self, key: str) -> list[Any]:
        """A list."""
        return list(self._of(key, list, None, "a list"))

    def part(self, key: str) -> Spec:
        """A part of the part."""
        return Spec(self.value.get(key), f"{self.where}'s {key}", self.depth + 1)

    def parts(self, key: str) -> Iterator[Spec]:
        """The parts of a sequence."""
        for at, value in enumerate(self.list(key)):
            yield Spec(value, f"{self.where}'s {key}[{at}]", self.depth + 1)

    def pattern(self, key: str = "pattern") -> Any:
        """A pattern: of text as it is, or of Oniguruma's."""
        value = self.part(key).value
        if isinstance(value.get("String"), str):
            return literal(value["String"])
        if isinstance(value.get("Regex"), str):
            return Pattern(value["Regex"])
        raise TextError(f"{self.where} has the pattern {dict(value)!r:.60}, no String or Regex")
