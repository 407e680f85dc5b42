"""Convolutions: functions and layers, with and without options."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import case, drawn

SPATIAL = {1: (9,), 2: (6, 5), 3: (5, 4, 3)}


def _functional(name: str, function: str, *inputs: Any, **options: Any) -> None:
    case(name, lambda t: lambda *x: getattr(t.nn.functional, function)(*x, **options), *inputs)


def _layer(name: str, layer: str, *inputs: Any, **options: Any) -> None:
    args = options.pop("args")
    case(name, lambda t: getattr(t.nn, layer)(*args, **options), *inputs)


for _axes, _size in SPATIAL.items():
    _f, _kernel = f"conv{_axes}d", (3, 2, 2)[:_axes]
    _functional(f"F.{_f}", _f, (2, 3, *_size), (4, 3, *_kernel))
    _functional(f"F.{_f}-bias", _f, (2, 3, *_size), (4, 3, *_kernel), (4,))
    _functional(f"F.{_f}-strided", _f, (2, 4, *_size), (6, 2, *_kernel), (6,), stride=2, padding=1,
                groups=2)  # fmt: skip
    _functional(f"F.{_f}-dilated", _f, (2, 2, *_size), (3, 2, *_kernel), dilation=2, padding=2)
    _functional(f"F.{_f}-same", _f, (2, 2, *_size), (3, 2, *(2,) * _axes), padding="same")
    _functional(f"F.{_f}-valid", _f, (2, 2, *_size), (3, 2, *_kernel), padding="valid")
    _functional(f"F.{_f}-unbatched", _f, (3, *_size), (4, 3, *_kernel), (4,))

    _l = f"Conv{_axes}d"
    _layer(_l, _l, (2, 3, *_size), args=(3, 4, 3))
    _layer(f"{_l}-options", _l, (1, 4, *_size), args=(4, 6, 3), stride=2, padding=1, dilation=1,
           groups=2, bias=False)  # fmt: skip
    for _mode in ("reflect", "replicate", "circular"):
        _layer(f"{_l}-{_mode}", _l, (1, 2, *_size), args=(2, 3, 3), padding=1, padding_mode=_mode)
    _layer(f"{_l}-circular-same", _l, (2, *_size), args=(2, 2, 2), padding="same",
           padding_mode="circular")  # fmt: skip

    _t = f"conv_transpose{_axes}d"
    _functional(f"F.{_t}", _t, (2, 3, *_size), (3, 4, *_kernel), (4,))
    _functional(f"F.{_t}-strided", _t, (2, 4, *_size), (4, 3, *_kernel), (6,), stride=2, padding=1,
                output_padding=1, groups=2)  # fmt: skip
    _functional(f"F.{_t}-dilated", _t, (2, 3, *_size), (3, 2, *(3,) * _axes), stride=2, dilation=2,
                output_padding=1, padding=2)  # fmt: skip
    _functional(f"F.{_t}-point", _t, (2, 3, *_size), (3, 2, *(1,) * _axes), stride=3, padding=1)
    _functional(f"F.{_t}-unbatched", _t, (3, *_size), (3, 2, *_kernel))
    _l = f"ConvTranspose{_axes}d"
    _layer(_l, _l, (2, 3, *_size), args=(3, 4, 3))
    _layer(f"{_l}-options", _l, (1, 4, *_size), args=(4, 6, 3, 2, 1, 1, 2, False))

_functional("F.conv2d-pairs", "conv2d", (1, 3, 7, 8), (4, 3, 3, 2), stride=(2, 1), padding=(1, 0),
            dilation=(1, 2))  # fmt: skip
_functional("F.conv2d-depthwise", "conv2d", (2, 4, 6, 5), (8, 1, 3, 3), (8,), groups=4)


def _sized(t: Any) -> Any:
    class Sized(t.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.back = t.nn.ConvTranspose2d(3, 2, 3, stride=2)

        def forward(self, x: Any) -> Any:
            return self.back(x, output_size=(10, 11))

    return Sized()


case("ConvTranspose2d-output_size", _sized, (1, 3, 4, 5))


def _deform(t: Any) -> Any:
    """torchvision is not there; so PyTorch samples the picture for each tap, and adds products."""
    options = {"stride": (1, 2), "padding": (1, 0), "dilation": (1, 2)}
    if hasattr(t.nn.functional, "deform_conv2d"):
        return lambda x, offset, weight, bias, mask: t.nn.functional.deform_conv2d(
            x, offset, weight, bias, mask=mask, **options
        )

    def composed(x: Any, offset: Any, weight: Any, bias: Any, mask: Any) -> Any:
        _, channels, height, width = x.shape
        _, _, kh, kw = weight.shape
        parts = offset.shape[1] // (2 * kh * kw)
        oh, ow = offset.shape[2:]
        each = channels // parts
        total = bias.reshape(1, -1, 1, 1)
        for part in range(parts):
            for tap in range(kh * kw):
                i, j = divmod(tap, kw)
                number = 2 * (part * kh * kw + tap)
                rows = t.arange(oh).reshape(-1, 1) * 1 - 1 + i + offset[:, number]
                columns = t.arange(ow) * 2 + 2 * j + offset[:, number + 1]
                grid = t.stack([columns * (2 / (width - 1)) - 1, rows * (2 / (height - 1)) - 1], -1)
                mine = slice(part * each, (part + 1) * each)
                sampled = t.nn.functional.grid_sample(x[:, mine], grid, align_corners=True)
                sampled = sampled * mask[:, part * kh * kw + tap].unsqueeze(1)
                total = total + t.einsum("nchw,oc->nohw", sampled, weight[:, mine, i, j])
        return total

    return composed


def _scaled(name: str, shape: tuple[int, ...]) -> np.ndarray:
    return drawn(name, shape, 0.7)


case("F.deform_conv2d", _deform, (2, 4, 6, 7), _scaled("offset", (2, 2 * 2 * 6, 6, 3)),
     (3, 4, 3, 2), (3,), _scaled("mask", (2, 2 * 6, 6, 3)), rtol=1e-4, atol=1e-4)  # fmt: skip
