"""A text by its characters, for a network that goes on writing it."""

from __future__ import annotations

from tallow.data import CharDataset
from tallow.errors import DataError

from .data import Data

__all__ = ["CONTEXT", "text_data"]

CONTEXT = 128
"""Characters of a window."""
_STRIDE = 32
"""Characters from one window of the training to the next."""
_MOST = 5000
"""Different characters, at most; a Chinese novel has some 4,000."""


def text_data(name: str, text: str) -> Data:
    """Windows of CONTEXT characters with the windows one character on, int64. The last tenth of the
    text is for validation.

    Raises DataError for a text that is too short, has one character alone, or more different ones
    than 5,000.
    """
    least = 10 * (CONTEXT + 1)
    if len(text) < least:
        raise DataError(
            f"{name}: the text has {len(text):,} characters; give one of at least {least:,}"
        )
    vocabulary = sorted(set(text))
    if len(vocabulary) < 2:
        raise DataError(f"{name}: the text has one character alone, {vocabulary[0]!r}, many times")
    if len(vocabulary) > _MOST:
        raise DataError(
            f"{name}: the text has {len(vocabulary):,} different characters; a network of "
            f"this size learns {_MOST:,} at most"
        )
    end = len(text) - len(text) // 10
    return Data(
        name=name,
        kind="text",
        classes=vocabulary,
        train=CharDataset(text[:end], CONTEXT, _STRIDE, vocabulary),
        valid=CharDataset(text[end:], CONTEXT, CONTEXT, vocabulary),
        shape=(CONTEXT,),
    )
