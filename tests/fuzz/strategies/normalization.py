"""Normalization over a batch, a layer, groups and neighbours."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft
from .registry import draws

_SLACK = 40


def _stashed(dtype: str) -> float:
    """The slack of operators that compute the mean in float32, whatever the type."""
    return 1e6 if dtype == "float64" else _SLACK


def _epsilon(draft: Draft) -> float | None:
    return draft.pick((None, 1e-3, 0.1))


@draws("normalization", "BatchNormalization")
def batch(draft: Draft) -> Case:
    draft.opset(9)
    dtype = draft.floating()
    shape = draft.shape(2, 4, zeros=False)
    x = draft.array(dtype, shape, edges=False)
    more = [draft.array(dtype, shape[1:2], *limits) for limits in [(-2, 2)] * 3 + [(0.25, 3)]]
    return draft.result(
        *map(draft.given, (x, *more)), epsilon=_epsilon(draft), scaled=True, slack=_SLACK
    )


@draws("normalization", "InstanceNormalization GroupNormalization")
def groups(draft: Draft) -> Case:
    first = 21 if draft.op == "GroupNormalization" else 7
    draft.opset(first)
    dtype = draft.floating()
    count = draft.integer(1, 3) if first == 21 else None
    shape = (
        draft.integer(1, 2),
        draft.integer(1, 3) * (count or 1),
        *draft.shape(1, 3, zeros=False),
    )
    x = draft.array(dtype, shape, edges=False)
    more = [draft.array(dtype, shape[1:2], -2, 2) for _ in range(2)]
    return draft.result(
        *map(draft.given, (x, *more)), num_groups=count, epsilon=draft.pick((1e-3, 0.1)),
        scaled=True, slack=_stashed(dtype),
    )  # fmt: skip


@draws("normalization", "LayerNormalization RMSNormalization")
def layer(draft: Draft) -> Case:
    draft.opset(17)
    dtype = draft.floating()
    shape = draft.shape(1, 4, zeros=False)
    axis = draft.axis(len(shape)) if draft.flag() else -1
    x = draft.array(dtype, shape, edges=False)
    both = draft.op == "LayerNormalization" and draft.flag()
    more = [draft.array(dtype, shape[axis % len(shape) :], -2, 2) for _ in range(1 + both)]
    outputs = draft.integer(1, 3) if draft.op == "LayerNormalization" else 1
    return draft.result(
        *map(draft.given, (x, *more)), axis=axis, epsilon=draft.pick((1e-3, 0.1)), outputs=outputs,
        scaled=True, slack=_stashed(dtype),
    )  # fmt: skip


@draws("normalization", "com.microsoft.SkipLayerNormalization")
def skip_layer(draft: Draft) -> Case:
    shape = draft.shape(3, 3, zeros=False)
    x, skip = (draft.array("float32", shape, edges=False) for _ in range(2))
    more = [draft.array("float32", shape[-1:], -2, 2) for _ in range(draft.integer(1, 3))]
    return draft.result(
        *map(draft.given, (x, skip, *more)), epsilon=draft.pick((1e-3, 0.1)), scaled=True,
        slack=_SLACK,
    )  # fmt: skip


@draws("normalization", "LRN")
def neighbours(draft: Draft) -> Case:
    draft.opset()
    x = draft.array(draft.floating(), draft.shape(4, 4, zeros=False), edges=False)
    chosen = {key: draft.pick((None, 0.25, 0.75)) for key in ("alpha", "beta")}
    bias = draft.pick((None, 2.0))
    return draft.result(
        draft.given(x), size=draft.pick((1, 3, 5, 11)), bias=bias, **chosen, slack=4
    )


@draws("normalization", "LpNormalization")
def unit(draft: Draft) -> Case:
    draft.opset()
    x = draft.array(draft.floating(), draft.shape(1, 4, zeros=False), edges=False)
    axis = draft.axis(x.ndim) if draft.flag() else None
    return draft.result(draft.given(x), axis=axis, p=draft.pick((None, 1, 2)), slack=4)


@draws("normalization", "MeanVarianceNormalization")
def standard(draft: Draft) -> Case:
    """Values that are not all equal: results of dividing by nearly 0 depend on rounding."""
    draft.opset(9)
    shape = draft.shape(4, 4, zeros=False)
    axes = sorted(axis % 4 for axis in draft.axes(4, 2)) if draft.flag() else None
    x = draft.array("float32", shape, edges=False)
    x = x + np.arange(x.size, dtype=np.float32).reshape(shape) % 7
    return draft.result(draft.given(x), axes=axes, scaled=True, slack=10 * _SLACK)
