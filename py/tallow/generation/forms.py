"""Texts of a given form: the tokens that keep it may follow, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import forms
from ..errors import OptionError
from .sampling import Mask

FORMS = ("schema", "regex", "choices")

_MAKE: dict[str, Callable[[Any], forms.Grammar]] = {
    "schema": forms.schema,
    "regex": forms.regex,
    "choices": lambda answers: forms.choices(_listed(answers)),
}
_KEPT = 8
"""Forms whose masks are kept."""


class Forms:
    """The forms of one model's texts.

    tokenizer: see `Tokenizer` of model.py; one with `token_bytes()`, as `tl.text.Tokenizer` has it,
    says which bytes tokens are that are no whole character. Others are not written with it.
    count: how many tokens the model has. ends: those that end a text.
    """

    def __init__(self, tokenizer: Any, count: int, ends: Iterable[int]) -> None:
        self._ends = frozenset(end for end in ends if 0 <= end < count)
        self.vocabulary = forms.Vocabulary(
            count,
            (
                (token, raw.decode("utf-8", "surrogateescape"))
                for token, raw in _token_bytes(tokenizer, count)
                if token < count and token not in self._ends
            ),
        )
        self._made: dict[tuple[str, str], _Form] = {}

    def allowed(self, name: str, given: Any) -> Following:
        """What follows in a text of a form. Raises: OptionError for what is no form."""
        try:
            key = (name, given if isinstance(given, str) else json.dumps(given))
        except (TypeError, ValueError):
            key = (name, repr(given))
        form = self._made.pop(key, None)
        if form is None:
            form = _Form(_MAKE[name](given), self.vocabulary, self._ends, name)
            while len(self._made) >= _KEPT:
                self._made.pop(next(iter(self._made)))
        self._made[key] = form
        return Following(form)


class _Form:
    """A form and the masks of its states, which its texts share."""

    def __init__(
        self,
        grammar: forms.Grammar,
        vocabulary: forms.Vocabulary,
        ends: frozenset[int],
        name: str,
    ) -> None:
        self.grammar, self.vocabulary, self._name = grammar, vocabulary, name
        self._ends = sum(1 << end for end in ends)
        self._masks: dict[int, Mask | tuple[()]] = {}
        self._of: dict[forms.State, Mask | tuple[()]] = {}

    def mask(self, state: forms.State) -> Mask | tuple[()]:
        """The tokens that may follow in a state; none where the text is whole."""
        found = self._of.get(state)
        if found is None:
            bits = self.vocabulary.allowed(self.grammar, state)
            if not bits and not state.ends:
                raise OptionError(
                    f"the model has no token that goes on with this {self._name}: its vocabulary "
                    "lacks the characters"
                )
            if bits and state.ends:
                bits |= self._ends
            found = self._masks.get(bits)
            if found is None:
                found = self._masks[bits] = Mask(self.vocabulary.words(bits)) if bits else ()
            self._of[state] = found
        return found


class Following:
    """The tokens that may follow in one text of a form; an `Allowed` of writer.py."""

    def __init__(self, form: _Form) -> None:
        self._form = form
        self._states = [form.grammar.start()]

    def __call__(self, tokens: Sequence[int]) -> Mask | tuple[()]:
        """The tokens that may follow those that were written; none at the end."""
        form, states = self._form, self._states
        del states[len(tokens) + 1 :]
        for token in tokens[len(states) - 1 :]:
            states.append(form.vocabulary.behind(form.grammar, states[-1], token))
        return form.mask(states[-1])


def _token_bytes(tokenizer: Any, count: int) -> Iterable[tuple[int, bytes]]:
    known = getattr(tokenizer, "token_bytes", None)
    if known is not None:
        return list(known())
    decode = tokenizer.decode
    found = []
    for token in range(count):
        text = decode([token, token])[len(decode([token])) :]
        if text and "\ufffd" not in text:
            found.append((token, text.encode()))
    return found


def _listed(answers: Any) -> Any:
    return answers if isinstance(answers, str) else list(answers)
