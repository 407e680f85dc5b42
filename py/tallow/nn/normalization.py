"""Normalisation layers, with PyTorch's parameters, buffers and options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .. import functional
from .. import functions as f
from ..errors import ShapeError
from ..tensor import Tensor, asarray
from . import init
from .module import Module
from .parameter import Buffer, Parameter


class _RunningNorm(Module):
    """Weight, bias and running statistics per channel."""

    ranks: ClassVar[tuple[int, ...]]
    """How many axes inputs may have."""

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: str | None,
        dtype: str | None,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(f.zeros((num_features,), dtype), device=device) if wanted else None
            self.register_parameter(name, made)
        for name in ("running_mean", "running_var"):
            tracked = Buffer(f.zeros((num_features,), dtype), device=device)
            self.register_buffer(name, tracked if track_running_stats else None)
        count = Buffer(asarray(0, "int64"), device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Resets the running statistics: mean 0, variance 1, no batches."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            self.num_batches_tracked.assign(asarray(0, "int64"))

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and no running statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input: Tensor) -> None:
        name = type(self).__name__
        if input.ndim not in self.ranks:
            ranks = " or ".join(map(str, self.ranks))
            raise ShapeError(f"{name}: expected an input of {ranks} axes, got {input.shape}")

    def _share(self) -> float | Tensor:
        """By how much running statistics move; counts the batch."""
        if not self.track_running_stats:
            return 0.0 if self.momentum is None else self.momentum
        # A GPU counts in 32 bits, and wants to know that the sum fits.
        count = f.minimum(self.num_batches_tracked, (1 << 31) - 2) + 1
        self.num_batches_tracked.assign_later(count)
        if self.momentum is not None:
            return self.momentum
        share: Tensor = 1.0 / count.astype(self.running_mean.dtype)
        return share

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_RunningNorm):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: str | None = None,
        dtype: str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        if input.shape[1] != self.num_features:
            name = type(self).__name__
            raise ShapeError(f"{name}: input {input.shape} for {self.num_features} features")
        own = self.training or self.running_mean is None
        share = self._share() if self.training else 0.0
        return functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, own, share, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 per channel of (n, c) or (n, c, l), then weight and bias (Ioffe and
    Szegedy 2015): by the batch's statistics while training, by the running ones otherwise.

    momentum: by how much running statistics move towards the batch's; None makes them the means of
    all batches. Raises ShapeError for inputs that do not fit."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 per channel of (n, c, h, w), then weight and bias (Ioffe and Szegedy
    2015): by the batch's statistics while training, by the running ones otherwise.

    momentum: by how much running statistics move towards the batch's; None makes them the means of
    all batches. Raises ShapeError for inputs that do not fit."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Mean 0 and variance 1 per channel of (n, c, d, h, w), then weight and bias (Ioffe and Szegedy
    2015): by the batch's statistics while training, by the running ones otherwise.

    momentum: by how much running statistics move towards the batch's; None makes them the means of
    all batches. Raises ShapeError for inputs that do not fit."""

    ranks = (5,)


class _InstanceNorm(_RunningNorm):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: str | None = None,
        dtype: str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        single = input.ndim == self.ranks[0]
        x = f.expand_dims(input, 0) if single else input
        if x.shape[1] != self.num_features and self.affine:
            name = type(self).__name__
            raise ShapeError(f"{name}: input {input.shape} for {self.num_features} features")
        own = self.training or not self.track_running_stats
        result = functional.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, own,
            self.momentum or 0.0, self.eps,
        )  # fmt: skip
        return f.squeeze(result, 0) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 over each channel of each of (n, c, l), or without n, then weight
    and bias (Ulyanov et al. 2016); options as for `BatchNorm1d`."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 over each channel of each of (n, c, h, w), or without n, then weight
    and bias (Ulyanov et al. 2016); options as for `BatchNorm2d`."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 over each channel of each of (n, c, d, h, w), or without n, then weight
    and bias (Ulyanov et al. 2016); options as for `BatchNorm3d`."""

    ranks = (4, 5)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes, which have normalized_shape, then weight and bias
    (Ba et al. 2016)."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            value = f.zeros(self.normalized_shape, dtype)
            self.register_parameter(name, Parameter(value, device=device) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class RMSNorm(Module):
    """Divides by the root of the mean square over the last axes, which have normalized_shape, then
    multiplies by the weight (Zhang and Sennrich 2019)."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        value = f.zeros(self.normalized_shape, dtype)
        weight = Parameter(value, device=device) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of the channels of (n, c, ...), then weight and bias (Wu
    and He 2018)."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | None = None,
        dtype: str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError(f"GroupNorm: {num_channels} channels in {num_groups} groups")
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = f.zeros((num_channels,), dtype)
            self.register_parameter(name, Parameter(value, device=device) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.affine:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides by the squares of neighbouring channels: `functional.local_response_norm`
    (Krizhevsky et al. 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
