"""Attention whose scores and mask are functions of indices.

The functions are called once, with tensors of indices that broadcast to (batch, heads, queries,
keys), where PyTorch maps them over single ones; what they build becomes a part of the plan.
`torch.nn.attention.flex_attention` has these names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import functions as f
from ..errors import ShapeError
from ..tensor import Tensor, asarray
from .attention import attended, attention_scores, masked_softmax
from .borders import pad

MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What `flex_attention` returns beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithms of the sums of exponentials, and the largest scores; None if not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _indices(*counts: int) -> list[Tensor]:
    """The indices along each of four axes, which broadcast against one another."""
    return [
        f.arange(count).reshape([-1 if at == axis else 1 for at in range(4)])
        for axis, count in enumerate(counts)
    ]


def noop_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
    """Hides nothing.

    b, h, q_idx, kv_idx: indices of batches, heads, queries and keys.
    Returns: True.
    """
    return f.ones((1, 1, 1, 1), dtype="bool")


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Joins masks: a query may attend to a key if all allow it.

    mask_mods: functions of four indices, which give truth values.
    Returns: such a function.
    """

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = noop_mask(b, h, q_idx, kv_idx)
        for mod in mask_mods:
            found = f.logical_and(found, mod(b, h, q_idx, kv_idx))
        return found

    return joined


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Joins masks: a query may attend to a key if any allows it.

    mask_mods: functions of four indices, which give truth values.
    Returns: such a function.
    """

    def joined(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        found = f.logical_not(noop_mask(b, h, q_idx, kv_idx))
        for mod in mask_mods:
            found = f.logical_or(found, mod(b, h, q_idx, kv_idx))
        return found

    return joined


def create_mask(
    mod_fn: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: str | None = None,
) -> Tensor:
    """Makes the whole mask of a function.

    mod_fn: of four indices; gives truth values.
    B, H: how many batches and heads; None is one, which serves all.
    Q_LEN, KV_LEN: how many queries and keys.
    device: the name of the mask's device.
    Returns: (B, H, Q_LEN, KV_LEN), True where a query may attend to a key.
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    mask = f.broadcast_to(asarray(mod_fn(*_indices(*shape))), shape)
    return mask if device is None else mask.to(device)


class BlockMask:
    """A mask as a function of indices. PyTorch's kernels skip blocks that it hides; here it is a
    part of the plan, and blocks only count for `sparsity`.

    mask_mod: of four indices; gives truth values.
    shape: batches, heads, queries, keys.
    BLOCK_SIZE: how many queries and keys a block has.
    """

    def __init__(
        self, mask_mod: MaskMod, shape: tuple[int, int, int, int], BLOCK_SIZE: tuple[int, int]
    ) -> None:
        self.mask_mod = mask_mod
        self.shape = shape
        self.seq_lengths = shape[2:]
        self.BLOCK_SIZE = BLOCK_SIZE

    def to_dense(self) -> Tensor:
        """Which blocks are seen.

        Returns: (batches, heads, blocks of queries, blocks of keys), 1 where any pair is seen.
        """
        mask = create_mask(self.mask_mod, *self.shape)
        rows, columns = self.BLOCK_SIZE
        below, right = -self.shape[2] % rows, -self.shape[3] % columns
        whole = pad(mask.astype("int32"), (0, right, 0, below))
        height, width = (self.shape[2] + below) // rows, (self.shape[3] + right) // columns
        blocks = whole.reshape((*self.shape[:2], height, rows, width, columns))
        return f.max(f.max(blocks, 5), 3)

    def sparsity(self) -> float:
        """How many blocks are hidden, in percent. Reads the mask, and blocks.

        Returns: 0 to 100.
        """
        seen = self.to_dense()
        return 100.0 * (1 - float(f.sum(seen)) / seen.node.size)

    def to(self, device: object) -> BlockMask:
        """The mask itself: a function is on no device.

        device: changes nothing.
        Returns: the mask.
        """
        return self

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE})"


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: object = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """Makes the mask of a function of indices.

    mask_mod: of four indices; gives truth values.
    B, H: how many batches and heads; None is one, which serves all.
    Q_LEN, KV_LEN: how many queries and keys.
    device, _compile: change nothing.
    BLOCK_SIZE: how many queries and keys a block has; one number is both.
    Returns: the mask.
    """
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), size)


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: object = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Computes softmax(score_mod(query @ key.T * scale)) @ value, where the mask allows it.

    query: (batch, heads, queries, size).
    key, value: (batch, key heads, keys, size).
    score_mod: of the scores and four indices; gives the scores to use. None keeps them.
    block_mask: which pairs are seen; None is all. A query that sees no key gives zeros.
    scale: 1 / sqrt(size) by default.
    enable_gqa: allows fewer key heads than heads.
    return_lse: gives the logarithm of the sum of the scores' exponentials too.
    kernel_options: changes nothing.
    return_aux: what else is returned, as an `AuxOutput`.
    Returns: (batch, heads, queries, size); with return_lse or return_aux a pair.
    Raises: ShapeError for other numbers of axes, and for a mask of other lengths.
    Source: Dong et al. 2024, "Flex Attention"; PyTorch, the function of this name.
    """
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ShapeError(f"flex_attention: {query.shape}, {key.shape}, {value.shape} are not 4-D")
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ShapeError(
            f"flex_attention: query {query.shape} and key {key.shape} differ in their number of "
            "heads; enable_gqa=True allows that"
        )
    shape = (*query.shape[:3], key.shape[2])
    indices = _indices(*shape)
    scores = attention_scores(query, key, scale)
    if score_mod is not None:
        scores = f.broadcast_to(score_mod(scores, *indices), shape)
    if block_mask is not None:
        if block_mask.seq_lengths != shape[2:]:
            raise ShapeError(
                f"flex_attention: the mask is for {block_mask.seq_lengths} queries and keys, "
                f"not {shape[2:]}"
            )
        scores = f.where(block_mask.mask_mod(*indices), scores, -math.inf)
    result = attended(masked_softmax(scores), value)
    wanted = AuxRequest(lse=return_lse) if return_aux is None else return_aux
    lse = f.logsumexp(scores, -1) if wanted.lse else None
    if return_aux is not None:
        return result, AuxOutput(lse, f.max(scores, axis=-1) if wanted.max_scores else None)
    return (result, lse) if return_lse else result


__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]
