"""Parts of networks that detect: frozen normalisation, feature pyramids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ... import functions as f
from ...errors import OptionError
from ...functional.pooling import max_pool2d
from ...functional.resampling import interpolate
from ...nn import Conv2d, Module, ModuleList, Sequential
from ...nn.init import kaiming_uniform_
from ...tensor import Tensor


class FrozenBatchNorm2d(Module):
    """Batch normalisation whose statistics and factors stay as they are. num_features: how many
    channels. eps: added to the variance."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        for name, value in (("weight", 1), ("bias", 0), ("running_mean", 0), ("running_var", 1)):
            self.register_buffer(name, f.full((num_features,), float(value)))

    def forward(self, x: Tensor) -> Tensor:
        """(n, c, h, w), normalised."""
        column = (1, -1, 1, 1)
        scale = self.weight * f.rsqrt(self.running_var + self.eps)
        shift = self.bias - self.running_mean * scale
        return x * f.reshape(scale, column) + f.reshape(shift, column)


class LastLevelMaxPool(Module):
    """Adds a level of half the size, "pool", to a feature pyramid."""

    def forward(
        self, x: list[Tensor], y: list[Tensor], names: list[str]
    ) -> tuple[list[Tensor], list[str]]:
        """The levels and their names with one more."""
        return [*x, max_pool2d(x[-1], 1, 2, 0)], [*names, "pool"]


class FeaturePyramidNetwork(Module):
    """Maps of several sizes, each joined with what the smaller ones found (Lin et al. 2017).

    in_channels_list: the channels of each map, the largest map first. out_channels: those of all
    results. extra_blocks: adds levels, such as LastLevelMaxPool(). norm_layer: what normalises
    after each convolution, made of the channels.
    Raises: OptionError for a list without channels.
    """

    def __init__(
        self,
        in_channels_list: Sequence[int],
        out_channels: int,
        extra_blocks: Module | None = None,
        norm_layer: Callable[[int], Module] | None = None,
    ) -> None:
        super().__init__()
        if not in_channels_list or min(in_channels_list) < 1:
            raise OptionError(
                f"FeaturePyramidNetwork: in_channels_list={[*in_channels_list]} has no channels"
            )

        def block(channels: int, kernel: int) -> Sequential:
            bias = norm_layer is None
            layer = Conv2d(channels, out_channels, kernel, padding=kernel // 2, bias=bias)
            kaiming_uniform_(layer.weight, a=1)
            return Sequential(layer, *([] if norm_layer is None else [norm_layer(out_channels)]))

        self.inner_blocks = ModuleList([block(each, 1) for each in in_channels_list])
        self.layer_blocks = ModuleList([block(out_channels, 3) for _ in in_channels_list])
        self.extra_blocks = extra_blocks

    def forward(self, x: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Maps by their names, the largest first: as many, and those of extra_blocks. Raises
        OptionError for another number of maps."""
        names, maps = [*x.keys()], [*x.values()]
        if len(maps) != len(self.inner_blocks):
            raise OptionError(
                f"FeaturePyramidNetwork: {len(maps)} maps for {len(self.inner_blocks)} levels"
            )
        inner = self.inner_blocks[-1](maps[-1])
        results = [self.layer_blocks[-1](inner)]
        for level in range(len(maps) - 2, -1, -1):
            lateral = self.inner_blocks[level](maps[level])
            inner = lateral + interpolate(inner, lateral.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[level](inner))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, maps, names)
        return dict(zip(names, results, strict=True))
