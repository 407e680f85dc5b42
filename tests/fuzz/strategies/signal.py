"""Fourier transforms, windows, the mel scale."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft
from .registry import draws


@draws("signal", "DFT")
def transform(draft: Draft) -> Case:
    """With real and complex numbers, cropped or padded to a length."""
    opset = draft.opset(17)
    dtype = draft.dtype(0, ("float32", "float64"))
    rank = draft.integer(1, 3)
    parts = draft.pick((1, 2))
    shape = (*draft.shape(rank, rank, zeros=False, long=17), parts)
    inverse = draft.pick((None, 0, 1))
    onesided = draft.pick((None, 0, 1)) if parts == 1 and not inverse else None
    x = draft.given(draft.array(dtype, shape, edges=False))
    length = draft.constant(draft.integer(1, 9)) if draft.seldom() else ""
    axis = draft.integer(0, rank - 1)
    same = {"inverse": inverse, "onesided": onesided, "scaled": True, "slack": 40}
    if opset < 20:
        return draft.result(x, *filter(None, [length]), axis=axis, **same)
    axis -= (rank + 1) if draft.flag() else 0
    return draft.result(x, length, draft.constant(axis), **same)


@draws("signal", "STFT")
def short_time(draft: Draft) -> Case:
    draft.opset(17)
    dtype = draft.dtype(0, ("float32", "float64"))
    frame, step = draft.integer(2, 8), draft.integer(1, 5)
    shape = (draft.integer(1, 2), frame + step * draft.integer(0, 3) + draft.integer(0, 2), 1)
    x = draft.given(draft.array(dtype, shape, edges=False))
    window = draft.given(draft.array(dtype, (frame,), 0, 1)) if draft.flag() else ""
    length = draft.constant(frame) if not window or draft.flag() else ""
    return draft.result(
        x, draft.constant(step), window, length, onesided=draft.pick((None, 0, 1)),
        scaled=True, slack=40,
    )  # fmt: skip


@draws("signal", "HannWindow HammingWindow BlackmanWindow")
def window(draft: Draft) -> Case:
    draft.opset(17)
    size = draft.constant(draft.integer(2, 20), draft.pick(("int64", "int32")))
    kind = draft.pick((None, 1, 11, 10))
    return draft.result(size, periodic=draft.pick((None, 0, 1)), output_datatype=kind, slack=40)


@draws("signal", "MelWeightMatrix")
def mel(draft: Draft) -> Case:
    draft.opset(17)
    numbers = [draft.integer(1, 8), draft.pick((16, 64)), draft.pick((8000, 16000))]
    names = [draft.constant(number) for number in numbers]
    low = draft.constant(draft.pick((0.0, 100.0)), "float32")
    high = draft.constant(draft.pick((3000.0, 4000.0)), "float32")
    assert np.isfinite(numbers[0])
    return draft.result(*names, low, high, slack=40)
