"""Operators that move elements without computing."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft
from ..values import dtype_of
from .registry import draws


def _x(draft: Draft, least: int = 0, most: int = 4, *, zeros: bool = True) -> np.ndarray:
    return draft.array(draft.dtype(), draft.shape(least, most, zeros=zeros))


@draws("movement", "Identity Shape Size")
def plain(draft: Draft) -> Case:
    opset = draft.opset()
    x = _x(draft)
    ends = {}
    if draft.op == "Shape" and opset >= 15:
        ends = {key: draft.integer(-5, 5) for key in ("start", "end") if draft.flag()}
    return draft.result(draft.given(x), slack=0, **ends)


@draws("movement", "Reshape")
def reshape(draft: Draft) -> Case:
    """0 copies a length, or since 14 may mean 0; -1 is inferred."""
    opset = draft.opset()
    x = _x(draft)
    rest = x.size
    shape: list[int] = []
    while rest > 1 and len(shape) < 4:
        divisors = [n for n in (1, 2, 3, 4, 5, 6, 8, 9, 17, rest) if rest % n == 0]
        shape.append(draft.pick(divisors))
        rest //= shape[-1]
    shape += [rest] if rest != 1 or x.size == 0 else []
    if x.size == 0:
        shape = list(x.shape)
    elif shape and draft.flag():
        shape[draft.integer(0, len(shape) - 1)] = -1
    allow = draft.pick((None, 0, 1)) if opset >= 14 else None
    if x.size and not allow:
        shape = [0 if i < x.ndim and n == x.shape[i] and draft.flag() else n
                 for i, n in enumerate(shape)]  # fmt: skip
    return draft.result(draft.given(x), draft.constant(shape), allowzero=allow, slack=0)


@draws("movement", "Transpose")
def transpose(draft: Draft) -> Case:
    draft.opset()
    x = _x(draft)
    order = [axis % x.ndim for axis in draft.axes(x.ndim, x.ndim)] if draft.flag() else None
    return draft.result(draft.given(x), perm=order or None, slack=0)


@draws("movement", "Squeeze Unsqueeze")
def lengths_of_one(draft: Draft) -> Case:
    opset = draft.opset()
    rank = draft.integer(0, 4)
    ones = draft.axes(rank)
    shape = list(draft.shape(rank, rank))
    for axis in ones:
        shape[axis] = 1
    if draft.op == "Unsqueeze":
        kept = [n for axis, n in enumerate(shape) if axis not in [o % rank for o in ones]]
        shape = kept
    if opset < 11:
        ones = sorted(axis % rank for axis in ones)
    x = draft.given(draft.array(draft.dtype(), tuple(shape)))
    if opset < 13:
        return draft.result(x, axes=ones or ([0] if draft.op == "Unsqueeze" else None), slack=0)
    return draft.result(x, draft.constant(ones), slack=0)


@draws("movement", "Flatten")
def flatten(draft: Draft) -> Case:
    opset = draft.opset()
    x = _x(draft, 1)
    axis = draft.integer(-x.ndim if opset >= 11 else 0, x.ndim) if draft.flag() else None
    return draft.result(draft.given(x), axis=axis, slack=0)


@draws("movement", "Expand")
def expand(draft: Draft) -> Case:
    """Either may have the longer axis."""
    draft.opset()
    shape = draft.shape()
    x = draft.array(draft.dtype(), draft.broadcast(shape))
    return draft.result(draft.given(x), draft.constant(draft.broadcast(shape)), slack=0)


@draws("movement", "Tile")
def tile(draft: Draft) -> Case:
    draft.opset()
    x = _x(draft, 1, 3)
    repeats = [draft.pick((1, 2, 3, 0)) for _ in x.shape]
    return draft.result(draft.given(x), draft.constant(repeats), slack=0)


@draws("movement", "Concat")
def concat(draft: Draft) -> Case:
    opset = draft.opset()
    dtype, shape = draft.dtype(), list(draft.shape(1))
    axis = draft.axis(len(shape)) if opset >= 11 else draft.integer(0, len(shape) - 1)
    arrays = []
    for _ in range(draft.integer(1, 5)):
        shape[axis] = draft.pick((1, 2, 3, 4, 0))
        arrays.append(draft.array(dtype, tuple(shape)))
    return draft.result(*map(draft.given, arrays), axis=axis, slack=0)


@draws("movement", "Split")
def split(draft: Draft) -> Case:
    """Into given lengths, or into equal parts; since 18 the last may be shorter."""
    opset = draft.opset()
    dtype, shape = draft.dtype(), list(draft.shape(1))
    axis = draft.axis(len(shape)) if opset >= 11 else draft.integer(0, len(shape) - 1)
    parts = draft.integer(1, 4)
    said = draft.flag()
    if said:
        lengths = [draft.integer(0, 4) for _ in range(parts)]
        shape[axis] = sum(lengths)
    elif opset < 18:
        shape[axis] = parts * draft.integer(0, 3)
    else:
        shape[axis] = draft.integer(parts, 9)
    x = draft.given(draft.array(dtype, tuple(shape)))
    if said and opset >= 13:
        return draft.result(x, draft.constant(lengths), outputs=parts, axis=axis, slack=0)
    number = parts if opset >= 18 else None
    return draft.result(
        x, outputs=parts, axis=axis, split=lengths if said else None, num_outputs=number, slack=0
    )


@draws("movement", "Slice")
def slices(draft: Draft) -> Case:
    """Starts and ends beyond the axis, from the end, and backwards."""
    opset = draft.opset()
    x = _x(draft, 1)
    axes = draft.axes(x.ndim, 1)
    starts, ends, steps = [], [], []
    for axis in axes:
        length = x.shape[axis]
        step = draft.pick((1, 2, -1, 3, -2)) if opset >= 10 else 1
        far = [2**31 - 1, 2**63 - 1] if step > 0 else [-(2**31), -(2**63)]
        starts.append(draft.integer(-length - 2, length + 2))
        ends.append(draft.pick([*range(-length - 2, length + 3), *far]))
        steps.append(step)
    whole = sorted(axes) == list(range(x.ndim)) and axes == sorted(axes)
    if opset < 10:
        axes = [axis % x.ndim for axis in axes]
        return draft.result(draft.given(x), starts=starts, ends=ends, axes=axes, slack=0)
    dtype = "int64" if any(abs(n) > 2**31 - 1 for n in ends) else draft.pick(("int64", "int32"))
    more = [draft.constant(starts, dtype), draft.constant(ends, dtype)]
    if not (whole and draft.flag()):
        more.append(draft.constant(axes, dtype))
        if steps != [1] * len(steps) or draft.flag():
            more.append(draft.constant(steps, dtype))
    elif steps != [1] * len(steps):
        more += ["", draft.constant(steps, dtype)]
    return draft.result(draft.given(x), *more, slack=0)


@draws("movement", "Pad")
def pad(draft: Draft) -> Case:
    """Negative lengths crop; reflect and wrap repeat existing elements."""
    opset = draft.opset()
    modes = ["constant", "edge", "reflect", *(["wrap"] if opset >= 19 else [])]
    mode = draft.pick(modes)
    dtype = draft.dtype()
    x = draft.array(dtype, draft.shape(1, zeros=mode == "constant"))
    axes = draft.axes(x.ndim, 1) if opset >= 18 and draft.flag() else None
    padded = list(range(x.ndim)) if axes is None else axes
    least = -1 if mode != "wrap" and draft.seldom() else 0
    lengths = [
        draft.integer(least, max(min(3, x.shape[axis] - 1 if mode == "reflect" else 3), 0))
        for _ in range(2)
        for axis in padded
    ]
    n = len(padded)
    for i, axis in enumerate(padded):  # it must have the elements that are cropped
        if lengths[i] + lengths[i + n] + x.shape[axis] < (mode != "constant"):
            lengths[i] = lengths[i + n] = 0
    if opset < 11:
        number = draft.real() if mode == "constant" and draft.flag() else None
        return draft.result(draft.given(x), pads=lengths, mode=mode, value=number, slack=0)
    more = [draft.constant(lengths)]
    filled = mode == "constant" and draft.flag()
    if filled or axes is not None:
        more.append(draft.given(draft.array(dtype, ())) if filled else "")
    if axes is not None:
        more.append(draft.constant(axes))
    return draft.result(draft.given(x), *more, mode=mode, slack=0)


@draws("movement", "DepthToSpace SpaceToDepth")
def blocks(draft: Draft) -> Case:
    opset = draft.opset()
    size = draft.integer(1, 3)
    n, c, h, w = draft.shape(4, 4, zeros=False, long=4)
    mode = None
    if draft.op == "DepthToSpace":
        c *= size * size
        mode = draft.pick((None, "DCR", "CRD")) if opset >= 11 else None
    else:
        h, w = h * size, w * size
    x = draft.array(draft.dtype(), (n, c, h, w))
    return draft.result(draft.given(x), blocksize=size, mode=mode, slack=0)


@draws("movement", "Trilu")
def triangle(draft: Draft) -> Case:
    draft.opset(14)
    x = _x(draft, 2)
    more = [draft.constant(draft.integer(-5, 5))] if draft.flag() else []
    return draft.result(draft.given(x), *more, upper=draft.pick((None, 0, 1)), slack=0)


@draws("movement", "ReverseSequence")
def reverse_sequence(draft: Draft) -> Case:
    draft.opset(10)
    x = _x(draft, 2, zeros=False)
    time = draft.pick((0, 1))
    lengths = draft.array("int64", (x.shape[1 - time],), 1, x.shape[time])
    lengths = np.minimum(lengths, x.shape[time])
    return draft.result(
        draft.given(x), draft.given(lengths), time_axis=time, batch_axis=1 - time, slack=0
    )


@draws("movement", "CenterCropPad")
def center(draft: Draft) -> Case:
    draft.opset(18)
    x = _x(draft, 1, zeros=False)
    axes = draft.axes(x.ndim, 1) if draft.flag() else None
    lengths = [draft.integer(1, 9) for _ in (range(x.ndim) if axes is None else axes)]
    return draft.result(draft.given(x), draft.constant(lengths), axes=axes, slack=0)


@draws("movement", "EyeLike")
def eye(draft: Draft) -> Case:
    draft.opset(9)
    x = _x(draft, 2, 2)
    kind = draft.pick((None, 1, 7, 6, 11, 9, 2, 10))
    return draft.result(draft.given(x), dtype=kind, k=draft.pick((None, 1, -1, 3)), slack=0)


@draws("movement", "ConstantOfShape")
def filled(draft: Draft) -> Case:
    draft.opset(9)
    kinds = ("float32", "int64", "int32", "uint8", "int8", "bool", "float16", "float64", "uint64")
    value = draft.array(draft.pick(kinds), (1,)) if draft.flag() else None
    return draft.result(draft.constant(draft.shape()), value=value, slack=0)


@draws("movement", "Range")
def series(draft: Draft) -> Case:
    draft.opset(11)
    dtype = draft.dtype()
    start, step = draft.real(-4, 4), draft.pick((1.0, 2.0, -1.0, 0.5, -0.25, 3.0))
    end = start + step * draft.integer(-1, 9) + draft.pick((0, 0.25, -0.25)) * abs(step)
    if dtype.startswith("int"):
        start, step, end = float(int(start)), float(int(step) or 1), float(int(end))
    numbers = [np.array(n, dtype_of(dtype)) for n in (start, end, step)]
    return draft.result(*map(draft.given, numbers))


@draws("movement", "Constant")
def constant(draft: Draft) -> Case:
    draft.opset(13)
    key = draft.pick(("value", "value_float", "value_floats", "value_int", "value_ints"))
    numbers = {
        "value_float": draft.real(),
        "value_floats": [draft.real() for _ in range(3)],
        "value_int": draft.integer(-9, 9),
        "value_ints": [draft.integer(-9, 9), 2**40],
    }
    kinds = ("float32", "int64", "int32", "uint8", "bool", "float16", "float64", "uint64")
    if key == "value":
        return draft.result(value=draft.array(draft.pick(kinds), draft.shape()), slack=0)
    return draft.result(**{key: numbers[key]}, slack=0)
