"""Compares a tokenizer with that of the package `tokenizers`."""

from __future__ import annotations

import tokenizers

import tallow as tl

FIELDS = (
    "ids", "tokens", "offsets", "type_ids", "attention_mask", "special_tokens_mask", "word_ids",
    "sequence_ids",
)  # fmt: skip


def both(text: str) -> tuple[tl.text.Tokenizer, tokenizers.Tokenizer]:
    """Both tokenizers of a description, without padding and truncation."""
    pair = tl.text.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)
    for each in pair:
        each.no_padding()
        each.no_truncation()
    return pair


def same_encoding(mine: tl.text.Encoding, other: tokenizers.Encoding, what: object = "") -> None:
    """All that an encoding says is the same."""
    for name in FIELDS:
        got, wanted = getattr(mine, name), getattr(other, name)
        if got != wanted:
            at = next(
                (i for i, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b),
                min(len(got), len(wanted)),
            )
            near = slice(max(at - 2, 0), at + 3)
            raise AssertionError(f"{what!r:.80} {name} at {at}: {got[near]} {wanted[near]}")


def same(mine: tl.text.Tokenizer, other: tokenizers.Tokenizer, texts: list[str]) -> None:
    """Texts become the same tokens, and these the same texts, at once and one by one."""
    for text in texts:
        encoding = mine.encode(text)
        same_encoding(encoding, other.encode(text), text)
        for skip in (True, False):
            decoded = mine.decode(encoding.ids, skip)
            assert decoded == other.decode(encoding.ids, skip), text
            assert streamed(mine, encoding.ids, skip) == decoded, text


def streamed(tokenizer: tl.text.Tokenizer, ids: list[int], skip: bool = True) -> str:
    """A text that comes token by token."""
    stream = tl.text.DecodeStream(tokenizer, skip)
    pieces = [stream.step(each) for each in ids]
    assert "" not in pieces
    return "".join(piece or "" for piece in pieces) + stream.finish()
