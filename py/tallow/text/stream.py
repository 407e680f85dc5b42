"""Decoding one token at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .decoders import feed

if TYPE_CHECKING:
    from .tokenizer import Tokenizer


class DecodeStream:
    """A text that grows with its tokens: never half a character, and in total what
    `tokenizer.decode` gives for all of them.

    ```python
    stream = tl.text.DecodeStream(tokenizer)
    for token in tokens:
        if piece := stream.step(token):
            print(piece, end="")
    print(stream.finish())
    ```
    """

    def __init__(self, tokenizer: Tokenizer, skip_special_tokens: bool = True) -> None:
        self._tokenizer, self._skip = tokenizer, skip_special_tokens
        self._stages = tokenizer.stages()

    def step(self, id: int) -> str | None:
        """What a token adds; None if that is nothing yet, as for half of a character."""
        names = self._tokenizer.decoded_names([id], self._skip)
        return feed(self._stages, names, last=False) or None if names else None

    def finish(self) -> str:
        """What was still waiting: U+FFFD for half a character. Another text may follow."""
        rest = feed(self._stages, [], last=True)
        self._stages = self._tokenizer.stages()
        return rest
