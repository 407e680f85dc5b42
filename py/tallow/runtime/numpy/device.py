"""NumPy as a device: there wherever NumPy can be imported, which happens when it is first used."""

from __future__ import annotations

import importlib.util

from ..base import Backend


class NumpyDevice:
    """The entry of the registry."""

    name = "numpy"
    _found = False

    def problem(self) -> str | None:
        # Looking takes longer than a small expression; what was found once stays.
        self._found = self._found or importlib.util.find_spec("numpy") is not None
        return None if self._found else "NumPy is not installed"

    @property
    def rank(self) -> int:
        return 1

    async def open(self) -> None:
        """Needs no opening."""

    def backend(self) -> Backend:
        from .runner import NumpyBackend

        return NumpyBackend()
