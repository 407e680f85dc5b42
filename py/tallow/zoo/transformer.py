"""A transformer over tokens: an encoder as in BERT (Devlin et al. 2019), for classes."""

from __future__ import annotations

from typing import Any

from .. import functions as f
from .. import nn
from ..tensor import Tensor
from .decoder import check_tokens


class Encoder(nn.Module):
    """Tokens (n, length) to a vector for each (n, length, d_model), or, with num_classes, to scores
    (n, num_classes) of the mean of these.

    Embeddings of tokens and positions are added, then come `layers` transformer layers with their
    norms first. max_len: positions that have an embedding.
    """

    def __init__(
        self,
        vocabulary: int,
        d_model: int = 256,
        heads: int = 4,
        layers: int = 4,
        max_len: int = 512,
        num_classes: int | None = None,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.max_len = max_len
        self.tokens = nn.Embedding(vocabulary, d_model)
        self.places = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        layer = nn.TransformerEncoderLayer(
            d_model, heads, 4 * d_model, dropout, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(d_model))
        self.head = None if num_classes is None else nn.Linear(d_model, num_classes)

    def forward(self, input: Tensor, key_padding_mask: Tensor | None = None) -> Any:
        """key_padding_mask: bool (n, length), True where there is no token."""
        check_tokens(input, self.max_len)
        x = self.tokens(input) + self.places(f.arange(input.shape[1]))
        x = self.encoder(self.dropout(x), src_key_padding_mask=key_padding_mask)
        if self.head is None:
            return x
        if key_padding_mask is None:
            return self.head(f.mean(x, axis=1))
        kept = f.expand_dims(f.logical_not(key_padding_mask).astype(x.dtype), axis=-1)
        total = f.maximum(f.sum(kept, axis=1), 1.0)
        return self.head(f.sum(x * kept, axis=1) / total)
