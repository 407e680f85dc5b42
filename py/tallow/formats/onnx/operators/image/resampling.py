"""Resize and Upsample: axis by axis, gathers at places and with weights worked out on the host."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..... import dtype as dt
from ..... import functions as f
from .....dtype import DType
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....hostarray import from_values
from .....shape import check_axis
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator
from ..nn.spatial import working
from . import resampling_tables as tables
from .resampling_tables import Axis

_LONGEST = 1 << 18
"""Entries of the tables of one axis, which take a second then."""

_UNROLLED = 4
"""Taps that are summed one by one; more are gathered together and reduced."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """How values between elements are made up."""

    mode: str
    nearest: str = "floor"
    kernel: str = "linear"
    cubic_a: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False


def _resized(x: Tensor, axes: dict[int, Axis], how: _Filter, outside: float = 0.0) -> Tensor:
    """x with each axis resized. outside: what stands beyond the ends of a cropped axis.

    Raises OnnxFormatError for an empty axis, OnnxUnsupportedError for tables that are too long.
    """
    changed = {place: axis for place, axis in axes.items() if axis.changes}
    for place, axis in changed.items():
        reach = 2 if how.mode == "cubic" else 1
        if not axis.before and axis.after:
            raise OnnxFormatError(f"axis {place} of {x.shape} is empty and has nothing to show")
        if axis.after and tables.longest(axis, reach, how.antialias) > _LONGEST:
            raise OnnxUnsupportedError(f"axis {place} of {x.shape} resized to {axis.after}")
    sizes = tuple(axes[place].after if place in axes else dim for place, dim in enumerate(x.shape))
    if 0 in sizes:
        return f.zeros(sizes, x.dtype)
    kind = x.dtype
    if how.mode != "nearest":
        x = working(x)
    cheapest = sorted(changed, key=lambda place: changed[place].after / changed[place].before)
    for place in cheapest:
        axis = changed[place]
        if how.mode == "nearest":
            x = f.take(x, _indices(tables.nearest(axis, how.nearest), (axis.after,)), place)
        else:
            x = _weighted(x, place, axis, how)
    beyond: Tensor | None = None
    for place, axis in changed.items():
        if axis.transformation == "tf_crop_and_resize" and any(axis.outside()):
            line = [1] * x.ndim
            line[place] = axis.after
            there = asarray(from_values(axis.outside(), tuple(line), dt.bool_))
            beyond = there if beyond is None else f.logical_or(beyond, there)
    if beyond is not None:
        x = f.where(beyond, asarray(outside).astype(x.dtype), x)
    if kind.is_integer and (how.mode == "cubic" or how.antialias):
        x = _whole(x, kind)
    return x.astype(kind)


def _whole(x: Tensor, kind: DType) -> Tensor:
    """Rounded, and held within the integers: these kernels reach beyond what they weigh."""
    if kind.size > 2:  # no picture has values so large
        return f.round(x)
    count = 1 << 8 * kind.size
    least = -count // 2 if kind.kind == "i" else 0
    return f.clip(f.round(x), least, least + count - 1)


def _indices(places: list[int], shape: tuple[int, ...]) -> Tensor:
    return asarray(from_values(places, shape, dt.int32))


def _weighted(x: Tensor, place: int, axis: Axis, how: _Filter) -> Tensor:
    cubic = how.mode == "cubic"
    kernel = tables.cubic(how.cubic_a) if cubic else tables.linear
    reach = 2 if cubic else 1
    taps = tables.interpolated(axis, kernel, reach, how.antialias, how.exclude_outside)
    line = [1] * x.ndim
    if taps.count > _UNROLLED:
        shape = (axis.after, taps.count)
        line[place : place + 1] = shape
        weights = asarray(from_values(taps.weights, tuple(line), x.dtype))
        return f.sum(f.take(x, _indices(taps.places, shape), place) * weights, place + 1)
    line[place] = axis.after
    total: Tensor | None = None
    for tap in range(taps.count):
        weight = from_values(taps.weights[tap :: taps.count], tuple(line), x.dtype)
        shown = f.take(x, _indices(taps.places[tap :: taps.count], (axis.after,)), place)
        part = shown * asarray(weight)
        total = part if total is None else total + part
    assert total is not None
    return total


def _numbers(call: Call, tensor: Tensor | None, what: str) -> list[float] | None:
    """The elements of an optional input; one without elements counts as absent."""
    if tensor is None or not tensor.size:
        return None
    if tensor.ndim != 1:
        raise OnnxFormatError(f"{what} must be a list of numbers, its shape is {tensor.shape}")
    values = [float(value) for value in call.known(tensor, what).flat()]
    if not all(map(math.isfinite, values)):
        raise OnnxFormatError(f"{what} {values}")
    return values


def _scaled(before: int, scale: float, transformation: str, roi: tuple[float, float]) -> Axis:
    """An axis resized by a factor; of a cropped one, the part that is shown."""
    share = roi[1] - roi[0] if transformation == "tf_crop_and_resize" else 1.0
    if not 0 < scale < _LONGEST or not share >= 0:
        raise OnnxFormatError(f"an axis of {before} resized by {scale}, from {roi[0]} to {roi[1]}")
    exact = tables.single(tables.single(before * share) * scale)
    return Axis(before, math.floor(exact), scale, before * scale, transformation, roi)


@operator("Upsample")
def upsample(call: Call, x: Tensor, scales: Tensor | None = None) -> Tensor:
    mode = call.choice("mode", "nearest", "linear")
    if scales is None:
        factors: Sequence[float] = call.get("scales", tuple)
    else:
        factors = _numbers(call, scales, "scales") or ()
    return _by_factors(x, factors, mode)


def _by_factors(x: Tensor, factors: Sequence[float], mode: str) -> Tensor:
    """As before opset 11: no coordinate transformation; the nearest is the one before, or when an
    axis shrinks, the one behind (the standard does not say; it is what onnxruntime does)."""
    if len(factors) != x.ndim:
        raise OnnxFormatError(f"scales {tuple(factors)} for the {x.ndim} axes of {x.shape}")
    for place, factor in enumerate(factors):
        axis = _scaled(x.shape[place], tables.single(factor), "asymmetric", (0.0, 1.0))
        x = _resized(x, {place: axis}, _Filter(mode, "ceil" if factor < 1 else "floor"))
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
        raise OnnxFormatError("it needs scales or sizes, not both, for axes that differ")
    if len(factors or lengths or ()) != len(axes):
        raise OnnxFormatError(f"{factors or lengths} for {len(axes)} axes of {x.shape}")
    resized = {}
    if factors is not None:
        for place, factor, part in zip(axes, factors, parts, strict=True):
            resized[place] = _scaled(x.shape[place], tables.single(factor), transformation, part)
    else:
        found = _to_lengths(x, axes, lengths or [], policy)
        for place, (after, scale), part in zip(axes, found, parts, strict=True):
            before = x.shape[place]
            # One scale for all axes leaves fractions; align_corners counts the elements.
            whole = policy == "stretch" or transformation == "align_corners"
            exact = after if whole else before * scale
            resized[place] = Axis(before, after, scale, exact, transformation, part)
    return _resized(x, resized, how, outside)


def _to_lengths(
    x: Tensor, axes: list[int], lengths: list[float], policy: str
) -> list[tuple[int, float]]:
    """(after, scale) of each axis; the policy may ask for one scale for all of them."""
    pairs = [(x.shape[place], int(length)) for place, length in zip(axes, lengths, strict=True)]
    if any(before < 1 or not 0 <= after < _LONGEST for before, after in pairs):
        raise OnnxFormatError(f"sizes {lengths} for axes {axes} of {x.shape}")
    if policy == "stretch":
        return [(after, tables.single(after / before)) for before, after in pairs]
    extreme = min if policy == "not_larger" else max
    scale = extreme(after / before for before, after in pairs)
    return [(math.floor(scale * before + 0.5), tables.single(scale)) for before, _ in pairs]
