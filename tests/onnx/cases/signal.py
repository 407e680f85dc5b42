"""Fourier transforms, windows, the mel scale."""

from typing import Any

import numpy as np

from ..case import Case, floats, scalar

_REAL, _COMPLEX = floats(2, 10, 6, 1), floats(2, 10, 6, 2)


def _dft(x: np.ndarray, axis: int, length: int | None = None, **attributes: Any) -> list[Case]:
    given = None if length is None else scalar(length, np.int64)
    note = f"axis{axis},length{length}"
    common = {"oracle": "reference", "atol": 1e-4, "rtol": 1e-3}
    before = [x] if given is None else [x, given]
    return [
        Case("DFT", before, {"axis": axis, **attributes}, (17, 19), note=note, **common),
        Case("DFT", [x, given, scalar(axis, np.int64)], attributes, (20, 28), note=note, **common),
    ]


DFT = [
    *_dft(_REAL, 1),
    *_dft(_REAL, 2),
    *_dft(_COMPLEX, 1),
    *_dft(_COMPLEX, 1, inverse=1),
    *_dft(_REAL, 1, onesided=1),
    *_dft(_REAL, 2, 9, onesided=1),
    *_dft(_REAL, 1, 16),
    *_dft(_COMPLEX, 1, 7),
    *_dft(_COMPLEX, 2, 8, inverse=1),
    *_dft(floats(2, 6, 3, 2), 1, inverse=1, onesided=1),
    *_dft(floats(1, 288, 1), 1),
    *_dft(floats(1, 263, 2), 1),
    Case("DFT", [_REAL], opsets=(20, 28), oracle="reference", atol=1e-4),
    Case("DFT", [_COMPLEX, None, np.array(1, np.int64)], opsets=(20, 28), note="fed",
         oracle="reference", atol=1e-4),
]  # fmt: skip

_SIGNAL, _STEP = floats(2, 40, 1), scalar(8, np.int64)
_HALF, _SIXTEEN = floats(16, low=0, high=1), scalar(16, np.int64)
STFT = [
    Case("STFT", inputs, attributes, note=note, oracle="reference", atol=1e-4)
    for inputs, attributes, note in [
        ([_SIGNAL, _STEP, _HALF], {}, "window"),
        ([_SIGNAL, _STEP, _HALF, _SIXTEEN], {}, "both"),
        ([_SIGNAL, _STEP, None, _SIXTEEN], {}, "length"),
        ([_SIGNAL, _STEP, _HALF], {"onesided": 0}, "window"),
    ]
]
STFT += [Case("STFT", [_SIGNAL[..., 0], _STEP, _HALF, _SIXTEEN], note="flat", atol=1e-4)]

TABLES = [
    Case(name, [scalar(size, np.int64)], {"periodic": periodic}, note=f"size{size}",
         oracle="reference")
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow")
    for size in (10, 7)
    for periodic in (0, 1)
]  # fmt: skip
TABLES += [
    Case("HannWindow", [scalar(6, np.int32)], {"output_datatype": 11}, oracle="reference"),
    Case("MelWeightMatrix", [scalar(8, np.int64), scalar(16, np.int64), scalar(8192, np.int64),
                             scalar(0.0), scalar(4096.0)]),
    Case("MelWeightMatrix", [scalar(20, np.int64), scalar(256, np.int64), scalar(16000, np.int64),
                             scalar(20.0), scalar(7600.0)], note="speech"),
]  # fmt: skip

CASES = [*DFT, *STFT, *TABLES]
