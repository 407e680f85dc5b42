"""Resize and Upsample: gathers along one axis at a time; the host computes indices and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....core.hostarray import from_values
from .....core.shape import check_axis
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator
from ..nn.spatial import working
from . import resampling_tables as tables
from .resampling_tables import Axis

_MAX_ENTRIES = 1 << 18
"""Entries in the tables of one axis. The largest ones take a second to compute."""

_UNROLLED = 4
"""Up to this many taps are summed one by one; more are gathered together and reduced."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """How values between elements are interpolated."""

    mode: str
    nearest: str = "floor"
    kernel: str = "linear"
    cubic_a: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False


def _resized(x: Tensor, axes: dict[int, Axis], how: _Filter, outside: float = 0.0) -> Tensor:
    """x with each axis resized. outside: the value beyond the ends of a cropped axis.

    Raises OnnxFormatError for an empty axis, OnnxUnsupportedError for tables that are too long.
    """
    changed = {number: axis for number, axis in axes.items() if axis.changes}
    for number, axis in changed.items():
        reach = 2 if how.mode == "cubic" else 1
        if not axis.before and axis.after:
            raise OnnxFormatError(f"axis {number} of {x.shape} is empty and can't be resized")
        if axis.after and tables.longest(axis, reach, how.antialias) > _MAX_ENTRIES:
            raise OnnxUnsupportedError(
                f"axis {number} of {x.shape} resized to {axis.after} is too large"
            )
    sizes = tuple(axes[i].after if i in axes else dim for i, dim in enumerate(x.shape))
    if 0 in sizes:
        return f.zeros(sizes, x.dtype)
    kind = x.dtype
    if how.mode != "nearest":
        x = working(x)
    cheapest = sorted(changed, key=lambda number: changed[number].after / changed[number].before)
    for number in cheapest:
        axis = changed[number]
        if how.mode == "nearest":
            x = f.take(x, _indices(tables.nearest(axis, how.nearest), (axis.after,)), number)
        else:
            x = _weighted(x, number, axis, how)
    beyond: Tensor | None = None
    for number, axis in changed.items():
        if axis.transformation == "tf_crop_and_resize" and any(axis.outside()):
            line = [1] * x.ndim
            line[number] = axis.after
            mask = asarray(from_values(axis.outside(), tuple(line), dt.bool_))
            beyond = mask if beyond is None else f.logical_or(beyond, mask)
    if beyond is not None:
        x = f.where(beyond, asarray(outside).astype(x.dtype), x)
    if kind.is_integer and (how.mode == "cubic" or how.antialias):
        x = _whole(x, kind)
    return x.astype(kind)


def _whole(x: Tensor, kind: DType) -> Tensor:
    """Rounded and clamped to the integer type: these kernels can overshoot."""
    if kind.size > 2:  # no picture has values that large
        return f.round(x)
    count = 1 << 8 * kind.size
    minimum = -count // 2 if kind.kind == "i" else 0
    return f.clip(f.round(x), minimum, minimum + count - 1)


def _indices(values: list[int], shape: tuple[int, ...]) -> Tensor:
    return asarray(from_values(values, shape, dt.int32))


def _weighted(x: Tensor, number: int, axis: Axis, how: _Filter) -> Tensor:
    cubic = how.mode == "cubic"
    kernel = tables.cubic(how.cubic_a) if cubic else tables.linear
    reach = 2 if cubic else 1
    taps = tables.interpolated(axis, kernel, reach, how.antialias, how.exclude_outside)
    line = [1] * x.ndim
    if taps.count > _UNROLLED:
        shape = (axis.after, taps.count)
        line[number : number + 1] = shape
        weights = asarray(from_values(taps.weights, tuple(line), x.dtype))
        return f.sum(f.take(x, _indices(taps.indices, shape), number) * weights, number + 1)
    line[number] = axis.after
    total: Tensor | None = None
    for tap in range(taps.count):
        weight = from_values(taps.weights[tap :: taps.count], tuple(line), x.dtype)
        taken = f.take(x, _indices(taps.indices[tap :: taps.count], (axis.after,)), number)
        part = taken * asarray(weight)
        total = part if total is None else total + part
    assert total is not None
    return total


def _numbers(call: Call, tensor: Tensor | None, what: str) -> list[float] | None:
    """The elements of an optional input; one without elements counts as absent."""
    if tensor is None or not tensor.size:
        return None
    if tensor.ndim != 1:
        raise OnnxFormatError(f"{what} must be a list of numbers, but its shape is {tensor.shape}")
    values = [float(value) for value in call.known(tensor, what).flat()]
    if not all(map(math.isfinite, values)):
        raise OnnxFormatError(f"{what} must be finite, not {values}")
    return values


def _scaled(before: int, scale: float, transformation: str, roi: tuple[float, float]) -> Axis:
    """An axis resized by a factor; roi: the part of a cropped axis that is kept."""
    share = roi[1] - roi[0] if transformation == "tf_crop_and_resize" else 1.0
    if not 0 < scale < _MAX_ENTRIES or not share >= 0:
        raise OnnxFormatError(
            f"an axis of {before} can't be resized by {scale}, from {roi[0]} to {roi[1]}"
        )
    length = tables.single(tables.single(before * share) * scale)
    return Axis(before, math.floor(length), scale, before * scale, transformation, roi)


@operator("Upsample")
def _upsample(call: Call, x: Tensor, scales: Tensor | None = None) -> Tensor:
    mode = call.choice("mode", "nearest", "linear")
    if scales is None:
        factors: Sequence[float] = call.get("scales", tuple)
    else:
        factors = _numbers(call, scales, "scales") or ()
    return _by_factors(x, factors, mode)


def _by_factors(x: Tensor, factors: Sequence[float], mode: str) -> Tensor:
    """Resizing before opset 11, without coordinate transformations. The nearest element is the one
    before, or the one after if an axis shrinks (as in onnxruntime; the standard does not say)."""
    if len(factors) != x.ndim:
        raise OnnxFormatError(f"scales {tuple(factors)} for the {x.ndim} axes of {x.shape}")
    for number, factor in enumerate(factors):
        axis = _scaled(x.shape[number], tables.single(factor), "asymmetric", (0.0, 1.0))
        x = _resized(x, {number: axis}, _Filter(mode, "ceil" if factor < 1 else "floor"))
    return x


@operator("Resize", since=10)
def resize(
    call: Call,
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
) -> Tensor:
    """Before opset 11 the second input is the scales."""
    mode = call.choice("mode", "nearest", "linear", "cubic")
    if call.opset < 11:
        return _by_factors(x, _numbers(call, roi, "scales") or (), mode)
    transformation = call.choice("coordinate_transformation_mode", *tables.TRANSFORMATIONS)
    how = _Filter(
        mode,
        call.choice("nearest_mode", *tables.NEAREST),
        cubic_a=call.get("cubic_coeff_a", float, -0.75),
        antialias=call.flag("antialias") and mode != "nearest",
        exclude_outside=call.flag("exclude_outside"),
    )
    outside = call.get("extrapolation_value", float, 0.0)
    chosen = call.ints("axes", None) or tuple(range(x.ndim))
    axes = [check_axis(axis, x.ndim, "resize") for axis in chosen]
    policy = call.choice("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
    parts = [(0.0, 1.0)] * len(axes)
    if transformation == "tf_crop_and_resize":
        ends = _numbers(call, roi, "roi") or []
        if len(ends) != 2 * len(axes):
            raise OnnxFormatError(f"roi {ends} for {len(axes)} axes of {x.shape}")
        parts = [(ends[i], ends[i + len(axes)]) for i in range(len(axes))]
    factors, lengths = _numbers(call, scales, "scales"), _numbers(call, sizes, "sizes")
    if (factors is None) == (lengths is None) or len(set(axes)) != len(axes):
        raise OnnxFormatError("it needs either scales or sizes, and distinct axes")
    if len(factors or lengths or ()) != len(axes):
        raise OnnxFormatError(f"{factors or lengths} for {len(axes)} axes of {x.shape}")
    resized = {}
    if factors is not None:
        for axis, factor, part in zip(axes, factors, parts, strict=True):
            resized[axis] = _scaled(x.shape[axis], tables.single(factor), transformation, part)
    else:
        found = _to_lengths(x, axes, lengths or [], policy)
        for axis, (after, scale), part in zip(axes, found, parts, strict=True):
            before = x.shape[axis]
            # One scale for all axes leaves fractions; align_corners uses the number of elements.
            whole = policy == "stretch" or transformation == "align_corners"
            unrounded = after if whole else before * scale
            resized[axis] = Axis(before, after, scale, unrounded, transformation, part)
    return _resized(x, resized, how, outside)


def _to_lengths(
    x: Tensor, axes: list[int], lengths: list[float], policy: str
) -> list[tuple[int, float]]:
    """(after, scale) of each axis; the policy may require one scale for all of them."""
    pairs = [(x.shape[axis], int(length)) for axis, length in zip(axes, lengths, strict=True)]
    if any(before < 1 or not 0 <= after < _MAX_ENTRIES for before, after in pairs):
        raise OnnxFormatError(f"sizes {lengths} for axes {axes} of {x.shape}")
    if policy == "stretch":
        return [(after, tables.single(after / before)) for before, after in pairs]
    extreme = min if policy == "not_larger" else max
    scale = extreme(after / before for before, after in pairs)
    return [(math.floor(scale * before + 0.5), tables.single(scale)) for before, _ in pairs]
