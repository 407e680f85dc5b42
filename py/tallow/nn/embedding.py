"""Embeddings: rows of a trained table."""

from __future__ import annotations

from typing import Any, Self

from .. import functional
from .. import functions as f
from ..errors import AssertedError
from ..tensor import Tensor, asarray
from . import init
from .module import Module
from .parameter import Parameter


class Embedding(Module):
    """Rows of a table (num_embeddings, embedding_dim) at integer indices.

    padding_idx: a row that is 0 at first and gets no gradient. max_norm, norm_type,
    scale_grad_by_freq, sparse: see `functional.embedding`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings, type(self).__name__)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        shape = (num_embeddings, embedding_dim)
        self.weight = Parameter(f.zeros(shape, dtype), device=device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: of the standard normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            rows = f.reshape(f.arange(self.num_embeddings), (-1, 1))
            kept = f.not_equal(rows, self.padding_idx)
            self.weight.assign(f.where(kept, self.weight, 0.0))

    @classmethod
    def from_pretrained(
        cls, embeddings: object, freeze: bool = True, padding_idx: int | None = None, **options: Any
    ) -> Self:
        """A layer with a table of one's own (num_embeddings, embedding_dim), which is not trained
        if freeze. options: the other arguments of the layer."""
        table = asarray(embeddings)
        if table.ndim != 2:
            raise AssertedError(f"{cls.__name__}: the table must have two axes, not {table.shape}")
        made = cls(table.shape[0], table.shape[1], padding_idx=padding_idx, **options)
        made.weight = Parameter(table.detach(), requires_grad=not freeze)
        return made

    def forward(self, input: Tensor) -> Tensor:
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        words = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            words.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            words.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            words.append(f"norm_type={self.norm_type}")
        words += ["scale_grad_by_freq=True"] if self.scale_grad_by_freq else []
        words += ["sparse=True"] if self.sparse else []
        return ", ".join(words)


class EmbeddingBag(Embedding):
    """The mean, the sum or the greatest elements of rows of a table, bag by bag: see
    `functional.embedding_bag`."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: object = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, device, dtype,
        )  # fmt: skip
        self.mode, self.include_last_offset = mode, include_last_offset
        if _weight is not None:
            self.weight.assign(_weight)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, mode={self.mode!r}"


def _row(padding_idx: int | None, rows: int, what: str) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertedError(f"{what}: padding_idx {padding_idx} of {rows} rows")
    return padding_idx % rows
