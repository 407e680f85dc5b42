"""A network as a table of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallow import nn
from tallow.errors import OptionError

Layers = Sequence[Mapping[str, Any]]

_PLAIN = {"tanh": nn.Tanh, "relu": nn.ReLU, "gelu": nn.GELU, "flatten": nn.Flatten}
_POOLS = {"avgpool2d": nn.AvgPool2d, "maxpool2d": nn.MaxPool2d}


def network(layers: Layers, shape: tuple[int, ...]) -> nn.Module:
    """The network of a table.

    layers: a dict for each, with its "kind". shape: of one x. Raises OptionError for a layer that
    is not known.
    """
    made: list[nn.Module] = []
    for layer in layers:
        kind = str(layer["kind"])
        if kind in _PLAIN:
            made.append(_PLAIN[kind]())
            shape = (_size(shape),) if kind == "flatten" else shape
        elif kind in _POOLS:
            size = int(layer["size"])
            made.append(_POOLS[kind](size))
            shape = (shape[0], shape[1] // size, shape[2] // size)
        elif kind == "conv2d":
            out, kernel = int(layer["out"]), int(layer["kernel"])
            stride, padding = int(layer.get("stride", 1)), int(layer.get("padding", 0))
            made.append(nn.Conv2d(shape[0], out, kernel, stride, padding))
            sides = [(side + 2 * padding - kernel) // stride + 1 for side in shape[1:]]
            shape = (out, *sides)
        elif kind == "linear":
            made.append(nn.Linear(shape[-1], int(layer["out"])))
            shape = (*shape[:-1], int(layer["out"]))
        else:
            raise OptionError(f"there is no layer {kind!r}")
    return nn.Sequential(*made)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for each in shape:
        size *= each
    return size
