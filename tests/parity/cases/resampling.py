"""Resampling, borders, windows as columns, shapes."""

from __future__ import annotations

from typing import Any

from ..case import case


def _functional(name: str, function: str, shape: Any, *args: Any, **options: Any) -> None:
    case(name, lambda t: lambda x: getattr(t.nn.functional, function)(x, *args, **options), shape)


def _layer(name: str, layer: str, shape: Any, *args: Any, **options: Any) -> None:
    case(name, lambda t: getattr(t.nn, layer)(*args, **options), shape)


def _interpolate(name: str, shape: Any, *args: Any, **options: Any) -> None:
    _functional(f"F.interpolate-{name}", "interpolate", shape, *args, **options)


_interpolate("nearest-1d", (2, 3, 5), 8)
_interpolate("nearest-twice", (2, 3, 4, 3), scale_factor=2)
_interpolate("nearest-factors", (2, 3, 4, 5), scale_factor=(1.6, 0.7))
_interpolate("nearest-3d", (1, 2, 3, 4, 2), (5, 2, 3))
_interpolate("nearest-exact", (2, 3, 5, 4), (3, 7), mode="nearest-exact")
for _mode, _shape, _size in (
    ("linear", (2, 3, 5), (8,)),
    ("bilinear", (2, 3, 5, 4), (3, 7)),
    ("trilinear", (1, 2, 3, 4, 2), (5, 2, 3)),
    ("bicubic", (2, 3, 5, 4), (3, 9)),
):
    for _corners in (False, True):
        _interpolate(f"{_mode}-{_corners}", _shape, _size, mode=_mode, align_corners=_corners)
        _interpolate(f"{_mode}-{_corners}-factor", _shape, scale_factor=1.7, mode=_mode,
                     align_corners=_corners)  # fmt: skip
_interpolate("bilinear-recomputed", (2, 3, 5, 4), scale_factor=1.7, mode="bilinear",
             recompute_scale_factor=True)  # fmt: skip
_interpolate("bilinear-to-one", (1, 2, 5, 4), (1, 1), mode="bilinear", align_corners=True)
_interpolate("area", (2, 3, 6, 5), (4, 2), mode="area")
_interpolate("bilinear-small", (1, 2, 30, 40), (3, 4), mode="bilinear")
_layer("Upsample", "Upsample", (2, 3, 4, 3), scale_factor=3)
_layer("Upsample-bilinear", "Upsample", (2, 3, 4, 3), (6, 6), mode="bilinear", align_corners=True)
_layer("UpsamplingNearest2d", "UpsamplingNearest2d", (1, 2, 3, 3), scale_factor=2)
_layer("UpsamplingBilinear2d", "UpsamplingBilinear2d", (1, 2, 3, 3), scale_factor=2)

_functional("F.pixel_shuffle", "pixel_shuffle", (2, 8, 3, 4), 2)
_functional("F.pixel_unshuffle", "pixel_unshuffle", (2, 2, 6, 4), 2)
_layer("PixelShuffle", "PixelShuffle", (9, 2, 3), 3)
_layer("PixelUnshuffle", "PixelUnshuffle", (1, 6, 3), 3)

_functional("F.unfold", "unfold", (2, 3, 5, 6), 2)
_functional("F.unfold-options", "unfold", (2, 3, 5, 6), (3, 2), dilation=(1, 2), padding=(1, 2),
            stride=(2, 1))  # fmt: skip
_functional("F.fold", "fold", (2, 12, 20), (5, 6), 2)
_functional("F.fold-options", "fold", (2, 12, 12), (5, 6), (3, 2), dilation=(1, 2), padding=(1, 0),
            stride=(2, 1))  # fmt: skip
_layer("Unfold", "Unfold", (3, 5, 6), 2, stride=2)
_layer("Fold", "Fold", (8, 9), (6, 6), 2, stride=2)

_functional("F.pad", "pad", (2, 3, 4), (1, 2))
_functional("F.pad-value", "pad", (2, 3, 4), (1, 2, 0, 1), "constant", 1.5)
_functional("F.pad-crop", "pad", (2, 3, 4), (-1, 2, 1, -2))
for _mode in ("reflect", "replicate", "circular"):
    _functional(f"F.pad-{_mode}-1d", "pad", (2, 3, 4), (1, 2), mode=_mode)
    _functional(f"F.pad-{_mode}-2d", "pad", (2, 3, 4, 5), (1, 2, 3, 0), mode=_mode)
    _functional(f"F.pad-{_mode}-3d", "pad", (1, 2, 3, 4, 2), (1, 0, 2, 1, 1, 2), mode=_mode)
_functional("F.pad-replicate-far", "pad", (2, 3, 2), (5, 6), mode="replicate")

for _axes, _lengths in {1: (5,), 2: (4, 5), 3: (3, 4, 5)}.items():
    for _kind in ("Zero", "Reflection", "Replication", "Circular"):
        _layer(f"{_kind}Pad{_axes}d", f"{_kind}Pad{_axes}d", (1, 2, *_lengths), 2)
    _layer(f"ConstantPad{_axes}d", f"ConstantPad{_axes}d", (2, *_lengths), [1, 2] * _axes, 0.5)

_layer("Flatten", "Flatten", (2, 3, 4, 5))
_layer("Flatten-part", "Flatten", (2, 3, 4, 5), 0, -2)
_layer("Unflatten", "Unflatten", (2, 12, 3), 1, (3, 4))
_layer("Unflatten-rest", "Unflatten", (2, 12), -1, (2, -1, 3))

case("nn.ChannelShuffle", lambda t: t.nn.ChannelShuffle(3), (2, 6, 3, 2))
for corners in (False, True):
    case(f"F.affine_grid-{corners}", lambda t, c=corners: lambda x: t.nn.functional.affine_grid(
        x, (2, 3, 4, 5), align_corners=c), (2, 2, 3))  # fmt: skip
    case(f"F.affine_grid-3d-{corners}", lambda t, c=corners: lambda x: t.nn.functional.affine_grid(
        x, (2, 3, 2, 4, 5), align_corners=c), (2, 3, 4))  # fmt: skip
    for padding in ("zeros", "border", "reflection"):
        for how in ("bilinear", "nearest", "bicubic"):
            flat = (1,) if how == "nearest" else ()  # PyTorch's gradient of the places is 0
            case(f"F.grid_sample-{how}-{padding}-{corners}",
                 lambda t, c=corners, p=padding, h=how: lambda x, g: t.nn.functional.grid_sample(
                     x, g, h, p, c), (2, 3, 4, 5), (2, 3, 4, 2), constant=flat)  # fmt: skip
        case(f"F.grid_sample-3d-{padding}-{corners}",
             lambda t, c=corners, p=padding: lambda x, g: t.nn.functional.grid_sample(
                 x, g, padding_mode=p, align_corners=c), (2, 3, 3, 4, 5),
             (2, 2, 3, 4, 3))  # fmt: skip
