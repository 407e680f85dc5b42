"""Operators that move or gather elements, or know them when the model is loaded."""

import numpy as np
from onnx import TensorProto, numpy_helper

from ..case import Case, Known, bools, floats, integers, known, scalar

X = floats(2, 3, 4)

SHAPES = [
    *[Case("Reshape", [X, known(*shape)], note=str(shape))
      for shape in [(6, 4), (-1, 2), (0, -1), (4, 3, 2, 1), (24,), (0, 0, 2, 2)]],
    Case("Reshape", [floats(0, 3), known(3, 0)], {"allowzero": 1}, (14, 28)),
    Case("Reshape", [integers(4), known(2, 2)]),
    *[Case("Flatten", [X], {"axis": axis}) for axis in range(4)],
    Case("Flatten", [X]),
    Case("Flatten", [X], {"axis": -1}, (11, 28)),
    Case("Transpose", [X]),
    Case("Transpose", [X], {"perm": [1, 2, 0]}),
    Case("Squeeze", [floats(1, 3, 1)], {"axes": [0]}, (7, 12)),
    Case("Squeeze", [floats(1, 3, 1)], {"axes": [-1]}, (11, 12)),
    Case("Squeeze", [floats(1, 3, 1), known(0, -1)], opsets=(13, 28)),
    Case("Squeeze", [floats(1, 3, 1)]),
    Case("Unsqueeze", [X], {"axes": [0, 3]}, (7, 12)),
    Case("Unsqueeze", [X], {"axes": [-1]}, (11, 12)),
    Case("Unsqueeze", [X, known(0, -1)], opsets=(13, 28)),
    Case("Expand", [floats(3, 1), known(2, 3, 4)]),
    Case("Expand", [floats(2, 3, 4), known(3, 1)], note="smaller"),
    Case("Tile", [floats(2, 3), known(2, 1)]),
    Case("Tile", [floats(2, 3), known(3, 2)]),
    *[Case("DepthToSpace", [floats(2, 8, 3, 4)], {"blocksize": 2, "mode": mode}, (11, 28))
      for mode in ("DCR", "CRD")],
    Case("DepthToSpace", [floats(2, 8, 3, 4)], {"blocksize": 2}),
    Case("SpaceToDepth", [floats(2, 3, 4, 6)], {"blocksize": 2}),
    Case("SpaceToDepth", [floats(2, 3, 4, 6)], {"blocksize": 2, "mode": "CRD"}, (28, 28)),
]  # fmt: skip

JOINS = [
    Case("Concat", [floats(2, 3), floats(2, 1), floats(2, 4)], {"axis": 1}),
    Case("Concat", [floats(2, 3), floats(1, 3)], {"axis": 0}),
    Case("Concat", [X, X], {"axis": -1}, (11, 28)),
    Case("Concat", [integers(3), Known(integers(2))], {"axis": 0}),
    Case("Concat", [floats(3)], {"axis": 0}),
    Case("Split", [floats(2, 6)], {"axis": 1}, (7, 17), outputs=3),
    Case("Split", [floats(2, 6)], {"axis": 1, "split": [1, 5]}, (7, 12), outputs=2),
    Case("Split", [floats(6)], {"split": [1, 2, 3]}, (7, 12), outputs=3),
    Case("Split", [floats(2, 6), known(1, 5)], {"axis": -1}, (13, 28), outputs=2),
    Case("Split", [floats(7)], {"num_outputs": 3}, (18, 28), outputs=3),
    Case("Split", [floats(2, 6)], {"axis": 1, "num_outputs": 2}, (18, 28), outputs=2),
]


def _slices(
    starts: list[int],
    ends: list[int],
    axes: list[int] | None = None,
    steps: list[int] | None = None,
) -> list[Case]:
    note = f"{starts}{ends}{axes}{steps}".replace(" ", "")
    old = {"starts": starts, "ends": ends} | ({} if axes is None else {"axes": axes})
    new = [known(*v) if v is not None else None for v in (starts, ends, axes, steps)]
    while new[-1] is None:
        new.pop()
    x = floats(4, 5, 6)
    cases = [Case("Slice", [x, *new], opsets=(10, 28), note=note)]
    return cases + ([] if steps else [Case("Slice", [x], old, (7, 9), note=note)])


FAR = 2**62
SLICES = [
    *_slices([1], [3]),
    *_slices([1, 0], [3, -1], [0, 2]),
    *_slices([0, 0, -3], [4, 100, FAR], [0, 1, 2]),
    *_slices([2], [2], [1]),
    *_slices([0, 1], [4, FAR], [0, 1], [2, 3]),
    *_slices([-1], [-FAR], [1], [-1]),
    *_slices([10, 4], [-10, 0], [0, 2], [-2, -3]),
    *_slices([-2], [FAR], [-1], [1]),
]

PADS = [
    *[Case("Pad", [X], {"pads": pads, "mode": mode}, (7, 10), note=str(pads))
      for mode, pads in [("constant", [0, 1, 2, 3, 0, 1]), ("reflect", [0, 2, 1, 0, 1, 3]),
                         ("edge", [1, 0, 2, 0, 1, 3])]],
    Case("Pad", [X], {"pads": [0, 1, 0, 0, 0, 2], "value": 1.5}, (7, 10)),
    *[Case("Pad", [X, known(*pads)], {"mode": mode}, (first, 28), note=str(pads))
      for mode, pads, first in [("constant", [0, 1, 2, 3, 0, 1], 11),
                                ("constant", [0, -1, 2, 1, 0, -1], 11),
                                ("reflect", [0, 2, 1, 0, 1, 3], 11),
                                ("edge", [1, 0, 2, 0, 1, 3], 11),
                                ("wrap", [1, 0, 2, 0, 1, 3], 19)]],
    Case("Pad", [X, known(0, 0, 1, 0, 2, 0), scalar(-1.5)], opsets=(11, 28), note="value"),
    Case("Pad", [X, known(0, 0, 1, 0, 2, 0), scalar(-np.inf)], opsets=(11, 28), note="infinite"),
    Case("Pad", [X, known(1, 2, 0, 1), scalar(7), known(2, -3)], opsets=(18, 28), note="axes"),
    Case("Pad", [integers(3), known(1, 2), scalar(9, np.int64)], opsets=(13, 28)),
    Case("Pad", [X, known(0, 0, -1, 0, 2, 0), np.array(2.5, np.float32)], opsets=(11, 28),
         note="fed"),
    Case("Pad", [integers(3), known(1, 2), np.array(-4)], opsets=(13, 28), note="fed"),
]  # fmt: skip

_INDEX = np.array([[2, 0], [-1, 1]])
GATHER = [
    *[Case("Gather", [X, Known(_INDEX)], {"axis": axis}, (11, 28)) for axis in (1, 2, -1)],
    Case("Gather", [X, np.array([1, 0, 1])]),
    Case("Gather", [X, scalar(1, np.int64)], {"axis": 1}),
    Case("Gather", [X, np.array([0, 3], np.int32)], {"axis": 2}),
    Case("GatherElements", [floats(3, 4), integers(3, 4, low=-4, high=4)], {"axis": 1}),
    Case("GatherElements", [floats(3, 4), integers(2, 3, low=0, high=3)]),
    Case("OneHot", [integers(2, 3, low=-4, high=6), scalar(4, np.int64), floats(2)]),
    Case("OneHot", [integers(5, low=0, high=4), scalar(4, np.int64), integers(2)], {"axis": 0}),
    Case("OneHot", [floats(4, low=0, high=3).round(), scalar(3), floats(2)], {"axis": 1}),
    *[Case("OneHot", [np.array([0, 5, 100, 127], t), scalar(300, np.int64), floats(2)],
           oracle="reference", note="deeper-than-the-type") for t in (np.int8, np.uint8, np.int16)],
    Case("OneHot", [np.array([-128, -1], np.int8), scalar(300, np.int64), floats(2)],
         oracle="reference", note="from-the-end"),
    Case("OneHot", [np.array([np.nan, np.inf, -np.inf, 1e10, -1, 2], np.float32), scalar(4),
                    floats(2)], note="no-index"),
    *[Case("Trilu", [floats(2, 3, 4), scalar(k, np.int64)], {"upper": upper}, note=f"k{k}")
      for k in (-1, 0, 2) for upper in (0, 1)],
    Case("Trilu", [integers(3, 3)]),
]  # fmt: skip


def _tensor(value: object, dtype: type) -> TensorProto:
    return numpy_helper.from_array(np.array(value, dtype))


CONSTANTS = [
    Case("Constant", [], {"value": _tensor([[1.5, 2], [3, 4]], np.float32)}),
    Case("Constant", [], {"value": _tensor(7, np.int64)}),
    Case("Constant", [], {"value_float": 1.5}, (12, 28)),
    Case("Constant", [], {"value_int": 3}, (12, 28)),
    Case("Constant", [], {"value_floats": [1.5, 2.5]}, (12, 28)),
    Case("Constant", [], {"value_ints": [3, 4, 5]}, (12, 28)),
    Case("ConstantOfShape", [known(2, 3)]),
    Case("ConstantOfShape", [known(2)], {"value": _tensor([1.5], np.float32)}),
    Case("ConstantOfShape", [known(3)], {"value": _tensor([7], np.int64)}),
    Case("ConstantOfShape", [known()], {"value": _tensor([True], np.bool_)}),
    Case("Shape", [floats(2, 3, 4)]),
    Case("Shape", [floats(2, 3, 4)], {"start": 1}, (15, 28)),
    Case("Shape", [floats(2, 3, 4)], {"start": -2, "end": -1}, (15, 28)),
    Case("Size", [floats(2, 3, 4)]),
    Case("Range", [scalar(2, np.int64), scalar(11, np.int64), scalar(3, np.int64)]),
    Case("Range", [scalar(5, np.int32), scalar(-4, np.int32), scalar(-2, np.int32)]),
    Case("Range", [scalar(0.5), scalar(2), scalar(0.25)]),
    Case("Range", [scalar(0, np.int64), scalar(9000, np.int64), scalar(2, np.int64)], note="long"),
    Case("EyeLike", [floats(3, 4)], {"k": 1}),
    Case("EyeLike", [floats(3, 4)], {"dtype": TensorProto.INT64}),
]

_TYPES = {
    np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE, np.float16: TensorProto.FLOAT16,
    np.int32: TensorProto.INT32, np.int64: TensorProto.INT64, np.uint8: TensorProto.UINT8,
    np.bool_: TensorProto.BOOL,
}  # fmt: skip
_NUMBERS = np.array([0, 1, 2.75, 100, 0.5], np.float32)
CASTS = [
    Case("Cast", [_NUMBERS.astype(source)], {"to": number}, note=np.dtype(target).name)
    for source in _TYPES
    for target, number in _TYPES.items()
]
CASTS += [
    Case("Cast", [floats(6)], {"to": TensorProto.INT32}, note="negative"),
    Case("CastLike", [floats(4), integers(1)]),
    Case("CastLike", [bools(4), floats(1)]),
]

CASES = [*SHAPES, *JOINS, *SLICES, *PADS, *GATHER, *CONSTANTS, *CASTS]
