"""Marks on parameters, lists with empty places, and lists of lists of parameters."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import tallow as tl
from tallow import nn


def test_a_parameter_takes_marks() -> None:
    layer = nn.Linear(2, 2)
    layer.weight._no_weight_decay = True
    layer.register_buffer("count", tl.zeros(1))
    layer.count.is_running = True
    marked = [name for name, p in layer.named_parameters() if getattr(p, "_no_weight_decay", False)]
    assert marked == ["weight"] and layer.count.is_running


def test_a_list_keeps_its_empty_places() -> None:
    layers = nn.ModuleList([nn.Linear(2, 3), None, nn.Linear(3, 1)])
    assert len(layers) == 3 and layers[1] is None
    assert [module is None for module in layers] == [False, True, False]
    first, second = nn.ModuleList([nn.ReLU(), None])
    assert isinstance(first, nn.ReLU) and second is None
    layers.append(None)
    layers.insert(0, None)
    assert [module is None for module in layers] == [True, False, True, False, True]
    assert [name for name, _ in layers.named_parameters()] == [
        "1.weight", "1.bias", "3.weight", "3.bias",
    ]  # fmt: skip
    assert "(1): Linear" in repr(layers) and "(4): None" in repr(layers)
    assert layers[1:3][1] is None and len(layers + nn.ModuleList([None])) == 6
    assert copy.deepcopy(layers)[0] is None


def test_lists_of_lists_of_parameters() -> None:
    held = nn.ParameterList()
    held.append(nn.ParameterList([nn.Parameter(np.ones(2, "f")), tl.ones(3)]))
    held.append(np.zeros(1, "f"))
    held += ["a name", None]
    assert len(held) == 4 and held[2] == "a name" and held[3] is None
    assert [name for name, _ in held.named_parameters()] == ["1", "0.0", "0.1"]
    assert list(held.state_dict()) == ["1", "0.0", "0.1"]
    held[-3] = tl.ones(4)
    assert isinstance(held[1], nn.Parameter) and held[1].shape == (4,)
    assert [len(each) for each in held[:1]] == [2]
    with pytest.raises(IndexError):
        held[4]


def test_names_that_a_module_cannot_have() -> None:
    module = nn.Module()
    for add in (module.add_module, module.register_parameter, module.register_buffer):
        for name in ("a.b", "", "forward"):
            with pytest.raises(KeyError, match=r"name in a module|already has") as caught:
                add(name, None)
            assert not str(caught.value).startswith("'")


def test_moving_and_compiling_a_module_change_nothing() -> None:
    layer = nn.Linear(2, 2)
    layer.compile(mode="reduce-overhead")
    with pytest.warns(UserWarning):
        assert layer.cuda() is layer
