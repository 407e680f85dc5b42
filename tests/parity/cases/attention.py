"""Attention and transformers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case

BARRED = np.triu(np.ones((4, 4), bool), 1)
ADDED = np.where(BARRED, -np.inf, 0.25).astype(np.float32)
PADDED = np.array([[False, False, False, True], [False, False, True, True]])


def _attention(options: dict[str, Any] | None = None, **call: Any) -> Any:
    """Self-attention, or attention to two further inputs, with masks."""

    def build(t: Any) -> Any:
        masks = {k: t.asarray(v) if isinstance(v, np.ndarray) else v for k, v in call.items()}

        class Fed(t.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = t.nn.MultiheadAttention(8, 2, **(options or {}))

            def forward(self, x: Any, *others: Any) -> Any:
                key, value = others or (x, x)
                return self.layer(x, key, value, **masks)

        return Fed()

    return build


def _masked(build: Any, **call: Any) -> Any:
    def made(t: Any) -> Any:
        masks = {k: t.asarray(v) for k, v in call.items()}

        class Fed(t.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = build(t)

            def forward(self, *inputs: Any) -> Any:
                return self.layer(*inputs, **masks)

        return Fed()

    return made


FIRST = {"batch_first": True}
case("attention", _attention(), (4, 2, 8))
case("attention-first", _attention(FIRST), (2, 4, 8))
case("attention-unbatched", _attention(), (4, 8))
case("attention-no-bias", _attention({"bias": False}), (4, 2, 8))
case("attention-cross", _attention(FIRST), (2, 3, 8), (2, 4, 8), (2, 4, 8))
case("attention-kdim", _attention({"kdim": 5, "vdim": 6, **FIRST}), (2, 3, 8), (2, 4, 5), (2, 4, 6))
case("attention-bias-kv", _attention({"add_bias_kv": True, **FIRST}, attn_mask=BARRED,
     key_padding_mask=PADDED), (2, 4, 8))  # fmt: skip
case("attention-zero", _attention({"add_zero_attn": True}), (4, 2, 8))
case("attention-zero-bias-kv", _attention({"add_zero_attn": True, "add_bias_kv": True, **FIRST},
     attn_mask=ADDED, average_attn_weights=False), (2, 4, 8))  # fmt: skip
case("attention-no-weights", _attention(need_weights=False), (4, 2, 8))
case("attention-weights", _attention(average_attn_weights=False), (4, 2, 8))
case("attention-bool", _attention(FIRST, attn_mask=BARRED), (2, 4, 8))
case("attention-added", _attention(FIRST, attn_mask=ADDED), (2, 4, 8))
case("attention-padding", _attention(FIRST, key_padding_mask=PADDED), (2, 4, 8))
case("attention-both", _attention(FIRST, key_padding_mask=PADDED, attn_mask=BARRED), (2, 4, 8))
case("attention-by-head", _attention(FIRST, attn_mask=np.stack([BARRED, BARRED.T] * 2)), (2, 4, 8))
case("attention-dropout-eval", _attention({"dropout": 0.5}), (4, 2, 8), mode="eval")
case("F.scaled_dot_product_attention", lambda t: t.nn.functional.scaled_dot_product_attention,
     (2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4))  # fmt: skip
case("F.attention-causal", lambda t: lambda q, k, v:
     t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
     (2, 3, 4), (2, 3, 4), (2, 3, 4))  # fmt: skip

SMALL: dict[str, Any] = {"dim_feedforward": 12, "dropout": 0.0, "batch_first": True}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {}, "gelu": {"activation": "gelu"}, "norm-first": {"norm_first": True},
    "no-bias": {"bias": False}, "time-first": {"batch_first": False},
}  # fmt: skip
for _name, _options in VARIANTS.items():
    _all = {**SMALL, **_options}
    case(f"encoder-layer-{_name}", lambda t, o=_all: t.nn.TransformerEncoderLayer(8, 2, **o),
         (4, 4, 8))  # fmt: skip
    case(f"decoder-layer-{_name}", lambda t, o=_all: t.nn.TransformerDecoderLayer(8, 2, **o),
         (3, 3, 8), (3, 3, 8))  # fmt: skip


def _encoder(t: Any, norm: bool = True) -> Any:
    layer = t.nn.TransformerEncoderLayer(8, 2, **SMALL)
    return t.nn.TransformerEncoder(layer, 2, t.nn.LayerNorm(8) if norm else None)


def _decoder(t: Any) -> Any:
    layer = t.nn.TransformerDecoderLayer(8, 2, **SMALL)
    return t.nn.TransformerDecoder(layer, 2, t.nn.LayerNorm(8))


case("encoder", _encoder, (2, 4, 8))
case("encoder-masked", _masked(_encoder, mask=BARRED, src_key_padding_mask=PADDED),
     (2, 4, 8))  # fmt: skip
case("decoder", _decoder, (2, 3, 8), (2, 4, 8))
case("decoder-masked", _masked(_decoder, tgt_mask=BARRED,
     memory_key_padding_mask=PADDED), (2, 4, 8), (2, 4, 8))  # fmt: skip
case("transformer", lambda t: t.nn.Transformer(8, 2, 1, 1, **SMALL), (2, 4, 8), (2, 3, 8))
