"""Networks as tables of layers.

A row is a dict: its "kind", and values of the kind's fields. A new kind of layer is an entry of
`KINDS`: its fields, and a rule that says of an input's shape what the layer makes of it.

    facts(rows, data, batch, optimizer) ─▶ shape, parameters and memory of each row
    network(rows, data)                 ─▶ the nn.Module
    network_call(rows, data).code()     ─▶ the same as a Python expression
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import tallow as tl
from tallow.errors import OptionError

if TYPE_CHECKING:
    from tallow.nn import Module

    from ..contract.train import LayerKind, LayerTable, NetworkFacts, RowFacts, RowReason
    from .data import Data

Shape = tuple[int, ...]
Row = Mapping[str, Any]

MOST_PARAMETERS = 100_000_000
"""Of a row. A tab has 4 GB of memory at most, and training keeps a parameter up to four times."""

FLOAT = 4
"""Bytes of a number."""

STATES = {"sgd": 1, "adam": 2, "adamw": 2}
"""What an optimiser keeps of each parameter."""

# Why a row is impossible. The page's languages have words of their own (web/views/train/texts/).
ENGLISH = {
    "EMPTY": "there is no layer; add one that gives {0} scores, one for each class",
    "UNKNOWN": "there is no layer of the kind {0!r}",
    "NO_FIELD": "a layer of the kind {0!r} has no {1!r}",
    "WHOLE": "{0} must be a whole number from {1} to {2}",
    "NUMBER": "{0} must be a number from {1} to {2}",
    "PICTURE": "it needs a picture (channels, height, width), but its input is {0}",
    "KERNEL": "a window of {0}×{0} is larger than the picture of {1}×{2} with its padding",
    "FLATTEN": "it needs a list of numbers, but its input is a picture of {0}; put flatten before",
    "TOKENS": "it needs the characters of a text, and so is the first layer of a text's network",
    "EMBED": "a text is a list of characters; begin with an embedding",
    "SEQUENCE": "it needs a vector for each character, but its input is {0}; begin with an "
    "embedding",
    "HEADS": "{0} heads do not divide the width of {1}",
    "NORM": "it is for pictures and lists of numbers; a text takes a layer norm",
    "LARGE": "it has {0} parameters; a row may have {1}",
    "CLASSES": "the network must end with {1} scores, one for each class, but gives {0}",
}


class LayerError(OptionError):
    """A row that is impossible. row: its place, from 0 on. code: a key of `ENGLISH`. details: what
    the words of the code are about."""

    def __init__(self, row: int, code: str, details: Sequence[str | float] = ()) -> None:
        super().__init__(f"layer {row + 1}: {ENGLISH[code].format(*details)}")
        self.row, self.code, self.details = row, code, tuple(details)


class _UnfitError(Exception):
    """Why a rule refuses; `facts` knows the row."""

    def __init__(self, code: str, *details: str | float) -> None:
        super().__init__(code)
        self.code, self.details = code, details


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What a network has to know of its data.

    kind: "pictures", "sounds", "features" or "text". shape: of one sample, without the batch. A
    picture, or the spectrogram of a sound, is (channels, height, width), features are (count,), a
    text (length,). classes: how many there are, of a text's characters, too.
    """

    kind: str
    shape: Shape
    classes: int

    @classmethod
    def of(cls, data: Data) -> DataFacts:
        """Those of data."""
        return cls(data.kind, tuple(data.shape), len(data.classes))


@dataclass(frozen=True, slots=True)
class Call:
    """A layer: what is called, below `tallow`, with which arguments."""

    name: str
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def made(self) -> Module:
        """The layer."""
        function: Any = reduce(getattr, self.name.split("."), tl)
        args = [each.made() if isinstance(each, Call) else each for each in self.args]
        layer: Module = function(*args, **self.named)
        return layer

    def code(self) -> str:
        """The layer in Python, after `from tallow import nn, zoo`; a line for each layer in it."""
        named = [f"{name}={value!r}" for name, value in self.named.items()]
        if any(isinstance(each, Call) for each in self.args):
            lines = [f"    {each.code() if isinstance(each, Call) else repr(each)},\n"
                     for each in self.args]  # fmt: skip
            return f"{self.name}(\n{''.join(lines)})"
        return f"{self.name}({', '.join([*map(repr, self.args), *named])})"


def _call(name: str, *args: Any, **named: Any) -> Call:
    return Call(name, args, named)


@dataclass(frozen=True, slots=True)
class Made:
    """What a row makes of its input: the shape, without the batch; the layer; its parameters; how
    many numbers of a sample the backward pass needs from it."""

    shape: Shape
    call: Call
    parameters: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Field:
    """A number of a row: whole, unless one of its bounds is not."""

    value: float
    least: float
    most: float

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are right."""
        return all(isinstance(each, int) for each in (self.value, self.least, self.most))

    def checked(self, name: str, value: Any) -> Any:
        """The value, in bounds."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.whole and number and value == value // 1:
            value = int(value)
        good = number and self.least <= value <= self.most
        if not good or (self.whole and not isinstance(value, int)):
            raise _UnfitError("WHOLE" if self.whole else "NUMBER", name, self.least, self.most)
        return value


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of layer: rule(shape of the input, data, **fields) says what it makes of it, or raises
    _UnfitError. of: the kinds of data for which the page offers it."""

    rule: Callable[..., Made]
    fields: Mapping[str, Field] = field(default_factory=dict)
    of: tuple[str, ...] = ("pictures", "sounds", "features", "text")


# ---- rules ------------------------------------------------------------------------------------


def _shown(shape: Shape) -> str:
    return "×".join(map(str, shape))


def _picture(x: Shape) -> tuple[int, int, int]:
    if len(x) != 3:
        raise _UnfitError("PICTURE", _shown(x))
    channels, height, width = x
    return channels, height, width


def _windows(size: tuple[int, int], kernel: int, stride: int, padding: int) -> tuple[int, int]:
    """How many windows fit into a picture: (down, across)."""
    height, width = (each + 2 * padding for each in size)
    if kernel > min(height, width):
        raise _UnfitError("KERNEL", kernel, height, width)
    return (height - kernel) // stride + 1, (width - kernel) // stride + 1


def _conv2d(x: Shape, data: DataFacts, out: int, kernel: int, stride: int, padding: int) -> Made:
    channels, *size = _picture(x)
    shape = (out, *_windows((size[0], size[1]), kernel, stride, padding))
    options = {"stride": (stride, 1), "padding": (padding, 0)}
    named = {name: value for name, (value, usual) in options.items() if value != usual}
    call = Call("nn.Conv2d", (channels, out, kernel), named)
    return Made(shape, call, out * (channels * kernel * kernel + 1), math.prod(shape))


def _pool(name: str) -> Callable[..., Made]:
    def rule(x: Shape, data: DataFacts, size: int) -> Made:
        channels, height, width = _picture(x)
        shape = (channels, *_windows((height, width), size, size, 0))
        return Made(shape, _call(name, size), 0, math.prod(shape))

    return rule


def _globalpool(x: Shape, data: DataFacts) -> Made:
    channels, _, _ = _picture(x)
    return Made((channels, 1, 1), _call("nn.AdaptiveAvgPool2d", 1), 0, channels)


def _activation(name: str) -> Callable[..., Made]:
    def rule(x: Shape, data: DataFacts) -> Made:
        return Made(x, _call(name), 0, math.prod(x))

    return rule


def _batchnorm(x: Shape, data: DataFacts) -> Made:
    if len(x) == 2:
        raise _UnfitError("NORM")
    name = "nn.BatchNorm2d" if len(x) == 3 else "nn.BatchNorm1d"
    return Made(x, _call(name, x[0]), 2 * x[0], math.prod(x))


def _layernorm(x: Shape, data: DataFacts) -> Made:
    if len(x) == 3:
        raise _UnfitError("FLATTEN", _shown(x))
    return Made(x, _call("nn.LayerNorm", x[-1]), 2 * x[-1], math.prod(x))


def _dropout(x: Shape, data: DataFacts, p: float) -> Made:
    return Made(x, _call("nn.Dropout", p), 0, math.prod(x))


def _flatten(x: Shape, data: DataFacts) -> Made:
    return Made((math.prod(x),), _call("nn.Flatten"))


def _linear(x: Shape, data: DataFacts, out: int) -> Made:
    if len(x) == 3:
        raise _UnfitError("FLATTEN", _shown(x))
    shape = (*x[:-1], out)
    return Made(shape, _call("nn.Linear", x[-1], out), (x[-1] + 1) * out, math.prod(shape))


def _residual(x: Shape, data: DataFacts, out: int, stride: int) -> Made:
    channels, height, width = _picture(x)
    shape = (out, *_windows((height, width), 3, stride, 1))
    shortcut = stride != 1 or channels != out
    parameters = 9 * out * (channels + out) + 4 * out + shortcut * (channels + 2) * out
    kept = (6 + 2 * shortcut) * math.prod(shape)
    named = {} if stride == 1 else {"stride": stride}
    return Made(shape, Call("zoo.BasicBlock", (channels, out), named), parameters, kept)


def _embedding(x: Shape, data: DataFacts, width: int) -> Made:
    if data.kind != "text" or len(x) != 1:
        raise _UnfitError("TOKENS")
    shape = (x[0], width)
    call = _call("zoo.TokenEmbedding", data.classes, width, x[0])
    return Made(shape, call, (data.classes + x[0]) * width, math.prod(shape))


def _transformer(x: Shape, data: DataFacts, heads: int) -> Made:
    if len(x) != 2:
        raise _UnfitError("SEQUENCE", _shown(x))
    length, width = x
    if width % heads:
        raise _UnfitError("HEADS", heads, width)
    parameters = 12 * width * width + 13 * width
    kept = length * (16 * width + 2 * heads * length)
    return Made(x, _call("zoo.CausalLayer", width, heads), parameters, kept)


_PICTURES = ("pictures", "sounds")
_OUT = Field(16, 1, 65536)

KINDS: Mapping[str, Kind] = {
    "conv2d": Kind(
        _conv2d,
        {
            "out": Field(16, 1, 2048), "kernel": Field(3, 1, 64), "stride": Field(1, 1, 16),
            "padding": Field(0, 0, 32),
        },
        _PICTURES,
    ),
    "avgpool2d": Kind(_pool("nn.AvgPool2d"), {"size": Field(2, 1, 64)}, _PICTURES),
    "maxpool2d": Kind(_pool("nn.MaxPool2d"), {"size": Field(2, 1, 64)}, _PICTURES),
    "globalpool": Kind(_globalpool, {}, _PICTURES),
    "residual": Kind(
        _residual, {"out": Field(16, 1, 2048), "stride": Field(1, 1, 16)}, _PICTURES
    ),
    "flatten": Kind(_flatten, {}, _PICTURES),
    "embedding": Kind(_embedding, {"width": Field(128, 1, 4096)}, ("text",)),
    "transformer": Kind(_transformer, {"heads": Field(4, 1, 64)}, ("text",)),
    "linear": Kind(_linear, {"out": _OUT}),
    "relu": Kind(_activation("nn.ReLU")),
    "tanh": Kind(_activation("nn.Tanh")),
    "gelu": Kind(_activation("nn.GELU")),
    "batchnorm": Kind(_batchnorm, {}, (*_PICTURES, "features")),
    "layernorm": Kind(_layernorm, {}, ("features", "text")),
    "dropout": Kind(_dropout, {"p": Field(0.5, 0.0, 0.95)}),
}  # fmt: skip


# ---- networks that are offered -----------------------------------------------------------------


def _row(kind: str, **fields: float) -> dict[str, Any]:
    return {"kind": kind, **fields}


def _lenet5(classes: int) -> list[dict[str, Any]]:
    """`tl.zoo.LeNet5(padding=2)`."""
    return [
        _row("conv2d", out=6, kernel=5, stride=1, padding=2), _row("tanh"),
        _row("avgpool2d", size=2),
        _row("conv2d", out=16, kernel=5, stride=1, padding=0), _row("tanh"),
        _row("avgpool2d", size=2), _row("flatten"),
        _row("linear", out=120), _row("tanh"), _row("linear", out=84), _row("tanh"),
        _row("linear", out=classes),
    ]  # fmt: skip


def _mlp(classes: int) -> list[dict[str, Any]]:
    return [
        _row("flatten"), _row("linear", out=256), _row("relu"), _row("linear", out=128),
        _row("relu"), _row("linear", out=classes),
    ]  # fmt: skip


def _resnet(classes: int) -> list[dict[str, Any]]:
    """He et al. 2016, section 4.2, with one block of each size."""
    return [
        _row("conv2d", out=16, kernel=3, stride=1, padding=1), _row("batchnorm"), _row("relu"),
        _row("residual", out=16, stride=1), _row("residual", out=32, stride=2),
        _row("residual", out=64, stride=2), _row("globalpool"), _row("flatten"),
        _row("linear", out=classes),
    ]  # fmt: skip


def _cnn(classes: int) -> list[dict[str, Any]]:
    return [
        _row("conv2d", out=8, kernel=5, stride=1, padding=2), _row("relu"),
        _row("maxpool2d", size=2),
        _row("conv2d", out=16, kernel=5, stride=1, padding=0), _row("relu"),
        _row("maxpool2d", size=2), _row("flatten"),
        _row("linear", out=64), _row("relu"), _row("linear", out=classes),
    ]  # fmt: skip


def _head(classes: int) -> list[dict[str, Any]]:
    return [_row("linear", out=classes)]


def _chargpt(classes: int) -> list[dict[str, Any]]:
    blocks = [_row("transformer", heads=4) for _ in range(4)]
    return [_row("embedding", width=128), *blocks, _row("layernorm"), _row("linear", out=classes)]


PRESETS: Mapping[str, Mapping[str, Callable[[int], list[dict[str, Any]]]]] = {
    "pictures": {"lenet5": _lenet5, "mlp": _mlp, "resnet": _resnet},
    "sounds": {"cnn": _cnn, "resnet": _resnet, "mlp": _mlp},
    "features": {"head": _head},
    "text": {"chargpt": _chargpt},
}
"""By the kind of data, the one to begin with first, which own.js has, too: rows for a number of
classes."""


def preset(name: str, data: DataFacts) -> list[dict[str, Any]]:
    """The rows of a network that is offered for these data. Raises OptionError for another name."""
    offered = PRESETS[data.kind]
    if name not in offered:
        raise OptionError(f"the network {name!r} is none of {', '.join(offered)}")
    return offered[name](data.classes)


# ---- what a table means ------------------------------------------------------------------------


def _made(number: int, row: Row, shape: Shape, data: DataFacts) -> Made:
    """What a row makes of a shape. Raises LayerError."""
    try:
        name = row.get("kind")
        kind = KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            raise _UnfitError("UNKNOWN", str(name))
        given = {key: value for key, value in row.items() if key != "kind"}
        for key in given:
            if key not in kind.fields:
                raise _UnfitError("NO_FIELD", str(name), key)
        values = {
            key: each.checked(key, given.get(key, each.value)) for key, each in kind.fields.items()
        }
        if number == 0 and data.kind == "text" and name != "embedding":
            raise _UnfitError("EMBED")
        made = kind.rule(shape, data, **values)
        if made.parameters > MOST_PARAMETERS:
            raise _UnfitError("LARGE", f"{made.parameters:,}", f"{MOST_PARAMETERS:,}")
        return made
    except _UnfitError as error:
        raise LayerError(number, error.code, error.details) from None


def _wanted(data: DataFacts) -> Shape:
    """What a network must give for a sample."""
    return (*data.shape, data.classes) if data.kind == "text" else (data.classes,)


def _table(rows: Sequence[Row], data: DataFacts) -> list[Made]:
    """What each row makes. Raises LayerError for the first that is impossible."""
    if not rows:
        raise LayerError(0, "EMPTY", (data.classes,))
    shape = data.shape
    table = []
    for number, row in enumerate(rows):
        table.append(_made(number, row, shape, data))
        shape = table[-1].shape
    if shape != _wanted(data):
        raise LayerError(len(rows) - 1, "CLASSES", (_shown(shape), data.classes))
    return table


def facts(
    rows: Sequence[Row], data: DataFacts, batch: int = 64, optimizer: str = "sgd"
) -> NetworkFacts:
    """What a table means, without computing anything.

    batch: how many samples a step has. optimizer: a key of `STATES`.
    Returns: for each row its output's shape, its parameters, and the bytes that a step of training
      takes for it: parameters, their gradients and what the optimiser keeps of them, and what the
      backward pass needs; null from the first impossible row on, which has the reason. And the
      sums, with the bytes of a batch. `error`: the row that is impossible, and why.
    """
    found: list[RowFacts] = []
    shape = data.shape
    reason: RowReason | None = None
    copies = 2 + STATES[optimizer]
    made: Made | None = None
    for number, row in enumerate(rows):
        try:
            if reason is None:
                made = _made(number, row, shape, data)
                shape = made.shape
                if number == len(rows) - 1 and shape != _wanted(data):
                    raise LayerError(number, "CLASSES", (_shown(shape), data.classes))
        except LayerError as error:
            reason = {"row": number, "code": error.code, "details": list(error.details)}
            if error.code != "CLASSES":
                made = None
        if made is None or (reason is not None and reason["row"] < number):
            found.append({"shape": None, "parameters": None, "memory": None})
            continue
        memory = FLOAT * (copies * made.parameters + batch * made.kept)
        found.append({"shape": made.shape, "parameters": made.parameters, "memory": memory})
    if not rows:
        reason = {"row": 0, "code": "EMPTY", "details": [data.classes]}
    whole = reason is None
    samples = FLOAT * batch * math.prod(data.shape)
    return {
        "rows": found,
        "parameters": sum(each["parameters"] or 0 for each in found) if whole else None,
        "memory": sum((each["memory"] or 0 for each in found), samples) if whole else None,
        "error": reason,
    }


def network_call(rows: Sequence[Row], data: DataFacts) -> Call:
    """The network of a table: `nn.Sequential` of a layer for each row. Raises LayerError for a row
    that is impossible."""
    return _call("nn.Sequential", *(made.call for made in _table(rows, data)))


def network(rows: Sequence[Row], data: DataFacts) -> Module:
    """The network of a table: samples (n, *shape) to scores (n, classes), or (n, length, classes)
    for a text. Its initial values are drawn from the numbers of `tl.manual_seed`, in the order of
    the rows. Raises LayerError for a row that is impossible."""
    return network_call(rows, data).made()


def kinds(data: DataFacts) -> list[LayerKind]:
    """The kinds of layers that are offered for these data, with their fields."""
    return [
        {
            "kind": name,
            "fields": [
                {"name": key, "value": each.value, "least": each.least, "most": each.most,
                 "whole": each.whole}
                for key, each in kind.fields.items()
            ],
        }
        for name, kind in KINDS.items()
        if data.kind in kind.of
    ]  # fmt: skip


def _completed(row: Row) -> dict[str, Any]:
    """A row with the values of all fields of its kind."""
    kind = KINDS.get(str(row.get("kind")))
    usual = {name: each.value for name, each in kind.fields.items()} if kind else {}
    return {**usual, **row}


async def layer_table(asked: str) -> str:
    """What the page shows of a table: a `LayerTable`, as JSON.

    asked: JSON. data: kind, shape, classes. layers: the rows, or the name of a network that is
      offered, or "" for the first of these. batch, optimizer: as for `facts`.
    Raises: OptionError for a network that is not offered.
    """
    given = json.loads(asked)
    data = DataFacts(given["data"]["kind"], tuple(given["data"]["shape"]), given["data"]["classes"])
    offered = list(PRESETS[data.kind])
    layers = given["layers"]
    if isinstance(layers, str):
        layers = preset(layers or offered[0], data)
    whole = [_completed(row) for row in layers]
    alike = [name for name in offered if preset(name, data) == whole]
    table: LayerTable = {
        "layers": layers,
        "network": alike[0] if alike else "",
        "facts": facts(layers, data, given["batch"], given["optimizer"]),
        "kinds": kinds(data),
        "presets": offered,
    }
    return json.dumps(table)
