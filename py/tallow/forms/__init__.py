"""Texts of a given form: which characters, and so which tokens, may come next."""

from .grammar import Grammar, State
from .regex import regex
from .schema import schema
from .vocabulary import Vocabulary, choices

__all__ = ["Grammar", "State", "Vocabulary", "choices", "regex", "schema"]
