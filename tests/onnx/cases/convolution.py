"""Convolution over one to three axes, with every padding rule; of integers; with a state."""

import numpy as np

from ..case import Case, Known, floats, integers

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
VOLUME = floats(2, 4, 5, 7, 6)


def lists(attributes: dict[str, object]) -> str:
    """The list attributes, for the name of a case."""
    return ",".join(f"{key}{value}" for key, value in attributes.items() if isinstance(value, list))


def _conv(*inputs: np.ndarray, **attributes: object) -> Case:
    return Case("Conv", inputs, attributes, note=lists(attributes), atol=1e-4)


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
    _conv(VOLUME, floats(6, 4, 3, 3, 2), floats(6)),
    _conv(VOLUME, floats(6, 4, 3, 3, 3), floats(6), pads=[1, 1, 1, 1, 1, 1]),
    _conv(VOLUME, floats(6, 4, 3, 3, 3), pads=[3, 0, 1, 2, 1, 0], strides=[2, 1, 2]),
    _conv(VOLUME, floats(6, 4, 2, 3, 2), dilations=[3, 2, 1], auto_pad="SAME_LOWER"),
    _conv(VOLUME, floats(6, 2, 3, 2, 2), floats(6), group=2, strides=[3, 2, 1]),
    _conv(VOLUME[:, :, :3], floats(6, 4, 3, 1, 2), dilations=[2, 2, 2], strides=[2, 3, 2],
          pads=[2, 0, 0, 0, 2, 2]),
    _conv(VOLUME[:, :, :1], floats(6, 4, 2, 1, 1), dilations=[4, 1, 1], pads=[2, 0, 0, 2, 0, 0]),
    _conv(VOLUME, floats(4, 1, 1, 3, 3), group=4, auto_pad="SAME_UPPER"),
]  # fmt: skip


def _integer(*inputs: object, **attributes: object) -> Case:
    return Case("ConvInteger", inputs, attributes, note=lists(attributes))


_PIXELS = integers(2, 4, 7, 6, low=0, high=256, dtype=np.uint8)
_SIGNED = integers(6, 4, 3, 3, low=-128, high=128, dtype=np.int8)
_UNSIGNED = integers(6, 4, 3, 3, low=0, high=256, dtype=np.uint8)
_DARK = np.uint8(130)
CONV_INTEGER = [
    _integer(_PIXELS, _UNSIGNED),
    _integer(_PIXELS, _UNSIGNED, np.array(_DARK), pads=[1, 1, 1, 1]),
    _integer(_PIXELS, _UNSIGNED, np.array(_DARK), np.array(_DARK), strides=[2, 1]),
    _integer(_PIXELS, _SIGNED, Known(np.array(_DARK)), Known(np.array(np.int8(5)))),
    _integer(_PIXELS, _SIGNED[:4, :1], np.array(_DARK), group=4, auto_pad="SAME_UPPER"),
    _integer(np.full((1, 96, 5, 5), 255, np.uint8), np.full((2, 96, 3, 3), 255, np.uint8)),
    _integer(integers(1, 300, 9, low=0, high=256, dtype=np.uint8),
             integers(4, 300, 5, low=0, high=256, dtype=np.uint8), np.array(_DARK)),
]  # fmt: skip

_STEPS = floats(2, 3, 7)
CAUSAL = [
    Case("CausalConvWithState", [x, floats(3, 1, k), *rest], attributes, outputs=2)
    for x in (_STEPS, _STEPS[:, :, :1])
    for k in (1, 4)
    for rest in ([], [floats(3)], [floats(3), floats(2, 3, k - 1)], [None, floats(2, 3, k - 1)])
    for attributes in ({}, {"activation": "silu"})
]

CASES = [*CONV, *CONV_INTEGER, *CAUSAL]
