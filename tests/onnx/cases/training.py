"""Optimizers: one step, for one tensor and for two."""

from typing import Any

import numpy as np

from ..case import Case, floats, scalar

DOMAIN = "ai.onnx.preview.training"


def _case(op: str, states: int, tensors: int, count: int, **attributes: Any) -> Case:
    shapes = [(3,), (2, 2)][:tensors]
    values = [floats(*shape) for shape in shapes]
    gradients = [floats(*shape) / 2 for shape in shapes]
    kept = [np.abs(floats(*shape)) / (i + 3) for i in range(states) for shape in shapes]
    inputs = [scalar(0.1), scalar(count, np.int64), *values, *gradients, *kept]
    return Case(
        op, inputs, attributes, outputs=tensors * (1 + states), note=f"{tensors},{count}",
        oracle="reference", domain=DOMAIN,
    )  # fmt: skip


CASES = [
    *[_case("Adagrad", 1, n, 3, norm_coefficient=0.001, epsilon=1e-5, decay_factor=0.1)
      for n in (1, 2)],
    _case("Adam", 2, 1, 0, norm_coefficient=0.001, alpha=0.95, beta=0.1, epsilon=1e-7),
    _case("Adam", 2, 2, 4, norm_coefficient_post=0.01),
    *[_case("Momentum", 1, n, count, norm_coefficient=0.01, alpha=0.95, beta=0.1, mode=mode)
      for n, count, mode in ((1, 0, "standard"), (2, 2, "nesterov"))],
]  # fmt: skip
