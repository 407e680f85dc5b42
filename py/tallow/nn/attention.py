"""Attention with several heads (Vaswani et al. 2017)."""

from __future__ import annotations

from .. import functions as f
from ..errors import AssertedError, OptionError
from ..functional.multi_head import attend, check_inputs, in_projections, projected
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
    one more that is 0. Raises AssertedError if num_heads does not divide embed_dim.
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
            kind = AssertedError if num_heads > 0 < embed_dim else OptionError
            raise kind(f"MultiheadAttention: {num_heads} heads do not divide {embed_dim} elements")
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
            value = Parameter(f.zeros(shape, dtype), device=device) if shape else None
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
        may *not* attend to a key, or numbers that are added to the scores. is_causal: says that
        attn_mask is causal, and changes nothing. Raises ShapeError for what does not fit,
        DTypeError for a mask of integers, OptionError for is_causal without attn_mask.
        """
        given = [query, key, value]
        check_inputs(given, self.embed_dim, (self.embed_dim, self.kdim, self.vdim))
        batched = query.ndim == 3
        if not batched:
            given = [f.expand_dims(x, axis=0) for x in given]
        elif not self.batch_first:
            given = [f.permute_dims(x, (1, 0, 2)) for x in given]
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weights = in_projections(self.in_proj_weight, separate)
        joined, shown = attend(
            projected(given, weights, self.in_proj_bias), self.num_heads, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout if self.training else 0.0, key_padding_mask, attn_mask,
            is_causal, need_weights, average_attn_weights,
        )  # fmt: skip
        output = self.out_proj(joined)
        if not batched:
            return f.squeeze(output, axis=0), None if shown is None else f.squeeze(shown, axis=0)
        return output if self.batch_first else f.permute_dims(output, (1, 0, 2)), shown
