"""Attention within windows that are shifted (Liu et al. 2021, section 3.2), and its second form
(Liu et al. 2022), with torchvision's names of parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import functional, nn
from ... import functions as f
from ...tensor import Tensor


def _regions(size: int, window: int, shift: int) -> Tensor:
    """Along one axis of a shifted image: which pixels lay beside one another before."""
    at = f.arange(size)
    if not shift:
        return at * 0
    return (at >= size - window).astype("int32") + (at >= size - shift).astype("int32")


def _mask(sizes: Sequence[int], window: Sequence[int], shift: Sequence[int]) -> Tensor:
    """(windows, 1, pixels, pixels): what keeps pixels of other regions from one another."""
    rows, columns = (_regions(*each) for each in zip(sizes, window, shift, strict=True))
    ids = f.reshape(rows, (-1, 1)) * 3 + columns
    (h, w), (wh, ww) = sizes, window
    ids = f.permute_dims(f.reshape(ids, (h // wh, wh, w // ww, ww)), (0, 2, 1, 3))
    ids = f.reshape(ids, (-1, wh * ww))
    other = f.expand_dims(ids, 1) != f.expand_dims(ids, 2)
    return f.expand_dims(f.where(other, -100.0, 0.0), 1)


class ShiftedWindowAttention(nn.Module):
    """Pixels of (n, h, w, dim) attend to those of their window, of window_size; windows begin at
    shift_size. A bias that is trained depends on where two pixels lie to one another."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.window_size, self.shift_size = list(window_size), list(shift_size)
        self.num_heads, self.attention_dropout, self.dropout = num_heads, attention_dropout, dropout
        self._define_bias()
        high, wide = window_size
        pixels = [(i, j) for i in range(high) for j in range(wide)]
        index = [(a - c + high - 1) * (2 * wide - 1) + b - d + wide - 1
                 for a, b in pixels for c, d in pixels]  # fmt: skip
        self.register_buffer("relative_position_index", f.tensor(index, dtype="int64"))
        self.qkv = nn.Linear(dim, 3 * dim, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)

    def _define_bias(self) -> None:
        """Makes what `_table` needs."""
        high, wide = self.window_size
        table = f.zeros(((2 * high - 1) * (2 * wide - 1), self.num_heads))
        self.relative_position_bias_table = nn.Parameter(table)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def _table(self) -> Any:
        """The bias of each relative position and head."""
        return self.relative_position_bias_table

    def get_relative_position_bias(self) -> Tensor:
        """(1, heads, pixels, pixels): what is added to the scores."""
        pixels = self.window_size[0] * self.window_size[1]
        rows = f.take(self._table(), self.relative_position_index.astype("int32"), axis=0)
        return f.expand_dims(f.permute_dims(f.reshape(rows, (pixels, pixels, -1)), (2, 0, 1)), 0)

    def _projected(self, x: Tensor) -> Any:
        return self.qkv(x)

    def _scores(self, q: Tensor, k: Tensor) -> Any:
        return (q * q.shape[-1] ** -0.5) @ k.mT

    def forward(self, x: Tensor) -> Tensor:
        n, h, w, c = x.shape
        wh, ww = self.window_size
        x = f.pad(x, [(0, 0), (0, -h % wh), (0, -w % ww), (0, 0)])
        sizes = high, wide = x.shape[1:3]
        pairs = zip((wh, ww), sizes, self.shift_size, strict=True)
        shift = [0 if window >= size else by for window, size, by in pairs]
        if any(shift):
            x = f.roll(x, (-shift[0], -shift[1]), (1, 2))
        across, pixels = (high // wh, wide // ww), wh * ww
        x = f.reshape(x, (n, across[0], wh, across[1], ww, c))
        x = f.reshape(f.permute_dims(x, (0, 1, 3, 2, 4, 5)), (-1, pixels, c))
        qkv = f.reshape(self._projected(x), (-1, pixels, 3, self.num_heads, c // self.num_heads))
        q, k, v = f.unstack(f.permute_dims(qkv, (2, 0, 3, 1, 4)))
        scores = self._scores(q, k) + self.get_relative_position_bias()
        if any(shift):
            apart = f.reshape(scores, (n, -1, *scores.shape[1:]))
            scores = f.reshape(apart + _mask(sizes, (wh, ww), shift), scores.shape)
        kept = functional.dropout(
            functional.softmax(scores, -1), self.attention_dropout, self.training
        )
        x = self.proj(f.reshape(f.permute_dims(kept @ v, (0, 2, 1, 3)), (-1, pixels, c)))
        x = functional.dropout(x, self.dropout, self.training)
        x = f.reshape(x, (n, *across, wh, ww, c))
        x = f.reshape(f.permute_dims(x, (0, 1, 3, 2, 4, 5)), (n, high, wide, c))
        if any(shift):
            x = f.roll(x, tuple(shift), (1, 2))
        return x[:, :h, :w]


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """The second form: scores are cosines, by a scale for each head that is trained, and a small
    network computes the bias from the logarithm of the distance."""

    def __init__(
        self,
        dim: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        num_heads: int,
        qkv_bias: bool = True,
        proj_bias: bool = True,
        attention_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout
        )
        self.logit_scale = nn.Parameter(f.full((num_heads, 1, 1), math.log(10)))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512), nn.ReLU(), nn.Linear(512, num_heads, bias=False)
        )

    def _define_bias(self) -> None:
        axes = [[_logarithm(8 * at / (size - 1)) for at in range(1 - size, size)]
                for size in self.window_size]  # fmt: skip
        table = [[[[a, b] for b in axes[1]] for a in axes[0]]]
        self.register_buffer("relative_coords_table", f.tensor(table))

    def _table(self) -> Any:
        rows = f.reshape(self.cpb_mlp(self.relative_coords_table), (-1, self.num_heads))
        return 16 * functional.sigmoid(rows)

    def _projected(self, x: Tensor) -> Any:
        """Keys have no bias."""
        given = self.qkv.bias
        if given is None:
            return self.qkv(x)
        q, _, v = given.chunk(3)
        return functional.linear(x, self.qkv.weight, f.concat([q, f.zeros_like(q), v]))

    def _scores(self, q: Tensor, k: Tensor) -> Any:
        cosines = functional.normalize(q, dim=-1) @ functional.normalize(k, dim=-1).mT
        return cosines * f.exp(f.clip(self.logit_scale, None, math.log(100.0)))


def _logarithm(x: float) -> float:
    """Of a distance from -8 to 8, from about -1 to 1."""
    return math.copysign(math.log2(abs(x) + 1) / 3, x)
