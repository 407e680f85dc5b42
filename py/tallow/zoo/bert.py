"""BERT (Devlin et al. 2019), with Hugging Face's names of modules."""

from __future__ import annotations

from typing import Any

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor

_EPS = 1e-12


class _Embeddings(nn.Module):
    def __init__(
        self, vocabulary: int, width: int, max_len: int, types: int, dropout: float
    ) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(max_len, width)
        self.token_type_embeddings = nn.Embedding(types, width)
        self.LayerNorm = nn.LayerNorm(width, _EPS)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input: Tensor, types: Tensor | None) -> Any:
        kinds = f.zeros(input.shape, "int32") if types is None else types
        x = self.word_embeddings(input) + self.token_type_embeddings(kinds)
        x = x + self.position_embeddings(f.arange(input.shape[1]))
        return self.dropout(self.LayerNorm(x))


class _SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, input: Tensor, seen: Tensor | None) -> Tensor:
        batch, length, width = input.shape
        shape = (batch, length, self.heads, width // self.heads)
        query, key, value = (
            f.permute_dims(f.reshape(layer(input), shape), (0, 2, 1, 3))
            for layer in (self.query, self.key, self.value)
        )
        dropout = self.dropout if self.training else 0.0
        y = functional.scaled_dot_product_attention(query, key, value, seen, dropout_p=dropout)
        return f.reshape(f.permute_dims(y, (0, 2, 1, 3)), input.shape)


class _Output(nn.Module):
    """A linear layer, the sum with a residual, and a layer norm."""

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, width)
        self.LayerNorm = nn.LayerNorm(width, _EPS)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input: Tensor, residual: Tensor) -> Any:
        return self.LayerNorm(self.dropout(self.dense(input)) + residual)


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int, feed: int, dropout: float) -> None:
        super().__init__()
        attention = nn.Module()
        attention.add_module("self", _SelfAttention(width, heads, dropout))
        attention.add_module("output", _Output(width, width, dropout))
        self.attention = attention
        self.intermediate = nn.Module()
        self.intermediate.add_module("dense", nn.Linear(width, feed))
        self.output = _Output(feed, width, dropout)

    def forward(self, input: Tensor, seen: Tensor | None) -> Any:
        found = self.attention.self(input, seen)
        x = self.attention.output(found, input)
        return self.output(functional.gelu(self.intermediate.dense(x)), x)


class BERT(nn.Module):
    """Tokens (n, length) to a vector for each (n, length, width), and one for the whole (n, width):
    the first token's, through a linear layer and tanh.

    The defaults are the sizes of BERT base. types: kinds of tokens, such as first and second
    sentence. Files of Hugging Face's model for a task have "bert." before each name, and old files
    "gamma" and "beta" for the weight and bias of norms; `tl.load_into` renames them.

    Raises OptionError if the heads do not divide the width, ShapeError for more than max_len
    positions.
    """

    def __init__(
        self,
        vocabulary: int = 30522,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        max_len: int = 512,
        types: int = 2,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError(f"BERT: {heads} heads do not divide a width of {width}")
        self.max_len = max_len
        self.embeddings = _Embeddings(vocabulary, width, max_len, types, dropout)
        self.encoder = nn.Module()
        blocks = [_Layer(width, heads, 4 * width, dropout) for _ in range(layers)]
        self.encoder.add_module("layer", nn.ModuleList(blocks))
        self.pooler = nn.Module()
        self.pooler.add_module("dense", nn.Linear(width, width))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(
        self, input: Tensor, token_types: Tensor | None = None, seen: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """seen: bool (n, length), False where there is no token."""
        if input.ndim != 2 or input.shape[1] > self.max_len:
            raise ShapeError(
                f"tokens {input.shape}; expected (n, length), the length up to {self.max_len}"
            )
        mask = None
        if seen is not None:
            mask = f.reshape(seen, (input.shape[0], 1, 1, input.shape[1]))
        x = self.embeddings(input, token_types)
        for layer in self.encoder.layer:
            x = layer(x, mask)
        return x, f.tanh(self.pooler.dense(x[:, 0]))
