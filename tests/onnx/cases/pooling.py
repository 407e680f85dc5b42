"""Pooling over one to three axes, with every padding rule; indices of maxima; unpooling."""

import numpy as np

from ..case import Case, Known, floats, integers, known
from .convolution import IMAGE, PADDINGS, STRIDES, VOLUME, lists


def _pool(op: str, x: np.ndarray, first: int = 7, **attributes: object) -> Case:
    return Case(op, [x], attributes, (first, 28), note=lists(attributes))


_POOLS = ("MaxPool", "AveragePool")
POOL = [
    *[_pool(op, IMAGE, kernel_shape=[3, 3], **padding, **stride)
      for op in _POOLS for padding in PADDINGS for stride in STRIDES],
    *[_pool("AveragePool", IMAGE, kernel_shape=[3, 3], count_include_pad=1, **padding, **stride)
      for padding in PADDINGS[1:3] for stride in STRIDES],
    *[_pool(op, IMAGE, 10, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1, **padding)
      for op in _POOLS for padding in ({}, {"pads": [1, 0, 1, 0]}, {"pads": [1, 1, 0, 0]})],
    *[_pool(op, floats(1, 1, 7, 7), 10, kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1)
      for op in _POOLS],
    _pool("AveragePool", IMAGE, 10, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
          count_include_pad=1, pads=[1, 1, 1, 1]),
    _pool("MaxPool", IMAGE, 10, kernel_shape=[3, 2], dilations=[2, 3]),
    _pool("MaxPool", IMAGE, 10, kernel_shape=[2, 2], dilations=[2, 2], pads=[1, 1, 1, 1],
          strides=[2, 1], ceil_mode=1),
    _pool("AveragePool", IMAGE, 19, kernel_shape=[2, 2], dilations=[2, 3], pads=[1, 1, 1, 1]),
    *[_pool(op, floats(2, 3, 11), kernel_shape=[3], strides=[2], pads=[1, 0]) for op in _POOLS],
    _pool("MaxPool", -IMAGE[:, :, :3, :3] - 9, kernel_shape=[2, 2], pads=[1, 1, 1, 1]),
]  # fmt: skip

_AXES_3 = [
    {"kernel_shape": [3, 3, 3], "pads": [1, 1, 1, 1, 1, 1], "strides": [2, 1, 2]},
    {"kernel_shape": [2, 3, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2, 1]},
    {"kernel_shape": [2, 2, 3]},
]
VOLUMES = [
    *[_pool(op, VOLUME, **window) for op in _POOLS for window in _AXES_3],
    _pool("AveragePool", VOLUME, count_include_pad=1, **_AXES_3[0]),
    *[_pool(op, VOLUME, 10, ceil_mode=1, kernel_shape=[2, 3, 2], strides=[2, 2, 3])
      for op in _POOLS],
    _pool("MaxPool", VOLUME, 10, kernel_shape=[2, 3, 2], dilations=[3, 1, 2]),
    _pool("AveragePool", VOLUME, 19, kernel_shape=[2, 3, 2], dilations=[3, 1, 2],
          pads=[1, 1, 0, 0, 1, 1]),
]  # fmt: skip

SMALL = [
    Case("MaxPool", [x], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]},
         (12, 28))
    for x in (integers(1, 3, 6, 5, low=0, high=256, dtype=np.uint8),
              integers(1, 3, 6, 5, low=-128, high=0, dtype=np.int8))
]  # fmt: skip


LP = [
    Case("LpPool", [IMAGE], {"kernel_shape": [3, 2], **extra}, note=lists(extra))
    for extra in ({}, {"p": 1}, {"p": 3}, {"pads": [1, 0, 1, 1]}, {"strides": [2, 1]},
                  {"auto_pad": "SAME_UPPER", "strides": [2, 2]})
] + [
    Case("LpPool", [floats(2, 3, 9)], {"kernel_shape": [4], "strides": [2]}),
    Case("LpPool", [VOLUME], {"kernel_shape": [3, 2, 2], "pads": [1, 0, 1, 1, 0, 1]}),
    Case("LpPool", [IMAGE], {"kernel_shape": [2, 2], "dilations": [2, 3]}, (18, 28)),
    Case("LpPool", [IMAGE], {"kernel_shape": [2, 3], "ceil_mode": 1, "strides": [2, 2]}, (18, 28)),
]  # fmt: skip


def _indices(x: np.ndarray, first: int = 8, **attributes: object) -> Case:
    return Case("MaxPool", [x], attributes, (first, 28), 2, lists(attributes))


_TIES = integers(2, 3, 8, 9, low=0, high=3)
INDICES = [
    _indices(IMAGE, kernel_shape=[3, 3]),
    _indices(IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1]),
    _indices(IMAGE, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], storage_order=1),
    _indices(IMAGE, 10, kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1),
    _indices(IMAGE, 10, kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 1, 1, 1]),
    _indices(floats(2, 3, 11), kernel_shape=[3], strides=[2], pads=[1, 1]),
    _indices(VOLUME, kernel_shape=[2, 3, 2], strides=[2, 1, 2], pads=[0, 1, 1, 1, 1, 0]),
    _indices(VOLUME, kernel_shape=[2, 3, 2], storage_order=1),
    _indices(_TIES.astype(np.float32), kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    _indices(_TIES.astype(np.uint8), 12, kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    _indices((_TIES - 128).astype(np.int8), 12, kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
]

_WHERE = np.array([[[[5, 7], [13, 15]], [[16, 19], [24, 31]]]], np.int64)
UNPOOL = [
    Case("MaxUnpool", [floats(1, 2, 2, 2), _WHERE], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    Case("MaxUnpool", [floats(1, 2, 2, 2), Known(_WHERE)],
         {"kernel_shape": [2, 2], "strides": [2, 2]}, note="known"),
    Case("MaxUnpool", [floats(1, 2, 2, 2), _WHERE, known(1, 2, 5, 6)],
         {"kernel_shape": [2, 2], "strides": [2, 2]}, oracle="reference"),
    Case("MaxUnpool", [floats(1, 1, 3), np.array([[[1, 2, 4]]])],
         {"kernel_shape": [2], "strides": [2], "pads": [1, 0]}),
]  # fmt: skip

GLOBAL = [
    *[Case(op, [x])
      for op in ("GlobalAveragePool", "GlobalMaxPool")
      for x in (IMAGE, floats(2, 3, 7), floats(2, 3, 2, 3, 4))],
    *[Case("GlobalLpPool", [IMAGE], attributes, judged_as=7)
      for attributes in ({}, {"p": 1}, {"p": 3})],
    Case("GlobalLpPool", [VOLUME], judged_as=7),
]  # fmt: skip

CASES = [*POOL, *VOLUMES, *SMALL, *LP, *INDICES, *UNPOOL, *GLOBAL]
