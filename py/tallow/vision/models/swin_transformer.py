"""Swin Transformer (Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using
Shifted Windows") and its second version (Liu et al. 2022), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ... import functions as f
from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import MLP, Permute, StochasticDepth
from .parts import Layer, truncated_linear
from .registry import published
from .swin_attention import ShiftedWindowAttention, ShiftedWindowAttentionV2

_PAPER = "Liu et al. 2021, arXiv:2103.14030"
_SECOND = "Liu et al. 2022, arXiv:2111.09883"


def _quarters(x: Tensor) -> Tensor:
    """Each 2 x 2 pixels of (n, h, w, c) as one of 4 * c elements, by columns."""
    x = f.pad(x, [(0, 0), (0, x.shape[1] % 2), (0, x.shape[2] % 2), (0, 0)])
    n, h, w, c = x.shape
    parts = f.permute_dims(f.reshape(x, (n, h // 2, 2, w // 2, 2, c)), (0, 1, 3, 4, 2, 5))
    return f.reshape(parts, (n, h // 2, w // 2, 4 * c))


class PatchMerging(nn.Module):
    """Half the size and twice the channels: (n, h, w, dim) to (n, h / 2, w / 2, 2 * dim)."""

    normalised = 4
    """Elements of what is normalised, in relation to dim."""

    def __init__(self, dim: int, norm_layer: Layer = nn.LayerNorm) -> None:
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(self.normalised * dim)

    def forward(self, x: Tensor) -> Any:
        return self.reduction(self.norm(_quarters(x)))


class PatchMergingV2(PatchMerging):
    """`PatchMerging` whose normalisation comes last."""

    normalised = 2

    def forward(self, x: Tensor) -> Any:
        return self.norm(self.reduction(_quarters(x)))


class SwinTransformerBlock(nn.Module):
    """Attention within windows and two linear layers, before each a normalisation, and each added
    to its input: (n, h, w, dim) to the same. attn_layer: None is `attention`."""

    attention: Layer = ShiftedWindowAttention

    def __init__(
        self,
        dim: int,
        num_heads: int,
        window_size: Sequence[int],
        shift_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.0,
        norm_layer: Layer = nn.LayerNorm,
        attn_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = (attn_layer or type(self).attention)(
            dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout,
            dropout=dropout,
        )  # fmt: skip
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], None, nn.GELU, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x: Tensor) -> Any:
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """`SwinTransformerBlock` whose normalisations come behind, and with the second attention."""

    attention: Layer = ShiftedWindowAttentionV2

    def forward(self, x: Tensor) -> Any:
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    patch_size: pixels of a patch, high and wide. embed_dim: its elements, twice as many in each
    stage. depths, num_heads: of each stage, which has windows of window_size patches. mlp_ratio:
    elements of the linear layers' middle, in relation. stochastic_depth_prob: the probability with
    which a sample leaves out the last block; earlier ones have less, down to 0. norm_layer, block,
    downsample_layer: classes. Raises OptionError for depths and num_heads of other lengths."""

    def __init__(
        self,
        patch_size: Sequence[int],
        embed_dim: int,
        depths: Sequence[int],
        num_heads: Sequence[int],
        window_size: Sequence[int],
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
        num_classes: int = 1000,
        norm_layer: Layer | None = None,
        block: Layer | None = None,
        downsample_layer: Layer = PatchMerging,
    ) -> None:
        super().__init__()
        if len(depths) != len(num_heads):
            raise OptionError(
                f"SwinTransformer: depths {list(depths)} and num_heads {list(num_heads)} must have "
                "a number for each stage"
            )
        self.num_classes = num_classes
        norm, block = norm_layer or partial(nn.LayerNorm, eps=1e-5), block or SwinTransformerBlock
        patch = tuple(patch_size)
        cut = nn.Conv2d(3, embed_dim, patch, patch)
        layers: list[nn.Module] = [
            nn.Sequential(cut, Permute((0, 2, 3, 1)), norm(embed_dim))
        ]  # fmt: skip
        whole, half, total, number = [0, 0], [each // 2 for each in window_size], sum(depths), 0
        dim = embed_dim
        for stage, (depth, heads) in enumerate(zip(depths, num_heads, strict=True)):
            if stage:
                layers.append(downsample_layer(dim, norm))
                dim *= 2
            blocks = []
            for position in range(depth):
                share = number / (total - 1) if total > 1 else 0.0
                blocks.append(
                    block(
                        dim, heads, window_size=window_size,
                        shift_size=half if position % 2 else whole, mlp_ratio=mlp_ratio,
                        dropout=dropout, attention_dropout=attention_dropout,
                        stochastic_depth_prob=stochastic_depth_prob * share, norm_layer=norm,
                    )
                )  # fmt: skip
                number += 1
            layers.append(nn.Sequential(*blocks))
        self.features = nn.Sequential(*layers)
        self.norm = norm(dim)
        self.permute = Permute((0, 3, 1, 2))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(dim, num_classes)
        truncated_linear(self)

    def forward(self, x: Tensor) -> Any:
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


def _network(
    second: bool, width: int, deep: int, heads: int, depth_prob: float, options: dict[str, Any]
) -> SwinTransformer:
    given: dict[str, Any] = {"stochastic_depth_prob": depth_prob}
    if second:
        given |= {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2}
    window = 8 if second else 7
    return SwinTransformer(
        (4, 4), width, (2, 2, deep, 2), (heads, 2 * heads, 4 * heads, 8 * heads), (window, window),
        **{**given, **options},
    )  # fmt: skip


@published(_PAPER)
def swin_t(**options: Any) -> SwinTransformer:
    """Swin-T; options as for `SwinTransformer`."""
    return _network(False, 96, 6, 3, 0.2, options)


@published(_PAPER)
def swin_s(**options: Any) -> SwinTransformer:
    """Swin-S; options as for `SwinTransformer`."""
    return _network(False, 96, 18, 3, 0.3, options)


@published(_PAPER)
def swin_b(**options: Any) -> SwinTransformer:
    """Swin-B; options as for `SwinTransformer`."""
    return _network(False, 128, 18, 4, 0.5, options)


@published(_SECOND, 256)
def swin_v2_t(**options: Any) -> SwinTransformer:
    """SwinV2-T; options as for `SwinTransformer`."""
    return _network(True, 96, 6, 3, 0.2, options)


@published(_SECOND, 256)
def swin_v2_s(**options: Any) -> SwinTransformer:
    """SwinV2-S; options as for `SwinTransformer`."""
    return _network(True, 96, 18, 3, 0.3, options)


@published(_SECOND, 256)
def swin_v2_b(**options: Any) -> SwinTransformer:
    """SwinV2-B; options as for `SwinTransformer`."""
    return _network(True, 128, 18, 4, 0.5, options)
