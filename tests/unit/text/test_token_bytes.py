"""The bytes of single tokens, as forms need them."""

from __future__ import annotations

import json
from typing import Any

from tallow.text import Tokenizer
from tallow.text.bytes_as_text import BYTE_CHARS


def tokenizer(vocab: dict[str, int], decoder: dict[str, Any]) -> Tokenizer:
    """A BPE tokenizer without merges; its last token is special."""
    last = max(vocab, key=lambda name: vocab[name])
    model = {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": True}
    special = [{"id": vocab[last], "content": last, "special": True}]
    return Tokenizer.from_str(
        json.dumps({"model": model, "decoder": decoder, "added_tokens": special})
    )


def test_byte_level_tokens_are_their_bytes() -> None:
    names = [*BYTE_CHARS, "ab", "Ġa", "</s>"]
    t = tokenizer({name: at for at, name in enumerate(names)}, {"type": "ByteLevel"})
    found = dict(t.token_bytes())
    assert found == {at: bytes([at]) for at in range(256)} | {256: b"ab", 257: b" a"}


def test_bytes_of_a_fallback_and_spaces_of_a_metaspace() -> None:
    names = ["a", "▁a", "é", "<0xE6>", "<0x0A>", "<unk>"]
    parts = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]  # fmt: skip
    t = tokenizer(
        {name: at for at, name in enumerate(names)}, {"type": "Sequence", "decoders": parts}
    )
    assert [raw for _, raw in t.token_bytes()] == [b"a", b" a", "é".encode(), b"\xe6", b"\n"]
