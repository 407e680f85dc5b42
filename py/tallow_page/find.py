"""The Find view's Python: the passages of files, their vectors, and what is near a question."""

from __future__ import annotations

import json
from array import array
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tallow.core import dtype as dt
from tallow.core.drivers import run_async
from tallow.core.hostarray import HostArray
from tallow.errors import FormatError, OptionError
from tallow.files.ranges import ranges_of
from tallow.graph import constant
from tallow.tensor import Tensor, reading
from tallow.zoo import SentenceEncoder

from .app import on_start
from .javascript import copied, plain
from .passages import decoded, passages, readable, sentences, well_formed
from .published import opened
from .steps import Answer, streamed

if TYPE_CHECKING:
    from .contract import Embedded, FindModel, FoundPassage, Indexed, IndexedFile, Looked

__all__ = [
    "add_file", "changed_file", "close_find_model", "embed_passages", "find_passages",
    "open_find_model", "put_kept", "remove_file",
]  # fmt: skip

_BATCH = 4
"""Passages that are embedded in a step; questions wait for one."""

_TOKENS, _SHARED = 126, 25
"""Of a passage, beside the two that begin and end a text; and those that two passages share."""

_LARGEST = 200_000_000
"""Bytes of a file."""

_CUT = 256
"""Passages that are cut in a step."""

_BLOCK = 1024
"""Vectors of one product; all blocks have so many rows, so that one plan serves all."""

_FLOAT = 4


@dataclass
class _File:
    """A file's passages, each with the page that it stands on, and the vectors of the first of
    them, of the network that has this name. width: of the vectors. kept: whether the browser has
    it as it is."""

    passages: list[tuple[str, int | None]] = field(default_factory=list)
    vectors: bytearray = field(default_factory=bytearray)
    model: str = ""
    width: int = 1
    kept: bool = False


_files: dict[str, _File] = {}
_model: SentenceEncoder | None = None
_name = ""  # of the model
_blocks: list[Tensor] | None = None  # the vectors of all files; None: they have changed


def close_find_model() -> None:
    """Frees the model, if one is open; the passages and their vectors stay."""
    global _model, _blocks
    _model = _blocks = None


on_start.append(close_find_model)


def _opened() -> SentenceEncoder:
    if _model is None:
        raise OptionError("no model for sentences is open")
    return _model


@streamed
async def open_find_model(source: Any, name: str) -> AsyncGenerator[Any, None]:
    """Opens a model of sentences; the one before is closed.

    source: that of `opened`. name: tells the model from others; the vectors that another one made
    are dropped, and damaged ones, too.
    Reports `Fetching`; last a `FindModel`. Raises TallowError in one line.
    """
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
    dropped, size = 0, _FLOAT * model.width
    for file in _files.values():
        rest = len(file.vectors) % size or len(file.vectors) > size * len(file.passages)
        if file.vectors and (file.model != name or rest):
            dropped += len(file.passages)
            file.vectors, file.kept = bytearray(), False
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
            file.passages.append((text[start:end], page))
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
    global _blocks
    _files.pop(name, None)
    _files[name] = file
    _blocks = None


async def remove_file(name: str) -> str:
    """Forgets a file, if it is there; "" means all of them. Returns an `Embedded` of the others."""
    global _blocks
    for each in [name] if name else list(_files):
        _files.pop(each, None)
    _blocks = None
    return json.dumps(_progress())


def _progress() -> Embedded:
    done = sum(len(file.vectors) // (_FLOAT * file.width) for file in _files.values())
    total = sum(len(file.passages) for file in _files.values())
    return {"stage": "embed", "done": done, "total": total}


@streamed
async def embed_passages() -> AsyncGenerator[Any, None]:
    """Embeds the passages that have no vectors yet.

    Reports an `Embedded` after each batch; last an `Embedded`, too. A run that is stopped loses
    nothing; another one goes on from there.
    """
    global _blocks
    began, made = perf_counter(), 0
    while True:
        model = _opened()
        size = _FLOAT * model.width
        step = _progress()
        if made:
            step["rate"] = made / (perf_counter() - began)
        missing = ((n, f) for n, f in _files.items() if len(f.vectors) < size * len(f.passages))
        name, file = next(missing, ("", None))
        if file is None:
            break
        yield step
        start = len(file.vectors) // size
        texts = [text for text, _ in file.passages[start : start + _BATCH]]
        vectors = await _embedded(model, texts)
        if _files.get(name) is file and _model is model:
            file.vectors += vectors
            file.model, file.width, file.kept = _name, model.width, False
            made += len(texts)
            _blocks = None
    yield Answer(step)


async def _embedded(model: SentenceEncoder, texts: list[str]) -> memoryview:
    vectors = await model.embed_async(texts, batch=_BATCH)
    (rows,) = await run_async(reading([vectors]))
    return rows.data.cast("B")


# ---- what the browser keeps ------------------------------------------------------------------


def changed_file() -> Any:
    """A file that the browser does not have as it is, or None: its name, its passages as JSON, the
    bytes of their vectors, the name of the model and the vectors' width. From then on the browser
    has it."""
    for name, file in _files.items():
        if not file.kept:
            file.kept = True
            passages = json.dumps(file.passages)
            return name, passages, bytes(file.vectors), file.model, file.width
    return None


async def put_kept(name: str, kept: str, vectors: Any, model: str, width: int) -> str:
    """Takes a file that the browser has kept.

    kept: its passages, as JSON. vectors: their bytes; none if they were damaged. model, width: the
      name of what made them, and how many numbers each has.
    Returns an `IndexedFile`. Raises FormatError for passages that are damaged.
    """
    try:
        found = [(well_formed(str(text)), page) for text, page in json.loads(kept)]
    except (ValueError, TypeError) as error:
        raise FormatError(f"{name}: the kept passages are damaged: {error}") from error
    file = _File(found, bytearray(copied(vectors)), model, max(width, 1), kept=True)
    _put(name, file)
    done = min(len(file.vectors) // (_FLOAT * file.width), len(found))
    answer: IndexedFile = {"name": name, "passages": len(found), "done": done}
    return json.dumps(answer)


# ---- questions -------------------------------------------------------------------------------


@streamed
async def find_passages(question: str, most: int) -> AsyncGenerator[Any, None]:
    """Finds the passages that are nearest to a question by the cosine of their vectors.

    Reports a `Looked` with the passages; last the same, with the sentence of each that is nearest.
    most: how many.
    """
    began = perf_counter()
    model = _opened()
    asked = await model.embed_async([well_formed(question)])
    best = nlargest(most, await _scored(model, asked))
    found: list[FoundPassage] = [
        {"source": name, "page": page, "score": score, "parts": [text, "", ""]}
        for score, _, name, text, page in best
    ]
    answer: Looked = {"stage": "look", "seconds": perf_counter() - began, "found": found}
    yield answer
    spans = [
        (index, start, end)
        for index, (_, _, _, text, _) in enumerate(best)
        for start, end in sentences(text)
    ]
    nearest: dict[int, tuple[float, int, int]] = {}
    for first in range(0, len(spans), _BATCH):
        chosen = spans[first : first + _BATCH]
        texts = [best[index][3][start:end] for index, start, end in chosen]
        vectors = await model.embed_async(texts, batch=_BATCH)
        scores = await _products(model, vectors, asked)
        for score, (index, start, end) in zip(scores, chosen, strict=True):
            nearest[index] = max(nearest.get(index, (score, start, end)), (score, start, end))
    for index, (_, start, end) in nearest.items():
        text = best[index][3]
        found[index]["parts"] = [text[:start], text[start:end], text[end:]]
    yield Answer(answer)


async def _scored(
    model: SentenceEncoder, asked: Tensor
) -> Iterable[tuple[float, int, str, str, int | None]]:
    """All passages that have vectors: the cosine, a number, the file, the text and its page."""
    global _blocks
    size = _FLOAT * model.width
    rows = [
        (name, *passage)
        for name, file in _files.items()
        for passage in file.passages[: len(file.vectors) // size]
    ]
    blocks = _blocks
    if blocks is None:
        every = b"".join(
            memoryview(file.vectors)[: size * len(file.passages)] for file in _files.values()
        )
        blocks = _blocks = [
            _rows(every[start : start + size * _BLOCK], model.width)
            for start in range(0, len(every), size * _BLOCK)
        ]
    scores: list[float] = []
    for block in blocks:
        scores += await _products(model, block, asked)
    return [(score, -n, *row) for n, (score, row) in enumerate(zip(scores, rows, strict=False))]


def _rows(content: bytes, width: int) -> Tensor:
    """Vectors as a tensor (_BLOCK, width), filled up with zeros."""
    held = content.ljust(_FLOAT * width * _BLOCK, b"\0")
    return Tensor(constant(HostArray(memoryview(held), (_BLOCK, width), dt.float32)))


async def _products(model: SentenceEncoder, vectors: Tensor, asked: Tensor) -> array[float]:
    (scores,) = await run_async(reading([model.similarity(vectors, asked)]))
    return array("f", scores.data.tobytes())
