"""Sums of products: matrices, Einsum, determinants."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft, Shape
from .registry import draws


def _factors(draft: Draft, *, most: int = 2) -> tuple[Shape, Shape]:
    """The shapes of a product's factors, including vectors and batches."""
    n, k, m = (draft.shape(1, 1)[0] for _ in range(3))
    batch = draft.shape(0, most, zeros=False, long=4)
    if draft.seldom():
        return ((k,), (*batch, k, m)) if draft.flag() else ((*batch, n, k), (k,))
    return (*draft.broadcast(batch), n, k), (*draft.broadcast(batch), k, m)


@draws("products", "MatMul")
def matmul(draft: Draft) -> Case:
    draft.opset()
    dtype = draft.dtype()
    arrays = [draft.array(dtype, shape, edges=False) for shape in _factors(draft)]
    return draft.result(*map(draft.given, arrays), scaled=True)


@draws("products", "Gemm")
def gemm(draft: Draft) -> Case:
    opset = draft.opset()
    dtype = draft.dtype()
    n, k, m = (draft.shape(1, 1)[0] for _ in range(3))
    across = [draft.pick((None, 0, 1)) for _ in range(2)]
    a = draft.array(dtype, (k, n) if across[0] else (n, k), edges=False)
    b = draft.array(dtype, (m, k) if across[1] else (k, m), edges=False)
    more = []
    if opset < 11 or draft.flag():
        more.append(draft.given(draft.array(dtype, draft.broadcast((n, m)), edges=False)))
    whole = dtype not in ("float32", "float16", "float64")
    alpha, beta = (draft.pick((None, 1.0, 2.0) if whole else (None, 0.5, 2.0)) for _ in range(2))
    return draft.result(
        draft.given(a), draft.given(b), *more, transA=across[0], transB=across[1],
        alpha=alpha, beta=beta, scaled=True, slack=4,
    )  # fmt: skip


@draws("products", "com.microsoft.FusedMatMul")
def fused(draft: Draft) -> Case:
    n, k, m = (draft.shape(1, 1, zeros=False)[0] for _ in range(3))
    across = [draft.pick((None, 0, 1)) for _ in range(2)]
    batch = draft.shape(0, 2, zeros=False, long=4)
    a = draft.array("float32", (*batch, *((k, n) if across[0] else (n, k))), edges=False)
    b = draft.array("float32", (*batch, *((m, k) if across[1] else (k, m))), edges=False)
    return draft.result(
        draft.given(a), draft.given(b), transA=across[0], transB=across[1],
        alpha=draft.pick((None, 0.5, 2.0)), scaled=True, slack=4,
    )  # fmt: skip


@draws("products", "Einsum")
def einsum(draft: Draft) -> Case:
    """One to three operands; repeated letters, ellipses, blanks, implicit outputs."""
    draft.opset()
    lengths = {letter: draft.integer(1, 4) for letter in "ijkA"}
    dotted = draft.integer(0, 3) == 3
    batch = draft.shape(0, 2, zeros=False, long=3)
    terms: list[str] = []
    arrays: list[np.ndarray] = []
    dtype = draft.dtype(0, ("float32", "float64", "int32", "int64", "float16"))
    for _ in range(draft.integer(1, 3)):
        letters = [draft.pick("ijkA") for _ in range(draft.integer(0 if dotted else 1, 3))]
        shape = tuple(lengths[letter] for letter in letters)
        text = "".join(letters)
        if dotted and (not terms or draft.flag()):
            at = draft.integer(0, len(letters))
            some = draft.broadcast(batch)
            shape = (*shape[:at], *some, *shape[at:])
            text = f"{text[:at]}...{text[at:]}"
        terms.append(text)
        arrays.append(draft.array(dtype, shape, edges=False))
    equation = draft.pick((",", ", ")).join(terms)
    used = sorted({letter for term in terms for letter in term if letter != "."})
    if draft.flag():
        kept = [letter for letter in used if draft.flag()]
        if len(kept) > 1 and draft.flag():
            kept.reverse()
        dots = "..." if any("." in term for term in terms) else ""
        equation += f"->{dots}{''.join(kept)}"
    return draft.result(*map(draft.given, arrays), equation=equation, scaled=True, slack=16)


@draws("products", "Det")
def determinant(draft: Draft) -> Case:
    draft.opset(11)
    n = draft.integer(1, 5)
    shape = (*draft.shape(0, 2, zeros=False, long=4), n, n)
    x = draft.array(draft.floating(), shape, edges=False)
    assert isinstance(x, np.ndarray)
    return draft.result(draft.given(x), scaled=True, slack=100)
