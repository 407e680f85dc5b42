"""The thread that loads and computes; the loop of requests only waits for it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Worker:
    """One thread for all models: they share a device, whose programs run one after the other."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="tallow")

    async def do(
        self, work: Callable[..., Any], *given: Any, within: contextvars.Context | None = None
    ) -> Any:
        """What the work returns or raises. within: the context in which it runs, such as that of a
        caller's trace."""
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context() if within is None else within
        return await loop.run_in_executor(self._pool, lambda: context.run(work, *given))

    def close(self) -> None:
        """Ends the thread once it has done what it was asked."""
        self._pool.shutdown()
