"""Whisper (Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision"), with
Hugging Face's names of modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import functional, nn
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional.attention import attention_scores, masked_softmax
from ..functional.few_queries import products
from ..runtime.variable import Variable
from ..tensor import Tensor


class Heads(NamedTuple):
    """The keys and values of one attention, (n, heads, length, size), that later tokens read."""

    key: Variable
    value: Variable


def _times(x: Tensor, weight: Tensor) -> Tensor:
    """x @ weight.mT. A single vector is multiplied as sums of products: no device puts the weights
    into another order for these. Packed weights are products at once, which read them as they
    are."""
    if x.shape[-2] > 1 or weight.node.inputs:
        return x @ weight.mT
    return products(None)(x, weight.mT)


def _through(layer: nn.Module, x: Tensor) -> Any:
    """layer(x)."""
    if type(layer) is not nn.Linear:
        return layer(x)
    found = _times(x, layer.weight)
    return found if layer.bias is None else found + layer.bias


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj, self.q_proj, self.out_proj = (nn.Linear(width, width) for _ in range(3))

    def _split(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], self.heads, x.shape[2] // self.heads)
        return f.permute_dims(f.reshape(x, shape), (0, 2, 1, 3))

    def pairs(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (n, heads, length, size) of vectors (n, length, width)."""
        return self._split(_through(self.k_proj, x)), self._split(_through(self.v_proj, x))

    def forward(self, input: Tensor, key: Tensor, value: Tensor, **options: Any) -> Any:
        """options: as of `scaled_dot_product_attention`."""
        query = self._split(_through(self.q_proj, input))
        found = functional.scaled_dot_product_attention(query, key, value, **options)
        return self._joined(found)

    def hear(self, input: Tensor, sound: Heads) -> Any:
        """What single vectors (n, 1, width) attend to in a sound; its values stand the other way
        round, (n, heads, size, frames), as their sums read them."""
        query = self._split(_through(self.q_proj, input))
        scores = attention_scores(query, sound.key, None, products(None))
        return self._joined(products(None)(masked_softmax(scores), sound.value.mT))

    def _joined(self, found: Tensor) -> Any:
        shape = found.shape[0], found.shape[2], self.heads * found.shape[3]
        return _through(self.out_proj, f.reshape(f.permute_dims(found, (0, 2, 1, 3)), shape))


class _Block(nn.Module):
    """Self-attention, in the decoder attention to the sound, two linear layers; norms first."""

    def __init__(self, width: int, heads: int, feed: int, crossed: bool) -> None:
        super().__init__()
        self.self_attn = _Attention(width, heads)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        if crossed:
            self.encoder_attn = _Attention(width, heads)
            self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, feed), nn.Linear(feed, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, sound: tuple[Tensor, Tensor] | None = None) -> Any:
        """sound: keys and values that the decoder hears, whose tokens see those before them."""
        normed = self.self_attn_layer_norm(x)
        key, value = self.self_attn.pairs(normed)
        x = x + self.self_attn(normed, key, value, is_causal=sound is not None)
        if sound is not None:
            x = x + self.encoder_attn(self.encoder_attn_layer_norm(x), *sound)
        return self._fed(x)

    def step(self, x: Tensor, position: Tensor, before: Heads, sound: Heads) -> Any:
        """One token's vector (n, 1, width), which is written behind those before it."""
        normed = self.self_attn_layer_norm(x)
        for kept, new in zip(before, self.self_attn.pairs(normed), strict=True):
            kept.assign(f.update_at(kept, (0, 0, position), new))
        x = x + self.self_attn(normed, *before, length=position + 1)
        x = x + self.encoder_attn.hear(self.encoder_attn_layer_norm(x), sound)
        return self._fed(x)

    def _fed(self, x: Tensor) -> Any:
        inner = functional.gelu(_through(self.fc1, self.final_layer_norm(x)))
        return x + _through(self.fc2, inner)


class _Encoder(nn.Module):
    def __init__(
        self, mels: int, width: int, heads: int, layers: int, feed: int, frames: int
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(mels, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.embed_positions = nn.Embedding(frames, width)
        self.layers = nn.ModuleList([_Block(width, heads, feed, False) for _ in range(layers)])
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, features: Tensor) -> Any:
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(features))))
        x = f.permute_dims(x, (0, 2, 1)) + self.embed_positions.weight
        for layer in self.layers:
            x = layer(x)
        return self.layer_norm(x)


class _Decoder(nn.Module):
    def __init__(
        self, vocabulary: int, width: int, heads: int, layers: int, feed: int, max_len: int
    ) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.embed_positions = nn.Embedding(max_len, width)
        self.layers = nn.ModuleList([_Block(width, heads, feed, True) for _ in range(layers)])
        self.layer_norm = nn.LayerNorm(width)

    def scores(self, x: Tensor) -> Any:
        """Of the next token, (n, length, vocabulary), by products with the embeddings."""
        return _times(self.layer_norm(x), self.embed_tokens.weight)

    def forward(self, tokens: Tensor, sounds: Sequence[tuple[Tensor, Tensor]]) -> Any:
        x = self.embed_tokens(tokens) + self.embed_positions(f.arange(tokens.shape[1]))
        for layer, sound in zip(self.layers, sounds, strict=True):
            x = layer(x, sound)
        return self.scores(x)


class Whisper(nn.Module):
    """Features of a sound (n, mels, 2 * frames) and tokens (n, length) to scores of the next token
    at each position (n, length, vocabulary).

    The defaults are the sizes of the smallest network, "tiny"; `from_config` takes those of a
    published config.json. frames: vectors of the encoder, 50 a second: 30 s. max_len: tokens.
    `tl.audio.log_mel_spectrogram` gives features. `Transcriber` makes texts of sounds.

    Raises OptionError if the heads do not divide the width, ShapeError for other features and for
    more than max_len tokens.
    """

    def __init__(
        self,
        vocabulary: int = 51865,
        width: int = 384,
        heads: int = 6,
        layers: int = 4,
        mels: int = 80,
        frames: int = 1500,
        max_len: int = 448,
        *,
        feed: int | None = None,
        decoder_layers: int | None = None,
    ) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise OptionError(f"Whisper: {heads} heads do not divide a width of {width}")
        inner = 4 * width if feed is None else feed
        self.vocabulary, self.width, self.heads = vocabulary, width, heads
        self.mels, self.frames, self.max_len = mels, frames, max_len
        self.model = nn.Module()
        self.model.add_module("encoder", _Encoder(mels, width, heads, layers, inner, frames))
        count = layers if decoder_layers is None else decoder_layers
        decoder = _Decoder(vocabulary, width, heads, count, inner, max_len)
        self.model.add_module("decoder", decoder)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Whisper:
        """The network that a config.json of Hugging Face's describes, its weights random.

        Raises: OptionError for an activation other than "gelu" and for an encoder and a decoder
          with different heads or inner layers.
        """
        activation = config.get("activation_function", "gelu")
        if activation != "gelu":
            raise OptionError(f"Whisper: the activation is {activation!r}, not gelu")
        both = [
            [config[f"{part}_{name}"] for part in ("encoder", "decoder")]
            for name in ("attention_heads", "ffn_dim")
        ]
        if any(first != second for first, second in both):
            raise OptionError("Whisper: encoder and decoder differ in their heads or inner layers")
        return cls(
            config["vocab_size"],
            config["d_model"],
            both[0][0],
            config["encoder_layers"],
            config.get("num_mel_bins", 80),
            config.get("max_source_positions", 1500),
            config.get("max_target_positions", 448),
            feed=both[1][0],
            decoder_layers=config["decoder_layers"],
        )

    def listen(self, features: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The keys and values of a sound, a pair for each layer of the decoder, (n, heads, frames,
        size)."""
        if features.ndim != 3 or features.shape[1:] != (self.mels, 2 * self.frames):
            raise ShapeError(
                f"Whisper: features {features.shape}; expected (n, {self.mels}, {2 * self.frames})"
            )
        heard = self.model.encoder(features)
        return [layer.encoder_attn.pairs(heard) for layer in self.model.decoder.layers]

    def forward(self, features: Tensor, tokens: Tensor) -> Any:
        if tokens.ndim != 2 or tokens.shape[1] > self.max_len:
            raise ShapeError(
                f"tokens {tokens.shape}; expected (n, length), the length up to {self.max_len}"
            )
        return self.model.decoder(tokens, self.listen(features))

    def cache(self) -> Cache:
        """Memory for one text and the sound that it is of."""
        return Cache(self)

    def step(self, token: Tensor, position: Tensor, cache: Cache) -> Any:
        """The scores of the next token (1, vocabulary), behind one (1, 1) at a position (an integer
        without axes), whose keys and values the cache then holds, too."""
        decoder = self.model.decoder
        places = f.slice_at(decoder.embed_positions.weight, position, 1)
        x = decoder.embed_tokens(token) + places
        for layer, before, sound in zip(decoder.layers, cache.texts, cache.sounds, strict=True):
            x = layer.step(x, position, before, sound)
        return decoder.scores(x)[:, 0]


class Cache:
    """What a decoder keeps of the tokens before, and of the sound."""

    def __init__(self, net: Whisper) -> None:
        size = net.width // net.heads

        def zeros(*shape: int) -> Variable:
            return Variable(f.zeros((1, net.heads, *shape)))

        layers, length, frames = net.model.decoder.layers, net.max_len, net.frames
        self.texts = [Heads(zeros(length, size), zeros(length, size)) for _ in layers]
        self.sounds = [Heads(zeros(frames, size), zeros(size, frames)) for _ in layers]

    def hear(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> None:
        """Keeps the keys and values of another sound, as `Whisper.listen` gives them."""
        for kept, new in zip(self.sounds, pairs, strict=True):
            kept.key.assign(new[0])
            kept.value.assign(new[1].mT)
