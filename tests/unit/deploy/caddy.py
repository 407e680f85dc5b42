"""Runs Caddy with a configuration of deploy/."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallow_build.environment import caddy
from tallow_build.serving.address import listen


def free_port() -> int:
    with listen("127.0.0.1", 0) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def running(
    file: Path, port: int, place: Path, environment: dict[str, str] | None = None
) -> Iterator[None]:
    """Caddy, from the moment that it listens at the port. place: where it may write."""
    program = caddy.find() or pytest.skip("Caddy is not installed, and Debian's is unavailable")
    command = [program, "run", "--config", file, "--adapter", "caddyfile"]
    home = {"XDG_CONFIG_HOME": str(place), "XDG_DATA_HOME": str(place), "HOME": str(place)}
    variables = os.environ | home | (environment or {})
    with (place / "log").open("wb") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        _until_it_listens(process, port, place / "log")
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(log.read_text())
