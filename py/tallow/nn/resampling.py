"""Layers that resample, rearrange and border images, and that change shapes."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..core.shape import check_axis, size_of
from ..errors import ShapeError
from ..functional.windows import Size
from ..tensor import Tensor
from .module import Module


class Upsample(Module):
    """Images (n, c, ...) at another size: `functional.interpolate`."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        by_size, scale = self.scale_factor is None, self.scale_factor
        shown = float(scale) if isinstance(scale, int) else scale
        size = f"size={self.size}" if by_size else f"scale_factor={shown}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images (n, c, h, w) to the nearest pixels."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images (n, c, h, w), linear between pixels, with align_corners."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class PixelShuffle(Module):
    """(..., c * r * r, h, w) to (..., c, h * r, w * r): `functional.pixel_shuffle`."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class ChannelShuffle(Module):
    """The channels of (n, c, ...) in another order: `functional.channel_shuffle`."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class PixelUnshuffle(Module):
    """(..., c, h * r, w * r) to (..., c * r * r, h, w): `functional.pixel_unshuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class Unfold(Module):
    """The windows of images (n, c, h, w) as columns: `functional.unfold`."""

    def __init__(
        self, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """Columns added up to images of output_size: `functional.fold`."""

    def __init__(
        self,
        output_size: Size,
        kernel_size: Size,
        dilation: Size = 1,
        padding: Size = 0,
        stride: Size = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return functional.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
        )


class Flatten(Module):
    """The axes from start_dim to end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        rank = max(input.ndim, 1)
        first = check_axis(self.start_dim, rank, "Flatten start_dim")
        last = check_axis(self.end_dim, rank, "Flatten end_dim")
        if last < first:
            raise ShapeError(f"Flatten: axes {first} to {last} of {input.shape}")
        middle = size_of(input.shape[first : last + 1])
        return f.reshape(input, (*input.shape[:first], middle, *input.shape[last + 1 :]))

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis as several, of lengths unflattened_size; one of them may be -1."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        axis = check_axis(self.dim, input.ndim, "Unflatten")
        sizes = list(self.unflattened_size)
        if sizes.count(-1) == 1:
            known = size_of(size for size in sizes if size != -1)
            sizes[sizes.index(-1)] = input.shape[axis] // max(known, 1)
        if size_of(sizes) != input.shape[axis] or min(sizes, default=0) < 0:
            raise ShapeError(f"Unflatten: axis {axis} of {input.shape} as {self.unflattened_size}")
        return f.reshape(input, (*input.shape[:axis], *sizes, *input.shape[axis + 1 :]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
