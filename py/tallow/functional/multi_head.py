"""Attention with several heads (Vaswani et al. 2017), as functions of weights; the module is in
nn/attention.py. `nn.functional` offers `multi_head_attention_forward`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor
from .attention import attended, attention_scores, masked_softmax
from .layers import dropout, linear


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """What `nn.MultiheadAttention` computes, by its parameters.

    query: (length, batch, embed_dim), or (length, embed_dim) without a batch.
    key: (key length, batch, elements), without the batch if query has none.
    value: (key length, batch, elements), without the batch if query has none.
    embed_dim_to_check: what the last length of query must be.
    num_heads: the number of heads.
    in_proj_weight: the weights of queries, keys and values, one below the other, (3 * embed_dim,
      embed_dim).
    in_proj_bias: their biases, (3 * embed_dim,); None adds nothing.
    bias_k, bias_v: one more key and one more value, which are trained, or None.
    add_zero_attn: adds one more key and value that are 0.
    dropout_p: the probability with which a query leaves out a key, in training.
    out_proj_weight, out_proj_bias: those of the linear layer behind; the bias may be None.
    training: whether there is dropout.
    key_padding_mask: keys that count for nothing, (batch, key length).
    need_weights: gives the weights of attention too.
    attn_mask: keys that a query does not see, (length, key length) or (batch * num_heads, length,
      key length). Both masks are True where a key counts for nothing, or floating, and are added to
      the scores.
    use_separate_proj_weight: takes q_proj_weight, k_proj_weight and v_proj_weight instead of
      in_proj_weight.
    q_proj_weight, k_proj_weight, v_proj_weight: the weights of queries, keys and values.
    static_k, static_v: must be None.
    average_attn_weights: the weights are the means over the heads.
    is_causal: says of what kind attn_mask is; needs the mask too.
    Returns: the result, in the shape of query, and the weights or None.
    Raises: ShapeError, DTypeError or OptionError as the module, and OptionError for static_k and
      static_v.
    Source: PyTorch, `torch.nn.functional.multi_head_attention_forward`.
    """
    if static_k is not None or static_v is not None:
        raise OptionError("multi_head_attention_forward: static_k and static_v are not supported")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = in_projections(in_proj_weight if not use_separate_proj_weight else None, separate)
    given = [query, key, value]
    check_inputs(given, embed_dim_to_check, [weight.shape[1] for weight in weights])
    batched = query.ndim == 3
    first = [f.permute_dims(x, (1, 0, 2)) if batched else f.expand_dims(x, 0) for x in given]
    joined, shown = attend(
        projected(first, weights, in_proj_bias), num_heads, bias_k, bias_v, add_zero_attn,
        dropout_p if training else 0.0, key_padding_mask, attn_mask, is_causal, need_weights,
        average_attn_weights,
    )  # fmt: skip
    output = linear(joined, out_proj_weight, out_proj_bias)
    if batched:
        return f.permute_dims(output, (1, 0, 2)), shown
    return f.squeeze(output, 0), None if shown is None else f.squeeze(shown, 0)


def check_inputs(given: Sequence[Tensor], embed_dim: int, sizes: Sequence[int]) -> None:
    """ShapeError unless query, key and value have 2 or 3 axes each, the last of these sizes."""
    rank = given[0].ndim
    for x, size in zip(given, sizes, strict=True):
        if x.ndim != rank or x.ndim not in (2, 3) or x.shape[-1] != size:
            shapes = ", ".join(str(each.shape) for each in given)
            raise ShapeError(
                f"MultiheadAttention: query, key, value {shapes}; expected 2 or 3 axes each, "
                f"the last of {', '.join(map(str, sizes))}"
            )
    if sizes[0] != embed_dim:
        raise ShapeError(f"MultiheadAttention: queries of {sizes[0]} elements, not {embed_dim}")


def in_projections(whole: Tensor | None, separate: Sequence[Tensor | None]) -> list[Tensor]:
    """The weights of queries, keys and values: parts of one, or those that are given each."""
    if whole is not None:
        n = whole.shape[0] // 3
        return [whole[i * n : (i + 1) * n] for i in range(3)]
    if any(weight is None for weight in separate):
        raise OptionError("MultiheadAttention: a weight of queries, keys or values is missing")
    return [weight for weight in separate if weight is not None]


def projected(
    given: Sequence[Tensor], weights: Sequence[Tensor], bias: Tensor | None
) -> list[Tensor]:
    """Queries, keys and values after their linear layers."""
    n = weights[0].shape[0]
    return [
        linear(x, weight, None if bias is None else bias[i * n : (i + 1) * n])
        for i, (x, weight) in enumerate(zip(given, weights, strict=True))
    ]


def attend(
    given: Sequence[Tensor],
    num_heads: int,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    is_causal: bool,
    need_weights: bool,
    average_attn_weights: bool,
) -> tuple[Tensor, Tensor | None]:
    """Queries (N, L, embed_dim) attend to keys and values (N, S, embed_dim) in parts. Gives what
    they find, (N, L, embed_dim), and the weights, if they are needed."""
    if is_causal and attn_mask is None:
        raise OptionError(
            "MultiheadAttention: is_causal=True only says of what kind attn_mask is; give the mask "
            "too: nn.Transformer.generate_square_subsequent_mask(length)"
        )
    query, key, value = given
    batch, length, embed_dim = query.shape
    key_length = key.shape[1]
    if value.shape[:2] != (batch, key_length) or key.shape[0] != batch:
        shapes = ", ".join(str(each.shape) for each in given)
        raise ShapeError(f"MultiheadAttention: query, key, value {shapes} do not fit")
    added = (bias_k is not None) + add_zero_attn
    key, value = (_longer(x, bias, add_zero_attn) for x, bias in ((key, bias_k), (value, bias_v)))
    heads = [_heads(x, num_heads) for x in (query, key, value)]
    scores = attention_scores(heads[0], heads[1])
    for mask in _masks(key_padding_mask, attn_mask, (batch, num_heads, length, key_length)):
        barred = mask.dtype.kind == "b"
        if added:  # what is added to the keys is never barred
            mask = f.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, added)])
        scores = f.where(mask, -math.inf, scores) if barred else scores + mask
    weights = dropout(masked_softmax(scores), dropout_p)
    joined = f.permute_dims(attended(weights, heads[2]), (0, 2, 1, 3))
    output = f.reshape(joined, (batch, length, embed_dim))
    if not need_weights:
        return output, None
    return output, f.mean(weights, axis=1) if average_attn_weights else weights


def _longer(x: Tensor, bias: Tensor | None, zero: bool) -> Tensor:
    """Keys or values, with one more that is trained, and one that is 0."""
    shape = (x.shape[0], 1, x.shape[2])
    parts = [x] if bias is None else [x, f.broadcast_to(bias, shape)]
    if zero:
        parts.append(f.zeros(shape, x.dtype))
    return f.concat(parts, axis=1) if len(parts) > 1 else x


def _heads(x: Tensor, num_heads: int) -> Tensor:
    """(N, length, embed_dim) to (N, heads, length, head_dim)."""
    parts = f.reshape(x, (*x.shape[:2], num_heads, x.shape[2] // num_heads))
    return f.permute_dims(parts, (0, 2, 1, 3))


def _masks(
    padding: Tensor | None, attention: Tensor | None, sizes: tuple[int, int, int, int]
) -> list[Tensor]:
    """The given masks, in shapes that broadcast to (N, heads, L, S)."""
    batch, heads, length, key_length = sizes
    found = []
    if attention is not None:
        wanted = (length, key_length), (batch * heads, length, key_length)
        if attention.shape not in wanted:
            raise ShapeError(
                f"MultiheadAttention: attn_mask {attention.shape}, expected {wanted[0]} or "
                f"{wanted[1]}"
            )
        found.append(attention if attention.ndim == 2 else f.reshape(attention, sizes))
    if padding is not None:
        if padding.shape != (batch, key_length) and (batch, padding.shape) != (1, (key_length,)):
            raise ShapeError(
                f"MultiheadAttention: key_padding_mask {padding.shape}, expected "
                f"{(batch, key_length)}"
            )
        found.append(f.reshape(padding, (batch, 1, 1, key_length)))
    for mask in found:
        if mask.dtype.kind != "b" and not mask.dtype.is_floating:
            raise DTypeError(
                f"MultiheadAttention: a mask must be bool or floating, not {mask.dtype.name}"
            )
    return found
