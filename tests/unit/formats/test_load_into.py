"""`load_into`: weights under other names, and a report of what became of each."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, TallowError


def test_loading_under_other_names() -> None:
    net = nn.Sequential(nn.Linear(2, 1))
    state = {"net.fc.weight": np.ones((1, 2), np.float64), "net.fc.bias": np.zeros(1)}
    report = tl.load_into(net, state, rename=[(r"^net\.", ""), (r"^fc\.", "0.")])
    assert str(report) == "renamed     net.fc.weight -> 0.weight\nrenamed     net.fc.bias -> 0.bias"
    assert net[0].weight.tolist() == [[1.0, 1.0]]


def test_what_does_not_fit_a_module() -> None:
    net = nn.Linear(2, 1)
    before = net.weight.tolist()
    state = {"weight": np.ones((2, 2)), "scale": np.ones(1)}
    lines = [
        "missing     bias",
        "unexpected  scale",
        "shape       weight: the module has (1, 2), the file (2, 2)",
    ]
    with pytest.raises(TallowError) as caught:
        tl.load_into(net, state)
    assert str(caught.value).splitlines()[1:] == lines
    assert str(tl.load_into(net, state, strict=False)).splitlines() == lines
    assert net.weight.tolist() == before


@pytest.mark.parametrize("rename", [[("(", "")], [("a", r"\7")], [(r"^.*$", "weight")]])
def test_wrong_patterns(rename: list[tuple[str, str]]) -> None:
    with pytest.raises(OptionError):
        tl.load_into(nn.Linear(1, 1), {"a": np.ones((1, 1)), "b": np.ones(1)}, rename=rename)
