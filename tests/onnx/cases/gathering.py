"""Gathers, scatters and order."""

from typing import Any

import numpy as np

from ..case import Case, Known, bools, floats, integers, known

_PAIRS = np.array([[0, 1], [2, -1], [-3, 0]])


def indices(*shape: int, below: int) -> np.ndarray:
    """Indices from -below up to but excluding below."""
    return integers(*shape, low=-below, high=below)


GATHER = [
    Case("GatherND", [floats(3, 2, 4), _PAIRS]),
    Case("GatherND", [floats(3, 2), _PAIRS]),
    Case("GatherND", [floats(3, 2, 4), indices(2, 2, 1, below=3)]),
    Case("GatherND", [floats(2, 5, 3), indices(2, 4, 1, below=5)], {"batch_dims": 1}, (12, 28)),
    Case("GatherND", [integers(2, 3, 4, 5), indices(2, 3, 6, 2, below=4)], {"batch_dims": 2},
         (12, 28)),
    Case("GatherND", [bools(3, 2), known([0, 1], [2, 0])], note="known"),
    Case("ArrayFeatureExtractor", [floats(3, 5), known(4, 0, 4)], opsets=(1, 5),
         domain="ai.onnx.ml"),
    Case("ArrayFeatureExtractor", [integers(5), known([1, 2])], opsets=(1, 5), domain="ai.onnx.ml",
         oracle="reference"),
    *[Case("Compress", [floats(3, 4), Known(np.array(c))], a, note="known")
      for c, a in [([True, False, True], {"axis": 0}), ([False, True, True], {"axis": -1}),
                   ([False] * 9 + [True], {}), ([False], {"axis": 1})]],
]  # fmt: skip

# Duplicates: the last update wins in onnxruntime too.
_NONE = [
    Case(op, [floats(4, 3), indices(2, 3, below=4), floats(2, 3) + 9], a, (first, last))
    for op, first, last in (("Scatter", 9, 10), ("ScatterElements", 11, 28))
    for a in ({}, {"axis": 0})
] + [
    Case(op, [floats(3, 6), indices(3, 9, below=6), floats(3, 9) + 9], {"axis": -1}, (first, last))
    for op, first, last in (("Scatter", 9, 10), ("ScatterElements", 11, 28))
]


def _reduced(op: str, inputs: list[Any], axis: dict[str, Any]) -> list[Case]:
    return [
        Case(op, inputs, {**axis, "reduction": reduction}, (first, 28))
        for reduction, first in (("add", 16), ("mul", 16), ("max", 18), ("min", 18))
    ]


SCATTER = [
    *_NONE,
    Case("ScatterElements", [floats(4, 5, 3), indices(2, 3, 2, below=5), floats(2, 3, 2)],
         {"axis": 1}, (11, 28)),
    Case("ScatterElements", [bools(4), np.array([1, -1]), bools(2)], opsets=(11, 28)),
    *_reduced("ScatterElements", [floats(4, 3), indices(7, 3, below=4), floats(7, 3)], {"axis": 0}),
    *_reduced("ScatterElements", [floats(4, 6), indices(3, 5, below=6), floats(3, 5)], {"axis": 1}),
    *_reduced("ScatterElements", [integers(5), indices(9, below=5), integers(9)], {"axis": 0}),
    Case("ScatterND", [floats(3, 2, 4), _PAIRS, floats(3, 4)]),
    Case("ScatterND", [floats(3, 2, 4), np.array([[1], [1], [-3]]), floats(3, 2, 4)]),
    Case("ScatterND", [floats(6), known([4], [3]), integers(2).astype(np.float32)], note="known"),
    Case("ScatterND", [integers(3, 2), np.array([[0, 0], [2, -1]]), integers(2)]),
    *_reduced("ScatterND", [floats(4, 3), np.array([[1], [1], [-1], [1]]), floats(4, 3)], {}),
    *_reduced("ScatterND", [integers(4), np.array([[1], [1], [-1]]), integers(3)], {}),
]  # fmt: skip

_TIES = np.array([[3, 1, 3, 2, 1, 3], [0, 0, 0, 0, 0, 0]], np.float32)
TOP = [
    Case("TopK", [floats(3, 7)], {"k": 3}, (7, 9), outputs=2),
    Case("TopK", [floats(3, 7)], {"k": 2, "axis": 0}, (7, 9), outputs=2),
    *[Case("TopK", [floats(3, 7, 2), known(k)], {"axis": axis}, (10, 28), outputs=2,
           note=f"{k}") for k, axis in ((1, 0), (4, 1), (7, -2), (2, -1))],
    Case("TopK", [_TIES, known(4)], opsets=(10, 28), outputs=2, note="ties"),
    *[Case("TopK", [x, known(3)], {"largest": 0}, (11, 28), outputs=2)
      for x in (_TIES, integers(2, 9), integers(9, dtype=np.int32))],
    Case("TopK", [floats(9), known(3)], {"sorted": 0}, (11, 28), outputs=2, oracle="reference"),
    Case("TopK", [floats(2, 300), known(20)], opsets=(10, 28), outputs=2, note="20"),
    Case("TopK", [integers(6, low=0, dtype=np.uint8), known(6)], opsets=(11, 28), outputs=2,
         oracle="reference"),
    Case("NonZero", [Known(np.array([[1, 0], [0, 2]], np.float32))], note="known"),
    Case("NonZero", [Known(np.array([False, True, True]))], note="known"),
]  # fmt: skip

CASES = [*GATHER, *SCATTER, *TOP]

_UNIQUE = np.array([2, 1, 1, 3, 4, 3], np.float32)
_ROWS = np.array([[1, 0, 0], [1, 0, 0], [2, 3, 4], [0, 0, 9]], np.float32)
_BOXES = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [1, -0.1, 0, 0.9], [0, 10, 1, 11],
                    [0, 10.1, 1, 11.1], [0, 100, 1, 101]]] * 2, np.float32)  # fmt: skip
_CENTRED = np.concatenate([abs(floats(1, 40, 2)) * 3, abs(floats(1, 40, 2)) + 0.5], 2)
_SCORES = floats(2, 3, 6, low=0, high=1)
_LIMITS = [known(2), known(0.5, dtype=np.float32), known(0.3, dtype=np.float32)]

ON_HOST = [
    *[one for one in SCATTER if not isinstance(one.inputs[1], Known)],
    Case("NonZero", [bools(3, 4)]),
    Case("NonZero", [integers(3, 2, 4, low=-1, high=2)]),
    *[Case("Compress", [floats(3, 4), bools(4)], a) for a in ({}, {"axis": 1}, {"axis": -1})],
    Case("Unique", [_UNIQUE], outputs=4),
    Case("Unique", [_UNIQUE], {"sorted": 0}, outputs=4),
    *[Case("Unique", [_ROWS], {"axis": axis}, outputs=4) for axis in (0, 1, -1)],
    *[Case("Unique", [_ROWS], {"axis": axis, "sorted": 0}, (11, 27), outputs=4)
      for axis in (0, 1)],
    Case("Unique", [integers(3, 5, low=0, high=4)], outputs=4),
    Case("TopK", [floats(3, 7), np.array([2])], {"axis": 0}, (10, 28), outputs=2),
    Case("NonMaxSuppression", [_BOXES, _SCORES, *_LIMITS], opsets=(10, 28)),
    Case("NonMaxSuppression", [_BOXES, _SCORES, known(9)], opsets=(11, 28)),
    Case("NonMaxSuppression", [_BOXES, _SCORES], opsets=(11, 28)),
    Case("NonMaxSuppression", [_CENTRED, floats(1, 2, 40), known(30), known(0.2, dtype=np.float32)],
         {"center_point_box": 1}, (10, 28)),
]  # fmt: skip
