"""Normalisations: functions, and layers in both modes with their running statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case, drawn

LOOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 5e-5}


def _layer(
    name: str, layer: str, shape: Any, *args: Any, mode: str = "train", **options: Any
) -> None:
    case(name, lambda t: getattr(t.nn, layer)(*args, **options), shape, mode=mode, **LOOSE)


def _functional(name: str, function: str, *inputs: Any, args: tuple[Any, ...] = (),
                **options: Any) -> None:  # fmt: skip
    case(name, lambda t: lambda x, *rest: getattr(t.nn.functional, function)(x, *args, *rest,
         **options), *inputs, **LOOSE)  # fmt: skip


def _positive(name: str, count: int) -> np.ndarray:
    return np.abs(drawn(name, (count,))) + 0.5


SPATIAL = {1: (5,), 2: (4, 3), 3: (3, 2, 2)}

for _axes, _size in SPATIAL.items():
    _b, _shape = f"BatchNorm{_axes}d", (3, 4, *_size)
    _layer(_b, _b, _shape, 4)
    _layer(f"{_b}-eval", _b, _shape, 4, mode="eval")
    _layer(f"{_b}-momentum", _b, _shape, 4, 1e-3, 0.3)
    _layer(f"{_b}-momentum-none", _b, _shape, 4, momentum=None)
    _layer(f"{_b}-untracked", _b, _shape, 4, track_running_stats=False, mode="eval")
    _layer(f"{_b}-not-affine", _b, _shape, 4, affine=False)
    _i = f"InstanceNorm{_axes}d"
    _layer(_i, _i, _shape, 4)
    _layer(f"{_i}-unbatched", _i, (4, *_size), 4, affine=True)
    _layer(f"{_i}-tracked", _i, _shape, 4, affine=True, track_running_stats=True)
    _layer(f"{_i}-eval", _i, _shape, 4, track_running_stats=True, mode="eval")

_layer("BatchNorm1d-rows", "BatchNorm1d", (6, 4), 4)
_layer("BatchNorm1d-rows-eval", "BatchNorm1d", (1, 4), 4, mode="eval")


def _twice(t: Any) -> Any:
    class Twice(t.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm = t.nn.BatchNorm2d(3, momentum=None)

        def forward(self, x: Any) -> Any:
            return self.norm(self.norm(x) * 2.0)

    return Twice()


case("BatchNorm2d-twice", _twice, (2, 3, 4, 3), **LOOSE)


def _running(t: Any, options: dict[str, Any]) -> Any:
    """Statistics get no gradient."""
    return lambda x, mean, var, *rest: t.nn.functional.batch_norm(
        x, mean.detach(), var.detach(), *rest, **options
    )


case("F.batch_norm", lambda t: _running(t, {}), (3, 4, 5), drawn("mean", (4,)),
     _positive("var", 4), **LOOSE)  # fmt: skip
case("F.batch_norm-affine", lambda t: _running(t, {"eps": 1e-2}), (3, 4, 5), drawn("mean", (4,)),
     _positive("var", 4), (4,), (4,), **LOOSE)  # fmt: skip
_functional("F.batch_norm-own", "batch_norm", (3, 4, 5), args=(None, None), training=True)
_functional("F.instance_norm", "instance_norm", (2, 3, 4, 5))
_functional("F.instance_norm-eps", "instance_norm", (2, 3, 4, 5), eps=1e-2)

_layer("LayerNorm", "LayerNorm", (3, 4, 6), 6)
_layer("LayerNorm-shape", "LayerNorm", (3, 4, 6), (4, 6), eps=1e-3)
_layer("LayerNorm-no-bias", "LayerNorm", (3, 6), 6, bias=False)
_layer("LayerNorm-plain", "LayerNorm", (3, 6), [6], elementwise_affine=False)
_functional("F.layer_norm", "layer_norm", (3, 4, 6), args=((4, 6),))
_functional("F.layer_norm-affine", "layer_norm", (3, 6), (6,), (6,), args=((6,),), eps=1e-2)

_layer("RMSNorm", "RMSNorm", (3, 4, 6), 6)
_layer("RMSNorm-shape", "RMSNorm", (3, 4, 6), (4, 6), 1e-3)
_layer("RMSNorm-plain", "RMSNorm", (3, 6), 6, elementwise_affine=False)
_functional("F.rms_norm", "rms_norm", (3, 6), (6,), args=((6,),))

_layer("GroupNorm", "GroupNorm", (2, 6, 3, 4), 3, 6)
_layer("GroupNorm-one", "GroupNorm", (2, 6), 1, 6, eps=1e-3)
_layer("GroupNorm-plain", "GroupNorm", (2, 4, 5), 2, 4, affine=False)
_functional("F.group_norm", "group_norm", (2, 6, 4), (6,), (6,), args=(2,))

_layer("LocalResponseNorm", "LocalResponseNorm", (2, 6, 3, 4), 3)
_layer("LocalResponseNorm-even", "LocalResponseNorm", (2, 6, 3), 4, 0.5, 0.6, 2.0)
_functional("F.local_response_norm", "local_response_norm", (2, 3, 4, 4), args=(5,), alpha=0.3)

case("BatchNorm2d-no-bias", lambda t: t.nn.BatchNorm2d(3, bias=False), (2, 3, 4, 4))
case("GroupNorm-no-bias", lambda t: t.nn.GroupNorm(2, 4, bias=False), (2, 4, 3))
case("InstanceNorm1d-no-bias", lambda t: t.nn.InstanceNorm1d(3, affine=True, bias=False), (2, 3, 4))
