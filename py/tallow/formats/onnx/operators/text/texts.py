"""Operators that join, split, normalize, match, count, cast and compare strings.

All run on the host, on NumPy arrays of Python strings (dtype object).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....core.codes import FORMATS
from .....core.dtype import DType
from .....core.hostarray import from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from ...call import Call
from ...re2 import compiled
from ...read.tensors import STRING, type_called
from ...registry import host_operator
from ...values import check_array, check_memory, check_texts

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


def object_array(np: NumPy, values: Sequence[str], shape: Sequence[int]) -> Array:
    """An array of strings; NumPy itself would split nested lists."""
    flat = np.empty(len(values), object)
    flat[:] = values
    return flat.reshape(shape)


def _each(np: NumPy, function: Callable[[str], str], x: Array) -> Array:
    return object_array(np, [function(text) for text in x.reshape(-1)], x.shape)


@host_operator("StringConcat", since=20)
def _string_concat(call: Call, np: NumPy, x: Array, y: Array) -> Array:
    left, right = np.broadcast_arrays(x, y)
    check_texts(left.size)
    for given, spread in ((x, left), (y, right)):
        letters = sum(map(len, given.reshape(-1))) * (spread.size // max(given.size, 1))
        check_memory(4 * letters, f"strings of {letters:,} characters")
    pairs = zip(left.reshape(-1), right.reshape(-1), strict=True)
    return object_array(np, [a + b for a, b in pairs], left.shape)


@host_operator("StringSplit", since=20)
def string_split(call: Call, np: NumPy, x: Array) -> tuple[Array, Array]:
    """The parts along a new last axis, with short rows padded by ""; and their counts."""
    delimiter = call.get("delimiter", str, "") or None
    maxsplit = call.get("maxsplit", int, -1)
    texts = x.reshape(-1)
    counts = np.array([_parts(text, delimiter, maxsplit) for text in texts], np.int64)
    width = int(counts.max(initial=0))
    check_texts(x.size * width)
    rows = np.full((x.size, width), "", object)
    for row, count, text in zip(rows, counts, texts, strict=True):
        row[:count] = text.split(delimiter, maxsplit)
    return rows.reshape(*x.shape, width), counts.reshape(x.shape)


def _parts(text: str, delimiter: str | None, maxsplit: int) -> int:
    """The number of parts that a string is split into."""
    count = text.count(delimiter) + 1 if delimiter else len(text.split())
    return min(count, maxsplit + 1) if maxsplit >= 0 else count


@host_operator("RegexFullMatch", since=20)
def _regex_full_match(call: Call, np: NumPy, x: Array) -> Array:
    pattern = compiled(call.get("pattern", str))
    found = [pattern.matches(text) for text in x.reshape(-1)]
    return np.array(found, bool).reshape(x.shape)


@host_operator("StringNormalizer", since=10)
def string_normalizer(call: Call, np: NumPy, x: Array) -> Array:
    """Removes stop words and changes case; the result is one empty string if none are left."""
    call.ignore("locale")  # Python's case mapping is Unicode's, the same everywhere
    action = call.choice("case_change_action", "NONE", "LOWER", "UPPER")
    changes: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}
    change = changes[action]
    folded = change if action == "UPPER" else str.lower
    compared: Callable[[str], str] = str if call.flag("is_case_sensitive") else folded
    stop = {compared(word) for word in call.get("stopwords", tuple, ())}
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
        raise OnnxFormatError(f"its input must have the shape (n) or (1, n), not {x.shape}")
    kept = [change(text) for text in x.reshape(-1) if compared(text) not in stop] or [""]
    return object_array(np, kept, (*x.shape[:-1], len(kept)))


@host_operator("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(call: Call, np: NumPy, x: Array) -> Array:
    """How often each n-gram of the pool occurs in a row, with up to `skips` items in between."""
    shortest, longest = call.get("min_gram_length", int), call.get("max_gram_length", int)
    skips, mode = call.get("max_skip_count", int), call.choice("mode", "TF", "IDF", "TFIDF")
    starts, columns = call.ints("ngram_counts"), call.ints("ngram_indexes")
    texts, numbers = call.get("pool_strings", tuple, None), call.ints("pool_int64s", None)
    weights = call.get("weights", tuple, None) or (1.0,) * len(columns)
    pool = texts if numbers is None else numbers
    if (texts is None) == (numbers is None) or pool is None:
        raise OnnxFormatError("it must have one pool, of strings or of integers")
    if not 1 <= shortest <= longest <= len(starts) or skips < 0 or not columns or min(columns) < 0:
        raise OnnxFormatError(
            f"n-grams of {shortest} to {longest} with up to {skips} skips do not fit a pool of "
            f"{len(starts)} lengths"
        )
    if x.ndim not in (1, 2) or len(weights) != len(columns):
        raise OnnxFormatError(
            f"{len(weights)} weights of {len(columns)} n-grams do not fit an input {x.shape}"
        )
    known = _pool(pool, starts, len(columns))
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    check_array((2, len(rows), max(columns) + 1), 4)
    counts = np.zeros((len(rows), max(columns) + 1), np.float32)
    for row, items in zip(counts, rows.tolist(), strict=True):
        for length in range(shortest, longest + 1):
            for step in range(1, min(skips + 2, len(items)) if length > 1 else 2):
                for start in range(len(items) - step * (length - 1)):
                    gram = tuple(items[start : start + step * length : step])
                    if gram in known:
                        row[columns[known[gram]]] += 1
    if mode != "TF":
        factors = np.ones(counts.shape[1], np.float32)
        factors[list(columns)] = weights
        counts = (np.minimum(counts, 1) if mode == "IDF" else counts) * factors
    return counts.reshape(*x.shape[:-1], -1)


def _pool(pool: Sequence[Any], starts: Sequence[int], count: int) -> dict[tuple[Any, ...], int]:
    """The number of each n-gram; starts: where the n-grams of each length begin."""
    known: dict[tuple[Any, ...], int] = {}
    number = 0
    for length, (start, end) in enumerate(zip(starts, (*starts[1:], len(pool)), strict=True), 1):
        if not 0 <= start <= end <= len(pool) or (end - start) % length:
            raise OnnxFormatError(f"ngram_counts {tuple(starts)} do not fit a pool of {len(pool)}")
        for at in range(start, end, length):
            known[tuple(pool[at : at + length])] = number
            number += 1
    if number != count:
        raise OnnxFormatError(f"{number} n-grams, but {count} ngram_indexes")
    return known


# ---- casts and comparison ----------------------------------------------------------------------


@host_operator("Equal", since=1)
def _equal_on_host(call: Call, np: NumPy, x: Array, y: Array) -> Array:
    check_array(np.broadcast_shapes(x.shape, y.shape), 8)  # objects first
    return np.asarray(np.equal(x, y), bool)


@host_operator("Cast")
def _cast_on_host(call: Call, np: NumPy, x: Array) -> Array:
    call.ignore("saturate", "round_mode")
    return _cast(np, x, call.get("to", int))


@host_operator("CastLike", since=15)
def _cast_like_on_host(call: Call, np: NumPy, x: Array, like: Array) -> Array:
    call.ignore("saturate", "round_mode")
    return _cast(np, x, STRING) if like.dtype == object else x.astype(like.dtype)


def _cast(np: NumPy, x: Array, number: int) -> Array:
    """Casts to and from strings; other casts are composed."""
    if number == STRING:
        return _each(np, str, x) if x.dtype == object else _to_strings(np, x)
    wanted = type_called(number)
    if x.dtype != object:
        raise OnnxUnsupportedError(
            f"casting {x.dtype.name} to {wanted.name} is not supported on the host"
        )
    try:
        values = [_number(text, wanted) for text in x.reshape(-1)]
    except ValueError as error:
        raise OnnxFormatError(f"a string is not a {wanted.name}: {error}") from error
    numbers: Array = from_values(values, x.shape, wanted).numpy()
    return numbers


def _number(text: str, wanted: DType) -> float:
    """A string as a number; floating ones may be NaN, INF, or in scientific notation."""
    if not wanted.is_floating:
        return int(float(text)) if re.search(r"[.eE]", text) else int(text)
    value = float(text)
    if wanted in FORMATS and value == value:
        largest = FORMATS[wanted].largest
        return value if wanted.name == "bfloat16" else min(max(value, -largest), largest)
    return value


def _to_strings(np: NumPy, x: Array) -> Array:
    """Numbers in the fewest digits that tell them apart from their neighbours."""
    items = x.reshape(-1)
    if x.dtype.kind in "bui":
        return object_array(np, [str(int(item)) for item in items], x.shape)
    named = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}
    written = [_shortest(item) for item in items]
    return object_array(np, [named.get(text, text) for text in written], x.shape)


def _shortest(item: Array) -> str:
    """A NumPy number in the form of C's %g."""
    for digits in range(6, 18):
        text = f"{float(item):.{digits}g}"
        if item.dtype.type(text) == item:
            break
    return text
