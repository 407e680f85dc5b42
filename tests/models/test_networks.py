"""Third-party networks give the same answers as onnxruntime, on every device.

They are a text encoder with 8-bit weights, a pitch tracker with audio features inside, a picture
classifier, and a voice detector with a state and an If, as written by common exporters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.onnx.oracle import runtime

import tallow as tl
from tallow_build.content import networks

Feeds = dict[str, Any]


def _noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape, dtype=np.float32)


def _text(rows: int, length: int) -> Feeds:
    ids = np.random.default_rng(5).integers(1000, 20000, (rows, length))
    mask = np.ones_like(ids)
    mask[-1, length // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def _voice(rate: int) -> Feeds:
    """Its input at 8 or 16 kHz: a piece of sound with some of the previous one."""
    length = 576 if rate == 16000 else 288
    state = np.zeros((2, 1, 128), np.float32)
    return {"input": _noise(1, length) / 10, "state": state, "sr": np.array(rate)}


FED: dict[str, list[Callable[[], Feeds]]] = {
    "minilm.onnx": [lambda: _text(2, 16), lambda: _text(1, 7)],
    "pitch.onnx": [lambda: {"serving_default_input_2:0": _noise(1, 43844, 1) / 10}],
    "orientation.onnx": [lambda: {"x": _noise(1, 3, 224, 224)}],
    "voice.onnx": [lambda: _voice(16000), lambda: _voice(8000)],
    "voice_op18.onnx": [lambda: _voice(16000), lambda: _voice(8000)],
}


@pytest.mark.parametrize("device", ["numpy", "webgpu", "wasm"])
@pytest.mark.parametrize("name", FED)
def test_agrees_with_onnxruntime(name: str, device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    path = networks.FOLDER / name
    other = runtime(str(path))
    with tl.onnx.load(path).session(device) as session:
        for feeds in (make() for make in FED[name]):
            wanted = other.run(None, feeds)
            for mine, theirs in zip(session.run(feeds).values(), wanted, strict=True):
                assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
                assert np.abs(mine - theirs).max() <= 1e-3 * np.abs(theirs).max()
            assert session.device == device
            assert session.report().nodes > 0
        assert session.stats["dispatches"] > (3 if device != "numpy" else 0)
        if (name, device) == ("minilm.onnx", "webgpu"):  # its weights stay 8 bits wide
            assert session.stats["weights"] < path.stat().st_size
        if (name, device) == ("minilm.onnx", "wasm"):  # as they came, and in panels
            assert session.stats["bytes"] < 2.2 * path.stat().st_size


def test_the_networks_are_those_that_are_fetched() -> None:
    assert set(FED) == {name for name in networks.ensure() if "/" not in name}
