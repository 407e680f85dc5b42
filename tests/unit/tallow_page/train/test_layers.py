"""Tables of layers: the networks they are, what is said of them, and what is refused."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError
from tallow_build.paths import WEB
from tallow_page.train import layers
from tallow_page.train.layers import DataFacts, LayerError

DIGITS = DataFacts("pictures", (1, 28, 28), 10)
COLOURS = DataFacts("pictures", (3, 32, 32), 7)
SOUNDS = DataFacts("sounds", (1, 40, 98), 4)
FEATURES = DataFacts("features", (1280,), 3)
TEXT = DataFacts("text", (16,), 31)
ALL = (DIGITS, COLOURS, SOUNDS, FEATURES, TEXT)

Rows = list[dict[str, Any]]


def _inputs(data: DataFacts, batch: int = 2) -> tl.Tensor:
    random = np.random.default_rng(0)
    shape = (batch, *data.shape)
    if data.kind == "text":
        return tl.asarray(random.integers(0, data.classes, shape, np.int32))
    return tl.asarray(random.normal(size=shape).astype(np.float32))


def test_lenet5_is_the_zoos() -> None:
    data = DataFacts("pictures", (1, 28, 28), 10)
    tl.manual_seed(7)
    made = layers.network(layers.preset("lenet5", data), data)
    tl.manual_seed(7)
    known = tl.zoo.LeNet5(padding=2)
    x = tl.asarray(np.random.default_rng(0).normal(size=(3, 1, 28, 28)).astype(np.float32))
    np.testing.assert_array_equal(made(x).numpy(), known(x).numpy())
    for one, other in zip(made.parameters(), known.parameters(), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


OFFERED = [(name, data) for data in ALL for name in layers.PRESETS[data.kind]]


@pytest.mark.parametrize(("name", "data"), OFFERED)
def test_a_network_that_is_offered_is_as_said(name: str, data: DataFacts) -> None:
    """Shapes and parameters of each row are those of the module; so are the scores."""
    rows = layers.preset(name, data)
    found = layers.facts(rows, data)
    assert found["error"] is None
    network = layers.network(rows, data)
    dtype = "int32" if data.kind == "text" else "float32"
    summary = nn.summary(network, (2, *data.shape), dtype)
    assert found["parameters"] == summary.parameters
    parts = [row for row in summary.rows if row.path and "." not in row.path][-len(rows) :]
    for part, said in zip(parts, found["rows"], strict=True):
        assert part.outputs == ((2, *(said["shape"] or ())),)
        assert part.parameters == said["parameters"]
    scores = network(_inputs(data)).numpy()
    wanted = (2, *data.shape, data.classes) if data.kind == "text" else (2, data.classes)
    assert scores.shape == wanted
    assert np.isfinite(scores).all()


ROWS: dict[str, tuple[DataFacts, Rows]] = {
    "conv2d": (COLOURS, [{"kind": "conv2d", "out": 5, "kernel": 4, "stride": 3, "padding": 2}]),
    "avgpool2d": (COLOURS, [{"kind": "avgpool2d", "size": 3}]),
    "maxpool2d": (COLOURS, [{"kind": "maxpool2d", "size": 5}]),
    "globalpool": (COLOURS, [{"kind": "globalpool"}]),
    "residual": (COLOURS, [{"kind": "residual", "out": 5, "stride": 3}]),
    "flatten": (COLOURS, [{"kind": "flatten"}]),
    "embedding": (TEXT, [{"kind": "embedding", "width": 12}]),
    "transformer": (
        TEXT,
        [{"kind": "embedding", "width": 12}, {"kind": "transformer", "heads": 3}],
    ),
    "linear": (FEATURES, [{"kind": "linear", "out": 5}]),
    "relu": (COLOURS, [{"kind": "relu"}]),
    "tanh": (FEATURES, [{"kind": "tanh"}]),
    "gelu": (FEATURES, [{"kind": "gelu"}]),
    "batchnorm": (COLOURS, [{"kind": "batchnorm"}]),
    "layernorm": (FEATURES, [{"kind": "layernorm"}]),
    "dropout": (FEATURES, [{"kind": "dropout", "p": 0.25}]),
}
ENDS: dict[str, Rows] = {
    "pictures": [{"kind": "flatten"}, {"kind": "linear", "out": 7}],
    "features": [{"kind": "linear", "out": 3}],
    "text": [{"kind": "linear", "out": 31}],
}


def test_all_kinds_are_tried() -> None:
    assert set(ROWS) == set(layers.KINDS)


@pytest.mark.parametrize("kind", ROWS)
def test_a_kind_of_layer_is_as_said(kind: str) -> None:
    data, begin = ROWS[kind]
    rows = [*begin, *ENDS[data.kind]]
    found = layers.facts(rows, data)
    network = layers.network(rows, data)
    dtype = "int32" if data.kind == "text" else "float32"
    summary = nn.summary(network, (2, *data.shape), dtype)
    place = len(begin) - 1
    (row,) = [each for each in summary.rows if each.path == str(place)]
    said = found["rows"][place]
    assert (row.outputs, row.parameters) == (((2, *(said["shape"] or ())),), said["parameters"])


def test_code_makes_the_network() -> None:
    for name, data in OFFERED:
        call = layers.network_call(layers.preset(name, data), data)
        tl.manual_seed(1)
        one = call.made().eval()
        tl.manual_seed(1)
        other = eval(call.code(), {"nn": nn, "zoo": tl.zoo}).eval()
        x = _inputs(data)
        np.testing.assert_array_equal(one(x).numpy(), other(x).numpy(), err_msg=name)


def test_memory_grows_with_the_batch_and_the_optimiser() -> None:
    rows = layers.preset("lenet5", DIGITS)
    one, two = (layers.facts(rows, DIGITS, batch)["memory"] or 0 for batch in (1, 2))
    sgd, adam = (layers.facts(rows, DIGITS, 1, name)["memory"] or 0 for name in ("sgd", "adamw"))
    assert 4 * 28 * 28 * 6 < two - one < 40 * 28 * 28 * 6
    assert adam - sgd == 4 * 61_706  # LeNet-5's parameters


END = {"kind": "linear", "out": 10}

REFUSED: list[tuple[str, DataFacts, Rows, int, list[Any], str]] = [
    ("EMPTY", DIGITS, [], 0, [10], "layer 1: there is no layer; add one that gives 10 scores"),
    ("UNKNOWN", DIGITS, [{"kind": "lstm"}], 0, ["lstm"], "no layer of the kind 'lstm'"),
    ("UNKNOWN", DIGITS, [{"kind": ["conv2d"]}], 0, ["['conv2d']"], "no layer of the kind"),
    ("UNKNOWN", DIGITS, [{}], 0, ["None"], "no layer of the kind"),
    ("NO_FIELD", DIGITS, [{"kind": "flatten", "out": 3}], 0, ["flatten", "out"], "has no 'out'"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "kernel": 0}], 0, ["kernel", 1, 64], "from 1 to 64"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": 2.5}], 0, ["out", 1, 2048], "whole number"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": None}], 0, ["out", 1, 2048], "whole number"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": float("nan")}], 0, ["out", 1, 2048], "whole"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": float("inf")}], 0, ["out", 1, 2048], "whole"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": True}], 0, ["out", 1, 2048], "whole number"),
    ("WHOLE", DIGITS, [{"kind": "conv2d", "out": "6"}], 0, ["out", 1, 2048], "whole number"),
    ("NUMBER", DIGITS, [{"kind": "dropout", "p": 1}], 0, ["p", 0.0, 0.95], "from 0.0 to 0.95"),
    ("PICTURE", FEATURES, [{"kind": "conv2d"}], 0, ["1280"], "its input is 1280"),
    ("PICTURE", DIGITS, [{"kind": "flatten"}, {"kind": "residual"}], 1, ["784"], "layer 2"),
    ("KERNEL", DIGITS, [{"kind": "conv2d", "kernel": 33, "padding": 2}], 0, [33, 32, 32],
     "a window of 33×33 is larger than the picture of 32×32"),
    ("KERNEL", DIGITS, [{"kind": "avgpool2d", "size": 16}, {"kind": "maxpool2d", "size": 2}], 1,
     [2, 1, 1], "a window of 2×2 is larger than the picture of 1×1"),
    ("FLATTEN", DIGITS, [END], 0, ["1×28×28"], "put flatten before"),
    ("FLATTEN", DIGITS, [{"kind": "layernorm"}], 0, ["1×28×28"], "put flatten before"),
    ("TOKENS", FEATURES, [{"kind": "embedding"}], 0, [], "the characters of a text"),
    ("TOKENS", TEXT, [{"kind": "embedding"}, {"kind": "embedding"}], 1, [], "the first layer"),
    ("EMBED", TEXT, [{"kind": "linear", "out": 31}], 0, [], "begin with an embedding"),
    ("SEQUENCE", FEATURES, [{"kind": "transformer"}], 0, ["1280"], "a vector for each character"),
    ("HEADS", TEXT, [{"kind": "embedding", "width": 10}, {"kind": "transformer", "heads": 4}], 1,
     [4, 10], "layer 2: 4 heads do not divide the width of 10"),
    ("NORM", TEXT, [{"kind": "embedding"}, {"kind": "batchnorm"}], 1, [], "takes a layer norm"),
    ("LARGE", DIGITS, [{"kind": "conv2d", "out": 2048}, {"kind": "flatten"},
                       {"kind": "linear", "out": 65536}], 2,
     ["90,731,249,664", "100,000,000"], "it has 90,731,249,664 parameters"),
    ("CLASSES", DIGITS, [{"kind": "flatten"}, {"kind": "linear", "out": 9}], 1, ["9", 10],
     "must end with 10 scores, one for each class, but gives 9"),
    ("CLASSES", DIGITS, [{"kind": "conv2d"}], 0, ["16×26×26", 10], "but gives 16×26×26"),
    ("CLASSES", TEXT, [{"kind": "embedding"}, {"kind": "flatten"}, {"kind": "linear", "out": 31}],
     2, ["31", 31], "layer 3"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "data", "rows", "row", "details", "says"), REFUSED)
def test_an_impossible_row_says_why(
    code: str, data: DataFacts, rows: Rows, row: int, details: list[Any], says: str
) -> None:
    found = layers.facts(rows, data)
    assert found["error"] == {"row": row, "code": code, "details": details}
    assert found["parameters"] is found["memory"] is None
    assert len(found["rows"]) == len(rows)
    assert all(each["shape"] for each in found["rows"][:row])
    assert not any(each["shape"] for each in found["rows"][row + (code == "CLASSES") :])
    with pytest.raises(LayerError, match=f"layer {row + 1}: ") as raised:
        layers.network(rows, data)
    assert says in str(raised.value)
    assert (raised.value.row, raised.value.code) == (row, code)


def test_every_reason_is_tried() -> None:
    assert {code for code, *_ in REFUSED} == set(layers.ENGLISH)


def _asked(data: DataFacts, chosen: Any) -> str:
    given = {"kind": data.kind, "shape": data.shape, "classes": data.classes}
    return json.dumps({"data": given, "layers": chosen, "batch": 8, "optimizer": "adamw"})


def test_the_pages_table(run_async: Any) -> None:
    def table(data: DataFacts, chosen: Any) -> Any:
        return json.loads(run_async(layers.layer_table(_asked(data, chosen))))

    for data in ALL:
        found = table(data, "")
        assert found["facts"]["error"] is None
        assert found["presets"] == list(layers.PRESETS[data.kind])
        assert found["network"] == found["presets"][0]
        assert {row["kind"] for row in found["layers"]} <= {each["kind"] for each in found["kinds"]}
        assert table(data, found["layers"])["facts"] == found["facts"]
    rows = table(DIGITS, "lenet5")["layers"]
    del rows[3]["padding"]  # 0 if nothing is said
    assert table(DIGITS, rows)["network"] == "lenet5"
    assert table(DIGITS, rows[:-1])["network"] == ""
    assert table(DIGITS, [{"kind": "lstm"}])["network"] == ""
    embedding = {"name": "width", "value": 128, "least": 1, "most": 4096, "whole": True}
    kinds = {each["kind"]: each["fields"] for each in table(TEXT, "chargpt")["kinds"]}
    assert kinds["embedding"] == [embedding]
    assert "conv2d" not in kinds
    with pytest.raises(OptionError, match="the network 'lenet5' is none of chargpt"):
        table(TEXT, "lenet5")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_has_words_for_all(language: str) -> None:
    said = (WEB / f"views/train/texts/{language}/layers.js").read_text("utf-8")
    fields = {name for kind in layers.KINDS.values() for name in kind.fields}
    offered = {name for presets in layers.PRESETS.values() for name in presets}
    for name in (*layers.ENGLISH, *layers.KINDS, *fields, *offered):
        assert re.search(rf"^    {name}: ", said, re.MULTILINE), name
