"""Drafts that cost nothing: what followed when the last tokens stood in the text before (Saxena
2023, "Prompt lookup decoding")."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 3
"""How many last tokens are looked for, at first."""


def continued(tokens: Sequence[int], count: int) -> list[int]:
    """As many tokens as may follow, from the latest place where the last ones stood before.

    tokens: the text so far. count: how many; what the place does not have is 0.
    Returns: the draft; nothing where the last token is new.
    """
    text = list(tokens)
    for size in range(min(LONGEST, len(text) - 1), 0, -1):
        last = text[-size:]
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == last:
                found = text[start + size :][:count]
                return found + [0] * (count - len(found))
    return []
