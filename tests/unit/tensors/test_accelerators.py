"""The lines about devices with which scripts for PyTorch begin."""

from __future__ import annotations

import pickle

import pytest

import tallow as tl
from tallow import nn
from tallow.core import device_name


def test_a_script_that_chooses_a_device() -> None:
    tl.backends.cudnn.benchmark = True
    tl.cuda.manual_seed_all(0)
    kind = "cuda" if tl.cuda.is_available() else "mps" if tl.backends.mps.is_available() else "cpu"
    device = tl.device(kind)
    assert device.type == kind == "cpu" and f"Using {device}" == "Using cpu"
    net, x = nn.Linear(2, 1).to(device), tl.ones(3, 2, device=device)
    assert x.to(device, non_blocking=True).device.type == tl.default_device()
    assert net(x).device == net.weight.device == tl.default_device()
    if x.device.type == "cuda":
        tl.cuda.synchronize()


def test_the_accelerator_is_the_default_device() -> None:
    before = tl.default_device()
    for name in tl.devices():
        tl.set_default_device(name)
        there = name == "webgpu"
        assert tl.accelerator.is_available() is there
        found = tl.accelerator.current_accelerator()
        assert (found and found.type) == ("webgpu" if there else None)
        assert tl.accelerator.device_count() == int(there)
    tl.set_default_device(before)


def test_names_of_devices() -> None:
    assert tl.device("cuda", 1) == "cuda:1" == tl.device("cuda:1")
    assert (tl.device("cuda:1").type, tl.device("cuda:1").index) == ("cuda", 1)
    assert tl.device("wasm").index is None and isinstance(tl.ones(1).device, tl.device)
    assert pickle.loads(pickle.dumps(tl.device("wasm"))).type == "wasm"
    assert tl.ones(1).to("cpu:0").device == tl.default_device()
    with pytest.raises(tl.DeviceUnavailableError, match="'cuda:1' is unavailable: there is one"):
        nn.Linear(2, 1).to(tl.device("cuda:1"))


def test_cuda_stands_for_the_best_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_name, "_told", set())
    with pytest.warns(UserWarning, match="'cuda' stands for the best device here"):
        moved = nn.Linear(2, 1).to(tl.device("cuda"))
    assert moved.weight.device == tl.default_device()
