"""Transformers over tokens: an encoder as in BERT (Devlin et al. 2019) for classes, and a decoder
as GPT-2 (Radford et al. 2019), with Hugging Face's names of modules."""

from __future__ import annotations

import math
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor


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
        _check_tokens(input, self.max_len)
        x = self.tokens(input) + self.places(f.arange(input.shape[1]))
        x = self.encoder(self.dropout(x), src_key_padding_mask=key_padding_mask)
        if self.head is None:
            return x
        if key_padding_mask is None:
            return self.head(f.mean(x, axis=1))
        kept = f.expand_dims(f.logical_not(key_padding_mask).astype(x.dtype), axis=-1)
        total = f.maximum(f.sum(kept, axis=1), 1.0)
        return self.head(f.sum(x * kept, axis=1) / total)


def _check_tokens(tokens: Tensor, most: int) -> None:
    if tokens.ndim != 2 or tokens.shape[1] > most:
        raise ShapeError(f"tokens {tokens.shape}; expected (n, length), the length up to {most}")


class Conv1D(nn.Module):
    """x @ weight + bias: a linear layer whose weight stands as in GPT-2's files, (in, out)."""

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(f.zeros((inputs, outputs)))
        self.bias = nn.Parameter(f.zeros((outputs,)))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, input: Tensor) -> Tensor:
        return input @ self.weight + self.bias


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.c_attn = Conv1D(3 * width, width)
        self.c_proj = Conv1D(width, width)

    def forward(self, input: Tensor) -> Any:
        batch, length, width = input.shape
        x = f.reshape(self.c_attn(input), (batch, length, 3, self.heads, width // self.heads))
        query, key, value = (f.permute_dims(x[:, :, i], (0, 2, 1, 3)) for i in range(3))
        dropout = self.dropout if self.training else 0.0
        y = functional.scaled_dot_product_attention(
            query, key, value, dropout_p=dropout, is_causal=True
        )
        return self.c_proj(f.reshape(f.permute_dims(y, (0, 2, 1, 3)), input.shape))


class _Feed(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(4 * width, width)
        self.c_proj = Conv1D(width, 4 * width)

    def forward(self, input: Tensor) -> Any:
        return self.c_proj(functional.gelu(self.c_fc(input), approximate="tanh"))


class GPT2Block(nn.Module):
    """Causal self-attention and two linear layers, norms first."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = _Attention(width, heads, dropout)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = _Feed(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input: Tensor) -> Any:
        x = input + self.dropout(self.attn(self.ln_1(input)))
        return x + self.dropout(self.mlp(self.ln_2(x)))


class GPT2(nn.Module):
    """Tokens (n, length) to scores of the next token at each position (n, length, vocabulary).

    The defaults are GPT-2's smallest size. The scores are products with the embeddings of tokens,
    so that `lm_head.weight` of a file is wte.weight again. Files of Hugging Face's model without
    its head fit as they are; those with it have "transformer." before each name, and old files a
    mask under "attn.bias", which is not needed:

        tl.load_into(net, state, rename=[(r"^transformer\\.", "")], strict=False)

    Raises OptionError if the heads do not divide the width, ShapeError for more than max_len
    positions.
    """

    def __init__(
        self,
        vocabulary: int = 50257,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        max_len: int = 1024,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError(f"GPT2: {heads} heads do not divide a width of {width}")
        self.max_len = max_len
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(max_len, width)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList([GPT2Block(width, heads, dropout) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        for embedding in (self.wte, self.wpe):
            nn.init.normal_(embedding.weight, std=0.02)
        for block in self.h:  # so that the sum of all residuals has the same size at any depth
            for part in (block.attn, block.mlp):
                nn.init.normal_(part.c_proj.weight, std=0.02 / math.sqrt(2 * layers))

    def forward(self, input: Tensor) -> Any:
        _check_tokens(input, self.max_len)
        x = self.drop(self.wte(input) + self.wpe(f.arange(input.shape[1])))
        for block in self.h:
            x = block(x)
        return functional.linear(self.ln_f(x), self.wte.weight)
