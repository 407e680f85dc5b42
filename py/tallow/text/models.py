"""Models by their names in a description."""

from __future__ import annotations

from collections.abc import Callable

from .bpe import bpe_of
from .spec import Spec
from .unigram import unigram_of
from .vocabulary import Model, vocab_of
from .wordpiece import WordLevel, wordpiece_of

_KINDS: dict[str, Callable[[Spec], Model]] = {
    "BPE": lambda spec: bpe_of(spec, vocab_of(spec.value.get("vocab"))),
    "Unigram": unigram_of,
    "WordLevel": lambda spec: WordLevel(
        vocab_of(spec.value.get("vocab")), unknown=spec.text("unk_token", "<unk>")
    ),
    "WordPiece": lambda spec: wordpiece_of(spec, vocab_of(spec.value.get("vocab"))),
}


def _guessed(spec: Spec) -> str:
    """The type of a description from before there were types."""
    if "merges" in spec.value:
        return "BPE"
    if isinstance(spec.value.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if "continuing_subword_prefix" in spec.value else "WordLevel"


def model(spec: Spec) -> Model:
    """The model of a description. Raises: TextError."""
    if spec.value.get("type") is None:
        return _KINDS[_guessed(spec)](spec)
    return spec.chosen(_KINDS)(spec)
