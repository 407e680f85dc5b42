"""Patterns in RE2's syntax, matched in time that is linear in the text.

ONNX writes regular expressions in this syntax, which is close to Python's but not the same.
Python's matcher tries one alternative after the other, which a short pattern can make it do for
hours. Here all are followed at once (Thompson 1968), and the sets that come up are kept.
"""

from .automaton import Automaton
from .syntax import parse


def compiled(pattern: str) -> Automaton:
    """The automaton of a pattern.

    Raises OnnxFormatError for what RE2 refuses, OnnxUnsupportedError for what it has and Tallow
    lacks, and for patterns that are too large.
    """
    return Automaton(parse(pattern))
