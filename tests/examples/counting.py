"""Counts what devices run while an example does; also imported in the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any
from weakref import WeakSet

RUNS: dict[str, int] = {}
"""How often each device has run a program since `begin`."""

DISPATCHES: dict[str, int] = {}
"""How many kernels the programs have that a device ran, as they themselves tell."""

_PROGRAMS = {
    "numpy": ("tallow.devices.numpy.runner", "NumpyProgram", "PlainProgram"),
    "wasm": ("tallow.devices.wasm.runner", "WasmProgram"),
    "webgpu": ("tallow.devices.webgpu.browser", "WebGpuProgram"),
}
_seen: WeakSet[Any] = WeakSet()


def watch(*devices: str) -> Callable[[], None]:
    """Counts the runs of programs on these devices from now on; gives what ends it."""
    undo: list[tuple[Any, str, Any]] = []
    for device in devices:
        module, *names = _PROGRAMS[device]
        for kind in (getattr(import_module(module), name) for name in names):
            for way in ("run", "start"):
                undo.append((kind, way, getattr(kind, way)))
                setattr(kind, way, _counted(getattr(kind, way), device))

    def end() -> None:
        for kind, way, function in undo:
            setattr(kind, way, function)

    return end


def _counted(run: Any, device: str) -> Any:
    @wraps(run)
    def counted(program: Any, *args: Any, **options: Any) -> Any:
        results = run(program, *args, **options)
        RUNS[device] = RUNS.get(device, 0) + 1
        if program not in _seen:
            _seen.add(program)
            DISPATCHES[device] = DISPATCHES.get(device, 0) + program.stats["dispatches"]
        return results

    return counted


def begin() -> None:
    """Forgets what was counted."""
    RUNS.clear()
    DISPATCHES.clear()
    _seen.clear()
