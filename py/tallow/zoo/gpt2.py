"""GPT-2 (Radford et al. 2019), with Hugging Face's names of modules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError
from ..generation.memory import KeptHeads, Layout, Memory, Whole
from ..tensor import Tensor
from .decoder import check_tokens


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
    def __init__(self, layer: int, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.layer, self.heads, self.dropout = layer, heads, dropout
        self.c_attn = Conv1D(3 * width, width)
        self.c_proj = Conv1D(width, width)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        batch, length, width = input.shape
        x = f.reshape(self.c_attn(input), (batch, length, 3, self.heads, width // self.heads))
        query, key, value = (f.permute_dims(x[:, :, i], (0, 2, 1, 3)) for i in range(3))
        dropout = self.dropout if self.training else 0.0
        y = memory.attend(self.layer, query, key, value, None, dropout)
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

    def __init__(self, layer: int, width: int, heads: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, eps)
        self.attn = _Attention(layer, width, heads, dropout)
        self.ln_2 = nn.LayerNorm(width, eps)
        self.mlp = _Feed(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        x = input + self.dropout(self.attn(self.ln_1(input), memory))
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
        eps: float = 1e-5,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError(f"GPT2: {heads} heads do not divide a width of {width}")
        self.max_len, self.heads = max_len, heads
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(max_len, width)
        self.drop = nn.Dropout(dropout)
        self.h = nn.ModuleList(
            [GPT2Block(layer, width, heads, dropout, eps) for layer in range(layers)]
        )
        self.ln_f = nn.LayerNorm(width, eps)
        for embedding in (self.wte, self.wpe):
            nn.init.normal_(embedding.weight, std=0.02)
        for block in self.h:  # so that the sum of all residuals has the same size at any depth
            for part in (block.attn, block.mlp):
                nn.init.normal_(part.c_proj.weight, std=0.02 / math.sqrt(2 * layers))

    @property
    def layout(self) -> Layout:
        """What a cache has to know."""
        vocabulary, width = self.wte.weight.shape
        heads = self.heads
        layers = (KeptHeads(heads, width // heads),) * len(self.h)
        return Layout(layers, self.max_len, vocabulary)

    def hidden(self, tokens: Tensor, memory: Memory) -> Any:
        """What the scores are computed from: (n, length, width)."""
        x = self.drop(self.wte(tokens) + self.wpe(f.minimum(memory.positions, self.max_len - 1)))
        for block in self.h:
            x = block(x, memory)
        return self.ln_f(x)

    def scores(self, hidden: Tensor) -> Tensor:
        """The scores of the next token: (..., vocabulary)."""
        return functional.linear(hidden, self.wte.weight)

    def forward(self, input: Tensor) -> Any:
        check_tokens(input, self.max_len)
        return self.scores(self.hidden(input, Whole(self.layout, input.shape[1])))


def gpt2(config: Mapping[str, Any]) -> GPT2:
    """The network that a config.json with the `model_type` "gpt2" describes, without dropout."""
    return GPT2(
        config["vocab_size"],
        config["n_embd"],
        config["n_head"],
        config["n_layer"],
        config["n_positions"],
        0.0,
        config.get("layer_norm_epsilon", 1e-5),
    )
