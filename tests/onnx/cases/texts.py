"""String operators, all on the host.

onnxruntime does not treat tabs as blanks and splits an empty string into nothing; there the
reference evaluator follows the standard.
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from ..case import Case, Known, bools, floats, integers


def texts(*values: Any) -> np.ndarray:
    """An array of strings; nested lists are axes."""
    return np.array(values, dtype=object)


_WORDS = texts("Monday", "tuesday", "", "Wednesday", "MONDAY", "é")
_EVERYWHERE = {
    "locale": "C.UTF-8"
}  # without it onnxruntime requires a locale that few machines have
_MAILS = texts(["account@onnx.ai", "a.b@c.de"], ["nothing", "@"])
_LIST = texts(["a,b,,c", ",x"], ["", "one"])
_SPACED = texts("  to be  or\tnot ", "", "one", " a b c")
_LETTERS = texts(
    "Kk", "k\u212a", "\u00c9t\u00e9", "\u0663", "a\n", "a b", "\t", "", "a.b|c", "x{,2}", "ab_1"
)
_PATTERNS = [
    "(a+)+$", "a$\n", "[^b]*", "(?s).*", "(?m)a$.*|a$\n", "(?i)k+", "(?i)[^k]+", r"\w+", r"\W+",
    r"\d", r"\pL+", r"\P{Lu}*", r"\p{^L}", "[[:alpha:]_]+[[:^alpha:]]", r"\Qa.b|\Ec", "x{,2}",
    r"\bk\B.", r"\x6b.|\x{663}|\141.*", r"[\w-]+\z|\s", "(?U)(?P<one>a.*?){1,2}|(?i:K)k|",
]  # fmt: skip
_GRAMS = {
    "min_gram_length": 1, "max_gram_length": 2, "ngram_counts": [0, 4],
    "ngram_indexes": [0, 1, 2, 3, 4, 5, 6], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
}  # fmt: skip
_NAMED = {
    "min_gram_length": 2, "max_gram_length": 2, "ngram_counts": [0, 1],
    "ngram_indexes": [2, 0, 1], "pool_strings": ["a", "b", "c", "a", "b"], "mode": "TFIDF",
    "weights": [1.0, 0.5, 2.0], "max_skip_count": 1,
}  # fmt: skip
_NUMBERS = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]])

ON_HOST = [
    Case("StringConcat", [texts("a", "b"), texts("c", "")], opsets=(20, 28)),
    Case("StringConcat", [texts(["a"], ["é"]), texts("1", "2", "3")], opsets=(20, 28)),
    Case("StringConcat", [texts("a"), np.array("b", object)], opsets=(20, 28), oracle="reference"),
    Case("StringSplit", [_LIST], {"delimiter": ","}, (20, 28), outputs=2, oracle="reference"),
    Case("StringSplit", [_LIST], {"delimiter": ",", "maxsplit": 1}, (20, 28), outputs=2,
         oracle="reference"),
    Case("StringSplit", [_SPACED], opsets=(20, 28), outputs=2, oracle="reference"),
    Case("StringSplit", [_SPACED], {"delimiter": "", "maxsplit": 2}, (20, 28), outputs=2,
         oracle="reference"),
    Case("RegexFullMatch", [_MAILS], {"pattern": r"[\w.]+@[a-z]+\.(ai|de)"}, (20, 28)),
    *[Case("RegexFullMatch", [_LETTERS], {"pattern": text}, (20, 28)) for text in _PATTERNS],
    *[Case("StringNormalizer", [x], {"case_change_action": action, "is_case_sensitive": exact,
           "stopwords": ["monday", "É"], **_EVERYWHERE}, opsets=(10, 28))
      for x in (_WORDS, _WORDS.reshape(1, 6)) for action in ("NONE", "LOWER", "UPPER")
      for exact in (0, 1)],
    Case("StringNormalizer", [texts("a", "b", "A")], {"stopwords": ["A"], **_EVERYWHERE}, (10, 28)),
    Case("StringNormalizer", [texts("a", "A")], {"stopwords": ["a"], **_EVERYWHERE}, (10, 28)),
    Case("StringNormalizer", [texts("a", "A")], _EVERYWHERE, (10, 28)),
    *[Case("TfIdfVectorizer", [_NUMBERS], {**_GRAMS, "mode": mode, "max_skip_count": skips},
           (9, 28)) for mode in ("TF", "IDF", "TFIDF") for skips in (0, 5)],
    Case("TfIdfVectorizer", [_NUMBERS[1].astype(np.int32)],
         {**_GRAMS, "mode": "IDF", "max_skip_count": 0, "weights": [0.5] * 7}, (9, 28)),
    Case("TfIdfVectorizer", [texts("a", "b", "x", "c", "a", "a", "b")], _NAMED, (9, 28)),
    Case("Equal", [_WORDS, texts("Monday")], opsets=(19, 28)),
    Case("Cast", [texts("3.14", "-1e3", "NaN", "INF", "-INF", "7")], {"to": TensorProto.FLOAT},
         (9, 28)),
    Case("Cast", [texts(["3"], ["-12"])], {"to": TensorProto.INT64}, (9, 28)),
    Case("Cast", [integers(2, 3)], {"to": TensorProto.STRING}, (9, 28)),
    Case("Cast", [np.array([0.5, -2.25, 100], np.float32)], {"to": TensorProto.STRING}, (9, 27),
         note="numbers"),
    Case("Cast", [np.array([0.1, np.inf, 1e300])], {"to": TensorProto.STRING}, (9, 27)),
    Case("Cast", [bools(4)], {"to": TensorProto.STRING}, (9, 27)),
    Case("CastLike", [texts("1.5"), floats(1)], opsets=(15, 28), oracle="reference"),
    Case("CastLike", [integers(3), texts("a")], opsets=(15, 28), oracle="reference"),
]  # fmt: skip

_TABLE = texts(["a", "b", "c"], ["d", "", "f"])

# Strings are moved like numbers.
MOVED = [
    Case("Concat", [_TABLE, _TABLE], {"axis": 1}, (13, 28)),
    Case("Constant", [], {"value_strings": ["x", "y"]}, (12, 28)),
    Case("Constant", [], {"value_string": "x"}, (12, 28)),
    Case("Expand", [texts("a", "b"), Known(np.array([3, 2]))], opsets=(13, 28)),
    Case("Flatten", [_TABLE], {"axis": 0}, (13, 28)),
    Case("Gather", [_TABLE, np.array([2, 0])], {"axis": 1}, (13, 28)),
    Case("Identity", [_TABLE], opsets=(13, 28)),
    Case("Pad", [texts("a", "b"), Known(np.array([1, 2])), texts("-").reshape(())],
         opsets=(13, 24), oracle="reference"),
    Case("Reshape", [_TABLE, Known(np.array([0, -1, 1]))], opsets=(13, 28)),
    Case("Shape", [_TABLE], opsets=(15, 28)),
    Case("Size", [_TABLE], opsets=(13, 28)),
    Case("Slice", [_TABLE, *(Known(np.array(x)) for x in ([-1, 1], [-9, 3], [1, 0], [-2, 1]))],
         opsets=(13, 28)),
    Case("Split", [_TABLE, Known(np.array([1, 2]))], {"axis": 1}, (13, 28), outputs=2),
    Case("Split", [_TABLE], {"axis": 1, "num_outputs": 2}, (18, 28), outputs=2),
    Case("Squeeze", [_TABLE[:1], Known(np.array([0]))], opsets=(13, 28)),
    Case("Tile", [_TABLE, Known(np.array([1, 2]))], opsets=(13, 28), oracle="reference"),
    Case("Transpose", [_TABLE], {"perm": [1, 0]}, (13, 28)),
    Case("Unsqueeze", [_TABLE, Known(np.array([0, 3]))], opsets=(13, 28)),
    Case("Where", [np.array([[True, False, True]]), _TABLE, texts("x")], opsets=(16, 28)),
]  # fmt: skip
