"""Running sums and products, Einstein sums, determinants."""

import numpy as np

from ..case import Case, floats, integers, scalar

_X = floats(2, 5, 3)
RUNNING = [
    Case(op, [x, scalar(axis, np.int64)], {"reverse": reverse, "exclusive": exclusive},
         note=f"axis{axis}")
    for op in ("CumSum", "CumProd")
    for x, axis in ((_X, 1), (_X, -1), (integers(7, dtype=np.int32, low=-2, high=3), 0))
    for reverse in (0, 1)
    for exclusive in (0, 1)
]  # fmt: skip
RUNNING += [
    *[Case(op, [_X, np.array(axis, np.int32)], note=f"fed{axis}")
      for op in ("CumSum", "CumProd") for axis in (1, -1)],
    Case("CumSum", [floats(2, 300), scalar(1, np.int64)], atol=1e-3),
    Case("CumSum", [floats(3, 4, dtype=np.float64), scalar(0, np.int32)]),
]  # fmt: skip

EINSUM = [
    Case("Einsum", [floats(*shape) for shape in shapes], {"equation": equation}, rtol=1e-3)
    for equation, shapes in [
        ("ij->ji", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("ij", [(3, 4)]),
        ("ba", [(3, 4)]),
        ("ii->i", [(4, 4)]),
        ("...ii->...i", [(2, 4, 4)]),
        ("ii", [(4, 4)]),
        ("i,i", [(5,), (5,)]),
        ("i,j->ij", [(5,), (3,)]),
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij, bjk -> bik", [(2, 3, 4), (2, 4, 5)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("abc,cd,def->abf", [(2, 3, 4), (4, 5), (5, 6, 2)]),
        ("ij,j,i->", [(3, 4), (4,), (3,)]),
        ("ij,kj->jik", [(3, 4), (5, 4)]),
    ]
]
EINSUM += [
    Case("Einsum", [integers(3, 4), integers(4, 2)], {"equation": "ij,jk->ik"}),
    Case("Einsum", [floats(3, 4, dtype=np.float64)], {"equation": "ij->j"}),
]

_SINGULAR = np.array([[[0, 2, 1], [3, 0, 1], [1, 1, 0]], [[1, 2, 3], [2, 4, 6], [1, 0, 1]]])
DET = [
    Case("Det", [x], atol=1e-3)
    for x in (
        floats(2, 2), floats(1, 1), floats(3, 4, 4), floats(2, 2, 6, 6) / 2,
        _SINGULAR.astype(np.float32), floats(5, 5, dtype=np.float64), np.zeros((3, 3), np.float32),
    )
]  # fmt: skip

CASES = [*RUNNING, *EINSUM, *DET]
