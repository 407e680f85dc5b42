"""Tokens as pieces of a text, as they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

from ..core.drivers import Steps, YieldControl
from ..core.iterating import StepIterator
from .stopping import Stops
from .writer import Request, Writer, Written


class Decoding(Protocol):
    """Tokens one by one as pieces of a text, none of which ends within a character."""

    def step(self, id: int) -> str | None:
        """What a token adds; nothing while a character is not whole."""

    def finish(self) -> str:
        """What is left of a character that never became whole."""


class Pieces:
    """A `Decoding` by a function from tokens to their text, asked for a line at a time."""

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._tokens: list[int] = []
        self._given = ""

    def step(self, id: int) -> str | None:
        """See `Decoding`."""
        self._tokens.append(id)
        text = self._decode(self._tokens)
        if text.endswith("\ufffd"):
            return None
        piece = text[len(self._given) :]
        self._given = text
        if "\n" in piece:  # the next line is decoded behind this token alone
            self._tokens = [id]
            self._given = self._decode(self._tokens)
        return piece

    def finish(self) -> str:
        """See `Decoding`."""
        return self._decode(self._tokens)[len(self._given) :]


class Stream(StepIterator[str]):
    """A text that is being written: an iterator of its pieces, for `for` and for `async for`.

    It begins when its first piece is asked for. `written` is then the text as tokens, with the
    reason of its end. What is left before its end is closed by `close()`, or by `with`.

    writer, request: who writes what. stops: texts that end it. pieces: turns tokens into pieces.
    """

    def __init__(
        self, writer: Writer, request: Request, stops: Sequence[str], pieces: Decoding
    ) -> None:
        self._writer, self._request = writer, request
        self._stops, self._pieces = Stops(stops), pieces
        self._shown = 0
        self.written: Written | None = None
        self.ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the text, if it goes on."""
        self.ended = True
        if self.written is not None:
            self._writer.stop(self.written)

    def next_item(self) -> Steps[str | None]:
        """The next piece that is not empty; None at the end."""
        while not self.ended:
            if self.written is None:
                self.written = yield from self._writer.begin(self._request)
            else:
                yield YieldControl()
                yield from self._writer.step()
            piece = self.take()
            if piece:
                return piece
        return None

    def take(self) -> str:
        """What may be shown of the tokens that were written since."""
        if self.written is None or self.ended:
            return ""
        tokens = self.written.tokens[self._shown :]
        self._shown += len(tokens)
        piece = "".join(self._stops.passed(self._pieces.step(token) or "") for token in tokens)
        if self.written.end is not None:
            piece += self._stops.passed(self._pieces.finish()) + self._stops.rest()
            self.ended = True
        elif self._stops.ended:
            self.close()
        return piece
