"""torch.multiprocessing: Python's, since tensors pass between processes by value."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

with suppress(ImportError):  # a browser has no processes
    from multiprocessing import *  # noqa: F403


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> None:
    """fn(0, *args), in this process. Raises OptionError for more than one."""
    from ..errors import OptionError

    if nprocs != 1:
        raise OptionError(f"spawn: nprocs is {nprocs}, but there is only one process here")
    fn(0, *args)


def set_sharing_strategy(new_strategy: str) -> None:
    """Changes nothing."""
