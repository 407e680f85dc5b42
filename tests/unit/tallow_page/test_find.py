"""The Find view's index: files cut and embedded, kept, and asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.hub import tiny_sentences
from tests.unit.tallow_page.long_actions import finished

import tallow as tl
from tallow.errors import FormatError, OptionError, TallowError
from tallow_page import find

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
        assert len(steps) == 1 and [each["score"] for each in steps[0]["found"]] == [
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


def test_what_was_kept_is_found_again(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.embed()
    found = view.ask("the rain")
    file, passages, vectors, name, width = find.changed_file()
    assert (file, name, len(vectors), width) == ("a.txt", "tiny", COUNT * 32 * 4, 32)
    assert find.changed_file() is None

    view.run(find.remove_file(""))
    kept = json.loads(view.run(find.put_kept("a.txt", passages, vectors, name, 32)))
    assert kept == {"name": "a.txt", "passages": COUNT, "done": COUNT}
    assert view.open()["dropped"] == 0 and find.changed_file() is None
    assert view.embed()[1]["done"] == COUNT
    assert view.ask("the rain") == found


def test_another_model_embeds_the_kept_passages_again(view: View) -> None:
    view.open()
    view.add("a.txt")
    view.embed()
    assert view.open("another", 64)["dropped"] == COUNT
    assert view.ask("the rain") == []
    assert view.embed()[0][0]["done"] == 0
    assert len(view.ask("the rain")) == COUNT
    assert find.changed_file()[3] == "another"


def test_vectors_that_do_not_fit_are_made_again(view: View) -> None:
    kept = json.dumps([["the cat", None], ["a dog", 2]])
    view.run(find.put_kept("a.txt", kept, b"abc", "tiny", 32))
    view.open()
    view.embed()
    found = view.ask("a dog")
    assert [(each["page"], each["parts"][1]) for each in found] == [(2, "a dog"), (None, "the cat")]


@pytest.mark.parametrize("kept", ["", "{", "[1]", "7", '[["a"]]'])
def test_kept_passages_that_are_damaged(view: View, kept: str) -> None:
    with pytest.raises(FormatError, match=r"a\.txt: the kept passages are damaged"):
        view.run(find.put_kept("a.txt", kept, b"", "tiny", 32))


def test_what_needs_a_model_says_so(view: View) -> None:
    for action in (find.add_file("a", "text", b"a"), find.find_passages("a", 3)):
        with pytest.raises(OptionError, match="no model for sentences is open"):
            view.run(finished(action))
    with pytest.raises(TallowError):
        view.run(finished(find.open_find_model({"blobs": [Named("config.json", b"{}")]}, "x")))
