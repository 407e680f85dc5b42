"""One of given answers: the tokens that lead to one of them alone may follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import OptionError


class Choices:
    """Given answers, token by token; an `Allowed` of writer.py.

    answers: the tokens of each. end: a token that ends a text; where an answer is the beginning of
    another one, it chooses the first.
    Raises: OptionError for no answers and for an empty one.
    """

    def __init__(self, answers: Sequence[Sequence[int]], end: int | None = None) -> None:
        if not answers or not all(answers):
            raise OptionError("choices are one answer or more, none of them empty")
        self._end = end
        self._tree: dict[Any, Any] = {}
        for answer in answers:
            node = self._tree
            for token in answer:
                node = node.setdefault(token, {})
            node[None] = True

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens that may follow those that were written; none at the end of an answer."""
        node = self._tree
        for token in tokens:
            node = node.get(token, {})
        found = [token for token in node if token is not None]
        if found and None in node and self._end is not None:
            found.append(self._end)
        return found
