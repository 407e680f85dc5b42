"""Layers of transformers of com.microsoft: embeddings with their layer norm, and attention, of
float or quantised operands."""

from __future__ import annotations

from .... import functional as nn
from .... import functions as f
from ....core import dtype as dt
from ....errors import OnnxFormatError, OnnxUnsupportedError
from ....tensor import Tensor
from ..call import Call
from ..registry import operator
from .contributed import DOMAIN, normalised
from .nn.recurrent import check_shape
from .quantized import product, real

# ---- embeddings --------------------------------------------------------------------------------


@operator("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(
    call: Call, ids: Tensor, segments: Tensor | None = None, word: Tensor | None = None,
    position: Tensor | None = None, segment: Tensor | None = None, gamma: Tensor | None = None,
    beta: Tensor | None = None, mask: Tensor | None = None, positions: Tensor | None = None,
) -> list[Tensor]:  # fmt: skip
    """The layer norm of the sum of embeddings of words, positions and segments; how many of each
    sequence's words count; the sum."""
    call.ignore("mask_index_type")
    if word is None or position is None or gamma is None or beta is None:
        raise OnnxFormatError("an embedding, gamma or beta is missing")
    if ids.ndim != 2 or word.ndim != 2 or position.ndim != 2:
        raise OnnxFormatError(
            f"input_ids {ids.shape} and the embeddings {word.shape} and {position.shape} must "
            "have two axes"
        )
    batch, length = ids.shape
    if positions is None:
        if length > position.shape[0]:
            raise OnnxFormatError(f"{length} words, but the position embedding is {position.shape}")
        total = f.take(word, ids, axis=0) + position[:length]
    else:
        total = f.take(word, ids, axis=0) + f.take(position, positions, axis=0)
    if segments is not None and segment is not None:
        total = total + f.take(segment, segments, axis=0)
    check_shape("mask", mask, ids.shape)
    counted = f.zeros((batch,), dt.int32)
    if mask is not None:
        counted = f.sum(f.equal(mask, 1).astype(dt.int32), axis=1).astype(dt.int32)
    return [normalised(call, total, gamma, beta)[0], counted, total]


@operator("QEmbedLayerNormalization", domain=DOMAIN)
def q_embed_layer_normalization(
    call: Call, ids: Tensor, segments: Tensor | None = None, word: Tensor | None = None,
    position: Tensor | None = None, segment: Tensor | None = None, gamma: Tensor | None = None,
    beta: Tensor | None = None, mask: Tensor | None = None, word_scale: Tensor | None = None,
    position_scale: Tensor | None = None, segment_scale: Tensor | None = None,
    gamma_scale: Tensor | None = None, beta_scale: Tensor | None = None,
    word_zero: Tensor | None = None, position_zero: Tensor | None = None,
    segment_zero: Tensor | None = None, gamma_zero: Tensor | None = None,
    beta_zero: Tensor | None = None,
) -> list[Tensor]:  # fmt: skip
    """EmbedLayerNormalization of quantised tables."""
    held = None
    if segment is not None:
        held = real("segment_embedding", segment, segment_scale, segment_zero)
    return embed_layer_normalization(
        call,
        ids,
        segments,
        real("word_embedding", word, word_scale, word_zero),
        real("position_embedding", position, position_scale, position_zero),
        held,
        real("gamma", gamma, gamma_scale, gamma_zero),
        real("beta", beta, beta_scale, beta_zero),
        mask,
    )[:2]


# ---- attention ---------------------------------------------------------------------------------


@operator("Attention", domain=DOMAIN)
def attention(
    call: Call, x: Tensor, weights: Tensor, bias: Tensor | None = None,
    mask: Tensor | None = None, past: Tensor | None = None, added: Tensor | None = None,
    past_length: Tensor | None = None,
) -> list[Tensor]:  # fmt: skip
    """Self-attention, with the projections of queries, keys and values in one matrix."""
    if past_length is not None:
        raise OnnxUnsupportedError("past_sequence_length is not supported")
    _check_operands(x, weights)
    projected = f.matmul(x, weights)
    sizes = call.ints("qkv_hidden_sizes", (weights.shape[1] // 3,) * 3)
    return _attended(call, projected, bias, mask, past, added, sizes)


@operator("QAttention", domain=DOMAIN)
def q_attention(
    call: Call, x: Tensor, weights: Tensor, bias: Tensor, x_scale: Tensor, w_scale: Tensor,
    mask: Tensor | None = None, x_zero: Tensor | None = None, w_zero: Tensor | None = None,
    past: Tensor | None = None,
) -> list[Tensor]:  # fmt: skip
    """Attention whose projections' operands are quantised."""
    _check_operands(x, weights)
    names = ("the input", "the weight")
    projected = product(call, names, x, weights, (x_scale, w_scale), (x_zero, w_zero))
    return _attended(call, projected, bias, mask, past, None, (weights.shape[1] // 3,) * 3)


def _check_operands(x: Tensor, weights: Tensor) -> None:
    if x.ndim != 3 or weights.ndim != 2 or weights.shape[0] != x.shape[2]:
        raise OnnxFormatError(f"the input {x.shape} and the weights {weights.shape} do not fit")


def _attended(
    call: Call, projected: Tensor, bias: Tensor | None, mask: Tensor | None,
    past: Tensor | None, added: Tensor | None, sizes: tuple[int, ...],
) -> list[Tensor]:  # fmt: skip
    if call.flag("do_rotary") or call.flag("past_present_share_buffer"):
        raise OnnxUnsupportedError("do_rotary and past_present_share_buffer are not supported")
    call.ignore("rotary_embedding_dim")
    heads = call.get("num_heads", int)
    batch, length, width = projected.shape
    if heads < 1 or len(sizes) != 3 or sum(sizes) != width or any(s % heads for s in sizes):
        raise OnnxFormatError(f"{heads} heads do not divide projections of {sizes}")
    check_shape("the bias", bias, (width,))
    if bias is not None:
        projected = projected + bias
    ends = (sizes[0], sizes[0] + sizes[1], width)
    q, k, v = (
        f.permute_dims(
            f.reshape(projected[:, :, end - size : end], (batch, length, heads, size // heads)),
            (0, 2, 1, 3),
        )
        for end, size in zip(ends, sizes, strict=True)
    )
    before = 0
    if past is not None:
        before = past.shape[3] if past.ndim == 5 else 0
        check_shape("past", past, (2, batch, heads, before, sizes[1] // heads))
        k, v = f.concat([past[0], k], axis=2), f.concat([past[1], v], axis=2)
    whole = before + length
    scale = call.get("scale", float, 0.0) or (sizes[0] // heads) ** -0.5
    scores = f.matmul(q, f.matrix_transpose(k)) * scale
    lowest = call.get("mask_filter_value", float, -10000.0)
    if mask is not None:
        scores = scores + f.where(_seen(mask, batch, length, whole), 0.0, lowest)
    if call.flag("unidirectional"):
        rows = f.expand_dims(f.arange(length) + before, 1)
        scores = f.where(f.arange(whole) <= rows, scores, -3.4028235e38)
    if added is not None:
        scores = scores + added
    result = f.matmul(nn.softmax(scores, axis=-1), v)
    merged = f.reshape(f.permute_dims(result, (0, 2, 1, 3)), (batch, length, sizes[2]))
    return [merged, f.stack([k, v])] if call.wants(1) else [merged]


def _seen(mask: Tensor, batch: int, length: int, whole: int) -> Tensor:
    """Which keys each query sees: (batch, 1, 1 or length, whole)."""
    if mask.shape in ((batch, whole), (batch, length, whole)):
        rows = mask.shape[1] if mask.ndim == 3 else 1
        return f.reshape(mask > 0, (batch, 1, rows, whole))
    at = f.arange(whole)
    if mask.shape == (batch,):  # where each sequence ends
        return at < f.reshape(mask, (batch, 1, 1, 1))
    if mask.shape == (2 * batch,):  # and where it begins
        end, start = (f.reshape(part, (batch, 1, 1, 1)) for part in (mask[:batch], mask[batch:]))
        return f.logical_and(at < end, at >= start)
    raise OnnxUnsupportedError(f"a mask of shape {mask.shape} is not supported")
