"""SentencePiece's table of replacements, made here and read by both."""

from __future__ import annotations

import base64
import json
import struct

from tests.unit.text.beside import both, same_encoding
from tests.unit.text.test_parts import described
from tests.unit.text.texts import corpus

from tallow.text import Tokenizer


def table(rules: dict[str, str]) -> str:
    """A double array in Darts-clone's form, by the plainest way: for each node, in order, the first
    place where its children fit."""
    texts = b""
    root: dict[int, dict] = {}
    for key, text in rules.items():
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)  # type: ignore[assignment]
        texts += text.encode() + b"\0"
    units: dict[int, int] = {0: 0}
    taken: set[int] = {0}
    waiting: list[tuple[int, dict[int, dict]]] = [(0, root)]
    while waiting:
        at, node = waiting.pop(0)
        base = 0  # places are tried from the start for each node
        while any(base ^ label in taken for label in node) or not 0 < (base ^ at) < 1 << 21:
            base += 1
        taken |= {base ^ label for label in node}
        units[at] |= (base ^ at) << 10 | (1 << 8 if 0 in node else 0)
        for label, child in node.items():
            if label == 0:
                units[base] = 1 << 31 | child  # type: ignore[operator]
            else:
                units[base ^ label] = label
                waiting.append((base ^ label, child))
    size = max(units) + 256
    packed = struct.pack(f"<{size}I", *(units.get(at, 0) for at in range(size)))
    whole = struct.pack("<I", len(packed)) + packed + texts
    return base64.b64encode(whole).decode()


RULES = {
    "\t": " ", "\n": " ", "\r": "", "ﬁ": "fi", "①": "1", "㌀": "アパート", "½": "1⁄2",
    "é": "e\u0301", "e\u0301": "é", "A\u0300": "À", "A": "a", "\u00a0": " ",
    "ｶ\uff9e": "ガ", "ﷺ": "صلى الله عليه",
    "\u1e9e": "ss", "🙂": ":)", "क्": "k", "\r\n": "\n",
}  # fmt: skip


def test_replacements() -> None:
    part = {"type": "Precompiled", "precompiled_charsmap": table(RULES)}
    mine, other = both(described("BPE", normalizer=part))
    texts = [*RULES, *map("x{}y".format, RULES), "Ae\u0301A\u0300\u0301 \r\n क्ष e\u0301\u0300"]
    for text in [*texts, *corpus()]:
        same_encoding(mine.encode(text), other.encode(text), text)
    assert mine.encode("①").tokens == other.encode("1").tokens


def test_an_empty_table_changes_nothing() -> None:
    whole = json.loads(described("BPE"))
    empty = base64.b64encode(struct.pack("<I", 0)).decode()
    mine, _ = both(json.dumps(whole))
    same, _ = both(json.dumps({**whole, "normalizer": None}))
    whole["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": empty}
    made = Tokenizer.from_str(json.dumps(whole))
    for text in corpus()[:40]:
        assert made.encode(text).ids == mine.encode(text).ids == same.encode(text).ids
