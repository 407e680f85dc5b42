"""Reversing, cropping and padding along given axes."""

import numpy as np

from ..case import Case, Known, bools, floats, integers, known

LENGTHS = np.array([4, 1, 3], np.int64)
REVERSED = [
    Case("ReverseSequence", [x, lengths], {"time_axis": time, "batch_axis": 1 - time}, note=note)
    for lengths, note in ((LENGTHS, ""), (Known(LENGTHS), "known"))
    for x, time in ((floats(4, 3), 0), (floats(4, 3, 2), 0), (integers(3, 5, 2), 1))
] + [Case("ReverseSequence", [bools(4, 3), LENGTHS])]

CENTRES = [
    Case("CenterCropPad", [x, known(*shape)], {} if axes is None else {"axes": axes},
         note=f"{shape}{axes or ''}")
    for x in (floats(4, 7, 3), integers(4, 7, 3))
    for shape, axes in (((2, 4, 3), None), ((7, 10, 6), None), ((9, 2, 2), None), ((3, 9), [0, 1]),
                        ((8, 5), [-1, 1]))
]  # fmt: skip

CASES = [*REVERSED, *CENTRES]
