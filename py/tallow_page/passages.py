"""Files as texts, and texts as passages: what the Find view embeds."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser

from tallow.errors import FormatError

__all__ = ["decoded", "passages", "readable", "sentences", "well_formed"]

_MOST_LETTERS = 1000
"""Of a sentence: a longer one is cut, since tokenizers take a long word for one token."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")

# Where a sentence ends: at a mark that a space and no small letter follow, at a mark of Chinese or
# Japanese, at an empty line, and before an item of a list.
_SENTENCE = re.compile(
    r"""(?: (?<![.!?…])[.!?…]++["'”’»)\]]*+(?=\s++[^\sa-zß-öø-ÿ])
          | [。！？]++[”’」』）]*+
          | \n(?=[^\S\n]*+\n)
          | \n(?=[^\S\n]*+(?:[-*•|\#>]|\d++[.)])\s)
        )\s*+""",
    re.VERBOSE,
)

_SURROGATE = re.compile("[\ud800-\udfff]")

Span = tuple[int, int]


def well_formed(text: str) -> str:
    """A text without halves of characters, which no tokenizer takes; line ends are newlines."""
    return _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


# ---- bytes to text ---------------------------------------------------------------------------


def decoded(content: bytes, name: str, declared: str | None = None) -> tuple[str, str | None]:
    """The text of a file, and the encoding it was read with, if that had to be guessed.

    declared: the encoding that the file itself names, if it does.
    Raises: FormatError for what is no text.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if content.startswith(mark):
            return well_formed(content[len(mark) :].decode(encoding, "replace")), None
    if b"\0" in content:
        raise FormatError(f"{name}: is no text: it has bytes of value 0")
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return well_formed(content.decode(encoding)), None
        except (UnicodeDecodeError, LookupError):
            continue
    plain = content.translate(None, delete=bytes((*range(9), *range(14, 27), *range(28, 32))))
    if len(content) - len(plain) > len(content) // 100:
        raise FormatError(f"{name}: is no text: many of its bytes are control characters")
    return well_formed(content.decode("cp1252", "replace")), "Windows-1252"


# ---- HTML ------------------------------------------------------------------------------------

_UNREAD = frozenset(
    (
        *("script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"),
        *("textarea", "button"),
    )
)
_BLOCKS = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "dd",
            "details",
            "dialog",
        ),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "header", "hr", "legend", "li", "main", "nav", "ol", "p", "pre"),
        *("section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr"),
        "ul",
    )
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


class _Reader(HTMLParser):
    """Collects the text that a browser would show. Nothing of the page runs or is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._unread: list[str] = []
        self._kept = 0  # depth of elements whose spaces count

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins an element."""
        if tag in _UNREAD:
            self._unread.append(tag)
        elif tag == "br":
            self.parts.append("\n")
        elif tag in _BLOCKS:
            self._kept += tag == "pre"
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        """Ends an element; those in it that were left open end, too."""
        if tag in self._unread:
            del self._unread[self._unread.index(tag) :]
        elif tag in _BLOCKS:
            self._kept = max(self._kept - (tag == "pre"), 0)
            self.parts.append("\n\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without a content."""
        self.handle_starttag(tag, attrs)
        if tag in _UNREAD and self._unread:
            self._unread.pop()

    def handle_data(self, data: str) -> None:
        """A text."""
        if not self._unread:
            self.parts.append(data if self._kept else _SPACE.sub(" ", data))


def readable(content: bytes, name: str) -> tuple[str, str | None]:
    """The text that an HTML file shows, and its encoding if that had to be guessed.

    Raises: FormatError for what is no text.
    """
    named = _CHARSET.search(content, 0, 2048)
    markup, guessed = decoded(content, name, named[1].decode() if named else None)
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    text = "".join(reader.parts)
    return "\n".join(map(str.strip, text.split("\n"))).strip(), guessed


# ---- passages --------------------------------------------------------------------------------


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Where the sentences of a part of a text begin and end, without the spaces around them."""
    stop = len(text) if end is None else end
    while start < stop:
        found = _SENTENCE.search(text, start, stop)
        bound = found.end() if found else stop
        for piece in _short(text, start, bound):
            first, last = _stripped(text, *piece)
            if first < last:
                yield first, last
        start = bound


def passages(
    text: str, count: Callable[[str], int], most: int = 126, overlap: int = 25
) -> Iterator[Span]:
    """Where the passages of a text begin and end: whole sentences, as far as they fit.

    A passage that is at least half full ends with its paragraph. Otherwise the next one begins with
    the last sentences of the one before.

    count: how many tokens a text has.
    most: tokens of a passage. overlap: tokens that two passages share, at most.
    """
    held: list[tuple[int, int, int]] = []
    for begin, end in _paragraphs(text):
        if sum(tokens for *_, tokens in held) >= most // 2:
            yield held[0][0], held[-1][1]
            held = []
        for sentence in sentences(text, begin, end):
            for first, last, tokens in _fitting(text, *sentence, count, most):
                if held and sum(own for *_, own in held) + tokens > most:
                    yield held[0][0], held[-1][1]
                    held = _shared(held, min(overlap, most - tokens))
                held.append((first, last, tokens))
    if held:
        yield held[0][0], held[-1][1]


def _paragraphs(text: str) -> Iterator[Span]:
    start = 0
    for found in _PARAGRAPH.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)


def _short(text: str, start: int, end: int) -> Iterator[Span]:
    """Pieces of at most `_MOST_LETTERS`, cut at spaces if there are any."""
    while end - start > _MOST_LETTERS:
        bound = _space(text, start, start + _MOST_LETTERS)
        yield start, bound
        start = bound
    yield start, end


def _space(text: str, start: int, end: int) -> int:
    """Where to cut a text that must end before `end`: behind the last space of its second half."""
    for index in range(end - 1, start + (end - start) // 2, -1):
        if text[index].isspace():
            return index + 1
    return end


def _fitting(
    text: str, start: int, end: int, count: Callable[[str], int], most: int
) -> Iterator[tuple[int, int, int]]:
    """A sentence, with its number of tokens; halves of it if there are too many."""
    tokens = count(text[start:end])
    if tokens <= most or end - start < 2:
        if tokens:
            yield start, end, tokens
        return
    middle = _space(text, start, (start + end + 1) // 2)
    for half in ((start, middle), (middle, end)):
        yield from _fitting(text, *_stripped(text, *half), count, most)


def _shared(held: list[tuple[int, int, int]], most: int) -> list[tuple[int, int, int]]:
    """The last sentences that have at most so many tokens together, but not all."""
    first = len(held)
    while first > 1 and held[first - 1][2] <= most:
        first -= 1
        most -= held[first][2]
    return held[first:]


def _stripped(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
