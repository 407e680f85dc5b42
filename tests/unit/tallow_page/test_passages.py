"""Files as texts, and texts as passages of whole sentences."""

from __future__ import annotations

from time import perf_counter

import pytest

from tallow.errors import FormatError
from tallow_page.passages import decoded, passages, readable, sentences, well_formed


def words(text: str) -> int:
    """As many tokens as words."""
    return len(text.split())


def cut(text: str, most: int, overlap: int = 0) -> list[str]:
    return [text[start:end] for start, end in passages(text, words, most, overlap)]


def test_passages_are_whole_sentences() -> None:
    text = "One two three. Four five. Six seven eight nine! Ten?"
    assert cut(text, 5) == ["One two three. Four five.", "Six seven eight nine! Ten?"]
    assert cut(text, 100) == [text]


def test_passages_share_their_last_sentences() -> None:
    text = "A b c. D e. F g h. I j k."
    assert cut(text, 6, 2) == ["A b c. D e.", "D e. F g h.", "I j k."]
    assert cut(text, 6, 0) == ["A b c. D e.", "F g h. I j k."]
    assert all(words(each) <= 6 for each in cut(text, 6, 5))


def test_a_passage_that_is_half_full_ends_with_its_paragraph() -> None:
    text = "A title\n\nOne two three four.\n\n  \nFive six seven."
    assert cut(text, 10, 3) == ["A title\n\nOne two three four.", "Five six seven."]
    assert cut(text, 4) == ["A title", "One two three four.", "Five six seven."]


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    text = " ".join(f"w{n}" for n in range(100))
    found = cut(text, 10)
    assert " ".join(found) == text and all(words(each) <= 10 for each in found)


def test_a_word_that_is_too_long_is_cut() -> None:
    found = [("x" * 5000)[start:end] for start, end in passages("x" * 5000, len, 300, 50)]
    assert "".join(found) == "x" * 5000 and max(map(len, found)) <= 300
    # Tokenizers take such a word for a single token.
    assert max(map(len, cut("x" * 5000, 3))) <= 3000


@pytest.mark.parametrize("text", ["", " \n\n \t", "\n" * 1000])
def test_what_has_no_words_has_no_passages(text: str) -> None:
    assert cut(text, 5) == []


def test_sentences_of_several_languages() -> None:
    def of(text: str) -> list[str]:
        return [text[start:end] for start, end in sentences(text)]

    assert of("He said “Go!” Then left. e.g. this. 3.5 m") == [
        "He said “Go!”", "Then left. e.g. this.", "3.5 m",
    ]  # fmt: skip
    assert of("今天下雨。明天呢？“好！”他说") == ["今天下雨。", "明天呢？", "“好！”", "他说"]
    assert of("To buy:\n- milk\n- bread\n2. more") == ["To buy:", "- milk", "- bread", "2. more"]
    assert of("A line\nthat goes on") == ["A line\nthat goes on"]


def test_a_sentence_ends_with_its_paragraph() -> None:
    text = "A title\n*****\n\nIt has no mark\nat its end\n \t\n\n\nif so:\n    done"
    found = [text[start:end] for start, end in sentences(text)]
    assert found == ["A title\n*****", "It has no mark\nat its end", "if so:\n    done"]


def test_marks_and_spaces_without_end_take_little_time() -> None:
    began = perf_counter()
    for text in ("." * 200_000, ". " * 100_000, " " * 200_000, "\n " * 100_000, "。" * 200_000):
        cut(f"a{text}b", 50)
        readable(f"<pre>{text}</pre><p>{text}".encode(), "a.html")
    assert perf_counter() - began < 20  # a square of that many takes minutes


def test_halves_of_characters_and_line_ends() -> None:
    assert well_formed("a\ud800b\r\nc\rd 😀") == "a\ufffdb\nc\nd 😀"


@pytest.mark.parametrize(
    ("content", "text", "guessed"),
    [
        ("\ufeffä".encode(), "ä", None),
        ("ä 好".encode(), "ä 好", None),
        ("\ufeffä".encode("utf-16-le"), "ä", None),
        ("\ufeffä".encode("utf-16-be"), "ä", None),
        ("Käse – 5 €".encode("cp1252"), "Käse – 5 €", "Windows-1252"),
        (b"", "", None),
    ],
)
def test_the_encoding_of_a_text(content: bytes, text: str, guessed: str | None) -> None:
    assert decoded(content, "a.txt") == (text, guessed)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\0\0", bytes(range(1, 256)) * 9])
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(FormatError, match=r"^a\.txt: is no text"):
        decoded(content, "a.txt")


PAGE = """<!doctype html><html><head><title>Tea &amp; milk</title><style>p { color: red }</style>
<script>document.write("<p>run</p>")</script></head><body onload="alert(1)">
<nav><a href="/x">Home</a></nav><p>One  <b>two</b>
three<br>four</p><ul><li>a<li>b</ul><noscript>none</noscript><svg><text>drawn</text></svg>
<img src="http://example.org/x.png" alt="picture"><pre>x
  y</pre><template><p>later</p></template><p>end</body>"""


def test_the_text_that_a_page_shows() -> None:
    text, guessed = readable(PAGE.encode(), "a.html")
    assert guessed is None
    paragraphs = [each for each in text.split("\n") if each]
    assert paragraphs == ["Tea & milk", "Home", "One two three", "four", "a", "b", "x", "y", "end"]


def test_the_encoding_that_a_page_names() -> None:
    page = '<meta charset="windows-1251"><p>Чай</p>'
    assert readable(page.encode("cp1251"), "a.html") == ("Чай", None)
    assert readable(b'<meta charset="none"><p>Tee', "a.html") == ("Tee", None)


@pytest.mark.parametrize(
    "text", ["<script>a", "<!-- a", "<", "<p", "</", "&#xd800;<x", "</script>"]
)
def test_a_page_that_is_cut_short(text: str) -> None:
    assert "seen" in readable(f"<p>seen</p>{text}".encode(), "a.html")[0]
