"""Texts for tokenizers: many scripts, code, controls, and random characters; always the same."""

from __future__ import annotations

import random
import unicodedata

from tallow_build.paths import ROOT

# Characters that all tables of Unicode know, however old.
_KNOWN = [
    chr(code)
    for code in range(0x30000)
    if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co")
]

_WRITTEN = (
    "",
    " ",
    "a",
    "  \n\n \t x \r\n y\r",
    "The quick brown fox doesn't jump; it's 12345 dogs (3.14%) I'll have we've DON'T",
    "Grüße, Jürgen! Straße ÄÖÜ ẞ naïve café cafe\u0301 e\u0301a\u0308\u0323 \u1e69 \ufb01 \u2460",
    "مرحبا بالعالم، كيف حالك؟ ١٢٣ العَرَبِيَّة",
    "नमस्ते दुनिया क्\u200dया हाल है १२३",
    "你好，世界！我们去吃饭吧。東京タワー ひらがな 한국어 \uac01\u1161\u11a8",
    "👨\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👍🏽 🇩🇪 ☺️🙂🙂🙂",
    "İstanbul ΣΑΣ ΌΣΟΣ \u01c5 \u1fbc ŉ \u1e9e \ufdfa \u3300 ½ ² Ⅻ",
    'def f(x: int) -> str:\n    return f"{x!r:>10}"  # 0x1F\n\t\tif a&&b || c != d: pass\n',
    "\x00\x01\x1f\x7f\x85\xa0\u2028\ufeff\ufffd\u200b\u200c\u00ad x",
    "<|im_start|>user\nhi<|im_end|>  <|endoftext|>[MASK] [CLS]x<|0.00|>abc<|30.00|> <s></s>",
    "x" * 300,
    "ab " * 60 + "▁▁ ▁x▁",
    "https://example.org/a_b-c?d=e&f=1#g user@example.org __init__ a\u0300\u0316\u0300b",
)


def _random() -> list[str]:
    source = random.Random(43)
    plain = " \n\tabcZ9.,'▁"
    return [
        "".join(
            source.choice(_KNOWN if source.random() < 0.7 else plain)
            for _ in range(source.randint(1, 60))
        )
        for _ in range(200)
    ]


def english() -> str:
    """The project's own pages."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return "\n".join(page.read_text("utf-8") for page in pages)


def corpus() -> list[str]:
    """All texts."""
    long = english()
    return [*_WRITTEN, *_random(), long[:12_000], long[40_000:44_000]]
