"""Attention, rotary embeddings, linear attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..draft import Draft
from .registry import draws


def _some(draft: Draft, dtype: str, *shape: int) -> str:
    return draft.given(draft.array(dtype, shape, -2, 2))


@draws("attention", "Attention")
def attention(draft: Draft) -> Case:
    """With heads as an axis or side by side, grouped heads, masks of either kind, and a cache."""
    opset = draft.opset(23)
    dtype = draft.pick(("float32", "float32", "float16", "float64"))
    batch, kv, group, width, value = (draft.integer(1, n) for n in (2, 2, 2, 4, 4))
    heads = kv * group
    length, total = draft.integer(1, 4), draft.integer(1, 5)
    flat = draft.flag()
    chosen: dict[str, Any] = {}
    if flat:
        inputs = [_some(draft, dtype, batch, length, heads * width)]
        inputs += [_some(draft, dtype, batch, total, kv * n) for n in (width, value)]
        chosen |= {"q_num_heads": heads, "kv_num_heads": kv}
    else:
        inputs = [_some(draft, dtype, batch, heads, length, width)]
        inputs += [_some(draft, dtype, batch, kv, total, n) for n in (width, value)]
    past = draft.integer(1, 3) if draft.seldom() else 0
    shape = draft.broadcast((batch, heads, length, total + past))
    if draft.flag() and len(shape) >= 2:
        shape = (*shape[:-2], length, total + past)
        mask = draft.array("bool" if draft.flag() else dtype, shape, -2, 2)
        if mask.dtype == bool:
            mask[..., 0] = True  # rows that attend to nothing are undefined
        inputs.append(draft.given(mask))
    if past:
        inputs += [""] * (4 - len(inputs))
        inputs += [_some(draft, dtype, batch, kv, past, n) for n in (width, value)]
    chosen["is_causal"] = draft.pick((None, 0, 1)) if length <= total + past else None
    chosen["scale"] = draft.pick((None, 0.5))
    chosen["softcap"] = draft.pick((None, None, 2.0))
    if opset >= 25:
        chosen["left_window_size"] = draft.pick((None, None, 2))
    outputs = 1 if not past else draft.pick((1, 3))
    if draft.seldom():
        outputs, chosen["qk_matmul_output_mode"] = 4, draft.pick((None, 0, 1, 2, 3))
    slack = (
        1e4 if dtype == "float64" else 8
    )  # others compute the square root of the scale in float32
    return draft.result(*inputs, outputs=outputs, **chosen, scaled=True, slack=slack)


@draws("attention", "RotaryEmbedding")
def rotary(draft: Draft) -> Case:
    draft.opset(23)
    dtype = draft.pick(("float32", "float16"))
    batch, heads, length, half = (draft.integer(1, n) for n in (2, 3, 4, 4))
    width = 2 * (half + draft.integer(0, 2))
    partial = 2 * half if width != 2 * half else draft.pick((None, 0))
    chosen: dict[str, Any] = {"rotary_embedding_dim": partial}
    if draft.flag():
        inputs = [_some(draft, dtype, batch, length, heads * width)]
        chosen["num_heads"] = heads
    else:
        inputs = [_some(draft, dtype, batch, heads, length, width)]
    if draft.flag():
        inputs += [_some(draft, dtype, 7, half) for _ in range(2)]
        inputs.append(draft.given(draft.array("int64", (batch, length), 0, 6)))
    else:
        inputs += [_some(draft, dtype, batch, length, half) for _ in range(2)]
    chosen["interleaved"] = draft.pick((None, 0, 1))
    return draft.result(*inputs, **chosen, scaled=True)


@draws("attention", "LinearAttention")
def linear(draft: Draft) -> Case:
    draft.opset(27)
    rule = draft.pick(("linear", "gated", "delta", "gated_delta"))
    batch, length, kv, group, width, value = (draft.integer(1, n) for n in (2, 4, 2, 2, 3, 3))
    heads = kv * group
    inputs = [_some(draft, "float32", batch, length, heads * width)]
    inputs += [_some(draft, "float32", batch, length, kv * n) for n in (width, value)]
    inputs.append(_some(draft, "float32", batch, kv, width, value) if draft.flag() else "")
    if "gated" in rule:
        columns = draft.pick((kv, kv * width))
        inputs.append(draft.given(draft.array("float32", (batch, length, columns), -1, 0)))
    if "delta" in rule:
        inputs += [""] * (5 - len(inputs))
        inputs.append(draft.given(draft.array("float32", (batch, length, kv), 0, 0.25)))
    while not inputs[-1]:
        inputs.pop()
    return draft.result(
        *inputs, outputs=2, update_rule=rule, q_num_heads=heads, kv_num_heads=kv,
        scale=draft.pick((None, 0.5)), scaled=True, slack=20,
    )  # fmt: skip


@draws("attention", "ai.onnx.preview.FlexAttention")
def flexible(draft: Draft) -> Case:
    draft.opsets[draft.domain] = 1
    batch, heads, length, total, width = (draft.integer(1, n) for n in (2, 2, 4, 5, 4))
    inputs = [_some(draft, "float32", batch, heads, length, width)]
    inputs += [_some(draft, "float32", batch, heads, total, width) for _ in range(2)]
    return draft.result(*inputs, scale=draft.pick((None, 0.5)), scaled=True, slack=8)


@draws("attention", "SwiGLU")
def gated(draft: Draft) -> Case:
    draft.opset(28)
    shape = draft.shape(1)
    a, b = (draft.given(draft.array("float32", shape, edges=False)) for _ in range(2))
    assert isinstance(shape, tuple) and np.prod(shape) >= 0
    return draft.result(a, b, alpha=draft.pick((None, 0.5, 1.5)))
