"""What all models share: a vocabulary, and the tokens of one word."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..errors import TextError


class Word(NamedTuple):
    """The tokens of a word. spans: where each stands, in characters. names: as they are shown,
    where that is not the vocabulary's name."""

    ids: list[int]
    spans: list[tuple[int, int]]
    names: list[str] | None = None


class Vocabulary:
    """Names and numbers of tokens."""

    def __init__(self, vocab: dict[str, int]) -> None:
        self.vocab = vocab
        self.names = {number: name for name, number in vocab.items()}


class Model(Protocol):
    """What a tokenizer asks its model for."""

    vocab: dict[str, int]
    names: dict[int, str]

    def word(self, text: str) -> Word:
        """The tokens of a word that is not empty."""
        ...


def byte_token(byte: int) -> str:
    """The token of a byte in a vocabulary with byte fallback."""
    return f"<0x{byte:02X}>"


def vocab_of(value: object) -> dict[str, int]:
    """A vocabulary from names with numbers. Raises: TextError."""
    if not isinstance(value, dict):
        raise TextError(f"the model's vocab is {value!r:.60}, not an object of JSON")
    for name, number in value.items():
        if type(number) is not int or not 0 <= number < 1 << 31:
            raise TextError(f"the token {name!r:.60} has the number {number!r:.60}")
    return value
