"""The Find view's Python: the passages of files, their vectors, and what is near a question."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import accumulate
from os import urandom
from struct import pack
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tallow.core import dtype as dt
from tallow.core.drivers import run_async
from tallow.core.hostarray import HostArray
from tallow.errors import FormatError, OptionError
from tallow.graph import constant
from tallow.tensor import Tensor, reading

from .app import on_start
from .javascript import copied, plain
from .passages import decoded, passages, readable, sentences, well_formed
from .steps import Answer, streamed

# What opens models and files is imported with the first one: a kept index needs neither.
if TYPE_CHECKING:
    from tallow.zoo import SentenceEncoder

    from .contract.texts import Embedded, FindModel, FoundPassage, Indexed, IndexedFile, Looked

__all__ = [
    "add_file", "changed_file", "close_find_model", "embed_passages", "find_passages",
    "keep_again", "open_find_model", "put_kept", "remove_file",
]  # fmt: skip

_BATCH = 4
"""Passages that are embedded in a step; questions wait for one."""

_SENTENCES = 32
"""Sentences of what was found that are embedded in a step; another question waits for one."""

_TOKENS, _SHARED = 126, 25
"""Of a passage, beside the two that begin and end a text; and those that two passages share."""

_LARGEST = 200_000_000
"""Bytes of a file."""

_CUT = 256
"""Passages that are cut in a step."""

_BLOCK = 1024
"""Vectors of one product; all blocks have so many rows, so that one plan serves all."""

_HALF = 2
"""Bytes of a number: vectors are held and kept in float16."""


@dataclass
class _File:
    """A file's passages and the vectors of the first of them.

    passages: each as it is kept, see `_line`; most are never read.
    blocks: the vectors' bytes, `_BLOCK` of them in each but the last. model, width: the network
    that made them, by its name, and how many numbers each has. kept: how many of them the browser
    has; -1 if it does not have the passages either. key: tells the file from others of its name.
    """

    passages: list[bytes] = field(default_factory=list)
    blocks: list[bytearray] = field(default_factory=list)
    model: str = ""
    width: int = 1
    kept: int = -1
    key: str = field(default_factory=lambda: urandom(8).hex())

    @property
    def done(self) -> int:
        """How many passages have vectors."""
        whole = max(len(self.blocks) - 1, 0)
        last = len(self.blocks[-1]) if self.blocks else 0
        return whole * _BLOCK + last // (_HALF * self.width)

    def add(self, vectors: bytes) -> None:
        """The vectors of the next passages."""
        size = _BLOCK * _HALF * self.width
        while vectors:
            if not self.blocks or len(self.blocks[-1]) == size:
                self.blocks.append(bytearray())
            room = size - len(self.blocks[-1])
            self.blocks[-1] += vectors[:room]
            vectors = vectors[room:]

    def since(self, first: int) -> bytes:
        """The vectors from one on."""
        block, row = divmod(first, _BLOCK)
        return b"".join(self.blocks[block:])[row * _HALF * self.width :]

    def drop(self) -> None:
        """Forgets the vectors."""
        self.blocks, self.kept = [], min(self.kept, 0)


def _line(text: str, page: int | None) -> bytes:
    """A passage as JSON, [text, the page that it stands on], which has no newline."""
    return json.dumps((text, page), ensure_ascii=False).encode()


_files: dict[str, _File] = {}
_model: SentenceEncoder | None = None
_name = ""  # of the model


def close_find_model() -> None:
    """Frees the model, if one is open; the passages and their vectors stay."""
    global _model
    _model = None


on_start.append(close_find_model)


def _opened() -> SentenceEncoder:
    if _model is None:
        raise OptionError("no model for sentences is open")
    return _model


@streamed
async def open_find_model(source: Any, name: str) -> AsyncGenerator[Any, None]:
    """Opens a model of sentences; the one before is closed.

    source: that of `opened`. name: tells the model from others; the vectors that another one made
    are dropped.
    Reports `Fetching`; last a `FindModel`. Raises TallowError in one line.
    """
    from tallow.zoo import SentenceEncoder

    from .published import opened

    global _model, _name
    close_find_model()
    model: Any = None
    async for model in opened(plain(source)):
        if isinstance(model, dict):
            yield model
    if not isinstance(model, SentenceEncoder):
        raise OptionError("this network makes no vectors of sentences")
    tokenizer: Any = model.tokenizer
    tokenizer.truncation = tokenizer.padding = None  # a passage is measured by all of its tokens
    _model, _name = model, name
    dropped = 0
    for file in _files.values():
        if file.blocks and (file.model, file.width) != (name, model.width):
            dropped += len(file.passages)
            file.drop()
    found: FindModel = {"width": model.width, "tokens": model.net.max_len, "dropped": dropped}
    yield Answer(found)


# ---- files -----------------------------------------------------------------------------------


def _texts(kind: str, content: bytes, name: str) -> tuple[list[tuple[str, int | None]], str | None]:
    """The texts of a file, each with its page, and the encoding if that was guessed."""
    if kind == "pages":
        pages = [(well_formed(text), int(page)) for page, text in json.loads(content)]
        return list(pages), None
    text, guessed = (readable if kind == "html" else decoded)(content, name)
    return [(text, None)], guessed


@streamed
async def add_file(name: str, kind: str, source: Any) -> AsyncGenerator[Any, None]:
    """Cuts a file into passages; those of a file of the same name are replaced at the end.

    kind: "text", "html", or "pages" for JSON [[page, text], ...]. source: a JavaScript Blob.
    Reports an `Embedded` after some passages each; last an `Indexed`. Raises TallowError in one
    line.
    """
    from tallow.files.ranges import ranges_of

    encode = _opened().tokenizer.encode
    ranges = ranges_of(source, name)
    size = await run_async(ranges.size())
    if size > _LARGEST:
        raise OptionError(f"{name}: {size:,} bytes are more than {_LARGEST:,}")
    texts, guessed = _texts(kind, bytes(await run_async(ranges.read(0, size))), name)
    extra = len(encode("").ids)
    most = max(min(_TOKENS, _opened().net.max_len - extra), 1)
    total = sum(len(text) for text, _ in texts)
    file = _File()
    before = 0
    for text, page in texts:
        for start, end in passages(text, lambda part: len(encode(part).ids) - extra, most, _SHARED):
            file.passages.append(_line(text[start:end], page))
            if len(file.passages) % _CUT == 0:
                step: Embedded = {"stage": "cut", "done": before + end, "total": total}
                yield step
        before += len(text)
    if not file.passages:
        raise FormatError(f"{name}: has no text")
    _put(name, file)
    answer: Indexed = {"passages": len(file.passages), "guessed": guessed}
    yield Answer(answer)


def _put(name: str, file: _File) -> None:
    _files.pop(name, None)
    _files[name] = file


async def remove_file(name: str) -> str:
    """Forgets a file, if it is there; "" means all of them. Returns an `Embedded` of the others."""
    for each in [name] if name else list(_files):
        _files.pop(each, None)
    return json.dumps(_progress())


def _progress() -> Embedded:
    done = sum(file.done for file in _files.values())
    total = sum(len(file.passages) for file in _files.values())
    return {"stage": "embed", "done": done, "total": total}


@streamed
async def embed_passages() -> AsyncGenerator[Any, None]:
    """Embeds the passages that have no vectors yet.

    Reports an `Embedded` after each batch; last an `Embedded`, too. A run that is stopped loses
    nothing; another one goes on from there.
    """
    began, made = perf_counter(), 0
    while True:
        model = _opened()
        step = _progress()
        if made:
            step["rate"] = made / (perf_counter() - began)
        missing = ((n, f) for n, f in _files.items() if f.done < len(f.passages))
        name, file = next(missing, ("", None))
        if file is None:
            break
        yield step
        texts = [json.loads(each)[0] for each in file.passages[file.done : file.done + _BATCH]]
        vectors = await _embedded(model, texts)
        if _files.get(name) is file and _model is model:
            file.model, file.width = _name, model.width
            file.add(vectors)
            made += len(texts)
    yield Answer(step)


async def _embedded(model: SentenceEncoder, texts: list[str]) -> bytes:
    """The vectors of texts, in float16."""
    vectors = await model.embed_async(texts, batch=_BATCH)
    (rows,) = await run_async(reading([vectors]))
    numbers = rows.data.cast("B").cast("f")
    return pack(f"{len(numbers)}e", *numbers)


# ---- what the browser keeps ------------------------------------------------------------------


def changed_file(least: int) -> Any:
    """What the browser does not have of a file, or None: its name and its key; its passages, a
    line of JSON each, None if it has them; which is the first of the vectors that follow, their
    bytes, the name of the model that made them, and how many numbers each has.

    From then on the browser has all of it, unless `keep_again` says otherwise. So whatever is
    written is written once. least: how many vectors are worth a piece, unless they are the last.
    """
    for name, file in _files.items():
        at, done = file.kept, file.done
        if at < 0 or done - at >= least or at < done == len(file.passages):
            file.kept, first = done, max(at, 0)
            passages = None if at >= 0 else b"\n".join(file.passages)
            return name, file.key, passages, first, file.since(first), file.model, file.width
    return None


def keep_again(name: str, at: int) -> None:
    """The browser could not keep what `changed_file` gave it. at: how many vectors it has, -1 if it
    does not have the passages either."""
    if file := _files.get(name):
        file.kept = min(file.kept, at)


async def put_kept(name: str, key: str, passages: Any, pieces: Any) -> str:
    """Takes a file that the browser has kept.

    key, passages: bytes, as `changed_file` gave them.
    pieces: objects with vectors: at, the passage to which the first one belongs; vectors, bytes of
      float16; model and width, as `changed_file` gave them.
    Returns an `IndexedFile`. The first piece that does not continue those before it is left out,
    and so are those behind it.
    """
    file = _File(bytes(copied(passages)).split(b"\n"), kept=0, key=key)
    for piece in pieces:
        content, width = bytes(copied(piece.vectors)), max(piece.width, 1)
        end = piece.at + len(content) // (_HALF * width)
        same = not file.blocks or (file.model, file.width) == (piece.model, width)
        whole = len(content) % (_HALF * width) == 0
        if not (same and whole and piece.at == file.done and end <= len(file.passages)):
            break
        file.model, file.width = piece.model, width
        file.add(content)
    file.kept = file.done
    _put(name, file)
    found: IndexedFile = {"name": name, "passages": len(file.passages), "done": file.done}
    return json.dumps(found)


# ---- questions -------------------------------------------------------------------------------


@streamed
async def find_passages(question: str, most: int) -> AsyncGenerator[Any, None]:
    """Finds the passages that are nearest to a question by the cosine of their vectors.

    Reports a `Looked` with the passages, again after some sentences each; last the same, with the
    sentence of each that is nearest.
    most: how many.
    """
    began = perf_counter()
    model = _opened()
    asked = await model.embed_async([well_formed(question)])
    found = await _nearest(model, asked, most)
    answer: Looked = {"stage": "look", "seconds": perf_counter() - began, "found": found}
    yield answer
    spans = [
        (index, start, end)
        for index, passage in enumerate(found)
        for start, end in sentences(passage["parts"][0])
    ]
    spans.sort(key=lambda span: span[2] - span[1])  # texts of like lengths are padded least
    nearest: dict[int, tuple[float, int, int]] = {}
    for first in range(0, len(spans), _BATCH):
        chosen = spans[first : first + _BATCH]
        texts = [found[index]["parts"][0][start:end] for index, start, end in chosen]
        vectors = await model.embed_async(texts, batch=_BATCH)
        scores = await _products(model, vectors, asked)
        for score, (index, start, end) in zip(scores, chosen, strict=True):
            nearest[index] = max(nearest.get(index, (score, start, end)), (score, start, end))
        if (first + _BATCH) % _SENTENCES == 0:
            yield answer
    for index, (_, start, end) in nearest.items():
        text = found[index]["parts"][0]
        found[index]["parts"] = [text[:start], text[start:end], text[end:]]
    yield Answer(answer)


async def _nearest(model: SentenceEncoder, asked: Tensor, most: int) -> list[FoundPassage]:
    """The passages of the highest cosines, the highest first."""
    held = [
        (block, name, file, number * _BLOCK)
        for name, file in _files.items()
        for number, block in enumerate(file.blocks)
    ]
    full = _BLOCK * _HALF * model.width
    held.sort(key=lambda each: len(each[0]) < full)  # the whole ones first, which need no copy
    whole = [block for block, *_ in held if len(block) == full]
    rest = b"".join([block for block, *_ in held[len(whole) :]])
    blocks: list[bytes | bytearray] = [*whole, *_cut(rest, full)]
    scores = array("f")
    for block in blocks:
        vectors = HostArray(memoryview(block), (_BLOCK, model.width), dt.float16)
        scores += await _products(model, Tensor(constant(vectors)), asked)
    sizes = [len(block) // (_HALF * model.width) for block, *_ in held]
    starts = [*accumulate(sizes, initial=0)]
    found: list[FoundPassage] = []
    for index in nlargest(most, range(starts[-1]), key=scores.__getitem__):
        at = bisect_right(starts, index) - 1
        _, name, file, first = held[at]
        text, page = json.loads(file.passages[first + index - starts[at]])
        found.append(
            {"source": name, "page": page, "score": scores[index], "parts": [text, "", ""]}
        )
    return found


def _cut(content: bytes, size: int) -> Iterator[bytes]:
    """Pieces of one size, the last one filled up with zeros."""
    for start in range(0, len(content), size):
        yield content[start : start + size].ljust(size, b"\0")


async def _products(model: SentenceEncoder, vectors: Tensor, asked: Tensor) -> array[float]:
    (scores,) = await run_async(reading([model.similarity(vectors, asked)]))
    return array("f", scores.data.tobytes())
