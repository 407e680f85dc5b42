"""Resize with every mode, coordinate transformation and kind of size; Upsample."""

import numpy as np

from ..case import Case, floats, integers, known

IMAGE = floats(1, 2, 5, 6)
LINE = floats(2, 7)
TRANSFORMATIONS = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
UP, DOWN, BOTH, ODD = (1, 1, 2, 3), (1, 1, 0.6, 0.5), (1, 1, 1.7, 0.8), (1, 1, 2.5, 1.3)


def _scaled(x: np.ndarray, scales: tuple[float, ...], note: str = "", first: int = 11,
            oracle: str = "onnxruntime", **attributes: object) -> Case:  # fmt: skip
    inputs = [x, known(dtype=np.float32), known(*scales, dtype=np.float32)]
    note = f"{note}{scales}"
    return Case("Resize", inputs, attributes, (first, 28), note=note, oracle=oracle, atol=1e-4)


def _sized(x: np.ndarray, sizes: tuple[int, ...], roi: tuple[float, ...] = (), first: int = 11,
           oracle: str = "onnxruntime", **attributes: object) -> Case:  # fmt: skip
    none = known(dtype=np.float32)
    inputs = [x, known(*roi, dtype=np.float32) if roi else none, none, known(*sizes)]
    if first > 11:
        inputs[2] = None
    note = f"{roi}to{sizes}"
    return Case("Resize", inputs, attributes, (first, 28), note=note, oracle=oracle, atol=1e-4)


_COORDINATES = "coordinate_transformation_mode"
NEAREST_CASES = [
    *[_scaled(IMAGE, scales, nearest_mode=mode, **{_COORDINATES: kind})
      for kind in TRANSFORMATIONS[:1] + TRANSFORMATIONS[3:]
      for mode in NEAREST for scales in (UP, DOWN, ODD)],
    *[_sized(IMAGE, sizes, nearest_mode="floor", **{_COORDINATES: kind})
      for kind in TRANSFORMATIONS for sizes in ((1, 2, 9, 4), (1, 2, 1, 13))],
    _sized(integers(1, 2, 5, 6, dtype=np.uint8, low=0, high=200), (1, 2, 10, 3)),
    _sized(integers(1, 2, 5, 6, dtype=np.int32), (1, 2, 10, 3), nearest_mode="ceil"),
    *[_sized(integers(1, 2, 5, 6, low=-128, high=128, dtype=np.int8), (1, 2, 10, 3), first=18,
             oracle="reference", mode="cubic", antialias=antialias) for antialias in (0, 1)],
    _sized(integers(1, 2, 5, 6, low=0, high=256, dtype=np.uint8), (1, 2, 10, 3), mode="linear"),
    _scaled(LINE, (1, 2)),
    _scaled(floats(1, 2, 3, 4, 5), (1, 1, 2, 2, 2)),
]  # fmt: skip
LINEAR = [
    *[_scaled(IMAGE, scales, mode=mode, **{_COORDINATES: kind})
      for mode in ("linear", "cubic")
      for kind in TRANSFORMATIONS for scales in (UP, BOTH) if (kind, scales) !=
      ("align_corners", BOTH)],
    *[_sized(IMAGE, sizes, mode=mode, **{_COORDINATES: kind})
      for mode in ("linear", "cubic")
      for kind in TRANSFORMATIONS for sizes in ((1, 2, 9, 4), (1, 2, 3, 11))],
    _scaled(IMAGE, DOWN, mode="linear", first=19, oracle="reference",
            **{_COORDINATES: "half_pixel_symmetric"}),
    _scaled(IMAGE, BOTH, mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1),
    _scaled(IMAGE, DOWN, mode="cubic", cubic_coeff_a=-0.5),
    _scaled(floats(1, 2, 3, 4, 5), (1, 1, 2, 1.5, 2), mode="linear"),
    _scaled(floats(3, 6), (2, 1.5), mode="linear"),
    _scaled(IMAGE, (2, 1, 1.5, 1), mode="linear", oracle="reference"),
    _sized(floats(1, 1, 8, 8, dtype=np.float64), (1, 1, 5, 3), mode="linear"),
    *[_scaled(floats(1, 1, 12, 13), (1, 1, 0.4, 0.7), mode=mode, antialias=1, first=18,
              oracle="reference", exclude_outside=outside)
      for mode in ("linear", "cubic") for outside in (0, 1)],
    _sized(floats(1, 1, 12, 13), (1, 1, 20, 5), mode="linear", antialias=1, first=18,
           oracle="reference"),
]  # fmt: skip

_CROP = {_COORDINATES: "tf_crop_and_resize", "mode": "linear"}
CROPPED = [
    _sized(IMAGE, (1, 2, 3, 3), (0, 0, 0.4, 0.6, 1, 1, 0.6, 0.8), **_CROP),
    _sized(
        IMAGE, (1, 2, 3, 4), (0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7), extrapolation_value=10.0, **_CROP
    ),
    _sized(IMAGE, (1, 2, 4, 3), (0, 0, -0.4, 0.2, 1, 1, 0.9, 0.7), **_CROP),
    _sized(IMAGE, (1, 2, 4, 5), (0, 0, 0.8, 0.2, 1, 1, 0.1, 0.7), **_CROP),
    _sized(IMAGE, (3, 4), (0.4, 0.6, 1.2, 1.7), 18, axes=[2, 3], oracle="reference", **_CROP),
    _sized(IMAGE, (4, 3), (0.6, 0.4, 1.7, 1.2), 18, axes=[3, 2], oracle="reference", **_CROP),
]

ASPECT = [
    _sized(IMAGE, (7, 8), first=18, axes=[2, 3], keep_aspect_ratio_policy=policy)
    for policy in ("stretch", "not_larger", "not_smaller")
] + [
    _sized(IMAGE, (3, 4), first=18, axes=[3, 2], mode="linear", oracle="reference",
           keep_aspect_ratio_policy="not_larger"),
    Case("Resize", [IMAGE, None, known(2.0, 0.5, dtype=np.float32)], {"axes": [2, 3]}, (18, 28)),
    *[_sized(IMAGE, sizes, first=19, axes=[2, 3], mode=mode, keep_aspect_ratio_policy=policy,
             **{_COORDINATES: kind})
      for policy in ("not_larger", "not_smaller") for mode in ("nearest", "linear", "cubic")
      for kind in ("asymmetric", "half_pixel_symmetric", "align_corners", "half_pixel")
      for sizes in ((7, 8), (3, 4), (9, 3))],
]  # fmt: skip

OLD = [
    *[Case("Resize", [IMAGE, known(*scales, dtype=np.float32)], {"mode": mode}, (10, 10),
           note=str(scales))
      for mode in ("nearest", "linear") for scales in (UP, DOWN, BOTH)],
    *[Case("Upsample", [IMAGE], {"mode": mode, "scales": [*map(float, scales)]}, (7, 7),
           note=str(scales))
      for mode in ("nearest", "linear") for scales in (UP, ODD)],
    *[Case("Upsample", [IMAGE, known(*scales, dtype=np.float32)], {"mode": mode}, (9, 9),
           note=str(scales))
      for mode in ("nearest", "linear") for scales in (UP, ODD)],
]  # fmt: skip

CASES = [*NEAREST_CASES, *LINEAR, *CROPPED, *ASPECT, *OLD]
