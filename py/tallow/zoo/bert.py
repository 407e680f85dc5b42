"""BERT (Devlin et al. 2019), with Hugging Face's names of modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor

_EPS = 1e-12

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
}
"""Under Hugging Face's names."""


class _Embeddings(nn.Module):
    def __init__(
        self,
        vocabulary: int,
        width: int,
        max_len: int,
        types: int,
        dropout: float,
        eps: float,
    ) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(max_len, width)
        self.token_type_embeddings = nn.Embedding(types, width)
        self.LayerNorm = nn.LayerNorm(width, eps)
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

    def __init__(self, inputs: int, width: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, width)
        self.LayerNorm = nn.LayerNorm(width, eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, input: Tensor, residual: Tensor) -> Any:
        return self.LayerNorm(self.dropout(self.dense(input)) + residual)


class _Layer(nn.Module):
    def __init__(
        self, width: int, heads: int, feed: int, dropout: float, activation: str, eps: float
    ) -> None:
        super().__init__()
        self.activation = activation
        attention = nn.Module()
        attention.add_module("self", _SelfAttention(width, heads, dropout))
        attention.add_module("output", _Output(width, width, dropout, eps))
        self.attention = attention
        self.intermediate = nn.Module()
        self.intermediate.add_module("dense", nn.Linear(width, feed))
        self.output = _Output(feed, width, dropout, eps)

    def forward(self, input: Tensor, seen: Tensor | None) -> Any:
        found = self.attention.self(input, seen)
        x = self.attention.output(found, input)
        return self.output(_ACTIVATIONS[self.activation](self.intermediate.dense(x)), x)


class BERT(nn.Module):
    """Tokens (n, length) to a vector for each (n, length, width), and one for the whole (n, width):
    the first token's, through a linear layer and tanh.

    The defaults are the sizes of BERT base. types: kinds of tokens, such as first and second
    sentence. feed: width of the inner layers; None is 4 * width. activation: of these, under
    Hugging Face's name. `from_config` takes all of them from a published config.json.

    Files of Hugging Face's model for a task have "bert." before each name, and old files "gamma"
    and "beta" for the weight and bias of norms; `tl.load_into` renames them.

    Raises OptionError if the heads do not divide the width and for another activation, ShapeError
    for more than max_len positions.
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
        *,
        feed: int | None = None,
        activation: str = "gelu",
        eps: float = _EPS,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError(f"BERT: {heads} heads do not divide a width of {width}")
        if activation not in _ACTIVATIONS:
            raise OptionError(f"BERT: {activation!r} is none of {', '.join(_ACTIVATIONS)}")
        self.max_len = max_len
        self.embeddings = _Embeddings(vocabulary, width, max_len, types, dropout, eps)
        self.encoder = nn.Module()
        inner = 4 * width if feed is None else feed
        blocks = [_Layer(width, heads, inner, dropout, activation, eps) for _ in range(layers)]
        self.encoder.add_module("layer", nn.ModuleList(blocks))
        self.pooler = nn.Module()
        self.pooler.add_module("dense", nn.Linear(width, width))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> BERT:
        """The network that a config.json of Hugging Face's describes, its weights random.

        config: what the file has; what is missing there is as in BERT base.
        Raises: OptionError for positions that are not "absolute", and as the class does.
        """
        kind = config.get("position_embedding_type", "absolute")
        if kind != "absolute":
            raise OptionError(
                f"BERT: positions of the type {kind!r}; only 'absolute' ones are here"
            )
        return cls(
            config.get("vocab_size", 30522),
            config.get("hidden_size", 768),
            config.get("num_attention_heads", 12),
            config.get("num_hidden_layers", 12),
            config.get("max_position_embeddings", 512),
            config.get("type_vocab_size", 2),
            config.get("hidden_dropout_prob", 0.1),
            feed=config.get("intermediate_size", 3072),
            activation=config.get("hidden_act", "gelu"),
            eps=config.get("layer_norm_eps", _EPS),
        )

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
