"""The GPU of this machine, outside a browser, through the package `wgpu`."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from ....compile import Compiled
from ....compile.limits import Limits
from ....core.drivers import InThread, Steps
from ....runtime.base import DeviceInfo
from ..target import TARGET
from .device import open_device
from .memory import NativeMemory
from .program import NativeProgram


class NativeBackend:
    """The GPU of this machine."""

    def __init__(self) -> None:
        self._gpu = open_device()

    target = TARGET
    begin = None

    @property
    def info(self) -> DeviceInfo:
        adapter = self._gpu.adapter
        return DeviceInfo(self.target.name, adapter.name, adapter.features)

    @property
    def limits(self) -> Limits:
        return self._gpu.adapter.limits

    def _record_path(self) -> Path:
        """$XDG_CACHE_HOME/tallow/tuning-HASH.json, HASH being that of the adapter's name."""
        folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        digest = hashlib.sha256(self.info.adapter.encode()).hexdigest()[:16]
        return Path(folder) / "tallow" / f"tuning-{digest}.json"

    def tuning_record(self) -> str | None:
        """The text of a file in the user's cache folder. Raises OSError if it cannot be read."""
        try:
            return self._record_path().read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return None

    async def keep_tuning_record(self, text: str) -> None:
        """Writes aside and renames, so that no reader sees half a record."""
        path = self._record_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_text(text, "utf-8")
        aside.replace(path)

    def load(self, compiled: Compiled) -> Steps[NativeProgram]:
        """Uploads weights, compiles every pipeline, runs `prepare`; awaited, in a thread."""
        program: NativeProgram = yield InThread(self.load_now, compiled)
        return program

    @property
    def memory(self) -> NativeMemory:
        return self._gpu.memory

    def load_now(self, compiled: Compiled) -> NativeProgram:
        """As `load`: outside a browser it may block."""
        return NativeProgram(self._gpu, compiled)
