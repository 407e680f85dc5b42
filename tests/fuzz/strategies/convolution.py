"""Convolutions of one to three dimensions, forwards and transposed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..draft import Draft, Shape
from .registry import draws

AUTO = (None, "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def spatial(draft: Draft, kernel: Shape, auto: str | None) -> dict[str, Any]:
    """strides, dilations and pads that fit a kernel."""
    n = len(kernel)
    found: dict[str, Any] = {"auto_pad": auto}
    if draft.flag():
        found["strides"] = [draft.integer(1, 3) for _ in kernel]
    if draft.flag() and auto not in ("SAME_UPPER", "SAME_LOWER"):
        found["dilations"] = [draft.integer(1, 3) for _ in kernel]
    if draft.flag() and auto in (None, "NOTSET"):
        found["pads"] = [draft.integer(0, max(kernel[i % n] - 1, 0)) for i in range(2 * n)]
    return found


def extent(kernel: Shape, attributes: dict[str, Any]) -> Shape:
    """How far a kernel reaches, dilations included."""
    dilations = attributes.get("dilations") or [1] * len(kernel)
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))


def kernel_of(draft: Draft, *, most: int = 3) -> Shape:
    """Lengths of one to three spatial axes."""
    rank = draft.pick((2, 1, 3)) if most == 3 else 2
    return tuple(draft.integer(1, 4 if rank < 3 else 2) for _ in range(rank))


def image_of(draft: Draft, reach: Shape) -> Shape:
    """Spatial lengths into which a kernel of that reach fits."""
    return tuple(n + draft.integer(0, 6) for n in reach)


def _weights(draft: Draft) -> tuple[int, int, int, int]:
    """batch, groups, and channels of a group of the input and the output."""
    groups = draft.pick((1, 1, 1, 2, 3))
    return draft.integer(1, 2), groups, draft.pick((1, 2, 3, 4)), draft.pick((1, 2, 4, 5))


@draws("convolution", "Conv")
def conv(draft: Draft) -> Case:
    draft.opset()
    dtype = draft.floating()
    kernel, auto = kernel_of(draft), draft.pick(AUTO)
    batch, groups, before, after = _weights(draft)
    chosen = spatial(draft, kernel, auto)
    image = image_of(draft, extent(kernel, chosen))
    x = draft.array(dtype, (batch, groups * before, *image), edges=False)
    w = draft.array(dtype, (groups * after, before, *kernel), edges=False)
    more = []
    if draft.flag():
        more.append(draft.given(draft.array(dtype, (groups * after,), edges=False)))
    shown = list(kernel) if draft.flag() else None
    return draft.result(
        draft.given(x), draft.given(w), *more, group=groups if groups > 1 else None,
        kernel_shape=shown, **chosen, scaled=True, slack=2,
    )  # fmt: skip


@draws("convolution", "ConvTranspose")
def conv_transpose(draft: Draft) -> Case:
    draft.opset()
    dtype = draft.floating()
    kernel = kernel_of(draft)
    auto = draft.pick((None, "NOTSET", "VALID"))
    batch, groups, before, after = _weights(draft)
    chosen = spatial(draft, kernel, auto)
    image = tuple(draft.integer(1, 5) for _ in kernel)
    strides = chosen.get("strides") or [1] * len(kernel)
    dilations = chosen.get("dilations") or [1] * len(kernel)
    if draft.seldom():
        most = [max(pair) - 1 for pair in zip(strides, dilations, strict=True)]
        chosen["output_padding"] = [draft.integer(0, n) for n in most]
    pads = chosen.get("pads", [0] * 2 * len(kernel))
    reach = extent(kernel, chosen)
    for i, n in enumerate(image):  # the result must not be empty
        whole = (n - 1) * strides[i] + reach[i]
        if whole - pads[i] - pads[i + len(kernel)] < 1:
            chosen.pop("pads")
            break
    x = draft.array(dtype, (batch, groups * before, *image), edges=False)
    w = draft.array(dtype, (groups * before, after, *kernel), edges=False)
    more = []
    if draft.flag():
        more.append(draft.given(draft.array(dtype, (groups * after,), edges=False)))
    return draft.result(
        draft.given(x), draft.given(w), *more, group=groups, **chosen, scaled=True, slack=2
    )


@draws("convolution", "ConvInteger")
def conv_integer(draft: Draft) -> Case:
    draft.opset(10)
    kernel, auto = kernel_of(draft), draft.pick(AUTO)
    batch, groups, before, after = _weights(draft)
    chosen = spatial(draft, kernel, auto)
    kinds = [draft.pick(("uint8", "int8")), draft.pick(("uint8", "int8"))]
    image = image_of(draft, extent(kernel, chosen))
    x = draft.array(kinds[0], (batch, groups * before, *image))
    w = draft.array(kinds[1], (groups * after, before, *kernel))
    zeros = [draft.given(draft.array(kind, ()), known=True) for kind in kinds if draft.flag()]
    zeros = zeros if len(zeros) == 2 or kinds[0] == kinds[1] else []
    return draft.result(draft.given(x), draft.given(w), *zeros, group=groups, **chosen)


@draws("convolution", "DeformConv")
def deform_conv(draft: Draft) -> Case:
    draft.opset(19)
    kernel = kernel_of(draft, most=2)
    batch, groups, before, after = _weights(draft)
    chosen = spatial(draft, kernel, None)
    image = image_of(draft, extent(kernel, chosen))
    strides, pads = chosen.get("strides", [1, 1]), chosen.get("pads", [0] * 4)
    reach = extent(kernel, chosen)
    out = tuple((image[i] + pads[i] + pads[i + 2] - reach[i]) // strides[i] + 1 for i in range(2))
    moved = draft.pick((1, groups * before))
    points = moved * kernel[0] * kernel[1]
    arrays: list[np.ndarray | None] = [
        draft.array("float32", (batch, groups * before, *image), edges=False),
        draft.array("float32", (groups * after, before, *kernel), edges=False),
        draft.array("float32", (batch, 2 * points, *out), -2, 2),
        draft.array("float32", (groups * after,), edges=False) if draft.flag() else None,
        draft.array("float32", (batch, points, *out), 0, 1) if draft.flag() else None,
    ]
    names = ["" if value is None else draft.given(value) for value in arrays]
    return draft.result(*names, group=groups, offset_group=moved, **chosen, scaled=True, slack=4)


@draws("convolution", "Col2Im")
def col2im(draft: Draft) -> Case:
    draft.opset(18)
    kernel = kernel_of(draft, most=2)
    chosen = {key: value for key, value in spatial(draft, kernel, None).items() if value}
    image = image_of(draft, extent(kernel, chosen))
    strides, pads = chosen.get("strides", [1, 1]), chosen.get("pads", [0] * 4)
    reach = extent(kernel, chosen)
    count = np.prod(
        [(image[i] + pads[i] + pads[i + 2] - reach[i]) // strides[i] + 1 for i in range(2)]
    )
    channels = draft.integer(1, 3) * int(np.prod(kernel))
    x = draft.array(draft.floating(), (draft.integer(1, 2), channels, int(count)), edges=False)
    return draft.result(
        draft.given(x), draft.constant(image), draft.constant(kernel), **chosen, scaled=True
    )


@draws("convolution", "CausalConvWithState")
def causal(draft: Draft) -> Case:
    draft.opset(27)
    batch, channels, length, k = (draft.integer(1, n) for n in (2, 4, 6, 4))
    x = draft.array("float32", (batch, channels, length), edges=False)
    w = draft.array("float32", (channels, 1, k), edges=False)
    bias = draft.given(draft.array("float32", (channels,), edges=False)) if draft.flag() else ""
    state = draft.array("float32", (batch, channels, k - 1), edges=False)
    past = draft.given(state) if draft.flag() and k > 1 else ""
    return draft.result(
        draft.given(x), draft.given(w), bias, past, outputs=2,
        activation=draft.pick((None, "silu", "none")), scaled=True,
    )  # fmt: skip
