"""RNN, GRU and LSTM, and LSTM with quantized weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..draft import Draft
from .registry import draws

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
# With alpha and beta where the standard's defaults and onnxruntime's differ.
_ACTIVATIONS: dict[str, tuple[float, float] | None] = {
    "Tanh": None, "Sigmoid": None, "Relu": None, "Softsign": None, "Softplus": None,
    "HardSigmoid": (0.25, 0.5), "LeakyRelu": (0.125, 0.0), "Elu": (0.5, 0.0),
    "Affine": (0.5, 0.25), "ScaledTanh": (0.75, 0.5), "ThresholdedRelu": (0.3, 0.0),
}  # fmt: skip
# At its threshold onnxruntime's ThresholdedRelu gives 0, against the standard: no state and no clip
# is 0.3.


def _activations(draft: Draft, count: int) -> dict[str, Any]:
    names = [draft.pick(tuple(_ACTIVATIONS)) for _ in range(count)]
    pairs = [_ACTIVATIONS[name] for name in names]
    if not any(pairs):
        return {"activations": names}
    one = draft.pick([name for name, pair in zip(names, pairs, strict=True) if pair])
    pair = _ACTIVATIONS[one]  # the same for all: which of them has parameters is then no question
    assert pair
    return {
        "activations": [one] * count,
        "activation_alpha": [pair[0]] * count,
        "activation_beta": [pair[1]] * count,
    }


@draws("recurrent", "RNN GRU LSTM")
def recurrent(draft: Draft) -> Case:
    opset = draft.opset()
    gates = _GATES[draft.op]
    direction = draft.pick((None, "forward", "reverse", "bidirectional"))
    both = 2 if direction == "bidirectional" else 1
    time, batch, features, size = (draft.integer(1, n) for n in (5, 3, 4, 5))
    layout = draft.pick((None, 0, 0, 1)) if opset >= 14 else None
    chosen: dict[str, Any] = {"hidden_size": size, "direction": direction, "layout": layout}
    dtype = draft.dtype(0, ("float32", "float64"))

    def some(*shape: int) -> str:
        return draft.given(draft.array(dtype, shape, -1, 1))

    def state() -> str:
        shape = (batch, both, size) if layout else (both, batch, size)
        return some(*shape) if draft.flag() else ""

    inputs = [some(*((batch, time, features) if layout else (time, batch, features)))]
    inputs += [some(both, gates * size, n) for n in (features, size)]
    inputs.append(some(both, 2 * gates * size) if draft.flag() else "")
    lengths = draft.array("int32", (batch,), 1, time)
    inputs.append(draft.given(np.minimum(lengths, time).astype(np.int32)) if draft.flag() else "")
    inputs += [state() for _ in range(2 if draft.op == "LSTM" else 1)]
    if draft.op == "LSTM" and draft.flag():
        inputs.append(some(both, 3 * size))
    if draft.flag():
        chosen |= _activations(draft, both * _FUNCTIONS[draft.op])
    if draft.seldom():
        chosen["clip"] = 0.5
    if draft.op == "GRU":
        chosen["linear_before_reset"] = draft.pick((None, 0, 1))
    if draft.op == "LSTM":
        chosen["input_forget"] = draft.pick((None, None, 0, 1))
    while not inputs[-1]:
        inputs.pop()
    outputs = draft.integer(1, 3 if draft.op == "LSTM" else 2)
    return draft.result(*inputs, outputs=outputs, **chosen, scaled=True, slack=10)


@draws("recurrent", "com.microsoft.DynamicQuantizeLSTM")
def quantized(draft: Draft) -> Case:
    direction = draft.pick((None, "reverse", "bidirectional"))
    both = 2 if direction == "bidirectional" else 1
    time, batch, features, size = (draft.integer(1, n) for n in (4, 2, 4, 4))
    zeros = np.zeros(both, np.int8)
    held = [draft.array("int8", (both, n, 4 * size), -9, 9) for n in (features, size)]
    scales = draft.array("float32", (both,), 0.01, 0.05)
    values: list[np.ndarray | None] = [
        draft.array("float32", (time, batch, features), -1, 1), *held,
        draft.array("float32", (both, 8 * size), -1, 1) if draft.flag() else None, None,
        *([draft.array("float32", (both, batch, size), -1, 1) for _ in range(2)]
          if draft.flag() else [None, None]), None,
        scales, zeros, scales, zeros,
    ]  # fmt: skip
    names = [draft.given(v, known=i > 0) if v is not None else "" for i, v in enumerate(values)]
    return draft.result(
        *names, outputs=3, hidden_size=size, direction=direction, scaled=True, slack=400
    )
