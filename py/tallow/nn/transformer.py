"""Transformers (Vaswani et al. 2017): layers of attention and of two linear layers each.

norm_first: the layer norms come before each part (Xiong et al. 2020, "On Layer Normalization in
the Transformer Architecture"), not after its sum with the residual.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

from .. import functional
from .. import functions as f
from ..errors import OptionError
from ..tensor import Tensor
from . import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _function(activation: Activation) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise OptionError(f"transformer: the activation {activation!r} is neither relu nor gelu")
    found: Callable[[Tensor], Tensor] = getattr(functional, activation)
    return found


def _copies(layer: Module, count: int) -> ModuleList:
    if count < 1:
        raise OptionError(f"transformer: {count} layers; at least 1")
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoderLayer(Module):
    """Self-attention, then linear1, the activation and linear2, each with a residual and a layer
    norm.

    activation: "relu", "gelu" or a function. Raises OptionError for another one.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        for number in (1, 2):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            self.add_module(f"norm{number}", norm)
        for number in (1, 2):
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _function(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """src and masks as in `MultiheadAttention.forward`; gives the shape of src."""

        def attention(x: Tensor) -> Tensor:
            found, _ = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            return self.dropout1(found)  # type: ignore[no-any-return]

        x = _residual(src, attention, self.norm1, self.norm_first)
        return _residual(x, self._feed, self.norm2, self.norm_first)

    def _feed(self, x: Tensor) -> Tensor:
        found = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(found)  # type: ignore[no-any-return]


def _residual(
    x: Tensor, part: Callable[[Tensor], Tensor], norm: Module, norm_first: bool
) -> Tensor:
    if norm_first:
        return x + part(norm(x))
    return norm(x + part(x))  # type: ignore[no-any-return]


class TransformerEncoder(Module):
    """num_layers copies of a layer, one after the other, then `norm` if there is one."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The input through all layers; arguments as for `TransformerEncoderLayer.forward`."""
        x = src
        for layer in self.layers:
            x = layer(
                x,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )
        return x if self.norm is None else self.norm(x)


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's result, then linear1, the activation and linear2,
    each with a residual and a layer norm. Options as for `TransformerEncoderLayer`."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        for name in ("self_attn", "multihead_attn"):
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        for number in (1, 2, 3):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            self.add_module(f"norm{number}", norm)
        for number in (1, 2, 3):
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = _function(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """tgt, memory (the encoder's result) and masks as in `MultiheadAttention.forward`; gives
        the shape of tgt."""

        def own(x: Tensor) -> Tensor:
            found, _ = self.self_attn(
                x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal
            )
            return self.dropout1(found)  # type: ignore[no-any-return]

        def other(x: Tensor) -> Tensor:
            found, _ = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask,
                is_causal=memory_is_causal,
            )  # fmt: skip
            return self.dropout2(found)  # type: ignore[no-any-return]

        x = _residual(tgt, own, self.norm1, self.norm_first)
        x = _residual(x, other, self.norm2, self.norm_first)
        return _residual(x, self._feed, self.norm3, self.norm_first)

    def _feed(self, x: Tensor) -> Tensor:
        found = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(found)  # type: ignore[no-any-return]


class TransformerDecoder(Module):
    """num_layers copies of a layer, one after the other, then `norm` if there is one."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The input through all layers; arguments as for `TransformerDecoderLayer.forward`."""
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder, each with a layer norm at its end.

    custom_encoder, custom_decoder: modules that stand for them. Weights begin as Glorot and
    Bengio's.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                   batch_first, norm_first, bias, device, dtype)  # fmt: skip
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers, norm()
        )
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """src (S, N, d_model) and tgt (T, N, d_model), or batch_first; gives the shape of tgt.
        Masks as in `MultiheadAttention.forward`."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(  # type: ignore[no-any-return]
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: str | None = None, dtype: str | None = None
    ) -> Tensor:
        """(sz, sz): 0 where a query may attend to a key, itself or one before, else -infinity."""
        later = f.arange(sz) > f.reshape(f.arange(sz), (-1, 1))
        mask = f.where(later, -math.inf, f.zeros((sz, sz), dtype))
        return mask if device is None else mask.to(device)
