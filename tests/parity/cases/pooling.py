"""Poolings: functions and layers, with and without options."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case, drawn

SPATIAL = {1: (11,), 2: (7, 8), 3: (5, 6, 7)}


def _functional(name: str, function: str, shape: Any, *args: Any, **options: Any) -> None:
    case(name, lambda t: lambda x: getattr(t.nn.functional, function)(x, *args, **options), shape)


def _layer(name: str, layer: str, shape: Any, *args: Any, **options: Any) -> None:
    case(name, lambda t: getattr(t.nn, layer)(*args, **options), shape)


for _axes, _size in SPATIAL.items():
    _shape = (2, 3, *_size)
    _m, _a = f"max_pool{_axes}d", f"avg_pool{_axes}d"
    _functional(f"F.{_m}", _m, _shape, 2)
    _functional(f"F.{_m}-options", _m, _shape, 3, stride=2, padding=1, dilation=1, ceil_mode=True)
    _functional(f"F.{_m}-dilated", _m, _shape, 2, stride=1, padding=1, dilation=2)
    _functional(f"F.{_m}-unbatched", _m, (3, *_size), 2)
    _functional(f"F.{_a}", _a, _shape, 2)
    _functional(f"F.{_a}-padded", _a, _shape, 3, stride=2, padding=1)
    _functional(f"F.{_a}-ceil", _a, _shape, 3, 2, 1, True)
    _functional(f"F.{_a}-uncounted", _a, _shape, 3, 2, 1, True, False)
    _functional(f"F.{_a}-unbatched", _a, (3, *_size), 2)
    if _axes > 1:
        _functional(f"F.{_a}-divisor", _a, _shape, 2, divisor_override=3)
    _layer(f"MaxPool{_axes}d", f"MaxPool{_axes}d", _shape, 3, 2, padding=1, ceil_mode=True)
    _layer(f"AvgPool{_axes}d", f"AvgPool{_axes}d", _shape, 2, 1, padding=1,
           count_include_pad=False)  # fmt: skip
    for _kind in ("Avg", "Max"):
        _f, _l = f"adaptive_{_kind.lower()}_pool{_axes}d", f"Adaptive{_kind}Pool{_axes}d"
        _functional(f"F.{_f}", _f, _shape, 3)
        _functional(f"F.{_f}-one", _f, _shape, 1)
        _functional(f"F.{_f}-even", _f, (2, 3, *(6,) * _axes), 2)
        _layer(_l, _l, (3, *_size), 4)
        if _axes > 1:
            _layer(f"{_l}-none", _l, _shape, (None, *(3,) * (_axes - 1)))
        _functional(f"F.{_f}-longer", _f, (1, 2, *(3,) * _axes), 5)
    _functional(f"F.{_m}-indices", _m, _shape, 3, 2, 1, return_indices=True)
    _functional(f"F.{_m}-indices-ceil", _m, (3, *_size), 2, 3, 1, 2, True, return_indices=True)
    _functional(f"F.adaptive_{_m}-indices", f"adaptive_{_m}", _shape, 3, return_indices=True)
    case(
        f"MaxUnpool{_axes}d",
        lambda t, a=_axes: (
            lambda x: getattr(t.nn, f"MaxUnpool{a}d")(2)(
                *getattr(t.nn, f"MaxPool{a}d")(2, return_indices=True)(x), output_size=x.shape
            )
        ),
        _shape,
    )
    _tied = np.round(drawn(f"tied {_axes}", _shape))
    _functional(f"F.{_m}-ties", _m, _tied, 3, 2, 1)
    _functional(f"F.adaptive_{_m}-ties", f"adaptive_{_m}", _tied, 3)
    _layer(f"LPPool{_axes}d", f"LPPool{_axes}d", _shape, 2, 3, stride=2)
    _layer(f"LPPool{_axes}d-ceil", f"LPPool{_axes}d", _shape, 2, 2, ceil_mode=True)
