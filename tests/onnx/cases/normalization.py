"""Normalizations."""

import numpy as np

from ..case import Case, floats

_IMAGE = floats(2, 6, 4, 5)
_BATCH = [floats(6), floats(6) * 0.5, floats(6) * 2, floats(6, low=0.5, high=2)]
CASES = [
    Case("BatchNormalization", [_IMAGE, *_BATCH]),
    Case("BatchNormalization", [_IMAGE, *_BATCH], {"epsilon": 0.1, "momentum": 0.5}),
    Case("BatchNormalization", [floats(2, 6), *_BATCH]),
    Case("BatchNormalization", [floats(2, 6, 3), *_BATCH]),
    *[Case("BatchNormalization", [_IMAGE, *_BATCH], {"training_mode": 1, **more}, (14, 28), outputs,
           note=str(outputs), oracle="reference")
      for outputs in (1, 3) for more in ({}, {"momentum": 0.5, "epsilon": 0.1})],
    Case("BatchNormalization", [floats(4, 6, dtype=np.float16), *_BATCH], {"training_mode": 1},
         (15, 28), oracle="reference", rtol=2e-3, atol=1e-2),
    Case("BatchNormalization", [floats(9), *[floats(1, low=0.5)] * 4], opsets=(14, 28),
         oracle="reference"),
    Case("InstanceNormalization", [_IMAGE, floats(6), floats(6) * 2]),
    Case("InstanceNormalization", [floats(2, 3, 7), floats(3), floats(3)], {"epsilon": 0.1}),
    Case("LayerNormalization", [floats(2, 3, 4), floats(4), floats(4) * 2]),
    Case("LayerNormalization", [floats(2, 3, 4), floats(4)]),
    Case("LayerNormalization", [floats(2, 3, 4), floats(3, 4), floats(3, 4)],
         {"axis": 1, "epsilon": 0.1}),
    Case("LayerNormalization", [floats(2, 3, 4), floats(4), floats(4)], outputs=3),
    Case("RMSNormalization", [floats(2, 3, 4), floats(4)]),
    Case("RMSNormalization", [floats(2, 3, 4), floats(3, 4)], {"axis": 1, "epsilon": 0.1}),
    Case("GroupNormalization", [_IMAGE, floats(6), floats(6) * 2], {"num_groups": 3}, (21, 28)),
    Case("MeanVarianceNormalization", [_IMAGE]),
    Case("MeanVarianceNormalization", [_IMAGE], {"axes": [1, 2]}),
    Case("LpNormalization", [floats(3, 4)]),
    Case("LpNormalization", [floats(3, 4)], {"axis": 0, "p": 1}),
    Case("LpNormalization", [np.zeros((2, 2), np.float32)], opsets=(22, 28), oracle="reference"),
    Case("LRN", [_IMAGE], {"size": 3}),
    Case("LRN", [_IMAGE], {"size": 5, "alpha": 0.2, "beta": 0.5, "bias": 2.0}),
    # onnxruntime only takes odd sizes, and the reference only as many channels as the batch has.
    Case("LRN", [floats(4, 4, 3, 2)], {"size": 4, "alpha": 0.2}),
    Case("LRN", [_IMAGE], {"size": 7}),
    *[Case("LRN", [floats(1, 2, 3, 2)], {"size": size, "alpha": 0.2}) for size in (5, 9, 101)],
    Case("LRN", [floats(2, 1, 3, 2)], {"size": 3, "alpha": 0.2}),
]  # fmt: skip
