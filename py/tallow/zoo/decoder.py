"""What decoders share: attention with a memory, feed-forward layers, a stack of blocks.

A family (llama.py, gemma.py, experts.py, lfm2.py, gpt2.py) says which parts its blocks have. Names
of modules are Hugging Face's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..generation.memory import Kept, KeptHeads, Layout, Memory, Rotary, Whole, turned
from ..tensor import Tensor


@dataclass(frozen=True)
class DecoderConfig:
    """The sizes and habits of a decoder.

    vocabulary, width, layers, heads, key_heads, head_size, context: sizes. feed: the width within
    feed-forward layers. eps: of norms. tied: scores are products with the embeddings. activation:
    "silu", "gelu" or "gelu_tanh". rotary: the encoding of each layer; None turns nothing. windows:
    how many positions each layer sees; None is all. interleaved: the pairs that turn are
    neighbours, as in GGUF files of LLaMA's family. bias, out_bias, feed_bias: of the products to
    queries, keys and values, from attention, and of feed-forward layers. head_norm: queries and
    keys are normalised, each "head" or the "whole". norm_offset: what norms add to their weights.
    scale: of the scores of attention; None is 1 / sqrt(head_size). more: what one family alone
    needs.
    Raises: OptionError for sizes that do not fit.
    """

    vocabulary: int
    width: int
    feed: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    context: int
    eps: float = 1e-6
    tied: bool = False
    activation: str = "silu"
    rotary: tuple[Rotary | None, ...] = ()
    windows: tuple[int | None, ...] = ()
    interleaved: bool = False
    bias: bool = False
    out_bias: bool = False
    feed_bias: bool = False
    head_norm: str | None = None
    norm_offset: float = 0.0
    scale: float | None = None
    more: Any = field(default=None)

    def __post_init__(self) -> None:
        for name in ("vocabulary", "width", "feed", "layers", "heads", "key_heads", "head_size",
                     "context"):  # fmt: skip
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise OptionError(f"a decoder's {name} is a whole number from 1 on, not {value!r}")
        if self.heads % self.key_heads:
            raise OptionError(f"{self.heads} heads are not a multiple of {self.key_heads} of keys")
        if self.activation not in _ACTIVATIONS:
            raise OptionError(
                f"the activation {self.activation!r} is none of {', '.join(_ACTIVATIONS)}"
            )


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
}


class Norm(nn.Module):
    """RMSNorm over the last axis (Zhang and Sennrich 2019), with weight + offset."""

    def __init__(self, width: int, eps: float, offset: float = 0.0) -> None:
        super().__init__()
        self.eps, self.offset = eps, offset
        self.weight = nn.Parameter(f.full((width,), 1.0 - offset))

    def forward(self, input: Tensor) -> Tensor:
        weight = self.weight + self.offset if self.offset else self.weight
        return functional.rms_norm(input, input.shape[-1:], weight, self.eps)


def norm_of(config: DecoderConfig, width: int | None = None) -> Norm:
    """A norm of a decoder."""
    return Norm(width or config.width, config.eps, config.norm_offset)


class Attention(nn.Module):
    """Self-attention with grouped queries, of a layer with a number."""

    names = ("q_proj", "k_proj", "v_proj", "o_proj", "q_norm", "k_norm")
    """The names of its parts."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.config, self.layer = config, layer
        inner, kept = config.heads * config.head_size, config.key_heads * config.head_size
        for name, size in zip(self.names[:3], (inner, kept, kept), strict=True):
            self.add_module(name, nn.Linear(config.width, size, config.bias))
        self.add_module(self.names[3], nn.Linear(inner, config.width, config.out_bias))
        if config.head_norm:
            whole = config.head_norm == "whole"
            for name, size in zip(self.names[4:], (inner, kept), strict=True):
                self.add_module(name, norm_of(config, size if whole else config.head_size))

    def forward(self, input: Tensor, memory: Memory) -> Any:
        config = self.config
        query, key = (self._heads(input, number) for number in range(2))
        value = _split(getattr(self, self.names[2])(input), config.head_size)
        rotary = config.rotary[self.layer]
        if rotary is not None:
            rows = memory.rows(rotary)
            query, key = (turned(x, rows, config.interleaved) for x in (query, key))
        y = memory.attend(self.layer, query, key, value, config.scale)
        joined = f.reshape(f.permute_dims(y, (0, 2, 1, 3)), (*input.shape[:2], -1))
        return getattr(self, self.names[3])(joined)

    def _heads(self, input: Tensor, number: int) -> Tensor:
        """The queries or the keys: (batch, heads, n, size)."""
        config = self.config
        x = getattr(self, self.names[number])(input)
        norm = getattr(self, self.names[4 + number]) if config.head_norm else None
        if config.head_norm == "whole":
            assert norm is not None
            x = norm(x)
        x = _split(x, config.head_size)
        return norm(x) if config.head_norm == "head" and norm is not None else x


def _split(x: Tensor, size: int) -> Tensor:
    return f.permute_dims(f.reshape(x, (*x.shape[:2], -1, size)), (0, 2, 1, 3))


class Feed(nn.Module):
    """down(activation(gate(x)) * up(x)) (Shazeer 2020)."""

    names = ("gate_proj", "up_proj", "down_proj")
    """The names of its parts."""

    def __init__(self, config: DecoderConfig, feed: int | None = None) -> None:
        super().__init__()
        self.activation = config.activation
        inner = feed or config.feed
        for name, inputs, outputs in zip(
            self.names, (config.width, config.width, inner), (inner, inner, config.width),
            strict=True,
        ):  # fmt: skip
            self.add_module(name, nn.Linear(inputs, outputs, config.feed_bias))

    def forward(self, input: Tensor) -> Any:
        gate, up, down = (getattr(self, name) for name in self.names)
        return down(_ACTIVATIONS[self.activation](gate(input)) * up(input))


class Block(nn.Module):
    """Attention and a feed-forward layer, norms first."""

    def __init__(self, config: DecoderConfig, layer: int, feed: nn.Module | None = None) -> None:
        super().__init__()
        self.self_attn = Attention(config, layer)
        self.mlp = feed or Feed(config)
        self.input_layernorm = norm_of(config)
        self.post_attention_layernorm = norm_of(config)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        x = input + self.self_attn(self.input_layernorm(input), memory)
        return x + self.mlp(self.post_attention_layernorm(x))


class Stack(nn.Module):
    """Embeddings, blocks and a last norm. last: the name of the norm. factor: of embeddings."""

    def __init__(
        self,
        config: DecoderConfig,
        block: Callable[[DecoderConfig, int], nn.Module],
        last: str = "norm",
        factor: float = 1.0,
    ) -> None:
        super().__init__()
        self.last, self.factor = last, factor
        self.embed_tokens = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList([block(config, layer) for layer in range(config.layers)])
        self.add_module(last, norm_of(config))

    def forward(self, tokens: Tensor, memory: Memory) -> Any:
        x = self.embed_tokens(tokens)
        if self.factor != 1:
            x = x * self.factor
        for layer in self.layers:
            x = layer(x, memory)
        return getattr(self, self.last)(x)


class Decoder(nn.Module):
    """Tokens (n, length) to scores of the next token at each position (n, length, vocabulary).

    `hidden` and `scores` are the halves that generation asks for, with a memory.
    Raises: ShapeError for more tokens than the context has positions.
    """

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.model = self.stack(config)
        if not config.tied:
            self.lm_head = nn.Linear(config.width, config.vocabulary, bias=False)

    def stack(self, config: DecoderConfig) -> nn.Module:
        """Embeddings, blocks and norm; a family may have others."""
        return Stack(config, Block)

    def kept(self, layer: int) -> Kept:
        """What a layer keeps."""
        config = self.config
        return KeptHeads(config.key_heads, config.head_size, config.windows[layer])

    @property
    def layout(self) -> Layout:
        """What a cache has to know."""
        config = self.config
        layers = tuple(self.kept(layer) for layer in range(config.layers))
        return Layout(layers, config.context, config.vocabulary)

    def hidden(self, tokens: Tensor, memory: Memory) -> Any:
        """What the scores are computed from: (n, length, width)."""
        return self.model(tokens, memory)

    def scores(self, hidden: Tensor) -> Tensor:
        """The scores of the next token: (..., vocabulary)."""
        if not self.config.tied:
            return self.lm_head(hidden)  # type: ignore[no-any-return]
        return functional.linear(hidden, self.model.embed_tokens.weight)

    def forward(self, input: Tensor) -> Tensor:
        check_tokens(input, self.config.context)
        return self.scores(self.hidden(input, Whole(self.layout, input.shape[1])))


def check_tokens(tokens: Tensor, most: int) -> None:
    """Raises ShapeError unless tokens are (n, length), the length up to `most`."""
    if tokens.ndim != 2 or tokens.shape[1] > most:
        raise ShapeError(f"tokens {tokens.shape}; expected (n, length), the length up to {most}")
