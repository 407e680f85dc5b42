"""Unigram (Kudo 2018): of all ways to cut a word, the one whose tokens are the most probable."""

from __future__ import annotations

from ..errors import TextError
from .spec import Spec
from .vocabulary import Vocabulary, Word, byte_token

# An unknown character scores this much below the least probable token.
_PENALTY = 10.0


class Unigram(Vocabulary):
    """Tokens with scores, the logarithms of their probabilities."""

    def __init__(
        self,
        tokens: list[tuple[str, float]],
        *,
        unknown: int | None,
        byte_fallback: bool = False,
    ) -> None:
        """unknown: the number of the unknown token. Raises: TextError for one that is not
        there."""
        super().__init__({name: number for number, (name, _) in enumerate(tokens)})
        self.names = {number: name for number, (name, _) in enumerate(tokens)}
        if unknown is not None and not 0 <= unknown < len(tokens):
            raise TextError(f"the unknown token is {unknown} of {len(tokens)}")
        self.unknown, self.byte_fallback = unknown, byte_fallback
        self._scores = dict(tokens)
        self._unknown_score = min((score for _, score in tokens), default=0.0) - _PENALTY
        lengths: dict[str, set[int]] = {}
        for name in self._scores:
            if name:
                lengths.setdefault(name[0], set()).add(len(name))
        # How long tokens are that begin with a character: what is worth looking up.
        self._lengths = {first: sorted(each) for first, each in lengths.items()}

    def _cuts(self, text: str) -> list[tuple[int, int, bool]]:
        """The best way: start, end, and whether it is unknown (Viterbi's algorithm)."""
        scores, lengths = self._scores, self._lengths
        count = len(text)
        best = [0.0] * (count + 1)
        source = [-1] * (count + 1)
        unknown = [False] * (count + 1)
        for start in range(count):
            here = best[start]
            single = False
            for length in lengths.get(text[start], ()):
                end = start + length
                if end > count:
                    break
                score = scores.get(text[start:end])
                if score is None:
                    continue
                single |= length == 1
                if source[end] < 0 or here + score > best[end]:
                    best[end], source[end], unknown[end] = here + score, start, False
            if not single:
                score, end = here + self._unknown_score, start + 1
                if source[end] < 0 or score > best[end]:
                    best[end], source[end], unknown[end] = score, start, True
        cuts: list[tuple[int, int, bool]] = []
        end = count
        while end > 0:
            start = source[end]
            if unknown[end] and cuts and cuts[-1][2]:
                cuts[-1] = (start, cuts[-1][1], True)  # unknown characters side by side are one
            else:
                cuts.append((start, end, unknown[end]))
            end = start
        return cuts[::-1]

    def word(self, text: str) -> Word:
        """The tokens of a word. Raises: TextError for an unknown character without an unknown
        token."""
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        names: list[str] = []
        for start, end, _ in self._cuts(text):
            piece = text[start:end]
            token = self.vocab.get(piece)
            if token is None and self.byte_fallback:
                parts = [byte_token(byte) for byte in piece.encode()]
                if all(part in self.vocab for part in parts):
                    ids += [self.vocab[part] for part in parts]
                    spans += [(start, end)] * len(parts)
                    names += parts
                    continue
            if token is None:
                token = self.unknown
            if token is None:
                raise TextError(f"the vocabulary has neither {piece!r:.60} nor an unknown token")
            ids.append(token)
            spans.append((start, end))
            names.append(piece)
        return Word(ids, spans, names)


def unigram_of(spec: Spec) -> Unigram:
    """The model of a description. Raises: TextError."""
    tokens = []
    for at, each in enumerate(spec.list("vocab")):
        match each:
            case [str() as name, int() | float() as score]:
                tokens.append((name, float(score)))
            case _:
                raise TextError(f"{spec.where}'s vocab[{at}] is {each!r:.60}, no token's score")
    unknown = None if spec.value.get("unk_id") is None else spec.number("unk_id")
    return Unigram(tokens, unknown=unknown, byte_fallback=spec.flag("byte_fallback", False))
