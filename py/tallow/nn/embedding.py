"""Embeddings: rows of a trained table."""

from __future__ import annotations

from .. import functional
from .. import functions as f
from ..errors import ShapeError
from ..tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter


class Embedding(Module):
    """Rows of a table (num_embeddings, embedding_dim) at integer indices.

    padding_idx: a row that is 0 at first and gets no gradient.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ShapeError(f"Embedding: padding_idx {padding_idx} of {num_embeddings} rows")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        shape = (num_embeddings, embedding_dim)
        self.weight = Parameter(f.zeros(shape, dtype or "float32"), device=device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: of the standard normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            rows = f.reshape(f.arange(self.num_embeddings), (-1, 1))
            kept = f.not_equal(rows, self.padding_idx)
            self.weight.assign(f.where(kept, self.weight, 0.0))

    def forward(self, input: Tensor) -> Tensor:
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"
