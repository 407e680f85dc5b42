"""Requests for what a browser promises. It imports `pyodide`, which is there in a browser only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pyodide.ffi import can_run_sync, run_sync  # type: ignore[import-not-found]

from ..errors import RealizeError


class Promised:
    """Requests what an awaitable of a browser's gives, which a call makes. Code that blocks gets a
    RealizeError where the browser cannot, before the call. what: is done, for that error."""

    __slots__ = ("_args", "_call", "_what")

    def __init__(self, what: str, call: Callable[..., Awaitable[Any]], *args: Any) -> None:
        self._what, self._call, self._args = what, call, args

    def run_sync(self) -> Any:
        """What it gives; blocks by JavaScript Promise Integration."""
        if not can_run_sync():
            raise RealizeError(
                f"{self._what} cannot block here: this browser has no JavaScript Promise "
                "Integration, or the code was not started asynchronously; use the async form "
                "(`await ..._async()`)"
            )
        return run_sync(self._call(*self._args))

    async def run_async(self) -> Any:
        """What it gives, once it is there."""
        return await self._call(*self._args)
