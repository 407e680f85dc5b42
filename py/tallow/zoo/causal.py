"""The parts of a decoder that sees whole texts alone, as when it is trained (Radford et al. 2018,
"Improving Language Understanding by Generative Pre-Training")."""

from __future__ import annotations

from .. import functions as f
from .. import nn
from ..tensor import Tensor
from .decoder import check_tokens


class TokenEmbedding(nn.Module):
    """Tokens (n, length) to vectors (n, length, width): the sum of the embeddings of tokens and of
    positions, of which there are max_len. Raises ShapeError for more positions."""

    def __init__(self, vocabulary: int, width: int, max_len: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(max_len, width)
        for embedding in (self.tokens, self.places):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, input: Tensor) -> Tensor:
        check_tokens(input, self.places.num_embeddings)
        places: Tensor = self.places(f.arange(input.shape[1]))
        tokens: Tensor = self.tokens(input)
        return tokens + places


class CausalLayer(nn.TransformerEncoderLayer):
    """Vectors (n, length, width) to others: self-attention to what is before, then two linear
    layers with GELU between them, both with their norm first and a residual."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__(
            width, heads, 4 * width, dropout, "gelu", batch_first=True, norm_first=True
        )

    def forward(self, input: Tensor) -> Tensor:  # type: ignore[override]
        mask = nn.Transformer.generate_square_subsequent_mask(input.shape[1])
        return super().forward(input, mask, is_causal=True)
