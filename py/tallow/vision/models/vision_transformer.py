"""Vision Transformer (Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words"), with torchvision's
names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ... import functions as f
from ... import nn
from ...errors import OptionError, ShapeError
from ...tensor import Tensor
from ..ops.misc import MLP, Conv2dNormActivation
from .parts import Layer, fan_in_truncated
from .registry import published

_PAPER = "Dosovitskiy et al. 2021, arXiv:2010.11929"

_NORM = partial(nn.LayerNorm, eps=1e-6)


class ConvStemConfig(NamedTuple):
    """One of the convolutions that may stand for cutting an image into patches (Xiao et al.
    2021)."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Layer = nn.BatchNorm2d
    activation_layer: Layer = nn.ReLU


class MLPBlock(MLP):
    """Two linear layers with GELU between them."""

    def __init__(self, in_dim: int, mlp_dim: int, dropout: float) -> None:
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.normal_(module.bias, std=1e-6)


class EncoderBlock(nn.Module):
    """Attention and two linear layers, before each a normalisation, and each added to its input:
    (n, tokens, hidden_dim) to the same."""

    def __init__(
        self,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Layer = _NORM,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(
            hidden_dim, num_heads, dropout=attention_dropout, batch_first=True
        )
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input: Tensor) -> Any:
        x = self.ln_1(input)
        attended, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(attended) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    """Adds what each position has learnt, and has num_layers blocks: (n, seq_length, hidden_dim) to
    the same."""

    def __init__(
        self,
        seq_length: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float,
        attention_dropout: float,
        norm_layer: Layer = _NORM,
    ) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(f.zeros((1, seq_length, hidden_dim)))
        nn.init.normal_(self.pos_embedding, std=0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential({
            f"encoder_layer_{number}": EncoderBlock(
                num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
            )
            for number in range(num_layers)
        })  # fmt: skip
        self.ln = norm_layer(hidden_dim)

    def forward(self, input: Tensor) -> Any:
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    """Images (n, 3, image_size, image_size) to scores (n, num_classes), by way of patches of
    patch_size x patch_size pixels.

    num_layers, num_heads, hidden_dim, mlp_dim: of the encoder. dropout, attention_dropout: the
    probabilities in it. representation_size: elements of a layer before the last, as in the
    paper's pre-training; None has no such layer. conv_stem_configs: convolutions that stand for
    cutting the image into patches, with the same size of result. Raises OptionError if patches do
    not divide the image, ShapeError for images of another size."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_layers: int,
        num_heads: int,
        hidden_dim: int,
        mlp_dim: int,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        num_classes: int = 1000,
        representation_size: int | None = None,
        norm_layer: Layer = _NORM,
        conv_stem_configs: Sequence[ConvStemConfig] | None = None,
    ) -> None:
        super().__init__()
        if image_size % patch_size:
            raise OptionError(
                f"VisionTransformer: patches of {patch_size} pixels do not divide an image of "
                f"{image_size}"
            )
        self.image_size, self.patch_size, self.hidden_dim = image_size, patch_size, hidden_dim
        self.mlp_dim, self.dropout, self.attention_dropout = mlp_dim, dropout, attention_dropout
        self.num_classes, self.representation_size = num_classes, representation_size
        self.norm_layer = norm_layer
        self.conv_proj = self._projection(conv_stem_configs)
        self.class_token = nn.Parameter(f.zeros((1, 1, hidden_dim)))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(
            self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
            norm_layer,
        )  # fmt: skip
        heads: dict[str, nn.Module] = {}
        if representation_size is not None:
            heads = {"pre_logits": nn.Linear(hidden_dim, representation_size), "act": nn.Tanh()}
            fan_in_truncated(heads["pre_logits"])
        last = nn.Linear(representation_size or hidden_dim, num_classes)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.heads = nn.Sequential({**heads, "head": last})

    def _projection(self, stem: Sequence[ConvStemConfig] | None) -> nn.Module:
        if stem is None:
            cut = nn.Conv2d(3, self.hidden_dim, self.patch_size, self.patch_size)
            fan_in_truncated(cut)
            return cut
        layers: dict[str, nn.Module] = {}
        channels = 3
        for number, each in enumerate(stem):
            layers[f"conv_bn_relu_{number}"] = Conv2dNormActivation(
                channels, each.out_channels, each.kernel_size, each.stride,
                norm_layer=each.norm_layer, activation_layer=each.activation_layer,
            )  # fmt: skip
            channels = each.out_channels
        layers["conv_last"] = nn.Conv2d(channels, self.hidden_dim, 1)
        nn.init.normal_(layers["conv_last"].weight, std=(2.0 / self.hidden_dim) ** 0.5)
        nn.init.zeros_(layers["conv_last"].bias)
        return nn.Sequential(layers)

    def forward(self, x: Tensor) -> Any:
        side = self.image_size
        if x.ndim != 4 or x.shape[2:] != (side, side):
            raise ShapeError(f"VisionTransformer: {x.shape} for images (n, 3, {side}, {side})")
        patches = self.conv_proj(x)
        tokens = f.permute_dims(patches.flatten(2), (0, 2, 1))
        # A concatenation would need the token once for each image, and so their number in a file.
        behind = f.pad(tokens, [(0, 0), (1, 0), (0, 0)])
        before = f.pad(self.class_token, [(0, 0), (0, self.seq_length - 1), (0, 0)])
        return self.heads(self.encoder(behind + before)[:, 0])


def _network(
    patch: int, layers: int, heads: int, hidden: int, mlp: int, options: dict[str, Any]
) -> VisionTransformer:
    """image_size: the side of images, in pixels."""
    return VisionTransformer(
        options.pop("image_size", 224), patch, layers, heads, hidden, mlp, **options
    )


@published(_PAPER)
def vit_b_16(**options: Any) -> VisionTransformer:
    """ViT-B with patches of 16 x 16; options as for `VisionTransformer`."""
    return _network(16, 12, 12, 768, 3072, options)


@published(_PAPER)
def vit_b_32(**options: Any) -> VisionTransformer:
    """ViT-B with patches of 32 x 32; options as for `VisionTransformer`."""
    return _network(32, 12, 12, 768, 3072, options)


@published(_PAPER)
def vit_l_16(**options: Any) -> VisionTransformer:
    """ViT-L with patches of 16 x 16; options as for `VisionTransformer`."""
    return _network(16, 24, 16, 1024, 4096, options)


@published(_PAPER)
def vit_l_32(**options: Any) -> VisionTransformer:
    """ViT-L with patches of 32 x 32; options as for `VisionTransformer`."""
    return _network(32, 24, 16, 1024, 4096, options)


@published(_PAPER)
def vit_h_14(**options: Any) -> VisionTransformer:
    """ViT-H with patches of 14 x 14; options as for `VisionTransformer`."""
    return _network(14, 32, 16, 1280, 5120, options)
