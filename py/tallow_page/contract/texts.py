"""Models of texts, sentences and speech: the views Write, Find and Listen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict


class TextModel(TypedDict):
    """A language model: its class, its numbers, the most tokens of a text, and whether it answers
    messages."""

    family: str
    parameters: int
    context: int
    converses: bool


class Fetching(TypedDict):
    """How far a published model has arrived: bytes of all its files, and the one that arrives."""

    stage: Literal["fetch"]
    done: int
    total: int | None
    file: str


class Wrote(TypedDict):
    """A piece of a text; tokens: how many there are by now. considered: for each new token the most
    probable ones, with their probabilities."""

    stage: Literal["write"]
    piece: str
    tokens: int
    considered: Sequence[Sequence[tuple[str, float]]]


class WroteAnswer(TypedDict):
    """A text that ended. first: seconds until the first token; rate: tokens a second from then on.
    end: why it ended (tl.generation.Written)."""

    tokens: int
    first: float
    rate: float | None
    end: str | None


# ---- Find -------------------------------------------------------------------------------------


class FindModel(TypedDict):
    """A model of sentences: the width of its vectors, the most tokens of a text, and how many
    passages lost their kept vectors, since another model had made them."""

    width: int
    tokens: int
    dropped: int


class IndexedFile(TypedDict):
    """A file of the index; done: how many of its passages have vectors."""

    name: str
    passages: int
    done: int


class Embedded(TypedDict):
    """How far cutting is, in characters, or embedding, in passages; rate: passages a second."""

    stage: Literal["cut", "embed"]
    done: int
    total: int
    rate: NotRequired[float]


class Indexed(TypedDict):
    """A file that was cut into passages. guessed: the encoding of a text that names none."""

    passages: int
    guessed: str | None


class FoundPassage(TypedDict):
    """A passage near a question: its file and page, the cosine, and its text: what is before the
    nearest sentence, that sentence, and what is behind it."""

    source: str
    page: int | None
    score: float
    parts: Sequence[str]


class Looked(TypedDict):
    """The passages near a question, the nearest first."""

    stage: Literal["look"]
    seconds: float
    found: Sequence[FoundPassage]


# ---- Listen -----------------------------------------------------------------------------------


class SpeechModel(TypedDict):
    """A network of speech: its numbers, and the languages that it knows, such as "en"; none if it
    knows English alone."""

    parameters: int
    languages: Sequence[str]


class HeardText(TypedDict):
    """What was said, in seconds of the sound. final: false while it is still being written down."""

    stage: Literal["heard"]
    start: float
    end: float
    text: str
    language: str
    final: bool


class HeardAnswer(TypedDict):
    """How many seconds were heard in all, and whether somebody speaks at their end."""

    seconds: float
    speaks: bool
