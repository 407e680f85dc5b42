"""Pooling layers, under PyTorch's names and with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import functional
from ..functional.adaptive import Lengths
from ..functional.windows import Size
from ..tensor import Tensor
from .module import Module


class _MaxPool(Module):
    compute: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self).compute(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of (n, c, l), or without n: `functional.max_pool1d`.

    stride: kernel_size if None. return_indices: gives (values, indices), for unpooling."""

    compute = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest element of each window of (n, c, h, w), or without n: `functional.max_pool2d`.

    stride: kernel_size if None. return_indices: gives (values, indices), for unpooling."""

    compute = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest element of each window of (n, c, d, h, w), or without n: `functional.max_pool3d`.

    stride: kernel_size if None. return_indices: gives (values, indices), for unpooling."""

    compute = staticmethod(functional.max_pool3d)


class _MaxUnpool(Module):
    compute: ClassVar[Callable[..., Tensor]]

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0) -> None:
        super().__init__()
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        return type(self).compute(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Puts what MaxPool1d gave back to where it was: `functional.max_unpool1d`."""

    compute = staticmethod(functional.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Puts what MaxPool2d gave back to where it was: `functional.max_unpool2d`."""

    compute = staticmethod(functional.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Puts what MaxPool3d gave back to where it was: `functional.max_unpool3d`."""

    compute = staticmethod(functional.max_unpool3d)


class _LPPool(Module):
    compute: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Size,
        stride: Size | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return type(self).compute(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The p-norm of each window of (n, c, l), or without n: `functional.lp_pool1d`."""

    compute = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool):
    """The p-norm of each window of (n, c, h, w), or without n: `functional.lp_pool2d`."""

    compute = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool):
    """The p-norm of each window of (n, c, d, h, w), or without n: `functional.lp_pool3d`."""

    compute = staticmethod(functional.lp_pool3d)


class AvgPool1d(Module):
    """The mean of each window of (n, c, l), or without n: `functional.avg_pool1d`."""

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.ceil_mode = kernel_size, padding, ceil_mode
        self.stride = kernel_size if stride is None else stride
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        values = [
            each if isinstance(each, tuple) else (each,)
            for each in (self.kernel_size, self.stride, self.padding)
        ]
        return "kernel_size={}, stride={}, padding={}".format(*values)


class _AvgPool(Module):
    compute: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.ceil_mode = kernel_size, padding, ceil_mode
        self.stride = kernel_size if stride is None else stride
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return type(self).compute(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window of (n, c, h, w), or without n: `functional.avg_pool2d`."""

    compute = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of (n, c, d, h, w), or without n: `functional.avg_pool3d`."""

    compute = staticmethod(functional.avg_pool3d)


class _AdaptiveAvgPool(Module):
    compute: ClassVar[Callable[..., Tensor]]

    def __init__(self, output_size: Lengths) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return type(self).compute(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptiveAvgPool):
    def __init__(self, output_size: Lengths, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self).compute(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of (n, c, l), or without n, to output_size:
    `functional.adaptive_avg_pool1d`."""

    compute = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of (n, c, h, w), or without n, to output_size:
    `functional.adaptive_avg_pool2d`."""

    compute = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means of (n, c, d, h, w), or without n, to output_size:
    `functional.adaptive_avg_pool3d`."""

    compute = staticmethod(functional.adaptive_avg_pool3d)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of (n, c, l), or without n, to output_size:
    `functional.adaptive_max_pool1d`."""

    compute = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of (n, c, h, w), or without n, to output_size:
    `functional.adaptive_max_pool2d`."""

    compute = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of (n, c, d, h, w), or without n, to output_size:
    `functional.adaptive_max_pool3d`."""

    compute = staticmethod(functional.adaptive_max_pool3d)
