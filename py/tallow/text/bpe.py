"""Byte-pair encoding (Sennrich et al. 2016): pairs of tokens become one, earliest rules first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise

from ..errors import TextError
from .spec import Spec
from .vocabulary import Vocabulary, Word, byte_token

# Above this length, pairs are kept in a heap: n log n steps instead of n².
_LONG = 48

# SentencePiece's sign for a space. Where no token has it behind another character, a text can be
# cut before it.
_SPACE = "▁"
_PIECES = re.compile("▁*[^▁]+|▁+")


class BPE(Vocabulary):
    """A vocabulary and rules. merges: pairs of tokens, each with its rank; of pairs of one rank the
    leftmost is first."""

    def __init__(
        self,
        vocab: dict[str, int],
        merges: Iterable[tuple[str, str, int]],
        *,
        unknown: str | None = None,
        prefix: str = "",
        suffix: str = "",
        fuse_unknown: bool = False,
        byte_fallback: bool = False,
        ignore_merges: bool = False,
    ) -> None:
        """Raises: TextError for a rule with a token that the vocabulary does not have."""
        super().__init__(vocab)
        self.unknown, self.prefix, self.suffix = unknown, prefix, suffix
        self.fuse_unknown, self.byte_fallback = fuse_unknown, byte_fallback
        self.ignore_merges = ignore_merges
        self.unknown_id = None if unknown is None else vocab.get(unknown)
        if unknown is not None and self.unknown_id is None:
            raise TextError(f"the unknown token {unknown!r} is not in the vocabulary")
        self._width = max(vocab.values(), default=0) + 1
        self._rules: dict[int, tuple[int, int]] = {}
        skip = len(prefix)
        try:
            for left, right, rank in merges:
                whole = vocab[left + right[skip:] if skip else left + right]
                self._rules[vocab[left] * self._width + vocab[right]] = rank, whole
        except KeyError as error:
            raise TextError(
                f"the merge of {left!r} and {right!r} needs {error.args[0]!r}, which is not in the "
                "vocabulary"
            ) from None
        self._bytes = [vocab.get(byte_token(byte)) for byte in range(256)] if byte_fallback else []
        self._cuttable = (
            not (prefix or suffix or ignore_merges)
            and _SPACE in vocab
            and not any(_SPACE in token.lstrip(_SPACE) for token in vocab)
        )

    def word(self, text: str) -> Word:
        """The tokens of a word."""
        if self.ignore_merges and text in self.vocab:
            return Word([self.vocab[text]], [(0, len(text))])
        if self._cuttable and len(text) > _LONG and _SPACE in text:
            return self._long(text)
        return self._merged(*self._symbols(text))

    def _long(self, text: str) -> Word:
        """A text of many words, cut where no token goes across."""
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        known: dict[str, Word] = {}
        for match in _PIECES.finditer(text):
            piece, at = match[0], match.start()
            if piece not in known:
                known[piece] = self._merged(*self._symbols(piece))
            word = known[piece]
            ids += word.ids
            spans += [(at + low, at + high) for low, high in word.spans]
        return Word(ids, spans)

    def _symbols(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """A token for each character, or for its bytes, or the unknown one, or none."""
        vocab, ids, spans = self.vocab, [], []
        waiting: tuple[int, int] | None = None  # unknown characters that may grow
        last = len(text) - 1
        for at, char in enumerate(text):
            name = char
            if at and self.prefix:
                name = self.prefix + name
            if at == last:
                name += self.suffix
            token = vocab.get(name)
            if token is not None:
                if waiting:
                    ids.append(self.unknown_id)
                    spans.append(waiting)
                    waiting = None
                ids.append(token)
                spans.append((at, at + 1))
                continue
            if self.byte_fallback:
                parts = [self._bytes[byte] for byte in name.encode()]
                if None not in parts:
                    ids += parts
                    spans += [(at, at + 1)] * len(parts)
                    continue
            if self.unknown_id is None:
                continue
            if waiting and self.fuse_unknown:
                waiting = waiting[0], at + 1
            else:
                if waiting:
                    ids.append(self.unknown_id)
                    spans.append(waiting)
                waiting = at, at + 1
        if waiting:
            ids.append(self.unknown_id)
            spans.append(waiting)
        return ids, spans  # type: ignore[return-value]

    def _merged(self, ids: list[int], spans: list[tuple[int, int]]) -> Word:
        if len(ids) > _LONG:
            return self._merged_by_heap(ids, spans)
        rules, width = self._rules, self._width
        none = (1 << 60, 0)
        pairs = [rules.get(a * width + b, none) for a, b in pairwise(ids)]
        while pairs:
            best = min(pairs)
            if best is none:
                break
            at = pairs.index(best)
            ids[at : at + 2] = [best[1]]
            spans[at : at + 2] = [(spans[at][0], spans[at + 1][1])]
            del pairs[at]
            if at:
                pairs[at - 1] = rules.get(ids[at - 1] * width + ids[at], none)
            if at < len(pairs):
                pairs[at] = rules.get(ids[at] * width + ids[at + 1], none)
        return Word(ids, spans)

    def _merged_by_heap(self, ids: list[int], spans: list[tuple[int, int]]) -> Word:
        """The same in n log n steps: a heap of pairs, and a list in which each token knows its
        neighbours."""
        rules, width, count = self._rules, self._width, len(ids)
        after = list(range(1, count + 1))
        before = list(range(-1, count - 1))
        heap = []
        for at in range(count - 1):
            rule = rules.get(ids[at] * width + ids[at + 1])
            if rule:
                heap.append((rule[0], at, rule[1]))
        heapify(heap)
        while heap:
            rank, at, whole = heappop(heap)
            if ids[at] < 0 or after[at] >= count:
                continue
            other = after[at]
            if rules.get(ids[at] * width + ids[other]) != (rank, whole):
                continue  # one of the two has become another since
            ids[at], ids[other] = whole, -1
            spans[at] = spans[at][0], spans[other][1]
            after[at] = after[other]
            if after[at] < count:
                before[after[at]] = at
                rule = rules.get(whole * width + ids[after[at]])
                if rule:
                    heappush(heap, (rule[0], at, rule[1]))
            if before[at] >= 0:
                rule = rules.get(ids[before[at]] * width + whole)
                if rule:
                    heappush(heap, (rule[0], before[at], rule[1]))
        kept = [at for at in range(count) if ids[at] >= 0]
        return Word([ids[at] for at in kept], [spans[at] for at in kept])


def _pair(value: object, at: int) -> tuple[str, str, int]:
    parts = value.split(" ") if isinstance(value, str) else value
    if isinstance(parts, list) and len(parts) == 2 and all(isinstance(each, str) for each in parts):
        return parts[0], parts[1], at
    raise TextError(f"merge {at} is {value!r:.60}, not two tokens")


def merges_of(values: Iterable[object]) -> Iterable[tuple[str, str, int]]:
    """Rules from a list of pairs, or of texts with a space between two tokens."""
    return (_pair(value, at) for at, value in enumerate(values))


def bpe_of(spec: Spec, vocab: dict[str, int]) -> BPE:
    """The model of a description. Raises: TextError."""
    if spec.value.get("dropout"):
        raise TextError("dropout is for training: set the tokenizer's dropout to null")
    return BPE(
        vocab,
        merges_of(spec.list("merges")),
        unknown=spec.maybe_text("unk_token"),
        prefix=spec.maybe_text("continuing_subword_prefix") or "",
        suffix=spec.maybe_text("end_of_word_suffix") or "",
        fuse_unknown=spec.flag("fuse_unk", False),
        byte_fallback=spec.flag("byte_fallback", False),
        ignore_merges=spec.flag("ignore_merges", False),
    )
