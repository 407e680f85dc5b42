"""Convolution and pooling, with every rule of padding."""

import numpy as np

from ..case import Case, floats

PADDINGS = [
    {},
    {"pads": [1, 1, 1, 1]},
    {"pads": [0, 1, 2, 0]},
    {"auto_pad": "SAME_UPPER"},
    {"auto_pad": "SAME_LOWER"},
    {"auto_pad": "VALID"},
]
STRIDES = [{}, {"strides": [2, 2]}, {"strides": [1, 3]}]
IMAGE = floats(2, 4, 9, 8)


def _note(attributes: dict[str, object]) -> str:
    return ",".join(f"{key}{value}" for key, value in attributes.items() if isinstance(value, list))


def _conv(*inputs: np.ndarray, **attributes: object) -> Case:
    return Case("Conv", inputs, attributes, note=_note(attributes), atol=1e-4)


CONV = [
    *[_conv(IMAGE, floats(6, 4, 3, 3), floats(6), **padding, **stride)
      for padding in PADDINGS for stride in STRIDES],
    *[_conv(IMAGE, floats(6, 4, 3, 2), dilations=[2, 1], **padding) for padding in PADDINGS],
    _conv(IMAGE, floats(6, 4, 1, 1), floats(6)),
    _conv(IMAGE, floats(6, 4, 1, 1), kernel_shape=[1, 1], strides=[2, 2]),
    _conv(IMAGE, floats(6, 2, 3, 3), floats(6), group=2, pads=[1, 1, 1, 1]),
    _conv(IMAGE, floats(4, 1, 3, 3), floats(4), group=4, strides=[2, 2], pads=[0, 0, 1, 1]),
    _conv(IMAGE, floats(8, 1, 3, 3), group=4),
    _conv(floats(1, 3, 5, 5), floats(2, 3, 5, 5)),
    _conv(floats(2, 3, 10), floats(4, 3, 3), floats(4), pads=[1, 0], strides=[2]),
    _conv(floats(2, 3, 10), floats(4, 3, 3), dilations=[3], auto_pad="SAME_UPPER"),
    _conv(floats(2, 4, 10), floats(4, 1, 3), group=4),
]  # fmt: skip


def _pool(op: str, x: np.ndarray, first: int = 7, **attributes: object) -> Case:
    return Case(op, [x], attributes, (first, 28), note=_note(attributes))


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

GLOBAL = [
    Case(op, [x])
    for op in ("GlobalAveragePool", "GlobalMaxPool")
    for x in (IMAGE, floats(2, 3, 7), floats(2, 3, 2, 3, 4))
]

CASES = [*CONV, *POOL, *GLOBAL]
