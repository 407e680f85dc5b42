"""The Find view's index: files cut and embedded, kept, and asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.hub import tiny_sentences
from tests.unit.tallow_page.long_actions import finished

import tallow as tl
from tallow.errors import FormatError, OptionError, TallowError
from tallow_build.paths import ROOT
from tallow_page import find
from tallow_page.passages import sentences

TEXT = b"the cat is late. The train is in the rain.\n\n" + b"bread and a dog. " * 50
COUNT = 7  # of its passages


@dataclass
class Named:
    """A file of a model, as the page hands one over."""

    name: str
    content: bytes

    def read(self) -> bytes:
        """All of it."""
        return self.content


def model(width: int = tiny_sentences.WIDTH) -> list[Named]:
    return [Named(name, content) for name, content in tiny_sentences.files(width).items()]


class View:
    """What the worker does."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run = run

    def open(self, name: str = "tiny", width: int = tiny_sentences.WIDTH) -> Any:
        return self.run(finished(find.open_find_model({"blobs": model(width)}, name)))[1]

    def add(self, name: str, content: bytes = TEXT, kind: str = "text") -> Any:
        return self.run(finished(find.add_file(name, kind, content)))

    def embed(self) -> Any:
        return self.run(finished(find.embed_passages()))

    def ask(self, question: str, most: int = 10) -> Any:
        steps, answer = self.run(finished(find.find_passages(question, most)))
        for step in steps:  # the sentences come last, and change nothing else
            assert [each["score"] for each in step["found"]] == [
                each["score"] for each in answer["found"]
            ]
        return answer["found"]


@pytest.fixture
def view(run_async: Callable[..., Any]) -> Iterator[View]:
    before = tl.default_device()
    tl.set_default_device("numpy")
    yield View(run_async)
    run_async(find.remove_file(""))
    find.close_find_model()
    tl.set_default_device(before)


def test_the_passage_of_the_question_is_found_first(view: View) -> None:
    assert view.open() == {"width": 32, "tokens": 64, "dropped": 0}
    _, added = view.add("a.txt")
    assert added == {"passages": COUNT, "guessed": None}
    assert view.ask("cat") == []  # nothing has a vector yet
    reports, last = view.embed()
    assert last["done"] == last["total"] == COUNT and last["rate"] > 0
    assert [each["done"] for each in reports] == [0, 4]

    view.add("b.txt", b"a dog")  # which has no vector
    left = json.loads(view.run(find.remove_file("none.txt")))
    assert (left["done"], left["total"]) == (COUNT, COUNT + 1)

    found = view.ask("The train is in the rain.")
    scores = [each["score"] for each in found]
    assert scores == sorted(scores, reverse=True) and len(scores) == COUNT
    first = found[0]
    assert "".join(first["parts"]).startswith("the cat is late. The train is in the rain.")
    assert first["parts"][1] == "The train is in the rain."
    assert (first["source"], first["page"]) == ("a.txt", None)


def test_many_passages_in_several_blocks(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_BLOCK", 4)
    view.open()
    view.add("a.txt")
    later = view.add("b.txt", b"late late late. " * 60)[1]["passages"]
    assert later > 3
    view.embed()
    assert len(view.ask("bread", most=100)) == COUNT + later
    assert {each["source"] for each in view.ask("late late late", most=4)} == {"b.txt"}


def test_pages_of_a_file(view: View) -> None:
    view.open()
    pages = json.dumps([[1, "the cat"], [2, ""], [3, "a \ud800 dog"]]).encode()
    assert view.add("a.pdf", pages, "pages")[1]["passages"] == 2
    view.embed()
    assert {each["page"] for each in view.ask("dog")} == {1, 3}
    assert view.ask("a \ud800 dog")[0]["parts"][1] == "a \ufffd dog"


def test_a_file_replaces_the_one_of_its_name(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.add("a.txt", b"<script>late</script><p>a dog", "html")
    view.embed()
    assert ["".join(each["parts"]) for each in view.ask("dog")] == ["a dog"]
    left = json.loads(view.run(find.remove_file("a.txt")))
    assert left == {"stage": "embed", "done": 0, "total": 0}
    assert view.ask("dog") == []


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"", "text", r"a\.txt: has no text"),
        (b" \n\n ", "text", r"a\.txt: has no text"),
        (b"[]", "pages", r"a\.txt: has no text"),
        (b"<script>a</script>", "html", r"a\.txt: has no text"),
        (b"\0\1", "text", r"a\.txt: is no text"),
    ],
)
def test_a_file_without_a_text_leaves_the_one_before(
    view: View, content: bytes, kind: str, message: str
) -> None:
    view.open()
    view.add("a.txt", b"the cat")
    with pytest.raises(FormatError, match=message):
        view.add("a.txt", content, kind)
    view.embed()
    assert len(view.ask("cat")) == 1


def test_a_file_that_is_too_large(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_LARGEST", 10)
    view.open()
    with pytest.raises(OptionError, match=r"a\.txt: \d+ bytes are more than 10"):
        view.add("a.txt")


def test_another_question_need_not_wait_for_all_sentences(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_SENTENCES", 4)
    view.open()
    view.add("a.txt")
    view.embed()
    steps, answer = view.run(finished(find.find_passages("bread", 10)))
    count = sum(1 for each in answer["found"] for _ in sentences("".join(each["parts"])))
    assert len(steps) == 1 + count // 4 > 2


def test_embedding_goes_on_where_it_was_stopped(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_BATCH", 2)
    view.open()
    view.add("a.txt")

    async def stopped() -> None:
        steps = find.embed_passages()
        for _ in range(2):
            await anext(steps)
        await steps.aclose()

    view.run(stopped())
    assert len(view.ask("cat")) == 2
    reports, last = view.embed()
    assert [each["done"] for each in reports] == [2, 4, 6] and last["done"] == COUNT


def test_questions_while_files_are_embedded(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_BATCH", 2)
    view.open()
    view.add("a.txt")

    async def both() -> list[int]:
        counts = []
        async for _ in find.embed_passages():
            answer = [json.loads(each) async for each in find.find_passages("cat", 10)][-1]
            counts.append(len(answer["answer"]["found"]))
        return counts

    assert view.run(both()) == [0, 2, 4, 6, COUNT]


def test_a_file_that_is_removed_while_it_is_embedded(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_BATCH", 2)
    view.open()
    view.add("a.txt")
    view.add("b.txt", b"a dog")

    async def removing() -> Any:
        last = None
        async for text in find.embed_passages():
            await find.remove_file("a.txt")
            last = json.loads(text)
        return last

    assert view.run(removing())["answer"]["total"] == 1
    assert len(view.ask("dog")) == 1


@dataclass
class Piece:
    """Vectors that are kept, as the worker gives them back."""

    at: int
    vectors: bytes
    model: str
    width: int


class Browser:
    """What the browser keeps: the passages of files, and pieces of their vectors by their places.
    written: bytes of each write."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {}
        self.pieces: dict[tuple[str, int], tuple[bytes, str, int]] = {}
        self.written: list[int] = []

    def keep(self) -> None:
        """Writes what is new."""
        while part := find.changed_file(1):
            name, key, passages, at, vectors, model, width = part
            if passages is not None:
                self.files[name] = key, passages
            for place in [p for p in self.pieces if p[0] == name and p[1] >= at]:
                del self.pieces[place]
            if vectors:
                self.pieces[name, at] = vectors, model, width
            self.written.append(len(passages or b"") + len(vectors))

    def give(self, view: View) -> dict[str, Any]:
        """Another visit. Returns what Python knows of each file then."""
        view.run(find.remove_file(""))
        found = {}
        for name, (key, passages) in self.files.items():
            mine = sorted((at, made) for (of, at), made in self.pieces.items() if of == name)
            pieces = [Piece(at, *made) for at, made in mine]
            found[name] = json.loads(view.run(find.put_kept(name, key, passages, pieces)))
        return found


def test_what_was_kept_is_found_again(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.add("b.txt", "ein sehr später Zug, 晚点的火车".encode())
    view.embed()
    found = view.ask("the rain")
    browser = Browser()
    browser.keep()
    assert [len(vectors) for vectors, *_ in browser.pieces.values()] == [COUNT * 32 * 2, 32 * 2]
    assert find.changed_file(1) is None

    assert browser.give(view)["a.txt"] == {"name": "a.txt", "passages": COUNT, "done": COUNT}
    assert view.open()["dropped"] == 0 and find.changed_file(1) is None
    assert view.embed()[1]["done"] == COUNT + 1
    assert view.ask("the rain") == found


def test_the_kept_numbers_give_the_scores_of_whole_ones(view: View) -> None:
    view.open()
    words = ("cat", "dog", "rain", "train", "bread")
    texts = [" ".join(words[n * k % 5] for k in range(1, 2 + n % 9)) for n in range(60)]
    view.add("a.txt", "\n\n".join(texts).encode())
    view.embed()
    question = "a dog in the rain"
    found = view.ask(question, most=100)
    assert find._model is not None and len(found) > 5
    passages = ["".join(each["parts"]) for each in found]
    asked, *vectors = find._model.embed([question, *passages]).tolist()
    exact = [sum(x * y for x, y in zip(asked, each, strict=True)) for each in vectors]
    assert [each["score"] for each in found] == pytest.approx(exact, abs=1e-3)
    assert exact[0] > max(exact) - 1e-3


@pytest.mark.parametrize("block", [5, 1024])
def test_what_is_written_grows_with_the_texts_and_not_with_their_square(
    view: View, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(find, "_BLOCK", block)
    view.open()
    written = []
    for count in (2, 4, 8):
        view.run(find.remove_file(""))
        browser = Browser()

        async def embedded(browser: Browser = browser) -> None:
            async for _ in find.embed_passages():
                browser.keep()  # after each batch
            browser.keep()

        for number in range(count):
            view.add(f"{number:02}.txt")
        view.run(embedded())
        assert len(browser.written) == 3 * count  # its passages, and two batches
        written.append(sum(browser.written))
        known = browser.give(view)
        assert {each["done"] for each in known.values()} == {COUNT} and len(known) == count
    assert written == [written[0], 2 * written[0], 4 * written[0]]

    # One text of twice the length is written as two texts are.
    view.run(find.remove_file(""))
    browser = Browser()
    view.add("a.txt", 2 * (TEXT + b"\n\n"))
    view.run(embedded(browser))
    assert len(browser.written) == 1 + 4 and sum(browser.written) < written[0] * 1.01


def test_what_could_not_be_kept_is_kept_later(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.embed()
    first = find.changed_file(1)
    find.keep_again("a.txt", -1)
    find.keep_again("none.txt", -1)
    assert find.changed_file(1) == first and find.changed_file(1) is None
    find.keep_again("a.txt", 3)
    assert find.changed_file(4) is not None  # the last ones
    find.keep_again("a.txt", 3)
    name, key, passages, at, vectors, *_ = find.changed_file(1)
    assert (name, key, passages, at) == ("a.txt", first[1], None, 3)
    assert vectors == first[4][3 * 32 * 2 :]


def test_pieces_are_no_smaller_than_is_worth_while(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "_BATCH", 1)
    view.open()
    view.add("a.txt")

    async def embedded() -> list[int]:
        sizes = []
        async for _ in find.embed_passages():
            while part := find.changed_file(3):
                sizes.append(len(part[4]) // 64)
        return sizes

    assert view.run(embedded()) == [0, 3, 3, 1]


def test_another_model_embeds_the_kept_passages_again(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.embed()
    browser = Browser()
    browser.keep()
    assert view.open("another", 64)["dropped"] == COUNT
    assert view.ask("the rain") == []
    assert view.embed()[0][0]["done"] == 0
    assert len(view.ask("the rain")) == COUNT
    browser.keep()
    assert browser.pieces.keys() == {("a.txt", 0)}  # the others have gone
    assert browser.pieces["a.txt", 0][1:] == ("another", 64)


@pytest.mark.parametrize(
    ("at", "vectors", "model", "width"),
    [
        (0, bytes(128), "tiny", 32),  # another piece stands there
        (2, bytes(64), "tiny", 32),  # one is missing
        (1, bytes(65), "tiny", 32),
        (1, bytes(64 * 4), "tiny", 32),  # more than there are passages
        (1, bytes(64), "other", 32),
        (1, bytes(64), "tiny", 16),
        (1, b"", "tiny", 0),
    ],
)
def test_vectors_that_do_not_continue_those_before_are_made_again(
    view: View, at: int, vectors: bytes, model: str, width: int
) -> None:
    kept = b'["the cat", null]\n["a dog", 2]\n["late", 3]'
    view.run(find.put_kept("a.txt", "key", kept, []))
    view.open()
    view.embed()
    good = find.changed_file(1)[4]
    pieces = [Piece(0, good[:64], "tiny", 32), Piece(at, vectors, model, width)]
    pieces.append(Piece(at + 1, good[64:128], "tiny", 32))  # which nothing stands before
    again = json.loads(view.run(find.put_kept("a.txt", "key", kept, pieces)))
    assert again == {"name": "a.txt", "passages": 3, "done": 1}
    view.embed()
    assert find.changed_file(1)[3:5] == (1, good[64:])
    found = view.ask("a dog")
    assert (found[0]["page"], found[0]["parts"][1]) == (2, "a dog") and len(found) == 3


def test_a_kept_index_is_taken_without_what_opens_models_and_reads_texts() -> None:
    script = """
import sys, tallow_page.app, tallow_page.steps
before = {*sys.modules}
import asyncio
from tallow_page import find
line = find._line("the cat", None)
coroutine = find.put_kept("a.txt", "key", b"\\n".join([line] * 3), [])
try:
    coroutine.send(None)
except StopIteration as end:
    print(end.value)
print(*sorted(name for name in {*sys.modules} - before if name.startswith("tallow")))
"""
    run = [sys.executable, "-c", script]
    there = {**os.environ, "PYTHONPATH": str(ROOT / "py")}
    made = subprocess.run(run, capture_output=True, text=True, check=True, env=there)
    answer, imported = made.stdout.splitlines()
    assert json.loads(answer) == {"name": "a.txt", "passages": 3, "done": 0}
    assert imported.split() == ["tallow_page.find", "tallow_page.passages"]


def test_what_needs_a_model_says_so(view: View) -> None:
    for action in (find.add_file("a", "text", b"a"), find.find_passages("a", 3)):
        with pytest.raises(OptionError, match="no model for sentences is open"):
            view.run(finished(action))
    with pytest.raises(TallowError):
        view.run(finished(find.open_find_model({"blobs": [Named("config.json", b"{}")]}, "x")))
