"""Operators that compute strings or move them like numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from ..case import Case, element_type
from ..coding import texts_of
from ..draft import Draft
from .registry import draws

_PLAIN = ("a", "b", "ab", "A", "B", "", "é")


def _texts(draft: Draft, least: int = 0, most: int = 3) -> np.ndarray:
    return draft.array("string", draft.shape(least, most, long=6))


@draws("texts", "StringConcat")
def string_concat(draft: Draft) -> Case:
    draft.opset(20)
    shape = draft.shape(0, 3, long=6)
    return draft.result(
        *(draft.given(draft.array("string", draft.broadcast(shape))) for _ in range(2))
    )


@draws("texts", "StringSplit")
def string_split(draft: Draft) -> Case:
    draft.opset(20)
    items = ["a b", "", " a", "a,b", "a,,b", ",", "b  c ", "a b c"]
    chosen = [draft.pick(items) for _ in range(draft.integer(1, 4))]
    return draft.result(
        draft.given(texts_of(chosen, (len(chosen),))), outputs=2,
        delimiter=draft.pick((None, "", ",", " ", ",,")), maxsplit=draft.pick((None, 1, 2)),
    )  # fmt: skip


@draws("texts", "RegexFullMatch")
def regex(draft: Draft) -> Case:
    draft.opset(20)
    patterns = ("a", "[ab]+", "a*", ".*", "(a|é)b?", r"\d+", r"[^a]*", "")
    return draft.result(draft.given(_texts(draft)), pattern=draft.pick(patterns))


@draws("texts", "StringNormalizer")
def normalizer(draft: Draft) -> Case:
    draft.opset(10)
    n = draft.integer(1, 5)
    items = [draft.pick(_PLAIN) for _ in range(n)]
    shape = (1, n) if draft.flag() else (n,)
    stops = [draft.pick(_PLAIN) for _ in range(draft.integer(1, 3))] if draft.flag() else None
    return draft.result(
        draft.given(texts_of(items, shape)), stopwords=stops,
        case_change_action=draft.pick((None, "NONE", "LOWER", "UPPER")),
        is_case_sensitive=draft.pick((None, 0, 1)), locale="C.UTF-8",  # exists everywhere
    )  # fmt: skip


@draws("texts", "TfIdfVectorizer")
def tfidf(draft: Draft) -> Case:
    """n-grams of one and two items, of numbers or strings."""
    draft.opset(9)
    words = draft.flag()
    items = ["a", "b", "c", "d"] if words else [1, 2, 3, 4]
    single = [draft.pick(items) for _ in range(draft.integer(1, 3))]
    single = list(dict.fromkeys(single))
    pairs = list(dict.fromkeys(
        (draft.pick(items), draft.pick(items)) for _ in range(draft.integer(1, 3))
    ))  # fmt: skip
    pool = [*single, *(item for pair in pairs for item in pair)]
    count = len(single) + len(pairs)
    least, most = draft.pick(((1, 1), (1, 2), (2, 2)))
    shape = draft.shape(1, 2, zeros=False, long=6)
    flat = [draft.pick(items) for _ in range(int(np.prod(shape)))]
    x = texts_of(flat, shape) if words else np.reshape(flat, shape).astype(
        draft.pick(("int64", "int32")))  # fmt: skip
    weights = [draft.real(0.5, 2) for _ in range(count)] if draft.flag() else None
    return draft.result(
        draft.given(x), mode=draft.pick(("TF", "IDF", "TFIDF")), min_gram_length=least,
        max_gram_length=most, max_skip_count=draft.integer(0, 2), weights=weights,
        ngram_counts=[0, len(single)], ngram_indexes=list(draft.any(_order(count))),
        **{"pool_strings" if words else "pool_int64s": pool},
    )  # fmt: skip


def _order(count: int) -> st.SearchStrategy[list[int]]:
    return st.permutations(range(count))


@draws("texts", "text:Equal text:Where text:Gather text:Concat text:Cast text:Unique text:Pad")
def moved(draft: Draft) -> Case:
    """Operators that also work on numbers, on strings."""
    draft.op = draft.about.removeprefix("text:")
    draft.opset(19)
    x = _texts(draft, 1, 3)
    y = draft.array("string", x.shape)
    if draft.op == "Equal":
        return draft.result(draft.given(x), draft.given(y))
    if draft.op == "Where":
        condition = draft.given(draft.array("bool", draft.broadcast(x.shape)))
        return draft.result(condition, draft.given(x), draft.given(y))
    if draft.op == "Gather":
        axis = draft.axis(x.ndim)
        length = max(x.shape[axis], 1)
        if not x.size:
            x = draft.array("string", (length,) * x.ndim)
        where = draft.array("int64", draft.shape(0, 2, long=4), -length, length - 1)
        return draft.result(draft.given(x), draft.given(where), axis=axis)
    if draft.op == "Concat":
        return draft.result(draft.given(x), draft.given(y), axis=draft.axis(x.ndim))
    if draft.op == "Cast":
        numbers = [draft.pick(("1", "-2", "+3", "0", "12")) for _ in range(draft.integer(1, 3))]
        kind = draft.pick(("float32", "int64", "int32", "float64", "int8"))
        return draft.result(draft.given(texts_of(numbers, (len(numbers),))), to=element_type(kind))
    if draft.op == "Unique":
        return draft.result(draft.given(x.ravel()), outputs=draft.integer(1, 4))
    lengths = [draft.integer(0, 2) for _ in range(2 * x.ndim)]
    fill = [draft.given(texts_of(["-"], ()))] if draft.flag() else []
    return draft.result(draft.given(x), draft.constant(lengths), *fill)
