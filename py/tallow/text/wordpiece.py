"""Models that look words up: WordPiece (Devlin et al. 2019), and whole words."""

from __future__ import annotations

from ..errors import TextError
from .spec import Spec
from .vocabulary import Vocabulary, Word


class WordPiece(Vocabulary):
    """The longest beginning that is in the vocabulary, then that of the rest, with a prefix. A word
    of which some part is not in it is unknown as a whole."""

    def __init__(self, vocab: dict[str, int], *, unknown: str, prefix: str, longest: int) -> None:
        """longest: words of more characters are unknown. Raises: TextError for a vocabulary
        without the unknown token."""
        super().__init__(vocab)
        if unknown not in vocab:
            raise TextError(f"the unknown token {unknown!r} is not in the vocabulary")
        self.unknown, self.prefix, self.longest = unknown, prefix, longest
        self._width = max(map(len, vocab))

    def word(self, text: str) -> Word:
        """The tokens of a word."""
        unknown = Word([self.vocab[self.unknown]], [(0, len(text))])
        if len(text) > self.longest:
            return unknown
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        start = 0
        while start < len(text):
            prefix = self.prefix if start else ""
            for end in range(min(len(text), start + self._width), start, -1):
                token = self.vocab.get(prefix + text[start:end])
                if token is not None:
                    break
            else:
                return unknown
            ids.append(token)
            spans.append((start, end))
            start = end
        return Word(ids, spans)


class WordLevel(Vocabulary):
    """Whole words."""

    def __init__(self, vocab: dict[str, int], *, unknown: str) -> None:
        super().__init__(vocab)
        self.unknown = unknown

    def word(self, text: str) -> Word:
        """The word's token. Raises: TextError for an unknown word without an unknown
        token."""
        token = self.vocab.get(text, self.vocab.get(self.unknown))
        if token is None:
            raise TextError(f"the vocabulary has neither {text!r:.60} nor {self.unknown!r}")
        return Word([token], [(0, len(text))])


def wordpiece_of(spec: Spec, vocab: dict[str, int]) -> WordPiece:
    """The model of a description. Raises: TextError."""
    return WordPiece(
        vocab,
        unknown=spec.text("unk_token", "[UNK]"),
        prefix=spec.text("continuing_subword_prefix", "##"),
        longest=spec.number("max_input_chars_per_word", 100),
    )
