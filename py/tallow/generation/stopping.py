"""Texts that end a text: nothing of them is shown, and what may become one waits."""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """Pieces of a text on their way to who reads it.

    texts: those that end it.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._texts = [text for text in texts if text]
        self._waiting = ""
        self.ended = False

    def passed(self, piece: str) -> str:
        """What may be shown once a piece has come."""
        if self.ended:
            return ""
        whole = self._waiting + piece
        places = [at for text in self._texts if (at := whole.find(text)) >= 0]
        if places:
            self.ended, self._waiting = True, ""
            return whole[: min(places)]
        kept = max((_begun(whole, text) for text in self._texts), default=0)
        shown = len(whole) - kept
        self._waiting = whole[shown:]
        return whole[:shown]

    def rest(self) -> str:
        """What waited, once nothing more comes."""
        found, self._waiting = self._waiting, ""
        return "" if self.ended else found


def _begun(text: str, stop: str) -> int:
    """How many last characters may be the beginning of a text that ends it."""
    for count in range(min(len(stop) - 1, len(text)), 0, -1):
        if text.endswith(stop[:count]):
            return count
    return 0
