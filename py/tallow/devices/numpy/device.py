"""NumPy as a device: there wherever NumPy can be imported, which happens when it is first used."""

from __future__ import annotations

import importlib.util

from ...runtime.base import Backend


class NumpyDevice:
    """The entry of the registry."""

    name = "numpy"

    def __init__(self) -> None:
        self._backend: Backend | None = None

    @property
    def rank(self) -> int:
        return 1

    async def open(self) -> None:
        """Needs no opening."""

    def backend(self) -> Backend | str:
        if self._backend is None:
            if importlib.util.find_spec("numpy") is None:
                return "NumPy is not installed"
            from .runner import NumpyBackend

            self._backend = NumpyBackend()
        return self._backend


DEVICE = NumpyDevice()
