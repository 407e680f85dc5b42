"""Attention with several heads (Vaswani et al. 2017)."""

from __future__ import annotations

import math

from .. import functional
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional.attention import attended, attention_scores, masked_softmax
from ..tensor import Tensor
from . import init
from .linear import Linear
from .module import Module
from .parameter import Parameter


class MultiheadAttention(Module):
    """Queries attend to keys in num_heads parts of embed_dim; the parts' values are put together
    and go through a linear layer.

    Parameters are in_proj_weight (3 * embed_dim, embed_dim), or q_proj_weight, k_proj_weight and
    v_proj_weight if keys have kdim or values vdim elements; in_proj_bias; out_proj.weight and
    out_proj.bias. dropout: the probability with which a query leaves out a key in training.
    batch_first: (batch, length, elements) rather than (length, batch, elements).

    A query that may attend to no key attends to nothing and gives out_proj.bias; PyTorch gives
    NaN. add_bias_kv: one more key and value, bias_k and bias_v, which are trained. add_zero_attn:
    one more that is 0. Raises OptionError if num_heads does not divide embed_dim.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim < 1 or embed_dim % num_heads:
            raise OptionError(
                f"MultiheadAttention: {num_heads} heads do not divide {embed_dim} elements"
            )
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first = dropout, batch_first
        alike = self.kdim == self.vdim == embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "in_proj_weight": (3 * embed_dim, embed_dim) if alike else None,
            "q_proj_weight": None if alike else (embed_dim, embed_dim),
            "k_proj_weight": None if alike else (embed_dim, self.kdim),
            "v_proj_weight": None if alike else (embed_dim, self.vdim),
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        for name in ("bias_k", "bias_v"):
            shapes[name] = (1, 1, embed_dim) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        for name, shape in shapes.items():
            value = Parameter(f.zeros(shape, dtype or "float32"), device=device) if shape else None
            self.register_parameter(name, value)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: Glorot and Bengio's, biases 0."""
        for name, parameter in self.named_parameters(recurse=False):
            if name in ("bias_k", "bias_v"):
                init.xavier_normal_(parameter)
            else:
                (init.zeros_ if name == "in_proj_bias" else init.xavier_uniform_)(parameter)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """query (L, N, embed_dim), key (S, N, kdim) and value (S, N, vdim); batch_first exchanges
        the first two axes, and all may be without N. Gives (L, N, embed_dim), and if need_weights
        the weights (N, L, S), or (N, heads, L, S) unless average_attn_weights.

        key_padding_mask (N, S) and attn_mask (L, S) or (N * heads, L, S): bool, True where a query
        may *not* attend to a key, or numbers that are added to the scores. is_causal: a query
        attends to its own place and what comes before. Raises ShapeError for what does not fit.
        """
        batched = query.ndim == 3
        sizes = (self.embed_dim, self.kdim, self.vdim)
        given = [query, key, value]
        for x, size in zip(given, sizes, strict=True):
            if x.ndim != query.ndim or x.ndim not in (2, 3) or x.shape[-1] != size:
                shapes = ", ".join(str(each.shape) for each in given)
                raise ShapeError(
                    f"MultiheadAttention: query, key, value {shapes}; expected 2 or 3 axes each, "
                    f"the last of {', '.join(map(str, sizes))}"
                )
        if not batched:
            given = [f.expand_dims(x, axis=0) for x in given]
        elif not self.batch_first:
            given = [f.permute_dims(x, (1, 0, 2)) for x in given]
        (batch, length, _), (keys, places, _) = given[0].shape, given[1].shape
        if given[2].shape[:2] != (keys, places) or keys != batch:
            shapes = ", ".join(str(each.shape) for each in (query, key, value))
            raise ShapeError(f"MultiheadAttention: query, key, value {shapes} do not fit")
        projected = self._projected(given)
        added = (self.bias_k is not None) + self.add_zero_attn
        for number, bias in ((1, self.bias_k), (2, self.bias_v)):
            parts = [] if bias is None else [f.broadcast_to(bias, (batch, 1, self.embed_dim))]
            if self.add_zero_attn:
                parts.append(f.zeros((batch, 1, self.embed_dim), query.dtype))
            if parts:
                projected[number] = f.concat([projected[number], *parts], axis=1)
        heads = [self._heads(x) for x in projected]
        scores = attention_scores(heads[0], heads[1])
        for given_mask in self._masks(key_padding_mask, attn_mask, (batch, length, places)):
            barred = given_mask.dtype.kind == "b"
            mask = given_mask
            if added:  # what is added to the keys is never barred
                mask = f.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, added)])
            scores = f.where(mask, -math.inf, scores) if barred else scores + mask
        if is_causal:
            later = f.arange(places) > f.reshape(f.arange(length), (-1, 1))
            later = f.pad(later, [(0, 0), (0, added)]) if added else later
            scores = f.where(later, -math.inf, scores)
        weights = functional.dropout(masked_softmax(scores), self.dropout, self.training)
        joined = f.permute_dims(attended(weights, heads[2]), (0, 2, 1, 3))
        output = self.out_proj(f.reshape(joined, (batch, length, self.embed_dim)))
        if not need_weights:
            shown = None
        else:
            shown = f.mean(weights, axis=1) if average_attn_weights else weights
        if not batched:
            return f.squeeze(output, axis=0), None if shown is None else f.squeeze(shown, axis=0)
        return output if self.batch_first else f.permute_dims(output, (1, 0, 2)), shown

    def _projected(self, given: list[Tensor]) -> list[Tensor]:
        n = self.embed_dim
        parts = [slice(i * n, (i + 1) * n) for i in range(3)]
        if self.in_proj_weight is not None:
            weights = [self.in_proj_weight[part] for part in parts]
        else:
            weights = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        bias = self.in_proj_bias
        biases = [None if bias is None else bias[part] for part in parts]
        return [functional.linear(x, w, b) for x, w, b in zip(given, weights, biases, strict=True)]

    def _heads(self, x: Tensor) -> Tensor:
        """(N, length, embed_dim) to (N, heads, length, head_dim)."""
        parts = f.reshape(x, (*x.shape[:2], self.num_heads, self.head_dim))
        return f.permute_dims(parts, (0, 2, 1, 3))

    def _masks(
        self, padding: Tensor | None, attention: Tensor | None, sizes: tuple[int, int, int]
    ) -> list[Tensor]:
        """Those that there are, as they fit (N, heads, L, S)."""
        batch, length, places = sizes
        found = []
        if attention is not None:
            wanted = (length, places), (batch * self.num_heads, length, places)
            if attention.shape not in wanted:
                raise ShapeError(
                    f"MultiheadAttention: attn_mask {attention.shape}, expected {wanted[0]} or "
                    f"{wanted[1]}"
                )
            each = (batch, self.num_heads, length, places)
            found.append(attention if attention.ndim == 2 else f.reshape(attention, each))
        if padding is not None:
            if padding.shape != (batch, places) and (batch, padding.shape) != (1, (places,)):
                raise ShapeError(
                    f"MultiheadAttention: key_padding_mask {padding.shape}, expected "
                    f"{(batch, places)}"
                )
            found.append(f.reshape(padding, (batch, 1, 1, places)))
        return found
