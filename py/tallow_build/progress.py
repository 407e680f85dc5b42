"""Reports progress on stderr; stdout is for the command's own result."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MB = 1_000_000


def say(text: str) -> None:
    """Prints a line immediately."""
    print(text, file=sys.stderr, flush=True)


def folder_bytes(folder: Path) -> int:
    """The bytes of all files below `folder`, even while another process is writing there."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # deleted after it was listed
                total += (Path(parent) / name).lstat().st_size
    return total


def amount(done: int, total: int | None) -> str:
    """`63 of 106 MB (59 %)`, or `63 MB` if the total is unknown."""
    if total:
        return f"{done / MB:.0f} of {total / MB:.0f} MB ({min(100, 100 * done // total)} %)"
    return f"{done / MB:.0f} MB"


@contextmanager
def working(what: str, folder: Path | None = None, total: int | None = None) -> Iterator[None]:
    """Shows the progress of `what`: the seconds and, if a folder is given, the bytes in it so far.

    On a terminal one line is updated; elsewhere a line is printed every ten seconds.
    """
    terminal = sys.stderr.isatty()
    started = time.monotonic()
    ended = threading.Event()

    def state() -> str:
        text = f"  {time.monotonic() - started:.0f} s"
        return text + (f", {amount(folder_bytes(folder), total)}" if folder else "")

    def beat() -> None:
        while not ended.wait(1 if terminal else 10):
            if terminal:
                print(f"\r{state()}\033[K", end="", file=sys.stderr, flush=True)
            else:
                say(state())

    say(f"{what} ...")
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    say(f"  done in {time.monotonic() - started:.1f} s")
