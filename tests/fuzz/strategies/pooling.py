"""Pools, and operators that sample regions."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft
from .convolution import AUTO, extent, image_of, kernel_of, spatial
from .registry import draws


@draws("pooling", "MaxPool AveragePool LpPool")
def pool(draft: Draft) -> Case:
    opset = draft.opset()
    kernel, auto = kernel_of(draft), draft.pick(AUTO)
    chosen = spatial(draft, kernel, auto)
    since = {"MaxPool": (10, 10), "AveragePool": (10, 19), "LpPool": (18, 18)}[draft.op]
    if opset < since[1]:
        chosen.pop("dilations", None)
    if opset >= since[0] and auto in (None, "NOTSET"):
        chosen["ceil_mode"] = draft.pick((None, 0, 1))
    if draft.op == "AveragePool":
        chosen["count_include_pad"] = draft.pick((None, 0, 1))
    if draft.op == "LpPool":
        chosen["p"] = draft.pick((None, 1, 2, 3))
    outputs = 2 if draft.op == "MaxPool" and opset >= 8 and draft.flag() else 1
    if outputs == 2:
        chosen["storage_order"] = draft.pick((None, 0, 1))
    kinds = ("float32", "float16", "float64", "int8", "uint8")
    image = image_of(draft, extent(kernel, chosen))
    shape = (draft.integer(1, 2), draft.integer(1, 5), *image)
    x = draft.array(draft.dtype(0, kinds), shape, edges=False)
    return draft.result(
        draft.given(x), kernel_shape=list(kernel), outputs=outputs, **chosen, scaled=True, slack=4
    )


@draws("pooling", "GlobalAveragePool GlobalMaxPool GlobalLpPool")
def global_pool(draft: Draft) -> Case:
    draft.opset()
    x = draft.array(draft.floating(), draft.shape(3, 5, zeros=False), edges=False)
    p = draft.pick((None, 1, 2, 3)) if draft.op == "GlobalLpPool" else None
    return draft.result(draft.given(x), p=p, scaled=True, slack=4)


@draws("pooling", "MaxUnpool")
def unpool(draft: Draft) -> Case:
    """Unpools the result of a pool with the same kernel."""
    draft.opset(9)
    kernel = kernel_of(draft)
    shape = (draft.integer(1, 2), draft.integer(1, 3), *[k * draft.integer(1, 4) for k in kernel])
    x = draft.given(draft.array("float32", shape, edges=False))
    same = {"kernel_shape": list(kernel), "strides": list(kernel)}
    largest, indices = draft.node("MaxPool", x, outputs=2, **same)
    more = [draft.constant(shape)] if draft.flag() else []
    return draft.result(largest, indices, *more, **same, slack=0)


@draws("pooling", "RoiAlign")
def roi_align(draft: Draft) -> Case:
    opset = draft.opset(10)
    dtype = draft.floating()
    batch, n = draft.integer(1, 2), draft.integer(1, 3)
    x = draft.array(dtype, (batch, draft.integer(1, 3), *(draft.integer(2, 7) for _ in "hw")),
                    edges=False)  # fmt: skip
    first = draft.array(dtype, (n, 2), 0, 3)
    rois = np.concatenate([first, first + draft.array(dtype, (n, 2), 0, 4)], 1)
    which = draft.array("int64", (n,), 0, batch - 1)
    sizes = {key: draft.integer(1, 3) for key in ("output_height", "output_width") if draft.flag()}
    modes = (None, "half_pixel", "output_half_pixel")
    return draft.result(
        draft.given(x), draft.given(rois), draft.given(which), **sizes,
        mode=draft.pick((None, "avg", "max")), sampling_ratio=draft.pick((None, 0, 1, 2)),
        spatial_scale=draft.pick((None, 0.5, 1.0)), scaled=True,
        slack=1e4 if dtype == "float64" else 8,  # the reference computes coordinates in float32
        coordinate_transformation_mode=draft.pick(modes) if opset >= 16 else None,
    )  # fmt: skip
