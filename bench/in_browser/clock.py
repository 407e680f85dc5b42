"""What of a call the runners take: JavaScript, WebGPU and WebAssembly, without Python's part.

bench/turns.py and bench/training.py run this in Pyodide before their own code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tallow.devices.wasm import runner
from tallow.devices.wasm.runner import WasmProgram
from tallow.devices.webgpu import browser
from tallow.devices.webgpu.browser import WebGpuProgram


class Clock:
    """Seconds spent in the runners (web/gpu and web/wasm) since it was set to 0, and the calls of
    programs."""

    runner = 0.0
    calls = 0

    def around(self, start: Callable[..., Any], calls: int = 1) -> Callable[..., Any]:
        """The function, which counts as so many calls."""

        def timed(*inputs: object) -> Any:
            began = time.perf_counter()
            result = start(*inputs)
            self.runner += time.perf_counter() - began
            self.calls += calls
            return result

        return timed


clock = Clock()


class _TimedGpuProgram(WebGpuProgram):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._run, self._start = clock.around(self._run), clock.around(self._start)


class _TimedWasmProgram(WasmProgram):
    def _bind(self) -> None:
        super()._bind()
        self._all = clock.around(self._all)
        self._copies = clock.around(self._copies, calls=0)


browser.WebGpuProgram = _TimedGpuProgram  # type: ignore[assignment, misc]
runner.WasmProgram = _TimedWasmProgram  # type: ignore[misc]
