"""torch.nn.functional: Tallow's functions, losses with PyTorch's order of arguments, and older
names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import tallow.functional as _functional
import tallow.nn.functional as _networks
from tallow.nn.functional import *  # noqa: F403

from ...core.dtype import DType
from ...tensor import Tensor
from ..rooms import missing
from . import losses as _losses

Lengths = int | Sequence[int] | None
Factors = float | Sequence[float] | None

globals().update(_losses.FUNCTIONS)

celu_, elu_, hardtanh_ = _networks.celu_, _networks.elu_, _networks.hardtanh_
leaky_relu_, relu_, rrelu_ = _networks.leaky_relu_, _networks.relu_, _networks.rrelu_
selu_, threshold_ = _networks.selu_, _networks.threshold_
multi_head_attention_forward = _networks.multi_head_attention_forward


def tanh(input: Tensor) -> Tensor:  # type: ignore[no-redef]
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:  # type: ignore[no-redef]
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def _axis(what: str, ndim: int, dim: int | None) -> int:
    """The axis of a softmax; without one, PyTorch's choice for old programs."""
    if dim is not None:
        return dim
    warnings.warn(f"{what}: give dim; it is chosen by the number of axes", stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(  # type: ignore[no-redef]
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | str | None = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis; without dim, 0 for one or three axes, 1 otherwise."""
    return input.softmax(_axis("softmax", input.ndim, dim), dtype)


def log_softmax(  # type: ignore[no-redef]
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | str | None = None
) -> Tensor:
    """log(softmax(x)) along an axis; without dim, 0 for one or three axes, 1 otherwise."""
    return input.log_softmax(_axis("log_softmax", input.ndim, dim), dtype)


def softmin(  # type: ignore[no-redef]
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | str | None = None
) -> Tensor:
    """softmax(-x) along an axis; without dim, 0 for one or three axes, 1 otherwise."""
    return (-input).softmax(_axis("softmin", input.ndim, dim), dtype)


def upsample(
    input: Tensor,
    size: Lengths = None,
    scale_factor: Factors = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of `interpolate`."""
    return _functional.interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Lengths = None, scale_factor: Factors = None) -> Tensor:
    """`interpolate` with mode="nearest"."""
    return _functional.interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Lengths = None, scale_factor: Factors = None) -> Tensor:
    """`interpolate` with mode="bilinear" and aligned corners."""
    return _functional.interpolate(input, size, scale_factor, "bilinear", align_corners=True)


def __getattr__(name: str) -> Any:
    if name.endswith("_with_indices"):
        own = getattr(_functional, name.removesuffix("_with_indices"))
        return lambda *args, **options: own(*args, **{**options, "return_indices": True})
    if hasattr(_functional, name):
        return getattr(_functional, name)
    raise missing("torch.nn.functional", name)
