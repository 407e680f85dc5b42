"""Transposed convolution over one to three axes, and Col2Im."""

import numpy as np

from ..case import Case, floats, integers, known
from .convolution import lists

IMAGE = floats(2, 4, 5, 6)
LINE = floats(2, 4, 7)
VOLUME = floats(1, 4, 3, 4, 3)


def _case(*inputs: np.ndarray, **attributes: object) -> Case:
    return Case("ConvTranspose", inputs, attributes, note=lists(attributes), atol=1e-4)


TRANSPOSED = [
    *[_case(IMAGE, floats(4, 3, 3, 2), floats(3), **attributes) for attributes in (
        {},
        {"strides": [2, 2]},
        {"strides": [3, 1]},
        {"strides": [1, 4]},  # longer than the kernel
        {"strides": [2, 3], "pads": [1, 0, 0, 1]},
        {"strides": [2, 3], "pads": [2, 1, 2, 1], "output_padding": [1, 2]},
        {"pads": [1, 1, 1, 0]},
        {"dilations": [2, 3]},
        {"dilations": [2, 3], "pads": [3, 1, 2, 3]},
        {"dilations": [2, 1], "strides": [3, 2], "pads": [1, 0, 1, 1]},
        {"strides": [2, 2], "output_shape": [11, 13]},
        {"strides": [2, 2], "output_shape": [10, 11], "auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "output_shape": [10, 11], "auto_pad": "SAME_LOWER"},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
        {"strides": [2, 2], "auto_pad": "VALID"},
    )],
    _case(IMAGE, floats(4, 3, 2, 2), strides=[2, 2]),
    _case(IMAGE, floats(4, 3, 4, 4), floats(3), strides=[2, 2], pads=[1, 1, 1, 1]),
    _case(IMAGE, floats(4, 3, 3, 2), floats(6), group=2, strides=[2, 2]),
    _case(IMAGE, floats(4, 1, 4, 4), floats(4), group=4, strides=[2, 2], pads=[1, 1, 1, 1]),
    _case(IMAGE, floats(4, 2, 3, 3), group=4, pads=[1, 1, 1, 1]),
    _case(LINE, floats(4, 3, 5), floats(3), strides=[3], pads=[2, 1], output_padding=[2]),
    _case(LINE, floats(4, 3, 16), strides=[8], pads=[4, 4]),
    _case(LINE, floats(4, 3, 3), dilations=[4]),
    _case(VOLUME, floats(4, 3, 2, 3, 2), floats(3), strides=[2, 1, 2]),
    _case(VOLUME, floats(4, 3, 3, 2, 3), pads=[1, 0, 1, 1, 1, 0], strides=[2, 3, 1]),
    _case(VOLUME, floats(4, 2, 2, 2, 2), group=2, strides=[2, 2, 2], output_padding=[1, 0, 1]),
]  # fmt: skip


def _blocks(x: np.ndarray, image: list[int], block: list[int], **attributes: object) -> Case:
    inputs = [x, known(*image), known(*block)]
    return Case("Col2Im", inputs, attributes, note=lists(attributes), oracle="reference")


COL2IM = [
    _blocks(floats(2, 8, 12), [4, 5], [2, 2]) ,
    _blocks(floats(2, 12, 4), [4, 6], [2, 3], strides=[2, 3]),
    _blocks(floats(1, 18, 25), [5, 5], [3, 3], pads=[1, 1, 1, 1]),
    _blocks(floats(1, 8, 15), [7, 7], [2, 2], dilations=[2, 4]),
    _blocks(floats(2, 6, 5), [7], [3]),
    _blocks(floats(1, 8, 12), [3, 4, 3], [2, 2, 2]),
    _blocks(integers(1, 4, 4), [3, 3], [2, 2]),
]  # fmt: skip

CASES = [*TRANSPOSED, *COL2IM]
