"""Regular expressions in RE2's syntax, matched in time linear in the text.

ONNX uses this syntax, which is close to Python's but not the same. Python's matcher tries one
alternative after the other, so a short pattern can keep it busy for hours. This one follows all
alternatives at once (Thompson 1968) and caches the sets of states it meets.
"""

from .automaton import Automaton
from .syntax import parse


def compiled(pattern: str) -> Automaton:
    """The automaton of a pattern.

    Raises OnnxFormatError for patterns that RE2 rejects, OnnxUnsupportedError for features that
    Tallow lacks and for patterns that are too large.
    """
    return Automaton(parse(pattern))
