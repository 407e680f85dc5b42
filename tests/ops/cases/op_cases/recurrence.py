"""Recurrences, whole and step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from dynamic_reference import dynamic_built, dynamic_operands, dynamic_reference
from recurrence_reference import (
    built,
    gradient_built,
    gradient_operands,
    gradient_reference,
    operands,
    recurrence_reference,
    step_operands,
    steps,
    steps_reference,
)

from .case import case

relu, ways = ("Relu", 0.0, 0.0), (False, True)
hard = (("HardSigmoid", 0.3, 0.4), ("Tanh", 0.0, 0.0))
# Cell; steps, sequences, features, elements of the state.
layers: dict[str, tuple[str, tuple[int, int, int, int], dict[str, Any]]] = {
    "rnn": ("rnn", (5, 2, 3, 6), {}),
    "rnn-backward": ("rnn", (4, 1, 2, 5), {"backward": (True,), "activations": (relu,)}),
    "rnn-large": ("rnn", (3, 2, 1, 301), {}),
    "gru": ("gru", (6, 3, 4, 7), {"backward": ways, "clip": 0.6}),
    "gru-linear": ("gru", (6, 2, 4, 8), {"linear_before_reset": True, "activations": hard}),
    "gru-large": ("gru", (3, 1, 2, 258), {}),
    "lstm": ("lstm", (7, 3, 4, 9), {"backward": ways}),
    "lstm-options": ("lstm", (4, 2, 3, 4), {"clip": 0.4, "input_forget": True}),
    "lstm-one": ("lstm", (1, 1, 8, 16), {}),
    "lstm-order": ("lstm", (9, 3, 4, 5), {"order": (0, 3, 1, 2)}),
    "gru-order": ("gru", (9, 2, 3, 6), {"order": (1, 0, 2), "linear_before_reset": True}),
}
for name, (cell, sizes, choices) in layers.items():
    case(
        f"recurrence-{name}",
        operands(cell, *sizes, len(choices.get("backward", " "))),
        lambda *t, cell=cell, choices=choices: built(cell, *t, **choices),
        lambda *a, cell=cell, choices=choices: recurrence_reference(cell, *a, **choices),
        rtol=1e-4,
        atol=1e-5,
    )
case(
    "recurrence_steps",
    step_operands("gru", 4, 2, 5),
    lambda *t: steps("gru", *t, start=0, steps=4, linear_before_reset=True),
    lambda *a: steps_reference("gru", *a, linear_before_reset=True),
    atol=1e-5,
)

gradients: dict[str, tuple[str, tuple[int, int, int, int], dict[str, Any]]] = {
    "rnn": ("rnn", (4, 2, 3, 5), {"backward": ways}),
    "rnn-relu": ("rnn", (3, 2, 2, 4), {"activations": (("LeakyRelu", 0.2, 0.0),), "clip": 0.9}),
    "gru": ("gru", (4, 2, 2, 3), {"backward": (True,)}),
    "gru-linear": ("gru", (4, 3, 2, 3), {"linear_before_reset": True, "order": (1, 0, 2)}),
    "gru-one": ("gru", (1, 1, 2, 4), {"linear_before_reset": True}),
    "lstm": ("lstm", (4, 2, 2, 3), {"backward": ways, "order": (0, 3, 1, 2)}),
    "lstm-options": ("lstm", (4, 3, 2, 3), {"clip": 0.8, "input_forget": True}),
    "lstm-hard": ("lstm", (3, 2, 2, 3), {"activations": (*hard, ("Softsign", 0.0, 0.0))}),
}
for name, (cell, sizes, choices) in gradients.items():
    case(
        f"recurrence_gradient-{name}",
        gradient_operands(cell, sizes, len(choices.get("backward", " ")), **choices),
        lambda *t, cell=cell, choices=choices: gradient_built(cell, *t, **choices),
        lambda *a, cell=cell, choices=choices: gradient_reference(cell, *a, **choices),
        rtol=1e-4,
        atol=2e-5,
    )
for name in ("Affine", "Elu", "HardSigmoid", "LeakyRelu", "Relu", "ScaledTanh", "Sigmoid",
             "Softplus", "Softsign", "Tanh", "ThresholdedRelu"):  # fmt: skip
    chosen_one: dict[str, Any] = {"activations": ((name, 0.6, 0.4),), "clip": 1.3}
    case(
        f"recurrence_gradient-slope-{name}",
        gradient_operands("rnn", (3, 2, 2, 3), **chosen_one),
        lambda *t, chosen=chosen_one: gradient_built("rnn", *t, **chosen),
        lambda *a, chosen=chosen_one: gradient_reference("rnn", *a, **chosen),
        rtol=1e-4,
        atol=2e-5,
    )

# Each step of one element is the function of what it is fed: small numbers, large ones, and NaN.
fed = np.float32([-1e-5, -3e-3, -0.2, -0.3, -9, -30, 1e-5, 0.2, 3, np.inf, -np.inf, np.nan])
zeros = [np.zeros(shape, np.float32) for shape in ((1, 1, 1), (1, 2), (1, 1, len(fed), 1))]
one_step = (fed.reshape(1, -1, 1), np.ones((1, 1, 1), np.float32), *zeros)
lengths = np.ones(len(fed), np.int32)
for name, alpha, clip in (
    ("Elu", 1.5, 0.0), ("Relu", 0.0, 0.0), ("HardSigmoid", 0.2, 0.0), ("Softplus", 0.0, 0.0),
    ("Sigmoid", 0.0, 0.0), ("Tanh", 0.0, 0.0), ("LeakyRelu", 0.5, 0.0),
    ("ThresholdedRelu", 0.1, 0.0), ("Relu", 0.0, 2.0), ("Tanh", 0.0, 2.0),
):  # fmt: skip
    chosen: dict[str, Any] = {"activations": ((name, alpha, 0.5),), "clip": clip}
    case(
        f"recurrence-ends-{name}-{clip:g}",
        (*one_step, lengths),
        lambda *t, chosen=chosen: built("rnn", *t, **chosen),
        lambda *a, chosen=chosen: recurrence_reference("rnn", *a, **chosen),
        rtol=2e-5,
        atol=1e-15,
    )

dynamic: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "one": ((4, 1, 8), {"backward": (False,)}),
    "both": ((4, 3, 5, 2, "uint8"), {"backward": ways, "clip": 0.8}),
    "backward": ((3, 2, 17), {"backward": (True,), "input_forget": True}),
    "large": ((2, 1, 301), {"backward": (False,)}),
}
for name, (dynamic_sizes, choices) in dynamic.items():
    case(
        f"dynamic_steps-{name}",
        dynamic_operands(*dynamic_sizes),
        lambda *t, choices=choices: dynamic_built(*t, **choices),
        lambda *a, choices=choices: dynamic_reference(*a, **choices),
        rtol=1e-4,
        atol=2e-5,
    )
