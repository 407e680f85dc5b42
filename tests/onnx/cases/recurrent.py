"""RNN, GRU and LSTM: directions, layouts, activations, lengths, initial states."""

from typing import Any

import numpy as np

from ..case import Case, floats

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}
TIME, BATCH, FEATURES, SIZE = 4, 3, 2, 5
LENGTHS = np.array([4, 2, 1], np.int32)
MANY = (
    "Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid", "Softplus",
    "Softsign", "Tanh", "ThresholdedRelu",
)  # fmt: skip
# onnxruntime has no default for their alpha and beta, or another one.
NEEDED = {"Affine", "ScaledTanh", "ThresholdedRelu"}


def _case(
    op: str, *more: Any, first: int = 7, note: str = "", outputs: int = 0, **attributes: Any
) -> Case:
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    width = GATES[op] * SIZE
    x = floats(TIME, BATCH, FEATURES)
    if attributes.get("layout"):
        x = np.ascontiguousarray(x.transpose(1, 0, 2))
    weights = [floats(directions, width, FEATURES) / 6, floats(directions, width, SIZE) / 6]
    return Case(
        op, [x, *weights, *more], {"hidden_size": SIZE, **attributes}, (first, 28),
        outputs or 1 + STATES[op], note, atol=1e-4,
    )  # fmt: skip


def _bias(op: str, directions: int = 1) -> np.ndarray:
    return floats(directions, 2 * GATES[op] * SIZE)


def _states(op: str, directions: int = 1) -> list[np.ndarray]:
    return [floats(directions, BATCH, SIZE) / (i + 1) for i in range(STATES[op])]


def _of(op: str) -> list[Case]:
    both = {"direction": "bidirectional"}
    functions = {"RNN": 1, "GRU": 2, "LSTM": 3}[op]
    return [
        _case(op),
        _case(op, outputs=1),
        _case(op, _bias(op), note="bias"),
        _case(op, direction="reverse"),
        _case(op, _bias(op, 2), **both),
        _case(op, _bias(op, 2), LENGTHS, *_states(op, 2), **both, note="lengths"),
        _case(op, _bias(op), LENGTHS, *_states(op), direction="reverse", note="lengths"),
        _case(op, None, None, *_states(op), note="initial"),
        _case(op, _bias(op), clip=0.3),
        *[
            _case(
                op,
                activations=[name] * functions,
                note=name,
                **{
                    key: [value] * functions
                    for key, value in (("activation_alpha", 0.4), ("activation_beta", 0.3))
                    if name in NEEDED
                },
            )
            for name in MANY
        ],
        _case(
            op,
            activations=["HardSigmoid", "Tanh", "LeakyRelu"][:functions] * 2,
            activation_alpha=[0.3, 0.1, 0.25, 0.2][: 4 if functions == 3 else 2],
            activation_beta=[0.4, 0.6],
            note="alphas",
            **both,
        ),
        _case(op, activations=["Tanh"] * functions + ["Relu"] * functions, note="mixed", **both),
    ]


CASES = [case for op in GATES for case in _of(op)]
CASES += [
    *[_case("GRU", *more, linear_before_reset=1, note=str(len(more)))
      for more in ([], [_bias("GRU")])],
    _case("LSTM", None, None, None, None, floats(1, 3 * SIZE), note="peepholes"),
    _case("LSTM", _bias("LSTM", 2), LENGTHS, None, None, floats(2, 3 * SIZE),
          direction="bidirectional", note="peepholes"),
    _case("LSTM", _bias("LSTM"), input_forget=1),
    # A gate is every fourth element here, and only an activation is computed over it.
    Case("LSTM", [floats(2, 4, 3), floats(2, 4, 3), floats(2, 4, 1), floats(2, 8), None, None,
                  None, floats(2, 3)],
         {"hidden_size": 1, "direction": "bidirectional"}, outputs=3, note="one element"),
    # onnxruntime has no layout 1, the reference no lengths.
    *[Case(op, [floats(BATCH, TIME, FEATURES), floats(1, GATES[op] * SIZE, FEATURES) / 3,
                floats(1, GATES[op] * SIZE, SIZE) / 3, _bias(op), None,
                *[floats(BATCH, 1, SIZE) / (i + 1) for i in range(STATES[op])]],
           {"hidden_size": SIZE, "layout": 1}, (14, 28), 1 + STATES[op], oracle="reference",
           atol=1e-4)
      for op in GATES],
]  # fmt: skip
