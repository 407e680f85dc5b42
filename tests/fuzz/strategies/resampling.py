"""Resized pictures, and pictures sampled at computed coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..draft import Draft
from .registry import draws

_COORDINATES = (
    None, "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric",
    "tf_crop_and_resize",
)  # fmt: skip
_NEAREST = (None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_SCALES = (1.0, 2.0, 0.5, 1.5, 3.0, 0.75, 2.5)


@draws("resampling", "Resize")
def resize(draft: Draft) -> Case:
    """By scales or to sizes, of some axes, within or without a region."""
    opset = draft.opset(11)
    mode = draft.pick((None, "nearest", "linear", "cubic"))
    kinds = ("float32", "uint8", "int8") if mode in (None, "nearest") else ("float32",)
    spatial = [draft.integer(1, 6) for _ in range(2 if mode == "cubic" else draft.integer(1, 2))]
    shape = (draft.integer(1, 2), draft.integer(1, 2), *spatial)
    axes = list(range(2, len(shape))) if opset >= 18 and draft.flag() else None
    if axes and draft.flag():
        axes.reverse()
    order = range(len(shape)) if axes is None else axes
    limit = 6 if opset >= 19 else 5
    kind = draft.pick([k for k in _COORDINATES[:limit] if k] + [None, _COORDINATES[6]])
    chosen: dict[str, Any] = {"coordinate_transformation_mode": kind, "mode": mode, "axes": axes}
    if mode in (None, "nearest"):
        chosen["nearest_mode"] = draft.pick(_NEAREST)
    elif mode == "cubic":
        chosen["cubic_coeff_a"] = draft.pick((None, -0.5))
        chosen["exclude_outside"] = draft.pick((None, 0, 1))
    roi = np.zeros(0, np.float32)
    if kind == "tf_crop_and_resize":
        edges = [[0.0, 1.0] if i < 2 else [draft.pick((0.0, 0.25)), draft.pick((1.0, 0.75))]
                 for i in order]  # fmt: skip
        roi = np.array(edges, np.float32).T.ravel()
        chosen["extrapolation_value"] = draft.pick((None, 7.0))
    if opset >= 18 and mode in ("linear", "cubic"):
        chosen["antialias"] = draft.pick((None, 0, 1))
    x = draft.given(draft.array(draft.dtype(0, kinds), shape, edges=False))
    region = draft.given(roi, known=True)
    if draft.flag():
        sizes = [shape[i] if i < 2 else draft.integer(1, 9) for i in order]
        if opset >= 18 and axes is not None:
            policies = (None, None, "stretch", "not_larger", "not_smaller")
            chosen["keep_aspect_ratio_policy"] = draft.pick(policies)
        no_scales = "" if opset >= 13 else draft.given(np.zeros(0, np.float32), known=True)
        more = [no_scales, draft.constant(sizes)]
    else:
        scales = [1.0 if i < 2 else draft.pick(_SCALES) for i in order]
        sizes = [int(shape[i] * scale) for i, scale in zip(order, scales, strict=True)]
        scales = [1.0 if size < 1 else s for s, size in zip(scales, sizes, strict=True)]
        more = [draft.constant(scales, "float32")]
    return draft.result(x, region, *more, **chosen, scaled=True, slack=8)


@draws("resampling", "Upsample")
def upsample(draft: Draft) -> Case:
    opset = draft.opset(7, 9)
    shape = (draft.integer(1, 2), draft.integer(1, 2), draft.integer(1, 6), draft.integer(1, 6))
    x = draft.given(draft.array("float32", shape, edges=False))
    scales = [1.0, 1.0, *(draft.pick((1.0, 2.0, 1.5, 3.0)) for _ in "hw")]
    mode = draft.pick((None, "nearest", "linear"))
    if opset < 9:
        return draft.result(x, scales=scales, mode=mode, scaled=True)
    return draft.result(x, draft.constant(scales, "float32"), mode=mode, scaled=True)


@draws("resampling", "GridSample")
def grid_sample(draft: Draft) -> Case:
    opset = draft.opset(16)
    deep = opset >= 20 and draft.seldom()
    rank = 3 if deep else 2
    modes = ("linear", "nearest", "cubic") if opset >= 20 else ("bilinear", "nearest", "bicubic")
    batch = draft.integer(1, 2)
    shape = (batch, draft.integer(1, 3), *(draft.integer(1, 5) for _ in range(rank)))
    x = draft.array("float32", shape, edges=False)
    out = (batch, *(draft.integer(1, 4) for _ in range(rank)), rank)
    grid = draft.array("float32", out, -1.5, 1.5)
    # At halves and edges, rounding decides.
    grid = np.where(grid == np.round(grid * 16) / 16, grid + np.float32(0.0137), grid)
    if draft.seldom():
        grid.flat[0] = np.nan
    return draft.result(
        draft.given(x), draft.given(grid.astype(np.float32)),
        mode=draft.pick((None, *modes[: 2 if deep else 3])),
        padding_mode=draft.pick((None, "zeros", "border", "reflection")),
        align_corners=draft.pick((None, 0, 1)), scaled=True, slack=20,
    )  # fmt: skip


@draws("resampling", "AffineGrid")
def affine_grid(draft: Draft) -> Case:
    draft.opset(20)
    rank, batch = draft.integer(2, 3), draft.integer(1, 2)
    theta = draft.array(draft.floating(), (batch, rank, rank + 1), edges=False)
    size = [batch, draft.integer(1, 3), *(draft.integer(2, 4) for _ in range(rank))]
    align = draft.pick((None, 0, 1))
    return draft.result(draft.given(theta), draft.constant(size), align_corners=align, scaled=True)
