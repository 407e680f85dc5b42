"""WebAssembly as a device: what it needs of an engine."""

from __future__ import annotations

import pytest

from tallow.devices.wasm import device
from tallow.devices.wasm.desktop import WasmtimeEngine
from tallow.devices.wasm.engine import has_relaxed_simd, has_simd


def test_the_engine_of_the_desktop_has_vectors() -> None:
    engine = WasmtimeEngine()
    assert has_simd(engine)
    assert has_relaxed_simd(engine)


def test_an_engine_without_vectors_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old(WasmtimeEngine):
        def accepts(self, module: bytes) -> bool:
            return False

    monkeypatch.setattr(device, "_engine", Old)
    reason = device.WasmDevice().backend()
    assert isinstance(reason, str)
    assert reason.startswith("wasmtime ")
    assert reason.endswith("has no SIMD instructions here")
