"""Convolutions and their transposes, with PyTorch's parameters and initial values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from .. import functional
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional.windows import Size, named_pads, numbers
from ..tensor import Tensor
from . import init
from .module import Module
from .parameter import Parameter

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Module):
    """What all convolutions share: weight and bias. `axes` is the number of spatial axes."""

    axes: ClassVar[int]
    compute: ClassVar[Callable[..., Tensor]]

    def _prepare(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        dilation: Size,
        groups: int,
        padding_mode: str,
    ) -> None:
        name = type(self).__name__
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ShapeError(
                f"{name}: {in_channels} and {out_channels} channels do not divide into {groups} "
                "groups"
            )
        if padding_mode not in PADDING_MODES:
            raise OptionError(
                f"{name}: padding_mode {padding_mode!r} is not one of {', '.join(PADDING_MODES)}"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = numbers(kernel_size, self.axes, f"{name} kernel_size")
        self.stride = numbers(stride, self.axes, f"{name} stride")
        self.dilation = numbers(dilation, self.axes, f"{name} dilation")
        self.padding_mode = padding_mode

    def _fill(
        self, first: int, second: int, bias: bool, device: str | None, dtype: str | None
    ) -> None:
        """Makes weight (first, second, *kernel) and bias."""
        self.weight = Parameter(f.zeros((first, second, *self.kernel_size), dtype), device=device)
        if bias:
            self.bias = Parameter(f.zeros((self.out_channels,), dtype), device=device)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values, as in PyTorch: evenly within 1 / sqrt(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan, _ = init.fans(self.weight.shape)
            bound = 1 / math.sqrt(fan) if fan else 0.0
            init.uniform_(self.bias, -bound, bound)

    def _settings(self) -> list[str]:
        return [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]

    def _rest(self) -> list[str]:
        found = []
        if self.dilation != (1,) * self.axes:
            found.append(f"dilation={self.dilation}")
        if self.groups != 1:
            found.append(f"groups={self.groups}")
        if self.bias is None:
            found.append("bias=False")
        if self.padding_mode != "zeros":
            found.append(f"padding_mode={self.padding_mode}")
        return found


class _Conv(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self._prepare(
            in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode
        )
        name = type(self).__name__
        self.padding: str | tuple[int, ...] = (
            padding if isinstance(padding, str)
            else numbers(padding, self.axes, f"{name} padding", 0)
        )  # fmt: skip
        self._pads = named_pads(self.padding, self.kernel_size, self.stride, self.dilation, name)
        self._fill(out_channels, in_channels // groups, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        compute = type(self).compute
        padding: Size | str = self.padding
        if self.padding_mode != "zeros" and any(map(any, self._pads)):
            widths = [width for pair in reversed(self._pads) for width in pair]
            input, padding = functional.pad(input, widths, self.padding_mode), 0
        return compute(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        padding = self.padding
        shown = [] if padding == (0,) * self.axes else [f"padding={padding}"]
        return ", ".join([*self._settings(), *shown, *self._rest()])


class Conv1d(_Conv):
    """Cross-correlation of (n, in_channels, l), or without n.

    padding: a number, one for each axis, "valid" or "same"; padding_mode: "zeros", "reflect",
    "replicate" or "circular". Raises ShapeError or OptionError for options that do not fit.
    """

    axes = 1
    compute = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Cross-correlation of (n, in_channels, h, w), or without n.

    padding: a number, one for each axis, "valid" or "same"; padding_mode: "zeros", "reflect",
    "replicate" or "circular". Raises ShapeError or OptionError for options that do not fit.
    """

    axes = 2
    compute = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Cross-correlation of (n, in_channels, d, h, w), or without n.

    padding: a number, one for each axis, "valid" or "same"; padding_mode: "zeros", "reflect",
    "replicate" or "circular". Raises ShapeError or OptionError for options that do not fit.
    """

    axes = 3
    compute = staticmethod(functional.conv3d)


class _ConvTranspose(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: str = "zeros",
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if padding_mode != "zeros":
            raise OptionError(f"{name}: padding_mode must be 'zeros', not {padding_mode!r}")
        self._prepare(
            in_channels, out_channels, kernel_size, stride, dilation, groups, padding_mode
        )
        self.padding = numbers(padding, self.axes, f"{name} padding", 0)
        self.output_padding = numbers(output_padding, self.axes, f"{name} output_padding", 0)
        self._fill(in_channels, out_channels // groups, bias, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        return type(self).compute(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """The output_padding that gives a wanted size, of the spatial axes or of all."""
        wanted = tuple(output_size)[-self.axes :]
        sizes = input.shape[-self.axes :]
        rows = zip(sizes, self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in rows]
        extra = tuple(size - low for size, low in zip(wanted, least, strict=True))
        if any(not 0 <= more < step for more, step in zip(extra, self.stride, strict=True)):
            most = [low + step - 1 for low, step in zip(least, self.stride, strict=True)]
            raise ShapeError(
                f"{type(self).__name__}: output_size {wanted} from an input {input.shape} must lie "
                f"between {tuple(least)} and {tuple(most)}"
            )
        return extra

    def extra_repr(self) -> str:
        shown = []
        for name in ("padding", "output_padding"):
            if any(getattr(self, name)):
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join([*self._settings(), *shown, *self._rest()])


class ConvTranspose1d(_ConvTranspose):
    """The transpose of `Conv1d`: of (n, in_channels, l), or without n.

    output_padding: how much longer the result is than the shortest one from which the convolution
    gives the input's size; `forward` takes output_size instead. Errors as for `Conv1d`.
    """

    axes = 1
    compute = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The transpose of `Conv2d`: of (n, in_channels, h, w), or without n.

    output_padding: how much longer the result is than the shortest one from which the convolution
    gives the input's size; `forward` takes output_size instead. Errors as for `Conv2d`.
    """

    axes = 2
    compute = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """The transpose of `Conv3d`: of (n, in_channels, d, h, w), or without n.

    output_padding: how much longer the result is than the shortest one from which the convolution
    gives the input's size; `forward` takes output_size instead. Errors as for `Conv3d`.
    """

    axes = 3
    compute = staticmethod(functional.conv_transpose3d)


class DeformConv2d(_Convolution):
    """Deformable convolution (Dai et al. 2017), as torchvision.ops.DeformConv2d: of input
    (n, in_channels, h, w), offset (n, 2 * parts * kh * kw, oh, ow) and, if given, mask
    (n, parts * kh * kw, oh, ow). Raises ShapeError for shapes that do not fit."""

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self._prepare(in_channels, out_channels, kernel_size, stride, dilation, groups, "zeros")
        self.padding = numbers(padding, 2, "DeformConv2d padding", 0)
        self._fill(out_channels, in_channels // groups, bias, None, None)

    def forward(self, input: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        return functional.deform_conv2d(
            input, offset, self.weight, self.bias, self.stride, self.padding, self.dilation, mask
        )

    def extra_repr(self) -> str:
        shown = [f"padding={self.padding}"] if any(self.padding) else []
        return ", ".join([*self._settings(), *shown, *self._rest()])
