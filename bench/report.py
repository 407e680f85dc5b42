"""Shared by the benchmark commands: the conditions of their figures, and how they exit."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tallow_build.errors import BuildError
from tallow_build.paths import NODE_MODULES


def about() -> dict[str, Any]:
    """The date, the machine, its load, and onnxruntime-web's version."""
    return {
        "version": 1,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "onnxruntime_web": installed("onnxruntime-web"),
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "load": [round(load, 1) for load in os.getloadavg()] if os.name == "posix" else None,
    }


def installed(package: str) -> str:
    """The version of a package in node_modules."""
    text = (NODE_MODULES / package / "package.json").read_text("utf-8")
    return str(json.loads(text)["version"])


def headline(facts: dict[str, Any], *more: str) -> str:
    """The conditions on one line, with more information in the middle."""
    words = [
        facts["date"][:10],
        *more,
        f"onnxruntime-web {facts['onnxruntime_web']}",
        f"{facts['processors']} processors",
    ]
    if facts["load"]:
        words.append(f"load {facts['load'][-1]:.0f}")
    return ", ".join(words)


def write(path: Path | None, figures: dict[str, Any]) -> None:
    """Writes the figures as JSON, if a path is given."""
    if path:
        path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", "utf-8")


def run(main: Callable[[Sequence[str]], int]) -> None:
    """Exits with the status that `main` returns, or with the message of a BuildError."""
    # Exit at once on Ctrl-C: Playwright's driver gets the signal too, closes Chromium, and stops
    # answering.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        sys.exit(main(sys.argv[1:]))
    except BuildError as error:
        sys.exit(str(error))
