"""Reductions, indices of extremes, matrix products."""

import numpy as np

from ..case import Case, floats, integers, known

# The operator set since which the axes are an input.
AXES_INPUT = {
    "ReduceSum": 13, "ReduceMean": 18, "ReduceMax": 18, "ReduceMin": 18, "ReduceProd": 18,
    "ReduceL1": 18, "ReduceL2": 18, "ReduceLogSum": 18, "ReduceLogSumExp": 18,
    "ReduceSumSquare": 18,
}  # fmt: skip


def _reductions(op: str, switch: int) -> list[Case]:
    x = floats(2, 3, 4, low=0.2, high=2)
    before, after = (7, switch - 1), (switch, 28)
    cases = [Case(op, [x]), Case(op, [x], {"keepdims": 0})]
    for axes in ([1], [0, 2]):
        for keepdims in (0, 1):
            note = f"axes{axes}"
            kept = {"keepdims": keepdims}
            cases.append(Case(op, [x], {"axes": axes, **kept}, before, note=note))
            cases.append(Case(op, [x, known(*axes)], kept, after, note=note))
    return [
        *cases,
        Case(op, [x], {"axes": [-1]}, (11, switch - 1)),
        Case(op, [x, known(-1)], opsets=after, note="axes[-1]"),
        Case(op, [x, known()], opsets=after, note="no-axes"),
    ]


REDUCE = [case for op, switch in AXES_INPUT.items() for case in _reductions(op, switch)]
REDUCE += [
    Case("ReduceSum", [floats(2, 3), known()], {"noop_with_empty_axes": 1}, (13, 28)),
    Case("ReduceSum", [integers(2, 3), known(1)], opsets=(13, 28)),
    Case("ReduceMax", [integers(2, 3), known(1)], opsets=(18, 28)),
    Case("ReduceMin", [integers(2, 3, dtype=np.int32), known(0)], opsets=(18, 28)),
    Case("ReduceMax", [np.array([[True, False], [False, False]]), known(1)], opsets=(20, 28)),
    Case("ReduceMean", [integers(2, 3, low=0), known(1)], opsets=(18, 28)),
    # Integers whose sum or square fits neither their type nor float32, or whose mean is (or is
    # almost) a fraction.
    *[Case(op, [np.array(values, dtype), known(1)], opsets=(18, 27), note=note, rtol=0, atol=0)
      for op in ("ReduceMean", "ReduceL2", "ReduceLogSum")
      for note, values, dtype in [
          ("odd", [[16777217, 16777217], [-7, 2], [0, 3]], np.int64),
          ("odd", [[16777217, 16777217], [60000, 60000], [-1, 8]], np.int32),
          ("wide", [[2**40 + 1, 2**40 + 1], [3, 4]], np.int64),
          ("full", [[2**31 - 1, 2**31 - 1], [2**30, 2**30]], np.int32)]
      if (op, note) != ("ReduceL2", "wide")],  # onnxruntime is imprecise, the reference overflows
    Case("ReduceMean", [np.ones((2, 49), np.int32), known(1)], opsets=(18, 28), rtol=0, atol=0),
    Case("ReduceMean", [np.full((2, 999), 100, np.float16), known(1)], opsets=(18, 28)),
    Case("ReduceMax", [floats(2, 0, 3), known(1)], opsets=(20, 28), oracle="reference"),
    Case("ReduceMin", [integers(2, 0, dtype=np.int32), known(1)], opsets=(20, 28),
         oracle="reference"),
    Case("ReduceLogSumExp", [floats(2, 9, low=80, high=100), known(1)], opsets=(18, 28)),
    *[Case("ReduceLogSumExp", [np.array(
        [[1, np.inf], [-np.inf, -np.inf], [np.inf, np.inf], [-np.inf, np.inf], [-np.inf, 2]],
        dtype), known(1)], {"keepdims": keepdims}, opsets=(18, 28), judged_as=18, note="infinite")
      for dtype in (np.float32, np.float64) for keepdims in (0, 1)],
]  # fmt: skip

_TIES = np.array([[2, 1, 2, 0], [0, 3, 3, 3], [1, 1, 1, 1]], np.float32)
ARG = [
    Case(op, [x], {"axis": axis, "keepdims": keepdims})
    for op in ("ArgMax", "ArgMin")
    for x in (_TIES, floats(2, 3, 4))
    for axis in (0, 1)
    for keepdims in (0, 1)
]
ARG += [
    Case("ArgMax", [floats(2, 3)]),
    Case("ArgMax", [floats(2, 3)], {"axis": -1}, (11, 28)),
    Case("ArgMax", [integers(7, dtype=np.int32)]),
    *[Case(op, [_TIES], {"axis": 1, "select_last_index": 1}, (12, 28))
      for op in ("ArgMax", "ArgMin")],
]  # fmt: skip

MATMUL = [
    Case("MatMul", pair)
    for pair in [
        (floats(3, 4), floats(4, 5)),
        (floats(2, 3, 4), floats(4, 5)),
        (floats(2, 3, 4), floats(2, 4, 5)),
        (floats(2, 1, 3, 4), floats(5, 4, 2)),
        (floats(4), floats(4, 5)),
        (floats(3, 4), floats(4)),
        (floats(4), floats(2, 4, 3)),
        (floats(4), floats(4)),
        (floats(17, 33), floats(33, 9)),
        (integers(3, 4, dtype=np.int32), integers(4, 2, dtype=np.int32)),
        (floats(3, 4, dtype=np.float64), floats(4, 2, dtype=np.float64)),
    ]
]

_A, _B = floats(3, 4), floats(4, 5)
GEMM = [
    Case("Gemm", [_A, _B, floats(5)]),
    Case("Gemm", [_A, _B, floats(3, 1)], {"alpha": 0.5, "beta": 2.0}),
    Case("Gemm", [_A.T.copy(), _B, floats(3, 5)], {"transA": 1}),
    Case("Gemm", [_A, _B.T.copy(), floats(5)], {"transB": 1}),
    Case("Gemm", [_A.T.copy(), _B.T.copy(), floats(1)], {"transA": 1, "transB": 1, "alpha": 3.0}),
    Case("Gemm", [_A, _B, floats(5)], {"beta": 0.0}),
    Case("Gemm", [_A, _B], opsets=(11, 28)),
]

CASES = [*REDUCE, *ARG, *MATMUL, *GEMM]
