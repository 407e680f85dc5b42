"""Losses, with weights, ignored targets and every reduction."""

from typing import Any

import numpy as np

from ..case import Case, floats, integers

_WEIGHTS = floats(5, low=0.2, high=1)


def _cases(op: str, outputs: int) -> list[Case]:
    shapes: list[tuple[int, ...]] = [(3, 5), (3, 5, 2), (2, 5, 3, 2)]
    made = []
    for shape in shapes:
        x = -floats(*shape, low=0.1, high=2)
        target = integers(shape[0], *shape[2:], low=0, high=5)
        ignoring = target.copy()
        ignoring.flat[0] = -7
        for reduction in ("none", "sum", "mean"):
            made += [
                _case(op, [x, target], outputs, reduction=reduction),
                _case(op, [x, target, _WEIGHTS], outputs, reduction=reduction),
                _case(op, [x, ignoring], outputs, reduction=reduction, ignore_index=-7),
                _case(op, [x, target, _WEIGHTS], outputs, reduction=reduction, ignore_index=2),
            ]
    small = integers(3, low=0, high=5, dtype=np.int32)
    return [*made, _case(op, [floats(3, 5), small], outputs)]


def _case(op: str, inputs: list[Any], outputs: int, **attributes: Any) -> Case:
    return Case(op, inputs, attributes, outputs=outputs)


CASES = [
    *_cases("NegativeLogLikelihoodLoss", 1),
    *_cases("SoftmaxCrossEntropyLoss", 1),
    *_cases("SoftmaxCrossEntropyLoss", 2)[:4],
]
